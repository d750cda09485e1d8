/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Helper programs: see subprocess.h. The only file that includes spawn.h. */
#include "lib/host/process/subprocess.h"

#include "lib/base/xalloc.h"
#include "lib/base/clock.h"
#include "lib/base/cleanup.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/process.h"
#include "lib/host/process/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* One that runs. */
struct helper {
	const struct subprocess *request;
	pid_t pid;
	int pidfd, output_fd; /* output_fd -1: not captured, or all of it read */
	char *output;
	size_t size;
};

static void redirect(posix_spawn_file_actions_t *actions, int fd, int target)
{
	if (fd < 0)
		posix_spawn_file_actions_addopen(
			actions, target, "/dev/null", target ? O_WRONLY : O_RDONLY, 0);
	else if (fd > 0)
		posix_spawn_file_actions_adddup2(actions, fd, target);
}

static int spawn_process(const struct subprocess *p, int stdout_fd, pid_t *ret)
{
	char *const *environment = p->environment ?: privilege_environment();
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r;

	posix_spawn_file_actions_init(&actions);
	redirect(&actions, p->stdin_fd, STDIN_FILENO);
	redirect(&actions, stdout_fd, STDOUT_FILENO);
	redirect(&actions, p->stderr_fd, STDERR_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, interrupt_old_mask());
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	r = p->path ? posix_spawn(ret, p->path, &actions, &attributes, p->argv, environment)
		    : posix_spawnp(ret, p->argv[0], &actions, &attributes, p->argv, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

static int start(struct helper *h, bool capture)
{
	_cleanup_(closep) int in = -1, out = -1;
	int fds[2], r;

	if (capture) {
		if (pipe2(fds, O_CLOEXEC) < 0)
			return -errno;
		in = fds[0];
		out = fds[1];
		fcntl(in, F_SETFL, O_NONBLOCK);
	}
	r = spawn_process(h->request, capture ? out : h->request->stdout_fd, &h->pid);
	if (r < 0)
		return r;
	h->pidfd = (int)syscall(SYS_pidfd_open, h->pid, 0);
	if (h->pidfd < 0)
		return -errno;
	h->output_fd = TAKE_FD(in);
	return 0;
}

/* Reads all that is available. -EMSGSIZE: more than output_max. */
static int read_output(struct helper *h)
{
	for (;;) {
		char part[16384], *bigger;
		ssize_t n = read(h->output_fd, part, sizeof(part));

		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		if (n == 0) {
			close(TAKE_FD(h->output_fd));
			return 0;
		}
		if (h->size + (size_t)n > h->request->output_max)
			return -EMSGSIZE;
		bigger = xrealloc(h->output, h->size + (size_t)n + 1);
		h->output = bigger;
		memcpy(h->output + h->size, part, (size_t)n);
		h->output[h->size += (size_t)n] = '\0';
	}
}

static void forward_signals(const struct helper *h)
{
	bool typed;
	int signal;

	while ((signal = interrupt_next(&typed)) != 0)
		if (signal != SIGINT || !typed) /* the terminal gives it to both */
			kill(h->pid, signal);
}

/* Waits until it has ended, and reads what it wrote until then; does not wait for other processes that have the
 * pipe. */
static int follow(struct helper *h)
{
	int64_t deadline_ns = clock_ns(CLOCK_MONOTONIC) + h->request->timeout_ms * NS_PER_MS;

	for (;;) {
		struct pollfd fds[] = {
			{.fd = h->pidfd, .events = POLLIN},
			{.fd = h->output_fd, .events = POLLIN},
			{.fd = h->request->forward_signals ? interrupt_fd() : -1, .events = POLLIN},
		};
		int64_t left_ns = deadline_ns - clock_ns(CLOCK_MONOTONIC);
		int r, ms = h->request->timeout_ms ? (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS) : -1;

		if (h->request->timeout_ms && left_ns <= 0)
			return -ETIMEDOUT;
		if (poll(fds, ELEMENTS(fds), ms) < 0 && errno != EINTR)
			return -errno;
		r = h->output_fd >= 0 ? read_output(h) : 0;
		if (r < 0 || fds[0].revents)
			return r;
		if (fds[2].revents)
			forward_signals(h);
	}
}

static int run(struct helper *h, bool capture, int *ret_wait_status)
{
	int r = start(h, capture);

	if (r == 0)
		r = follow(h);
	if (r < 0 && h->pid > 0)
		kill(h->pid, SIGKILL);
	while (h->pid > 0 && waitpid(h->pid, ret_wait_status, 0) < 0 && errno == EINTR)
		;
	closep(&h->pidfd);
	closep(&h->output_fd);
	return r;
}

static int explain(const struct subprocess *p, int r, struct error *err)
{
	const char *name = p->path ?: p->argv[0];

	if (r == -ETIMEDOUT)
		return error_say(err, r, "%s did not end within %d ms", name, p->timeout_ms);
	if (r == -EMSGSIZE)
		return error_say(err, r, "%s wrote more than %zu bytes", name, p->output_max);
	return error_os(err, r, "cannot run %s", name);
}

int subprocess_run(const struct subprocess *p, char **ret_output, int *ret_wait_status, struct error *err)
{
	struct helper h = {.request = p, .pidfd = -1, .output_fd = -1, .output = xcalloc(1, 1)};
	_cleanup_(freep) char *output = NULL;
	int subreaper = 0, r;

	prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
	prctl(PR_SET_CHILD_SUBREAPER, 0); /* a server that it starts is none of ours: see orphans.h */
	r = run(&h, ret_output, ret_wait_status);
	prctl(PR_SET_CHILD_SUBREAPER, subreaper);
	output = h.output;
	if (r < 0)
		return explain(p, r, err);
	if (ret_output)
		*ret_output = TAKE(output);
	return 0;
}

static char *find_in_system(const char *name)
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

int subprocess_ask(
	const char *const *argv, int timeout_ms, char **ret_output, int *ret_status, struct error *err)
{
	static char *const environment[] = {
		(char *)"PATH=/usr/bin:/usr/sbin:/bin:/sbin", (char *)"LC_ALL=C.UTF-8", NULL};
	_cleanup_(freep) char *path = find_in_system(argv[0]);
	const struct subprocess question = {
		.argv = (char *const *)argv,
		.path = path,
		.environment = environment,
		.stdin_fd = -1,
		.stderr_fd = -1,
		.output_max = 1 << 20,
		.timeout_ms = timeout_ms,
	};
	int r, status;

	if (!path)
		return error_say(err, -ENOENT, "%s is not installed", argv[0]);
	r = subprocess_run(&question, ret_output, &status, err);
	if (r == 0)
		*ret_status = process_exit_status(status);
	return r;
}
