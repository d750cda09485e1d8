/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Another tool of the suite, asked as a user would ask it: see suite_tool.h. */
#include "lib/host/process/suite_tool.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"
#include "lib/host/process/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

/* Installed tools stand side by side; in a build tree emp-x is in the folder x beside ours. */
int suite_tool_find(const char *tool, char **ret, struct error *err)
{
	_cleanup_(freep) char *beside = NULL, *built = NULL;
	const char *dash = strchr(tool, '-');
	char own[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (len < 0)
		return error_os(err, -errno, "cannot read /proc/self/exe");
	own[len] = '\0';
	*strrchr(own, '/') = '\0';
	beside = text_format("%s/%s", own, tool);
	built = text_format("%s/../%s/%s", own, dash ? dash + 1 : tool, tool);
	if (!beside || !built)
		return error_os(err, -ENOMEM, "cannot look for %s", tool);
	if (access(beside, X_OK) == 0)
		*ret = TAKE(beside);
	else if (access(built, X_OK) == 0)
		*ret = TAKE(built);
	else
		return error_say(err, -ENOENT,
			"%s is not in %s, beside this program: install the whole suite in one place", tool,
			own);
	return 0;
}

static int read_all(int fd, char **ret)
{
	_cleanup_(freep) char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	char part[16384];
	ssize_t n = 0;

	if (!memory)
		return -errno;
	do {
		fwrite(part, 1, (size_t)n, memory);
		n = read(fd, part, sizeof(part));
	} while (n > 0 || (n < 0 && errno == EINTR && (n = 0) == 0));
	if (fclose(memory) != 0 || n < 0)
		return -errno;
	*ret = TAKE(text);
	return 0;
}

static int start(const char *path, char *const *argv, int out_fd, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, interrupt_old_mask());
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	r = -posix_spawn(ret_pid, path, &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return r;
}

int suite_tool_run(const char *tool, char *const *argv, char **ret_output, int *ret_status, struct error *err)
{
	_cleanup_(freep) char *path = NULL, *output = NULL;
	_cleanup_(closep) int in = -1, out = -1;
	int pipes[2], status, r, waited;
	pid_t pid;

	r = suite_tool_find(tool, &path, err);
	if (r < 0)
		return r;
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return error_os(err, -errno, "cannot run %s", tool);
	in = pipes[0];
	out = pipes[1];
	r = start(path, argv, out, &pid);
	if (r < 0)
		return error_os(err, r, "cannot run %s", path);
	closep(&out);
	out = -1;
	r = read_all(in, &output);
	do
		waited = waitpid(pid, &status, 0);
	while (waited < 0 && errno == EINTR);
	if (r < 0 || waited < 0)
		return error_os(err, r < 0 ? r : -errno, "cannot read what %s says", tool);
	if (WIFSIGNALED(status))
		return error_say(err, -EPROTO, "%s was ended by signal %d", tool, WTERMSIG(status));
	*ret_output = TAKE(output);
	*ret_status = WEXITSTATUS(status);
	return 0;
}
