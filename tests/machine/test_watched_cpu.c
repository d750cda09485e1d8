/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is recorded of the CPU that the program under test is pinned to: how long it waited for the
 * CPU, which processes had it, and what interrupts took. */
#include "tests/unit/check.h"

#include "lib/run/observer.h"
#include "lib/stats/summary.h"
#include "tests/machine/burning.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <sys/syscall.h>

enum { TRIES = 20, BURN_MS = 200 };

static const char *program; /* burn: EMP_BURN from the environment */

/* Where the programs run; found once, because a test pins this process elsewhere. */
static int last_cpu(void)
{
	static int last = -1;
	cpu_set_t cpus;

	if (last >= 0)
		return last;
	sched_getaffinity(0, sizeof(cpus), &cpus);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &cpus))
			last = cpu;
	return last;
}

static int open_observer(void **state)
{
	struct observer *o = calloc(1, sizeof(*o));
	struct error err = {};

	*state = o;
	if (observer_open(o, ACCOUNTING_BPF, last_cpu(), &err) < 0)
		fail_msg("%s", err.text);
	if (!o->cgroup)
		fail_msg("%s", o->no_cgroup.text);
	return 0;
}

static int close_observer(void **state)
{
	observer_close(*state);
	free(*state);
	return 0;
}

#define TEST_OBSERVED(name) TEST_WITH(name, open_observer, close_observer)

static struct raw_sample observe_command(struct observer *o, char *const *argv)
{
	struct command_spec spec = {
		.argv = argv,
		.path = program,
		.cpu = last_cpu(),
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.cgroup = o->cgroup,
		.accounting = o->accounting,
		.linger_ns = NS_PER_S,
	};
	struct raw_sample seen;
	struct error err;

	if (observe_sample(&spec, o->counters, &seen, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(seen.exec.wait_status, 0);
	return seen;
}

static struct raw_sample observe(struct observer *o)
{
	char ms[16], *argv[] = {(char *)"burn", ms, NULL};

	snprintf(ms, sizeof(ms), "%d", BURN_MS);
	return observe_command(o, argv);
}

/* A child that runs for ever on a CPU, and is there already. */
static pid_t compete(const char *name, int cpu)
{
	_Atomic bool *is_there = burning_shared(sizeof(*is_there));
	pid_t pid = fork();

	while (pid != 0 && !*is_there)
		usleep(1000);
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	burning_pin(cpu);
	*is_there = true;
	for (;;)
		;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static const struct process_cpu *find(const struct raw_sample *seen, pid_t pid)
{
	for (size_t i = 0; i < seen->usages.n; i++)
		if (seen->usages.items[i].pid == pid)
			return &seen->usages.items[i];
	return NULL;
}

static int64_t had_same_cpu(const struct raw_sample *seen)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < seen->usages.n; i++)
		sum_ns += seen->usages.items[i].same_cpu_ns;
	return sum_ns;
}

static int64_t apart(int64_t a, int64_t b)
{
	return a < b ? b - a : a - b;
}

/* The elapsed time also has what the observer needs to be woken, which may be long beside other
 * work. */
TEST_OBSERVED(what_a_program_waits_is_what_others_had_of_its_cpu)
{
	pid_t pid = compete("rival", last_cpu());
	bool right = false;

	for (int i = 0; i < TRIES && !right; i++) {
		struct raw_sample seen = observe(*state);
		const struct process_cpu *rival = find(&seen, pid);
		int64_t wait_ns = seen.wait_ns;

		assert_non_null(rival);
		assert_int_equal(rival->cpu, last_cpu());
		assert_true(wait_ns > BURN_MS * NS_PER_MS / 4);
		assert_true(wait_ns <= seen.exec.et_ns);
		print_message("waited %.3f ms, ET - PT %.3f ms, others had %.3f ms\n",
			(double)wait_ns / 1e6, (double)(seen.exec.et_ns - seen.exec.pt_ns) / 1e6,
			(double)had_same_cpu(&seen) / 1e6);
		right = rival->same_cpu_ns == rival->pt_ns &&
			apart(wait_ns, seen.exec.et_ns - seen.exec.pt_ns) < seen.exec.et_ns / 100 &&
			apart(wait_ns, had_same_cpu(&seen)) < seen.exec.et_ns / 20;
	}
	stop(pid);
	assert_true(right);
}

/* Of a program that sleeps that long and computes otherwise: others had the CPU for the rest. */
static struct raw_sample observe_exact(struct observer *o, char *const *argv, int64_t asleep_ns)
{
	struct raw_sample seen;

	for (int i = 0; i < TRIES; i++) {
		int64_t off_ns;

		seen = observe_command(o, argv);
		off_ns = seen.exec.et_ns - seen.exec.pt_ns - asleep_ns;
		print_message("tasks waited %.3f ms, W %.3f ms, off the CPU %.3f ms, "
			      "others had %.3f ms\n",
			(double)seen.usages.wait_ns / 1e6, (double)seen.wait_ns / 1e6,
			(double)off_ns / 1e6, (double)had_same_cpu(&seen) / 1e6);
		if (apart(seen.wait_ns, off_ns) < seen.exec.et_ns / 100)
			return seen;
	}
	fail_msg("W is wrong");
	return seen;
}

/* Three threads share the CPU: one of them runs or others do. */
TEST_OBSERVED(what_tasks_of_a_program_wait_for_each_other_was_not_taken_by_others)
{
	char *argv[] = {(char *)"burn", (char *)"--threads", (char *)"3", (char *)"60", NULL};
	struct raw_sample alone = observe_command(*state, argv), beside;
	pid_t pid = compete("rival", last_cpu());

	beside = observe_exact(*state, argv, 0);
	stop(pid);
	assert_true(alone.wait_ns >= 0 && alone.usages.wait_ns > alone.wait_ns + 20 * NS_PER_MS);
	assert_true(alone.wait_ns <= alone.exec.et_ns - alone.exec.pt_ns + alone.exec.et_ns / 20);
	assert_true(beside.usages.shared_wait && beside.usages.wait_ns > beside.wait_ns);
	assert_true(beside.wait_ns > 10 * NS_PER_MS);
}

/* The rival has the CPU while the program sleeps, and shares it afterwards; only the second
 * counts. */
TEST_OBSERVED(what_others_use_while_a_program_sleeps_is_not_taken_from_it)
{
	char *argv[] = {(char *)"burn", (char *)"--sleep", (char *)"200", (char *)"--threads",
		(char *)"3", (char *)"60", NULL};
	pid_t pid = compete("rival", last_cpu());

	observe_exact(*state, argv, 200 * NS_PER_MS);
	stop(pid);
}

/* Only the CPU that the program was pinned to is watched. */
TEST_OBSERVED(the_wait_of_tasks_that_went_to_another_cpu_is_not_known)
{
	char *argv[] = {(char *)"burn", (char *)"--cpu", (char *)"0", (char *)"--threads",
		(char *)"3", (char *)"60", NULL};
	struct raw_sample seen;

	if (last_cpu() == 0)
		skip(); /* one CPU */
	seen = observe_command(*state, argv);
	assert_true(seen.usages.shared_wait);
	assert_int_equal(seen.wait_ns, -1);
}

/* It is not known (-1) in a sample in which thousands of processes had the CPU. */
TEST_OBSERVED(who_runs_on_another_cpu_has_nothing_of_it)
{
	const struct process_cpu *rival = NULL;
	struct raw_sample seen;
	pid_t pid;

	if (last_cpu() == 0)
		skip(); /* one CPU */
	pid = compete("elsewhere", 0);
	for (int i = 0; i < TRIES && (!rival || rival->same_cpu_ns < 0); i++) {
		seen = observe(*state);
		rival = find(&seen, pid);
	}
	stop(pid);
	assert_non_null(rival);
	assert_int_equal(rival->cpu, 0);
	assert_int_equal(rival->same_cpu_ns, 0);
}

/* Has a CPU for that long, whoever else is there, and has it already; then it sleeps. */
static pid_t hold(int cpu, int64_t ns)
{
	const struct sched_param param = {.sched_priority = 1};
	_Atomic bool *is_there = burning_shared(sizeof(*is_there));
	pid_t pid = fork();

	while (pid != 0 && !*is_there)
		usleep(1000);
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "holder");
	burning_pin(cpu);
	assert_int_equal(sched_setscheduler(0, SCHED_FIFO, &param), 0);
	*is_there = true;
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < ns)
		;
	for (;;)
		pause();
}

/* The program waits between the first snapshot and its start. */
TEST_OBSERVED(what_others_had_of_the_cpu_before_the_program_started_is_not_in_the_sample)
{
	char *argv[] = {(char *)"burn", (char *)"5", NULL};
	int64_t waited_ns = 0;

	if (last_cpu() == 0)
		skip(); /* one CPU */
	for (int i = 0; i < TRIES && waited_ns < 50 * NS_PER_MS; i++) {
		pid_t pid = hold(last_cpu(), 300 * NS_PER_MS);
		struct raw_sample seen = observe_command(*state, argv);
		const struct process_cpu *holder = find(&seen, pid);
		int64_t had_ns = holder ? holder->pt_ns : 0;
		int64_t off_ns = seen.exec.et_ns - seen.exec.pt_ns;

		waited_ns = seen.exec.wait_before_ns;
		print_message(
			"waited %.3f ms before the start; off the CPU %.3f ms, others %.3f ms\n",
			(double)waited_ns / 1e6, (double)off_ns / 1e6, (double)had_ns / 1e6);
		assert_true(had_ns <= off_ns + NS_PER_MS);
		stop(pid);
	}
	assert_true(waited_ns >= 50 * NS_PER_MS);
}

/* Samples the CPU 20000 times a second, as perf record -F 20000 does where there are no hardware
 * events. */
static int start_interrupts(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 50000,
		.sample_type = PERF_SAMPLE_IP,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
}

TEST_OBSERVED(interrupts_are_counted)
{
	int64_t usual_ns = observe(*state).usages.interrupts_ns, more_ns;
	int fd;

	assert_true(usual_ns > 0 && usual_ns < BURN_MS * NS_PER_MS);
	fd = start_interrupts(last_cpu());
	if (fd < 0 && errno == ENOENT)
		skip();
	assert_true(fd >= 0);
	more_ns = observe(*state).usages.interrupts_ns;
	close(fd);
	print_message("interrupts took %.3f ms, and %.3f ms with 20000 more a second\n",
		(double)usual_ns / 1e6, (double)more_ns / 1e6);
	assert_true(more_ns > 2 * usual_ns);
}

/* How others took the program's CPU is not known where it is not pinned. */
TEST_OBSERVED(a_program_on_any_cpu_waits_too)
{
	struct observer *o = *state;
	char *argv[] = {(char *)"burn", (char *)"5", NULL};
	struct command_spec spec = {.argv = argv,
		.path = program,
		.cpu = -1,
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.cgroup = o->cgroup,
		.accounting = o->accounting};
	struct raw_sample seen;
	struct error err = {};

	assert_int_equal(observe_sample(&spec, o->counters, &seen, &err), 0);
	assert_true(seen.wait_ns >= 0);
	assert_int_equal(seen.usages.interrupts_ns, -1);
	for (size_t i = 0; i < seen.usages.n; i++)
		assert_int_equal(seen.usages.items[i].same_cpu_ns, -1);
}

/* A program without other threads; taskstats needs a moment longer to see the end. */
static void assert_waits_by(enum accounting_backend backend)
{
	struct observer o;
	struct error err;
	bool right = false;
	pid_t pid;

	if (observer_open(&o, backend, last_cpu(), &err) < 0)
		fail_msg("%s", err.text);
	pid = compete("rival", last_cpu());
	for (int i = 0; i < TRIES && !right; i++) {
		struct raw_sample seen = observe(&o);

		assert_true(seen.wait_ns > BURN_MS * NS_PER_MS / 4);
		print_message("%s: waited %.3f ms, ET - PT %.3f ms\n", o.wait_source,
			(double)seen.wait_ns / 1e6,
			(double)(seen.exec.et_ns - seen.exec.pt_ns) / 1e6);
		right = apart(seen.wait_ns, seen.exec.et_ns - seen.exec.pt_ns) <
			seen.exec.et_ns / 50;
	}
	stop(pid);
	observer_close(&o);
	assert_true(right);
}

TEST(waiting_is_known_without_bpf)
{
	assert_waits_by(ACCOUNTING_TASKSTATS);
	assert_waits_by(ACCOUNTING_NONE);
}

TEST(a_program_that_left_part_of_its_work_to_another_process_has_no_wait_by_its_first_thread)
{
	char *argv[] = {(char *)"burn", (char *)"--orphan", (char *)"5", NULL};
	struct observer o;
	struct error err;

	assert_int_equal(observer_open(&o, ACCOUNTING_NONE, last_cpu(), &err), 0);
	assert_int_equal(observe_command(&o, argv).wait_ns, -1);
	observer_close(&o);
}

/* Takes half of a CPU, a fifth of a ms at a time, whoever else is there. */
static pid_t interrupt_often(int cpu)
{
	const struct sched_param param = {.sched_priority = 1};
	int64_t until_ns;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "often");
	burning_pin(cpu);
	assert_int_equal(sched_setscheduler(0, SCHED_FIFO, &param), 0);
	for (;; usleep(200)) {
		until_ns = clock_ns(CLOCK_MONOTONIC) + 200 * NS_PER_US;
		while (clock_ns(CLOCK_MONOTONIC) < until_ns)
			;
	}
}

/* Observes without delay, from another CPU. */
static void be_prompt(void)
{
	const struct sched_param param = {.sched_priority = 1};

	burning_pin(0);
	assert_int_equal(sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param), 0);
}

/* The median of what is in the elapsed time of short samples and is neither PT nor W. */
static int64_t unaccounted(struct observer *o, char *const *argv)
{
	enum { SAMPLES = 101 };
	int64_t rest_ns[SAMPLES];

	for (int i = 0; i < SAMPLES; i++) {
		struct raw_sample seen = observe_command(o, argv);

		if (seen.wait_ns < 0)
			fail_msg("W is unknown: left behind %d, tasks waited %" PRId64
				 " ns, shared %d, taken %" PRId64 " ns, before the start %" PRId64
				 " ns, escaped %d",
				seen.exec.left_behind, seen.usages.wait_ns, seen.usages.shared_wait,
				seen.usages.taken_ns, seen.exec.wait_before_ns, seen.exec.escaped);
		rest_ns[i] = seen.exec.et_ns - seen.exec.pt_ns - seen.wait_ns;
	}
	return (int64_t)median_of(rest_ns, SAMPLES);
}

/* W is as exact beside work that takes half of the CPU, and that also disturbs what comes before
 * the clock starts. */
static void assert_wait_is_exact(struct observer *o, char *const *argv)
{
	int64_t alone_ns, disturbed_ns;
	bool right = false;
	pid_t pid;

	if (last_cpu() == 0)
		skip(); /* one CPU */
	be_prompt();
	if (!burning_at_once(0, last_cpu())) {
		print_message("not run: the CPUs of this machine take turns, as an emulator's\n");
		skip();
	}
	/* Of one of the two, other work of the machine may disturb more than half. */
	for (int i = 0; i < TRIES / 4 && !right; i++) {
		alone_ns = unaccounted(o, argv);
		pid = interrupt_often(last_cpu());
		disturbed_ns = unaccounted(o, argv);
		stop(pid);
		print_message("%.9s: ET - PT - W is %.3f ms alone, %.3f ms disturbed\n", argv[1],
			(double)alone_ns / 1e6, (double)disturbed_ns / 1e6);
		right = apart(alone_ns, disturbed_ns) < NS_PER_MS / 10;
	}
	assert_true(right);
}

/* Execve takes most of its time, to copy long arguments. */
TEST_OBSERVED(what_a_short_program_waits_during_execve_counts)
{
	static char wide[100000];
	char *argv[] = {(char *)"burn", wide, wide, wide, wide, wide, wide, wide, wide, wide, wide,
		(char *)"1", NULL};

	memset(wide, 'x', sizeof(wide) - 1);
	assert_wait_is_exact(*state, argv);
}

TEST_OBSERVED(the_wait_of_a_program_that_ends_at_once_is_exact)
{
	assert_wait_is_exact(*state, (char *[]){(char *)"burn", (char *)"0", NULL});
}

TEST_OBSERVED(so_it_is_whatever_the_program_does)
{
	static const char *const ways[][5] = {
		{"burn", "--child", "2"},
		{"burn", "--threads", "1", "2"},
		{"burn", "--again", "2"},
		{"burn", "--yield", "2"},
	};

	for (size_t i = 0; i < ELEMENTS(ways); i++)
		assert_wait_is_exact(*state, (char *const *)ways[i]);
}

/* This process makes itself larger than the program, as emp-measure is. */
TEST_OBSERVED(peak_memory_is_the_programs_own)
{
	const struct accounting_support support = accounting_support_read(AT_FDCWD);
	enum { LARGE = 64 << 20, FILLED = 8 << 20, OTHER = 1 << 20 };
	_cleanup_(freep) char *large = malloc(LARGE);
	char *argv[] = {(char *)"burn", (char *)"--fill", (char *)"8192", NULL};
	char *shell[] = {(char *)"sh", (char *)"-c",
		(char *)"$EMP_BURN --fill 8192 & wait; exec true", NULL};
	const char *burn = program;
	struct raw_sample seen;

	memset(large, 1, LARGE);
	__asm__ volatile("" : : "r"(large) : "memory");
	seen = observe_command(*state, argv);
	if (support.kernel_major < 6 || (support.kernel_major == 6 && support.kernel_minor < 16)) {
		assert_false(seen.knows_peak); /* it is at least what this process has */
		return;
	}
	assert_true(seen.knows_peak);
	assert_in_range(seen.exec.max_rss_bytes, FILLED, FILLED + 4 * OTHER);
	argv[2] = (char *)"0";
	seen = observe_command(*state, argv);
	assert_in_range(seen.exec.max_rss_bytes, OTHER / 4, 4 * OTHER);
	program = "/bin/sh"; /* the greatest of its processes, and not what is executed last */
	seen = observe_command(*state, shell);
	program = burn;
	assert_in_range(seen.exec.max_rss_bytes, FILLED, FILLED + 4 * OTHER);
}

static char *marks_path(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "/dev/shm/emp-marks-%d", getpid());
	setenv("EMP_MARKS", path, 1);
	return path;
}

enum { MARKED = 20 };

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* How much later than its last mark each of MARKED programs is said to have ended, in ascending
 * order: the item at `at`. */
static int64_t after_marks(const int64_t *ends_ns, size_t at)
{
	_cleanup_(closep) int fd = open(marks_path(), O_RDONLY | O_CLOEXEC);
	int64_t marks[MARKED][2], late_ns[MARKED];

	assert_int_equal(pread(fd, marks, sizeof(marks), 0), sizeof(marks));
	for (size_t i = 0; i < MARKED; i++)
		late_ns[i] = ends_ns[i] - marks[i][1];
	qsort(late_ns, MARKED, sizeof(*late_ns), compare_ns);
	return late_ns[at];
}

/* What the kernel takes to end a program, for a parent that awaits it without sleeping, where that
 * is not disturbed. */
static int64_t kernels_end_ns(void)
{
	char *argv[] = {(char *)"burn", (char *)"--mark", (char *)"3", NULL};
	int64_t ends_ns[MARKED];

	unlink(marks_path());
	for (size_t i = 0; i < MARKED; i++) {
		pid_t pid = vfork();

		if (pid == 0) {
			execv(program, argv);
			_exit(127);
		}
		while (waitpid(pid, NULL, WNOHANG) == 0)
			;
		ends_ns[i] = clock_ns(CLOCK_MONOTONIC_RAW);
	}
	return after_marks(ends_ns, MARKED / 4);
}

/* Of programs pinned to a CPU, or not (-1); the samples in which it says that the end was seen late
 * do not count. */
static int64_t ends_late_ns(const struct observer *o, int cpu)
{
	char *argv[] = {(char *)"burn", (char *)"--mark", (char *)"3", NULL};
	struct command_spec spec = {
		.argv = argv,
		.path = program,
		.cpu = cpu,
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.cgroup = o->cgroup,
		.accounting = o->accounting,
		.linger_ns = NS_PER_S,
	};
	int64_t ends_ns[MARKED];
	struct error err;

	unlink(marks_path());
	for (size_t n = 0; n < MARKED; n++) {
		struct raw_sample seen;

		if (observe_sample(&spec, o->counters, &seen, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(seen.exec.wait_status, 0);
		assert_true(seen.exec.late_ns >= 0);
		if (o->accounting)
			assert_int_equal(seen.exec.late_ns, 0);
		/* One that may be late counts as if its end was right: fewer than half are. */
		ends_ns[n] = seen.exec.start_raw_ns + seen.exec.et_ns - seen.exec.late_ns;
	}
	return after_marks(ends_ns, MARKED / 2);
}

/* With a loop on the CPU of the observer, and on each CPU. The kernel itself takes some time to end
 * a program, and more beside loops, so the best of several tries counts. */
TEST_OBSERVED(et_ends_with_the_program_and_not_when_the_observer_runs_again)
{
	const int64_t MOST_NS = 50 * NS_PER_US;
	_cleanup_(observer_close) struct observer none = {};
	const struct observer *observers[] = {*state, &none};
	int first = -1;
	cpu_set_t cpus;

	sched_getaffinity(0, sizeof(cpus), &cpus);
	while (!CPU_ISSET(++first, &cpus))
		;
	assert_int_equal(observer_open(&none, ACCOUNTING_NONE, last_cpu(), NULL), 0);
	for (int loops = 1; loops <= 2; loops++)
		for (int pinned = 0; pinned < 2; pinned++)
			for (size_t i = 0; i < ELEMENTS(observers); i++) {
				int64_t late_ns = INT64_MAX, end_ns = 0;
				cpu_set_t one;

				CPU_ZERO(&one);
				CPU_SET(first, &one);
				for (int k = 0;
					k < TRIES && (late_ns < 0 || late_ns > end_ns + MOST_NS);
					k++) {
					pid_t pids[2] = {};

					end_ns = kernels_end_ns();
					pids[0] = compete("first", first);
					if (loops == 2)
						pids[1] = compete("last", last_cpu());
					if (pinned)
						sched_setaffinity(0, sizeof(one), &one);
					late_ns = ends_late_ns(
						observers[i], pinned ? last_cpu() : -1);
					sched_setaffinity(0, sizeof(cpus), &cpus);
					for (int p = 0; p < loops; p++)
						stop(pids[p]);
				}
				printf("%s, %d loops, %s: median of ends %" PRId64
				       " us, the kernel's own %" PRId64 " us\n",
					observers[i]->backend, loops,
					pinned ? "pinned" : "not pinned", late_ns / 1000,
					end_ns / 1000);
				if (late_ns > end_ns + MOST_NS || late_ns < 0)
					fail_msg("%s, %d loops, pinned: %d: %" PRId64
						 " us late, the kernel %" PRId64 " us",
						observers[i]->backend, loops, pinned,
						late_ns / 1000, end_ns / 1000);
			}
	unlink(marks_path());
}

/* Also those that have ended before the observer gets a CPU. */
TEST_OBSERVED(what_outlives_the_program_is_counted_beside_loops)
{
	char *argv[] = {(char *)"burn", (char *)"--orphan", (char *)"2", NULL};
	pid_t pids[] = {compete("first", 0), compete("last", last_cpu())};

	for (int i = 0; i < MARKED; i++) {
		struct raw_sample seen = observe_command(*state, argv);

		assert_int_equal(seen.exec.left_behind, 1);
		assert_int_equal(seen.wait_ns, -1);
	}
	for (size_t i = 0; i < ELEMENTS(pids); i++)
		stop(pids[i]);
}

int check_begin(void)
{
	program = getenv("EMP_BURN");
	return geteuid() == 0 ? 0 : check_cannot_run("making cgroups needs root");
}
