/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A shell command between samples: see hook.h. */
#include "lib/host/process/hook.h"

#include "lib/base/argv.h"
#include "lib/base/cleanup.h"
#include "lib/host/process/process.h"
#include "lib/host/process/subprocess.h"

#include <errno.h>

int hook_run(const char *command, char *const *shell, bool show_output, const char *what, struct error *err)
{
	_cleanup_(argv_freep) char **argv = argv_for_shell(shell, command);
	const struct subprocess hook = {
		.argv = argv,
		.stdin_fd = -1,
		.stdout_fd = show_output ? 0 : -1,
	};
	char end[PROCESS_END_SIZE];
	int status, r;

	if (!argv)
		return error_oom(err);
	r = subprocess_run(&hook, NULL, &status, err);
	if (r < 0)
		return error_prefix(err, r, "%s", what);
	if (status != 0)
		return error_say(err, -ECANCELED, "%s '%s' %s", what, command, process_end_text(end, status));
	return 0;
}
