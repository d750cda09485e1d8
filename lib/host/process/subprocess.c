/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program of the system, asked a question: see subprocess.h. */
#include "lib/host/process/subprocess.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { MOST_OUTPUT = 65536 };

static char *find(const char *name)
{
	static const char *const directories[] = {"/usr/bin", "/usr/sbin", "/bin", "/sbin"};

	for (size_t i = 0; i < ELEMENTS(directories); i++) {
		char *path = text_format("%s/%s", directories[i], name);

		if (path && access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

static int start(const char *path, const char *const *argv, int out_fd, pid_t *ret_pid)
{
	static char *const environment[] = {
		(char *)"PATH=/usr/bin:/usr/sbin:/bin:/sbin", (char *)"LC_ALL=C.UTF-8", NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int r;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	r = -posix_spawn(ret_pid, path, &actions, &attributes, (char *const *)argv, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return r;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* Reads until the end, the limit in bytes, or the deadline (-ETIMEDOUT). */
static int collect(int fd, int timeout_ms, char *text)
{
	int64_t deadline = now_ms() + timeout_ms;
	size_t size = 0;

	for (;;) {
		struct pollfd pollfd = {.fd = fd, .events = POLLIN};
		int64_t left = deadline - now_ms();
		ssize_t n;

		if (left <= 0 || poll(&pollfd, 1, (int)left) == 0)
			return -ETIMEDOUT;
		n = read(fd, text + size, MOST_OUTPUT - size);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			break;
		size += n > 0 ? (size_t)n : 0;
	}
	text[size] = '\0';
	return 0;
}

int command_ask(
	const char *const *argv, int timeout_ms, char **ret_output, int *ret_status, struct error *err)
{
	_cleanup_(freep) char *path = find(argv[0]), *text = malloc(MOST_OUTPUT + 1);
	_cleanup_(closep) int in = -1, out = -1;
	int pipes[2], status = 0, r;
	pid_t pid;

	if (!text)
		return error_os(err, -ENOMEM, "cannot run %s", argv[0]);
	if (!path)
		return error_say(err, -ENOENT, "%s is not installed", argv[0]);
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return error_os(err, -errno, "cannot run %s", path);
	in = pipes[0];
	out = pipes[1];
	r = start(path, argv, out, &pid);
	if (r < 0)
		return error_os(err, r, "cannot run %s", path);
	closep(&out);
	out = -1;
	r = collect(in, timeout_ms, text);
	if (r < 0)
		kill(pid, SIGKILL);
	closep(&in); /* more than we read ends it */
	in = -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (r == -ETIMEDOUT)
		return error_say(err, r, "%s did not answer within %d ms", path, timeout_ms);
	if (r < 0)
		return error_os(err, r, "cannot read what %s says", path);
	*ret_output = TAKE(text);
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return 0;
}
