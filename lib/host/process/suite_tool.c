/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Another tool of the suite: see suite_tool.h. */
#include "lib/host/process/suite_tool.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"
#include "lib/host/process/process.h"
#include "lib/host/process/subprocess.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

/* The directory of this executable. */
static int own_directory(char ret[PATH_MAX], struct error *err)
{
	ssize_t len = readlink("/proc/self/exe", ret, PATH_MAX - 1);

	if (len < 0)
		return error_os(err, -errno, "cannot read /proc/self/exe");
	ret[len] = '\0';
	*strrchr(ret, '/') = '\0';
	return 0;
}

/* Installed tools are in one folder; in a build tree emp-x is in the folder x next to ours, and inc in that of
 * emp-calibrate. */
int suite_tool_find(const char *tool, char **ret, struct error *err)
{
	_cleanup_(freep) char *installed = NULL, *built = NULL;
	const char *dash = strchr(tool, '-');
	char own[PATH_MAX];
	int r = own_directory(own, err);

	if (r < 0)
		return r;
	installed = text_format("%s/%s", own, tool);
	built = text_format("%s/../%s/%s", own, dash ? dash + 1 : "calibrate", tool);
	if (access(installed, X_OK) == 0)
		*ret = TAKE(installed);
	else if (access(built, X_OK) == 0)
		*ret = TAKE(built);
	else
		return error_say(err, -ENOENT,
			"%s is not in %s; install all tools of the suite in one directory", tool, own);
	return 0;
}

int suite_library_find(const char *name, char **ret, struct error *err)
{
	_cleanup_(freep) char *built = NULL, *installed = text_format("%s/%s", EMP_LIB_DIR, name);
	char own[PATH_MAX];
	int r = own_directory(own, err);

	if (r < 0)
		return r;
	built = text_format("%s/../lib/clock/%s", own, name);
	if (access(built, R_OK) == 0)
		*ret = TAKE(built);
	else if (access(installed, R_OK) == 0)
		*ret = TAKE(installed);
	else
		return error_say(
			err, -ENOENT, "%s is not in %s; is EMP installed as a whole?", name, EMP_LIB_DIR);
	return 0;
}

int suite_tool_run(const char *tool, char *const *argv, char **ret_output, int *ret_status, struct error *err)
{
	_cleanup_(freep) char *path = NULL, *output = NULL;
	struct subprocess asked = {.argv = argv, .environment = environ, .output_max = 64 << 20};
	char end[PROCESS_END_SIZE];
	int status, r;

	r = suite_tool_find(tool, &path, err);
	if (r < 0)
		return r;
	asked.path = path;
	r = subprocess_run(&asked, &output, &status, err);
	if (r < 0)
		return r;
	if (WIFSIGNALED(status))
		return error_say(err, -EPROTO, "%s %s", tool, process_end_text(end, status));
	*ret_output = TAKE(output);
	*ret_status = WEXITSTATUS(status);
	return 0;
}
