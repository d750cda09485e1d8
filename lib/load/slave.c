/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A slave: see slave.h. Until its release it only waits; from then on it starts one command after another, and writes to
 * the shared memory what the driver will want to know. */
#include "lib/load/slave.h"

#include "lib/load/shared.h"
#include "lib/load/steps.h"

#include "lib/base/clock.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/start.h"
#include "lib/host/process/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

struct slave {
	struct load load;
	struct shared *shared;
	const struct script *script;
	struct slave_state *state; /* in the shared memory */
	int socket;                /* -1 until it is known */
	struct steps steps;
};

int slave_send_memory(int socket, int memory_fd, struct error *err)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec part = {(char[]){'m'}, 1};
	const struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.header), &memory_fd, sizeof(int));
	if (sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
		return error_os(err, -errno, "cannot send a slave its memory");
	return 0;
}

static int receive_memory(int socket, int *ret, struct error *err)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control;
	char byte;
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message))
		return error_say(err, -EPROTO, "only emp-load starts slaves: see 'emp-load run'");
	memcpy(ret, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
	return 0;
}

static void tell(const struct slave *s)
{
	ssize_t told = send(s->socket, "", 1, MSG_NOSIGNAL);

	(void)told; /* a driver that is gone has this process killed */
}

/* The socket becomes a descriptor of its own, and /dev/null the standard input. */
static int take_socket(struct slave *s, struct error *err)
{
	_cleanup_(closep) int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	s->socket = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (s->socket < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0)
		return error_os(err, -errno, "cannot open /dev/null");
	return 0;
}

static int join(struct slave *s, const char *number, struct error *err)
{
	_cleanup_(closep) int memory_fd = -1;
	int64_t k;
	int r = take_socket(s, err);

	if (r == 0)
		r = receive_memory(s->socket, &memory_fd, err);
	if (r == 0)
		r = shared_open(&s->shared, memory_fd, err);
	if (r == 0)
		r = text_parse_int(number, "the slave's number", 0, (int64_t)s->shared->n - 1, &k, err);
	if (r < 0)
		return r;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* the kernel forgets it when a file with capabilities is executed */
	if (getppid() != s->shared->driver)
		return error_say(err, -ESRCH, "emp-load, which started it, has ended");
	s->state = &s->shared->slaves[k];
	r = load_parse(&s->load, shared_text(s->shared), "the load", err);
	if (r == 0)
		s->script = load_script_of(&s->load, (size_t)k);
	return r == 0 ? steps_begin(
				&s->steps, s->script, s->load.seed + (uint64_t)k, s->shared->show_output, err)
		      : r;
}

/* A batch process that is woken does not take the CPU from the driver, which has the others to wake. A slave that has
 * another policy than the usual one keeps it. */
static int wait_for_release(const struct slave *s, struct error *err)
{
	static const struct sched_param none;
	bool usual = sched_getscheduler(0) == SCHED_OTHER;

	if (usual && sched_setscheduler(0, SCHED_BATCH, &none) < 0)
		return error_os(err, -errno, "cannot wait as a batch process");
	__atomic_add_fetch(&s->shared->ready, 1, __ATOMIC_ACQ_REL);
	tell(s);
	shared_wait(&s->shared->go);
	s->state->started_ns = clock_ns(CLOCK_MONOTONIC_RAW);
	if (usual && sched_setscheduler(0, SCHED_OTHER, &none) < 0)
		return error_os(err, -errno, "cannot go on as an ordinary process");
	if (s->script->slice_ns && slice_set(s->script->slice_ns) < 0)
		return error_say(err, -ENOTSUP, "slice needs Linux 6.12 or later");
	return 0;
}

/* Where the kernel shares the CPUs out by session first (autogroup), nice alone only counts within the slave's own. An
 * ordinary user may write the file once in 100 ms. */
static int set_nice(int nice, struct error *err)
{
	static const struct timespec soon = {.tv_nsec = 10 * NS_PER_MS};
	_cleanup_(closep) int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	int64_t enabled;
	int r;

	if (setpriority(PRIO_PROCESS, 0, nice) < 0)
		return error_os(err, -errno, "cannot set nice %d", nice);
	while ((r = fd < 0 || dprintf(fd, "%d", nice) < 0 ? -errno : 0) == -EAGAIN)
		nanosleep(&soon, NULL);
	if (r == 0 || text_read_int(AT_FDCWD, "/proc/sys/kernel/sched_autogroup_enabled", &enabled) < 0 ||
		!enabled)
		return 0;
	return error_say(err, r,
		"nice %d would have no effect: cannot write /proc/self/autogroup: %s; use 'weight', or "
		"'sysctl kernel.sched_autogroup_enabled=0'",
		nice, strerror(-r));
}

/* Files and directories are made here, so that its own are found and removed with it. */
static int set_up(const struct slave *s, const char *directory, struct error *err)
{
	char number[32];
	int r;

	if (chdir(directory) < 0)
		return error_os(err, -errno, "cannot enter %s", directory);
	snprintf(number, sizeof(number), "%td", s->state - s->shared->slaves + 1);
	if (setenv("TMPDIR", directory, 1) < 0 || /* a compiler that is killed leaves its files */
		setenv("EMP_LOAD_SLAVE", number, 1) < 0)
		return error_oom(err);
	r = s->script->setup ? hook_run(s->script->setup, NULL, s->shared->show_output, "setup", err) : 0;
	s->state->is_set_up = r == 0;
	if (r == 0)
		r = steps_make_files(&s->steps, err);
	return r == 0 && s->script->nice ? set_nice(s->script->nice, err) : r;
}

static int repeat(struct slave *s, struct error *err)
{
	struct slave_state *state = s->state;
	int64_t n = state->repetitions + 1;
	int r = steps_take(&s->steps, err);

	if (r < 0)
		return r;
	state->major_faults = s->steps.major_faults;
	state->max_rss_bytes = s->steps.max_rss_bytes;
	__atomic_store_n(&state->last_ns[n % 2], clock_ns(CLOCK_MONOTONIC_RAW), __ATOMIC_RELEASE);
	__atomic_store_n(&state->repetitions, n, __ATOMIC_RELEASE);
	return 0;
}

/* Its share of the work, the teardown if that is measured too. */
static int finish(struct slave *s, struct error *err)
{
	int r = 0;

	for (int i = 0; r == 0 && i < s->script->repetitions; i++)
		r = repeat(s, err);
	if (r == 0 && s->shared->coordination == LOAD_BEFORE && s->script->teardown) {
		r = hook_run(s->script->teardown, NULL, s->shared->show_output, "teardown", err);
		s->state->is_torn_down = true;
	}
	s->state->finished_ns = clock_ns(CLOCK_MONOTONIC_RAW);
	return r;
}

static int serve(struct slave *s, char **argv, struct error *err)
{
	int r = join(s, argv[0], err);

	if (r == 0)
		r = set_up(s, argv[1], err);
	if (r < 0)
		return r;
	r = wait_for_release(s, err);
	if (r == 0)
		r = finish(s, err);
	if (r < 0)
		return r;
	__atomic_add_fetch(&s->shared->finished, 1, __ATOMIC_ACQ_REL);
	tell(s);
	while (s->shared->coordination != LOAD_CONSTANT) /* until it is killed */
		pause();
	while (r == 0)
		r = repeat(s, err);
	return r;
}

int slave_verb(int argc, char **argv, struct error *err)
{
	struct slave s = {.socket = -1};
	int r;

	privilege_forget(); /* the driver has observed it from outside; its commands are the user's */
	r = serve(&s, argv, err);
	if (r < 0 && s.state) {
		snprintf(s.state->failure, sizeof(s.state->failure), "%s", err->text);
		tell(&s);
		_exit(1); /* the driver tells the user */
	}
	return r;
}
