/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A worker: see worker.h. Until its release it only waits; from then on it starts one command
 * after another, and writes to the shared memory what the coordinator will want to know. */
#include "lib/host/process/process.h"
#include "lib/load/worker.h"

#include "lib/host/process/launch.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/slices.h"
#include "lib/host/process/subprocess.h"

#include <limits.h>
#include <linux/futex.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct worker {
	struct load load;
	struct worker_memory *memory;
	const struct script *script;
	struct worker_state *state; /* in the memory */
	int socket;                 /* -1 until it is known */
	uint64_t random;            /* decides on all pauses that are drawn */
	/* descriptors: /dev/null; -1 or that of the commands' output */
	int null, output;
	int64_t major_faults, max_rss_bytes; /* of all commands so far */
};

static void worker_tell(const struct worker *w)
{
	ssize_t told = send(w->socket, "", 1, MSG_NOSIGNAL);

	(void)told; /* a coordinator that is gone has this process killed */
}

/* The socket becomes a descriptor of its own, and /dev/null the standard input. */
static int worker_take_socket(struct worker *w, struct error *err)
{
	w->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	w->socket = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (w->socket < 0 || w->null < 0 || dup2(w->null, STDIN_FILENO) < 0)
		return error_os(err, -errno, "cannot open /dev/null");
	return 0;
}

/* Maps the memory whose descriptor the coordinator has sent. */
static int worker_map_memory(struct worker *w, struct error *err)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control;
	struct iovec part = {(char[1]){}, 1};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	_cleanup_(closep) int fd = -1;
	struct stat st;
	void *memory;

	if (recvmsg(w->socket, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message))
		return error_say(err, -EPROTO, "only emp-load starts slaves: see 'emp-load run'");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));

	if (fstat(fd, &st) < 0)
		return error_os(err, -errno, "cannot map the driver's memory");
	memory = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return error_os(err, -errno, "cannot map the driver's memory");
	w->memory = memory;
	return 0;
}

/* Finds its place in the memory, and its script. */
static int worker_join(struct worker *w, const char *number, struct error *err)
{
	struct worker_memory *memory;
	int64_t k;
	int r = worker_take_socket(w, err);

	if (r == 0)
		r = worker_map_memory(w, err);
	if (r < 0)
		return r;
	memory = w->memory;
	r = text_parse_int(number, "the slave's number", 0, (int64_t)memory->n - 1, &k, err);
	if (r < 0)
		return r;

	/* the kernel forgets it when a file with capabilities is executed */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != memory->coordinator)
		return error_say(err, -ESRCH, "emp-load, which started it, has ended");

	w->state = &memory->workers[k];
	r = load_parse(&w->load, (const char *)&memory->workers[memory->n], "the load", err);
	if (r < 0)
		return r;
	w->script = load_script_of(&w->load, (size_t)k);
	w->random = w->load.seed + (uint64_t)k;
	w->output = memory->show_output ? -1 : w->null;
	return 0;
}

enum { FILL_BLOCK = 1 << 20 };

static const char fill_file[] = "emp-load-flush";

/* Writes the file that `flush` reads, as long as the longest of its steps wants it. */
static int write_fill_file(const struct script *script, struct error *err)
{
	_cleanup_(freep) char *block = NULL;
	_cleanup_(closep) int fd = -1;
	int64_t left = 0;

	for (size_t i = 0; i < script->n_steps; i++)
		if (script->steps[i].fill_bytes > left)
			left = script->steps[i].fill_bytes;
	if (left == 0)
		return 0;

	block = xcalloc(1, FILL_BLOCK);
	fd = open(fill_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	for (ssize_t n = 0; fd >= 0 && left > 0; left -= n) {
		n = write(fd, block, left < FILL_BLOCK ? (size_t)left : FILL_BLOCK);
		if (n < 0)
			break;
	}
	if (left > 0 || fsync(fd) < 0)
		return error_os(err, -errno, "cannot write the file that flush reads");
	return 0;
}

/* Where the kernel shares the CPUs out by session first (autogroup), nice alone only counts within
 * the worker's own. An ordinary user may write the file once in 100 ms. */
static int worker_set_nice(int nice, struct error *err)
{
	static const struct timespec soon = {.tv_nsec = 10 * NS_PER_MS};
	const char *text = text_brief("%d", nice);
	int r;

	if (setpriority(PRIO_PROCESS, 0, nice) < 0)
		return error_os(err, -errno, "cannot set nice %d", nice);
	while ((r = path_write(AT_FDCWD, text, "/proc/self/autogroup")) == -EAGAIN)
		nanosleep(&soon, NULL);
	if (r == 0 || path_int(AT_FDCWD, "/proc/sys/kernel/sched_autogroup_enabled") <= 0)
		return 0;
	return error_say(err, r,
		"nice %d would have no effect: cannot write /proc/self/autogroup: %s; use "
		"'weight', or 'sysctl kernel.sched_autogroup_enabled=0'",
		nice, strerror(-r));
}

/* Files and directories are made by the worker, so that its own are found and removed with it. */
static int worker_set_up(const struct worker *w, const char *directory, struct error *err)
{
	const struct script *script = w->script;
	char number[32];
	int r = 0;

	if (chdir(directory) < 0)
		return error_os(err, -errno, "cannot enter %s", directory);
	snprintf(number, sizeof(number), "%td", w->state - w->memory->workers + 1);
	if (setenv("TMPDIR", directory, 1) < 0 || /* a compiler that is killed leaves its files */
		setenv("EMP_LOAD_SLAVE", number, 1) < 0)
		xalloc_fail();

	if (script->setup)
		r = hook_run(script->setup, NULL, w->memory->show_output, "setup", err);
	w->state->is_set_up = r == 0;
	if (r == 0)
		r = write_fill_file(script, err);
	if (r == 0 && script->nice)
		r = worker_set_nice(script->nice, err);
	return r;
}

/* -ECANCELED, with a sentence that names the line, if the command fails. */
static int worker_run_command(struct worker *w, const struct step *step, struct error *err)
{
	_cleanup_(closep) int input = step->input ? open(step->input, O_RDONLY | O_CLOEXEC) : -1;
	_cleanup_(closep) int pidfd = -1;
	const struct command_spec spec = {
		.argv = step->argv,
		.path = step->path,
		.cpu = -1,
		.stdin_fd = step->input ? input : w->null,
		.stdout_fd = w->output,
		.stderr_fd = w->output,
		.wait_unused = true,
	};
	struct exec_result started;
	struct rusage usage;
	int r, status;

	if (step->input && input < 0)
		return error_os(err, -errno, "line %d: cannot open '%s'", step->line, step->input);
	r = program_launch(&spec, &started, &pidfd, err);
	if (r < 0)
		return error_prefix(err, r, "line %d", step->line);
	if (wait4(started.pid, &status, 0, &usage) < 0)
		return error_os(err, -errno, "cannot wait for '%s'", step->argv[0]);
	w->major_faults += usage.ru_majflt;
	if (usage.ru_maxrss * 1024 > w->max_rss_bytes)
		w->max_rss_bytes = usage.ru_maxrss * 1024;
	if (WIFSIGNALED(status) || (status != 0 && !w->script->ignore_failure))
		return error_say(err, -ECANCELED, "line %d, '%.80s', %s", step->line, step->text,
			process_end_text(status));
	return 0;
}

/* Sleeps for a time that is drawn. */
static void worker_think(struct worker *w, const struct think *think)
{
	double uniform = random_unit(&w->random);
	int64_t range_ns = think->high_ns - think->low_ns, ns;
	struct timespec left;

	if (think->exponential)
		ns = (int64_t)(-log(1 - uniform) * (double)think->low_ns);
	else
		ns = think->low_ns + (int64_t)(uniform * (double)range_ns);
	left = (struct timespec){ns / NS_PER_S, ns % NS_PER_S};
	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static int drop_page_cache(struct error *err)
{
	int r;

	sync(); /* what is not written yet cannot be dropped */
	r = path_write(AT_FDCWD, "1", "/proc/sys/vm/drop_caches");
	if (r < 0)
		return error_os(err, r, "cannot drop the page cache, which only root may");
	return 0;
}

static int read_fill_file(int64_t bytes, struct error *err)
{
	_cleanup_(freep) char *block = xmalloc(FILL_BLOCK);
	_cleanup_(closep) int fd = open(fill_file, O_RDONLY | O_CLOEXEC);
	ssize_t got = 1;

	for (int64_t left = bytes; fd >= 0 && left > 0 && got > 0; left -= got)
		got = read(fd, block, left < FILL_BLOCK ? (size_t)left : FILL_BLOCK);
	if (fd < 0 || got < 0)
		return error_os(err, -errno, "cannot read the file of flush");
	return 0;
}

static int worker_take_step(struct worker *w, const struct step *step, struct error *err)
{
	switch (step->kind) {
	case STEP_THINK:
		worker_think(w, &step->think);
		return 0;
	case STEP_DROP:
		return drop_page_cache(err);
	case STEP_FILL:
		return read_fill_file(step->fill_bytes, err);
	default:
		return worker_run_command(w, step, err);
	}
}

/* Follows the script once. */
static int worker_repeat(struct worker *w, struct error *err)
{
	struct worker_state *state = w->state;
	int64_t n = state->repetitions + 1, now_ns;
	int r = 0;

	for (size_t i = 0; r == 0 && i < w->script->n_steps; i++)
		r = worker_take_step(w, &w->script->steps[i], err);
	if (r < 0)
		return r;
	state->major_faults = w->major_faults;
	state->max_rss_bytes = w->max_rss_bytes;
	now_ns = clock_ns(CLOCK_MONOTONIC_RAW);
	__atomic_store_n(&state->last_ns[n % 2], now_ns, __ATOMIC_RELEASE);
	__atomic_store_n(&state->repetitions, n, __ATOMIC_RELEASE);
	return 0;
}

/* Waits for its release as a batch process, which takes the CPU from nobody when it is woken:
 * the coordinator has the others to wake. A worker that has another policy than the usual one
 * keeps it. */
static int wait_for_release(const struct worker *w, struct error *err)
{
	static const struct sched_param none;
	bool usual = sched_getscheduler(0) == SCHED_OTHER;

	if (usual && sched_setscheduler(0, SCHED_BATCH, &none) < 0)
		return error_os(err, -errno, "cannot wait as a batch process");
	__atomic_add_fetch(&w->memory->ready, 1, __ATOMIC_ACQ_REL);
	worker_tell(w);
	while (!__atomic_load_n(&w->memory->go, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &w->memory->go, FUTEX_WAIT, 0, NULL);
	w->state->started_ns = clock_ns(CLOCK_MONOTONIC_RAW);
	if (usual && sched_setscheduler(0, SCHED_OTHER, &none) < 0)
		return error_os(err, -errno, "cannot go on as an ordinary process");
	if (w->script->slice_ns && slice_set(w->script->slice_ns) < 0)
		return error_say(err, -ENOTSUP, "slice needs Linux 6.12 or later");
	return 0;
}

/* Its share of the work, the teardown if that is measured too; then it keeps the load constant, or
 * waits, until it is killed. */
static int worker_work(struct worker *w, struct error *err)
{
	int r = 0;

	for (int i = 0; r == 0 && i < w->script->repetitions; i++)
		r = worker_repeat(w, err);
	if (r == 0 && w->memory->coordination == LOAD_BEFORE && w->script->teardown) {
		r = hook_run(w->script->teardown, NULL, w->memory->show_output, "teardown", err);
		w->state->is_torn_down = true;
	}
	w->state->finished_ns = clock_ns(CLOCK_MONOTONIC_RAW);
	if (r < 0)
		return r;
	__atomic_add_fetch(&w->memory->finished, 1, __ATOMIC_ACQ_REL);
	worker_tell(w);
	while (w->memory->coordination != LOAD_CONSTANT)
		pause();
	while (r == 0)
		r = worker_repeat(w, err);
	return r;
}

int worker_verb(int argc, char **argv, struct error *err)
{
	struct worker w = {.socket = -1};
	int r;

	/* the coordinator has observed it from outside; its commands are the user's */
	privilege_forget();
	r = worker_join(&w, argv[0], err);
	if (r == 0)
		r = worker_set_up(&w, argv[1], err);
	if (r == 0)
		r = wait_for_release(&w, err);
	if (r == 0)
		r = worker_work(&w, err);
	if (w.state) {
		snprintf(w.state->failure, sizeof(w.state->failure), "%s", err->text);
		worker_tell(&w);
		_exit(1); /* the coordinator tells the user */
	}
	return r;
}
