/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A shell command between samples: see hook.h. */
#include "lib/host/process/hook.h"

#include "lib/base/cleanup.h"
#include "lib/base/argv.h"
#include "lib/host/process/signals.h"
#include "lib/host/process/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int start(char *const *argv, bool show_output, pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r;

	prctl(PR_SET_CHILD_SUBREAPER, 0); /* a server that it leaves running is not ours */
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!show_output)
		posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, interrupt_old_mask());
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	r = -posix_spawnp(ret, argv[0], &actions, &attributes, argv, privilege_environment());
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return r;
}

int hook_run(const char *command, char *const *shell, bool show_output, const char *what, struct error *err)
{
	_cleanup_(argv_freep) char **argv = argv_for_shell(shell, command);
	int status, r;
	pid_t pid;

	r = argv ? start(argv, show_output, &pid) : -ENOMEM;
	if (r < 0)
		return error_os(err, r, "cannot run the shell '%s' for %s", argv ? argv[0] : "?", what);
	do
		r = waitpid(pid, &status, 0);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return error_os(err, -errno, "cannot wait for %s", what);
	if (WIFSIGNALED(status))
		return error_say(
			err, -ECANCELED, "%s '%s' was killed by signal %d", what, command, WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return error_say(err, -ECANCELED, "%s '%s' ended with exit status %d", what, command,
			WEXITSTATUS(status));
	return 0;
}
