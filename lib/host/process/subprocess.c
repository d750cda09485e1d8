/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Helper programs: see subprocess.h. */
#include "lib/host/process/subprocess.h"

#include "lib/base/argv.h"
#include "lib/host/process/launch.h"
#include "lib/host/process/process.h"
#include "lib/host/process/signals.h"
#include "lib/host/process/tty.h"

#include <limits.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* From a signal to SIGKILL, for what a helper does at its end. */
static const int64_t GRACE_NS = 3 * NS_PER_S;
/* Signals that come closer are one: timeout(1) sends two. */
static const int64_t AGAIN_NS = NS_PER_S / 5;

struct helper {
	pid_t pid;            /* 0: not started */
	int pidfd, output_fd; /* output_fd -1: not captured, or all of it read */
	char *output;
	size_t size;
	int64_t deadline_ns; /* 0: none */
	int *tree;           /* pidfds of those that a signal went to */
	size_t n_tree;
};

static int start_helper(struct helper *h, const struct subprocess *p, bool capture)
{
	_cleanup_(closep) int out = -1, null = open("/dev/null", O_RDWR | O_CLOEXEC);
	_cleanup_(freep) char *found = NULL;
	struct command_spec spec = {
		.argv = p->argv,
		.path = p->path,
		.environment = p->environment,
		.cpu = -1,
		.survives = true,
		.wait_unused = true,
	};
	int fds[] = {p->stdin_fd, p->stdout_fd, p->stderr_fd}, pipes[2], r = 0;
	struct exec_result started;

	if (null < 0)
		return -errno;
	if (capture) {
		if (pipe2(pipes, O_CLOEXEC) < 0)
			return -errno;
		h->output_fd = pipes[0];
		fds[1] = out = pipes[1];
		fcntl(h->output_fd, F_SETFL, O_NONBLOCK);
	}
	for (size_t i = 0; i < ELEMENTS(fds); i++)
		if (fds[i] <= 0)
			fds[i] = fds[i] < 0 ? null : -1;
	spec.stdin_fd = fds[0];
	spec.stdout_fd = fds[1];
	spec.stderr_fd = fds[2];
	if (!p->path) {
		r = executable_find(p->argv[0], &found, NULL);
		spec.path = found;
	}
	if (r == 0)
		r = program_launch(&spec, &started, &h->pidfd, NULL);
	h->pid = r == 0 ? started.pid : 0;
	return r;
}

/* To the helper and all that it has started; to a shell before its command, at whose end it would
 * go on. */
static void signal_tree(struct helper *h, int signal)
{
	_cleanup_(pid_list_free) struct pid_list list = {};

	*(pid_t *)array_add_reused(list.items, list.n, list.capacity) = h->pid;
	for (size_t i = 0; i < list.n; i++)
		pid_list_add_children(&list, list.items[i], list.items[i], NULL);
	for (size_t i = 0; i < list.n; i++) {
		int fd = (int)syscall(SYS_pidfd_open, list.items[i], 0);

		kill(list.items[i], signal);
		if (fd >= 0)
			*array_add(h->tree, h->n_tree) = fd;
	}
}

/* Waits for those that a signal went to; kills what is there at the deadline. */
static void end_tree(struct helper *h)
{
	for (size_t i = 0; i < h->n_tree; i++) {
		struct pollfd fd = {.fd = h->tree[i], .events = POLLIN};
		int64_t left_ns = h->deadline_ns - clock_ns(CLOCK_MONOTONIC);

		if (poll(&fd, 1, left_ns > 0 ? (int)(left_ns / NS_PER_MS) + 1 : 0) == 0)
			syscall(SYS_pidfd_send_signal, h->tree[i], SIGKILL, NULL, 0);
		close(h->tree[i]);
	}
	free(h->tree);
}

/* A signal for this process goes to the helper. ^C goes from the kernel to all processes of the
 * terminal's foreground. */
static void pass_signal(
	struct helper *h, const struct subprocess *p, const struct signalfd_siginfo *info)
{
	bool typed = info->ssi_signo == SIGINT && info->ssi_code == SI_KERNEL;

	if (p->ends_on_signals || p->notes_signals)
		interrupt_note((int)info->ssi_signo);
	if (!typed && p->ends_on_signals)
		signal_tree(h, (int)info->ssi_signo);
	else if (!typed)
		kill(h->pid, (int)info->ssi_signo);
}

/* Waits until it has ended, and reads what it wrote until then; does not wait for other
 * processes that have the pipe. -EMSGSIZE: it wrote more than output_max. -EINTR: a signal came
 * that ends it. */
static int follow_helper(struct helper *h, const struct subprocess *p)
{
	int64_t first_ns = 0; /* the first signal */
	int late = -ETIMEDOUT;

	for (;;) {
		struct pollfd fds[] = {
			{.fd = h->pidfd, .events = POLLIN},
			{.fd = h->output_fd, .events = POLLIN},
			{.fd = p->forward_signals || p->ends_on_signals ? interrupt_fd : -1,
				.events = POLLIN},
		};
		int64_t left_ns = h->deadline_ns - clock_ns(CLOCK_MONOTONIC);
		struct signalfd_siginfo info;
		int ms = h->deadline_ns ? (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS) : -1;

		if (h->deadline_ns && left_ns <= 0)
			return late;
		if (poll(fds, ELEMENTS(fds), ms) < 0 && errno != EINTR)
			return -errno;
		while (h->output_fd >= 0) {
			char part[16384];
			ssize_t n = read(h->output_fd, part, sizeof(part));

			if (n < 0 && errno != EAGAIN && errno != EINTR)
				return -errno;
			if (n < 0)
				break;
			if (n == 0) {
				close(TAKE_FD(h->output_fd));
				break;
			}
			if (h->size + (size_t)n > p->output_max)
				return -EMSGSIZE;
			h->output = xrealloc(h->output, h->size + (size_t)n + 1);
			memcpy(h->output + h->size, part, (size_t)n);
			h->output[h->size += (size_t)n] = '\0';
		}

		/* even if it has ended: a key of the terminal may have ended it */
		while (fds[2].revents && read(interrupt_fd, &info, sizeof(info)) == sizeof(info)) {
			pass_signal(h, p, &info);
			if (!p->ends_on_signals)
				continue;
			if (late == -EINTR && clock_ns(CLOCK_MONOTONIC) > first_ns + AGAIN_NS) {
				h->deadline_ns = 0;
				return -EINTR;
			}
			first_ns = late == -EINTR ? first_ns : clock_ns(CLOCK_MONOTONIC);
			h->deadline_ns = first_ns + GRACE_NS;
			late = -EINTR;
		}
		if (fds[0].revents)
			return late == -EINTR ? -EINTR : 0;
	}
}

int subprocess_run(
	const struct subprocess *p, char **ret_output, int *ret_wait_status, struct error *err)
{
	struct helper h = {.pidfd = -1, .output_fd = -1, .output = xcalloc(1, 1)};
	_cleanup_(freep) char *output = NULL;
	const char *name = p->path ?: p->argv[0];
	int subreaper = 0, r;

	prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
	/* a server that it starts is no orphan of a program: see orphans.h */
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	r = start_helper(&h, p, ret_output);
	if (p->timeout_ms)
		h.deadline_ns = clock_ns(CLOCK_MONOTONIC) + p->timeout_ms * NS_PER_MS;
	/* of an earlier interruption, after which it runs all the same */
	if (p->ends_on_signals && interrupt_noted())
		interrupt_drain(interrupt_fd);
	if (r == 0)
		r = follow_helper(&h, p);

	if (r < 0 && h.pid > 0)
		signal_tree(&h, SIGKILL);
	while (h.pid > 0 && waitpid(h.pid, ret_wait_status, 0) < 0)
		if (errno != EINTR) {
			r = r < 0 ? r : -errno;
			break;
		}
	end_tree(&h);
	closep(&h.pidfd);
	closep(&h.output_fd);
	prctl(PR_SET_CHILD_SUBREAPER, subreaper);

	output = h.output;
	if (r == -EINTR)
		return error_say(err, r, "interrupted while %s ran", name);
	if (r == -ETIMEDOUT)
		return error_say(err, r, "%s did not end within %d ms", name, p->timeout_ms);
	if (r == -EMSGSIZE)
		return error_say(err, r, "%s wrote more than %zu bytes", name, p->output_max);
	if (r < 0)
		return error_os(err, r, "cannot run %s", name);
	if (ret_output)
		*ret_output = TAKE(output);
	return 0;
}

int subprocess_ask(const char *const *argv, int timeout_ms, char **ret_output, int *ret_status,
	struct error *err)
{
	static const char *const directories[] = {"/usr/bin", "/usr/sbin", "/bin", "/sbin"};
	static char *const environment[] = {
		(char *)"PATH=/usr/bin:/usr/sbin:/bin:/sbin", (char *)"LC_ALL=C.UTF-8", NULL};
	struct subprocess question = {
		.argv = (char *const *)argv,
		.environment = environment,
		.stdin_fd = -1,
		.stderr_fd = -1,
		.output_max = 1 << 20,
		.timeout_ms = timeout_ms,
	};

	for (size_t i = 0; i < ELEMENTS(directories); i++) {
		_cleanup_(freep) char *path = text_format("%s/%s", directories[i], argv[0]);
		int r, status;

		if (access(path, X_OK) < 0)
			continue;
		question.path = path;
		r = subprocess_run(&question, ret_output, &status, err);
		if (r == 0)
			*ret_status = process_exit_status(status);
		return r;
	}
	return error_say(err, -ENOENT, "%s is not installed", argv[0]);
}

int hook_run(const char *command, char *const *shell, bool show_output, const char *what,
	struct error *err)
{
	_cleanup_(argv_freep) char **argv = argv_for_shell(shell, command);
	const struct subprocess hook = {
		.argv = argv,
		.stdin_fd = -1,
		.stdout_fd = show_output ? 0 : -1,
		.ends_on_signals = true,
	};
	int status, r;

	tty_keep();
	r = subprocess_run(&hook, NULL, &status, err);
	if (r < 0 || status != 0)
		tty_put_back();
	if (r == -EINTR)
		return error_say(err, r, "interrupted in %s '%s'", what, command);
	if (r < 0)
		return error_prefix(err, r, "%s", what);
	if (status != 0)
		return error_say(
			err, -ECANCELED, "%s '%s' %s", what, command, process_end_text(status));
	return 0;
}

static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

int executable_find(const char *name, char **ret, struct error *err)
{
	const char *path = getenv("PATH") ?: "/usr/local/bin:/usr/bin:/bin";
	bool not_executable = false;
	int r;

	if (strchr(name, '/')) {
		r = check_executable(name);
		if (r < 0)
			return error_os(err, r, "cannot execute '%s'", name);
		*ret = xstrdup(name);
		return 0;
	}
	for (size_t len; *name; path += len + 1) {
		_cleanup_(freep) char *file = NULL;

		len = strcspn(path, ":");
		file = text_format("%.*s%s%s", (int)len, path, len ? "/" : "", name);
		r = check_executable(file);
		if (r == 0) {
			*ret = TAKE(file);
			return 0;
		}
		not_executable |= r == -EACCES;
		if (!path[len])
			break;
	}
	if (not_executable)
		return error_say(
			err, -EACCES, "command '%s' is in PATH, but is not executable", name);
	return error_say(err, -ENOENT, "command '%s' not found in PATH", name);
}

char *suite_path(const char *place, const char *installed, const char *name)
{
	const size_t prefix = strlen(EMP_PREFIX);
	char own[PATH_MAX] = "", *slash, *path;
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);
	int above;

	own[len < 0 ? 0 : len] = '\0';
	slash = strrchr(own, '/') ?: own;
	*slash = '\0';
	above = (int)((strrchr(own, '/') ?: own) - own);
	path = text_format("%.*s/%s/%s", above, own, place, name);
	if (access(path, R_OK) == 0)
		return path;
	if (installed && !strncmp(installed, EMP_PREFIX "/", prefix + 1)) {
		free(path);
		path = text_format("%.*s%s/%s", above, own, installed + prefix, name);
		if (access(path, R_OK) == 0)
			return path;
	}
	free(path);
	return text_format("%s/%s", installed ?: own, name);
}

/* A file of the suite that is not a tool in the folder of the same name. */
static const struct suite_file {
	const char *name;
	const char *folder;    /* in the build tree */
	const char *installed; /* NULL: beside the tools */
} suite_files[] = {
	{"emp-inc", "calibrate", NULL},
	{"emp-load", "measure", NULL},
	{"emp-compare-commits", "measure", NULL},
	{"emp-sort", "programs", EMP_PROGRAM_DIR},
	{"emp-matc", "programs", EMP_PROGRAM_DIR},
	{"emp-matr", "programs", EMP_PROGRAM_DIR},
	{"emp-slowed", "programs", EMP_PROGRAM_DIR},
	{"libemp-clock-preload.so", "lib/clock", EMP_LIB_DIR},
};

static struct suite_file suite_file_of(const char *name)
{
	for (size_t i = 0; i < ELEMENTS(suite_files); i++)
		if (!strcmp(name, suite_files[i].name))
			return suite_files[i];
	return (struct suite_file){name, name + strlen("emp-"), NULL};
}

int suite_file_find(const char *name, char **ret, struct error *err)
{
	const bool library = strstr(name, ".so");
	const struct suite_file file = suite_file_of(name);
	_cleanup_(freep) char *path = suite_path(file.folder, file.installed, name);

	if (access(path, library ? R_OK : X_OK) < 0)
		return error_say(err, -ENOENT, "%s is not in %.*s; %s", name,
			(int)(strrchr(path, '/') - path), path,
			file.installed ? "is EMP installed as a whole?"
				       : "install all tools of the suite in one directory");
	*ret = TAKE(path);
	return 0;
}

static void wait_for_end(int socket)
{
	char byte;

	while (read(socket, &byte, 1) < 0 && errno == EINTR)
		;
}

/* The guard's process. Signals of the terminal and of a process group do not reach it. Of the
 * descriptors it keeps only these two: other locks and pipes of this process end with it. */
static _Noreturn void guard_sleep(int socket, int fd, guard_act *act, const void *data)
{
	int kept[2] = {dup(socket), dup(fd)}; /* the two may be 0 and 1 in the other order */
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "emp-guard");
	if (kept[0] < 0 || kept[1] < 0 || dup2(kept[0], 0) < 0 || dup2(kept[1], 1) < 0)
		_exit(1);
	syscall(__NR_close_range, 2, ~0U, 0);
	wait_for_end(0);
	act(1, data);
	_exit(0);
}

/* Its parent ends at once: a child of this process would be taken for one of a program under
 * test. */
int guard_new(guard_act *act, int fd, const void *data, struct error *err)
{
	int sockets[2], status;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return error_os(err, -errno, "cannot make a socket");
	pid = fork();
	if (pid == 0) {
		pid = fork();
		if (pid == 0)
			guard_sleep(sockets[1], fd, act, data);
		_exit(pid < 0);
	}
	close(sockets[1]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
		close(sockets[0]);
		return error_os(err, -EAGAIN,
			"cannot start a process that cleans up if this one is killed");
	}
	return sockets[0];
}

void guard_free(int guard)
{
	if (guard < 0)
		return;
	shutdown(guard, SHUT_WR);
	wait_for_end(guard);
	close(guard);
}
