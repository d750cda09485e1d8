/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPU time of processes by both backends, compared with what the processes report
 * themselves. */
#include "tests/unit/check.h"

#include "lib/host/accounting/accounting.h"
#include "lib/host/process/cgroup.h"
#include "lib/host/process/program.h"
#include "tests/machine/burning.h"

#include <limits.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>

extern char **environ;

static const struct accounting_options bpf = {.backend = ACCOUNTING_BPF},
				       bpf_read = {.backend = ACCOUNTING_BPF, .read = true},
				       taskstats = {.backend = ACCOUNTING_TASKSTATS};

static bool is_linux(int major, int minor) /* or later */
{
	const struct accounting_support support = accounting_support_read(AT_FDCWD);

	return support.kernel_major > major ||
	       (support.kernel_major == major && support.kernel_minor >= minor);
}

static bool has_taskstats(void)
{
	return is_linux(5, 19);
}

static struct accounting *begin(const struct accounting_options *options, uint64_t cgroup)
{
	struct accounting *a = NULL;
	struct error err = {};

	if (options->backend == ACCOUNTING_TASKSTATS && !has_taskstats())
		skip();
	if (accounting_new(&a, options, &err) < 0 || accounting_before(a, cgroup, -1, &err) < 0)
		fail_msg("%s", err.text);
	/* what a kernel lacks and is not needed is no complaint */
	assert_string_equal(err.text, "");
	return a;
}

static struct process_cpus end(struct accounting *a)
{
	struct process_cpus usages;
	struct error err = {};

	if (accounting_after(a, &usages, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < usages.n; i++)
		assert_true(usages.items[i].pid > 0); /* idle tasks are no processes */
	return usages;
}

static const struct process_cpu *find_pid(const struct process_cpus *usages, pid_t pid)
{
	for (size_t i = 0; i < usages->n; i++)
		if (usages->items[i].pid == pid)
			return &usages->items[i];
	return NULL;
}

/* The one of ours with that name: others may run the same tests. */
static const struct process_cpu *find(const struct process_cpus *usages, const char *name)
{
	const struct process_cpu *found = NULL;

	for (size_t i = 0; i < usages->n; i++)
		if (usages->items[i].program && !strcmp(usages->items[i].name, name)) {
			assert_null(found);
			found = &usages->items[i];
		}
	return found;
}

static void assert_near(int64_t got_ns, int64_t want_ns, int64_t within_ns)
{
	if (got_ns < want_ns - within_ns || got_ns > want_ns + within_ns)
		fail_msg("%.3f ms is not within %.3f ms of %.3f ms", (double)got_ns / 1e6,
			(double)within_ns / 1e6, (double)want_ns / 1e6);
}

/* A child of 200 ms inside the interval, which tells its time just before it ends (blind_ns 0) or
 * some time before. */
static void plant_and_find(
	const struct accounting_options *options, int64_t blind_ns, int64_t within_ns)
{
	_cleanup_(accounting_freep) struct accounting *a = begin(options, 0);
	int64_t *own_ns = burning_shared(sizeof(*own_ns)), wait_ns;
	const struct process_cpu *planted;
	struct process_cpus usages;
	pid_t pid;

	pid = burning_start("planted", 200 * NS_PER_MS, blind_ns, own_ns);
	wait_ns = burning_wait(pid);
	usages = end(a);
	planted = find(&usages, "planted");
	assert_non_null(planted);
	print_message("%s: own clock %.3f ms at last, wait4 %.3f ms; exact %.3f ms, tick %.3f ms\n",
		accounting_backend_names[accounting_state(a)->backend], (double)*own_ns / 1e6,
		(double)wait_ns / 1e6, (double)planted->pt_ns / 1e6,
		(double)planted->tick_ns / 1e6);
	assert_int_equal(planted->pid, pid);
	assert_true(planted->started && planted->ended && !planted->kernel);
	assert_true(planted->pt_ns >= *own_ns);
	assert_near(planted->pt_ns, wait_ns, within_ns);
	assert_false(usages.incomplete);
	munmap(own_ns, sizeof(*own_ns));
}

static void a_process_that_started_and_ended_inside_is_right_to_1_percent_with_bpf(void **state)
{
	plant_and_find(&bpf, 0, 2 * NS_PER_MS);
	plant_and_find(&bpf, 6 * NS_PER_MS, 2 * NS_PER_MS);
}

static void the_way_of_older_kernels_is_as_right(void **state)
{
	plant_and_find(&bpf_read, 6 * NS_PER_MS, 2 * NS_PER_MS);
}

static void with_taskstats_it_is_found_too_and_the_difference_is_some_ticks_at_most(void **state)
{
	plant_and_find(&taskstats, 0, 20 * NS_PER_MS);
	plant_and_find(&taskstats, 6 * NS_PER_MS, 20 * NS_PER_MS);
}

static void more_tasks_than_fit_into_a_snapshot_are_seen_nevertheless(void **state)
{
	struct accounting_options options = bpf;

	options.capacity = 16;
	plant_and_find(&options, 0, 2 * NS_PER_MS);
}

static void *burn_in_thread(void *ns)
{
	prctl(PR_SET_NAME, "a-thread");
	burning_until(CLOCK_THREAD_CPUTIME_ID, *(int64_t *)ns);
	syscall(SYS_exit, 0); /* without what the C library does when the last thread ends */
	return NULL;
}

/* A child with three threads of 30 ms each; its first thread ends before them if `leave`, and waits
 * for `go` once they have ended if not. */
static pid_t start_threads(bool leave, atomic_bool *burned, atomic_bool *go)
{
	static int64_t ns = 30 * NS_PER_MS;
	pthread_t threads[3];
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_NAME, "threaded");
	for (size_t i = 0; i < ELEMENTS(threads); i++)
		pthread_create(&threads[i], NULL, burn_in_thread, &ns);
	if (leave)
		syscall(SYS_exit, 0);
	for (size_t i = 0; i < ELEMENTS(threads); i++)
		pthread_join(threads[i], NULL);
	*burned = true;
	while (!*go)
		usleep(1000);
	_exit(0);
}

static void threads_are_summed_to_their_process(
	const struct accounting_options *options, int64_t within_ns)
{
	for (int leave = 0; leave < 2; leave++) {
		_cleanup_(accounting_freep) struct accounting *a = begin(options, 0);
		atomic_bool *flags = burning_shared(2 * sizeof(*flags));
		const struct process_cpu *threaded;
		struct process_cpus usages;
		int64_t wait_ns;

		flags[1] = true;
		wait_ns = burning_wait(start_threads(leave, &flags[0], &flags[1]));
		usages = end(a);
		threaded = find(&usages, "threaded");
		assert_non_null(threaded);
		assert_null(find(&usages, "a-thread"));
		assert_true(threaded->ended);
		assert_near(threaded->pt_ns, wait_ns, within_ns);
		munmap(flags, 2 * sizeof(*flags));
	}
}

static void threads_are_summed_to_their_process_with_bpf(void **state)
{
	threads_are_summed_to_their_process(&bpf, 2 * NS_PER_MS);
}

static void threads_are_summed_to_their_process_with_taskstats(void **state)
{
	threads_are_summed_to_their_process(&taskstats, 20 * NS_PER_MS);
}

static void threads_that_ended_count_while_their_process_lives(void **state)
{
	static const struct accounting_options *const all[] = {&bpf, &taskstats};

	for (size_t i = 0; i < ELEMENTS(all); i++) {
		_cleanup_(accounting_freep) struct accounting *a = begin(all[i], 0);
		atomic_bool *flags = burning_shared(2 * sizeof(*flags));
		const struct process_cpu *threaded;
		struct process_cpus usages;
		pid_t pid;

		pid = start_threads(false, &flags[0], &flags[1]);
		while (!flags[0])
			usleep(1000);
		usages = end(a);
		threaded = find(&usages, "threaded");
		assert_non_null(threaded);
		assert_true(threaded->started && !threaded->ended);
		assert_near(threaded->pt_ns, 90 * NS_PER_MS, 15 * NS_PER_MS);
		flags[1] = true;
		burning_wait(pid);
		munmap(flags, 2 * sizeof(*flags));
	}
}

/* A child on CPU 1 that always wants to run, and tells how long it has: it looks at the clock
 * (which takes no system call; one would make the scheduler write its time down) and leaves out the
 * gaps in which it did not get the CPU. */
static pid_t start_spinning(_Atomic int64_t *ran_ns)
{
	int64_t last_ns, now_ns, sum_ns = 0;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	burning_pin(1);
	for (last_ns = clock_ns(CLOCK_MONOTONIC);; last_ns = now_ns) {
		now_ns = clock_ns(CLOCK_MONOTONIC);
		if (now_ns - last_ns < 100 * NS_PER_US)
			sum_ns += now_ns - last_ns;
		*ran_ns = sum_ns;
	}
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The error of the time reported for one interval. */
static int64_t error_once(
	struct accounting *a, pid_t pid, const _Atomic int64_t *ran_ns, useconds_t us)
{
	const struct process_cpu *usage;
	struct process_cpus usages;
	struct error err = {};
	int64_t from_ns, to_ns;

	usleep(us % 4000);
	if (accounting_before(a, 0, -1, &err) < 0)
		fail_msg("%s", err.text);
	from_ns = *ran_ns;
	usleep(us);
	to_ns = *ran_ns;
	usages = end(a);
	usage = find_pid(&usages, pid);
	return llabs((usage ? usage->pt_ns : 0) - (to_ns - from_ns));
}

static int64_t median_error(const struct accounting_options *options)
{
	_cleanup_(accounting_freep) struct accounting *a = begin(options, 0);
	_Atomic int64_t *ran_ns = burning_shared(sizeof(*ran_ns));
	pid_t pid = start_spinning(ran_ns);
	const char *how = options->read ? " (read)" : "";
	int64_t errors[61];
	size_t n = ELEMENTS(errors);

	while (*ran_ns == 0)
		usleep(1000);
	for (size_t i = 0; i < n; i++)
		errors[i] = error_once(a, pid, ran_ns, 2000 + (useconds_t)i * 1237 % 4000);
	kill(pid, SIGKILL);
	burning_wait(pid);
	munmap((void *)ran_ns, sizeof(*ran_ns));
	qsort(errors, n, sizeof(errors[0]), compare);
	print_message(
		"%s%s: a process on another CPU is wrong by %.3f ms (median), %.3f ms (greatest)\n",
		accounting_backend_names[accounting_state(a)->backend], how,
		(double)errors[n / 2] / 1e6, (double)errors[n - 1] / 1e6);
	return errors[n / 2];
}

static void a_process_that_runs_on_another_cpu_all_the_time_is_right_with_bpf(void **state)
{
	int64_t ticks_ns, limit_ns;
	cpu_set_t cpus;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || !has_taskstats())
		skip();
	sched_getaffinity(0, sizeof(cpus), &cpus);
	burning_pin(0);
	ticks_ns = median_error(&taskstats); /* up to a tick at either end */
	limit_ns = ticks_ns > NS_PER_MS ? ticks_ns : NS_PER_MS;
	assert_true(median_error(&bpf) < limit_ns);
	assert_true(median_error(&bpf_read) < limit_ns);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void a_program_that_was_executed_inside_is_told_with_its_path(void **state)
{
	static const struct accounting_options *const all[] = {&bpf, &taskstats};

	for (size_t i = 0; i < ELEMENTS(all); i++) {
		_cleanup_(accounting_freep) struct accounting *a = begin(all[i], 0);
		const char *const argv[] = {"/bin/sh", "-c",
			"while [ ${#a} -lt 9999 ]; do a=x$a; done; (:); /bin/true", NULL};
		const struct process_cpu *sh;
		struct process_cpus usages;
		char path[PATH_MAX];
		pid_t pid;

		assert_int_equal(
			posix_spawn(&pid, argv[0], NULL, NULL, (char *const *)argv, environ), 0);
		burning_wait(pid);
		usages = end(a);
		sh = find_pid(&usages, pid);
		assert_non_null(sh);
		assert_string_equal(sh->name, "sh");
		assert_non_null(sh->exe);
		assert_string_equal(sh->exe, realpath("/bin/sh", path));
		for (size_t j = 0; j < usages.n; j++) /* its subshell, which executed nothing */
			if (!strcmp(usages.items[j].name, "sh") && usages.items[j].program)
				assert_string_equal(usages.items[j].exe, path);
	}
}

/* A child that moves into the cgroup, executes /bin/true there, and is gone. */
static pid_t run_true_in(const char *cgroup)
{
	_cleanup_(freep) char *procs = text_format("%s/cgroup.procs", cgroup);
	pid_t pid = fork();
	FILE *file;

	if (pid != 0)
		return pid;
	file = fopen(procs, "we");
	if (file && fputs("0", file) >= 0 && fclose(file) == 0)
		execl("/bin/true", "true", NULL);
	_exit(1);
}

static void the_unit_of_a_service_that_came_and_went_inside_is_known(void **state)
{
	_cleanup_(accounting_freep) struct accounting *a = begin(&bpf, 0);
	_cleanup_(cgroup_freep) struct cgroup *own = NULL;
	_cleanup_(freep) char *service = NULL;
	const struct process_cpu *usage;
	struct process_cpus usages;
	struct error err = {};
	pid_t pid;

	assert_int_equal(cgroup_new(&own, NULL, &err), 0);
	service = text_format("%s/emp-planted.service", own->path);
	assert_int_equal(mkdir(service, 0755), 0);
	pid = run_true_in(service);
	burning_wait(pid);
	assert_int_equal(rmdir(service), 0);
	usages = end(a);
	usage = find_pid(&usages, pid);
	assert_non_null(usage);
	assert_non_null(usage->unit);
	assert_string_equal(usage->unit, "emp-planted.service");
}

/* The snapshots have times only of tasks that used nothing, when there is a cgroup. */
static void with_a_cgroup_a_living_process_is_described_too(void **state)
{
	_cleanup_(accounting_freep) struct accounting *a = NULL;
	_cleanup_(cgroup_freep) struct cgroup *own = NULL;
	int64_t *ns = burning_shared(sizeof(*ns));
	const struct process_cpu *usage;
	struct process_cpus usages;
	struct error err = {};
	pid_t pid;

	assert_int_equal(cgroup_new(&own, NULL, &err), 0);
	a = begin(&bpf, own->id);
	pid = burning_start("living", 3600 * NS_PER_S, 0, ns);
	for (int i = 0; i < 2; i++) { /* started in the first sample, there before the second */
		clockid_t clock;

		assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
		burning_until(clock, clock_ns(clock) + 5 * NS_PER_MS);
		usages = end(a);
		usage = find_pid(&usages, pid);
		assert_non_null(usage);
		assert_string_equal(usage->name, "living");
		assert_non_null(usage->exe);
		assert_true(usage->pt_ns >= 4 * NS_PER_MS);
		assert_int_equal(usage->started, i == 0);
		assert_false(usage->ended || usage->program || usage->kernel);
		assert_int_equal(accounting_before(a, own->id, -1, &err), 0);
	}
	kill(pid, SIGKILL);
	burning_wait(pid);
	munmap(ns, sizeof(*ns));
}

/* A child that leaves a grandchild behind, which then is ours (PR_SET_CHILD_SUBREAPER). */
static pid_t leave_orphan(int64_t *orphan)
{
	pid_t pid = fork(), parent, child;

	if (pid != 0)
		return pid;
	parent = getpid();
	prctl(PR_SET_NAME, "leaver");
	child = fork();
	if (child > 0)
		*orphan = child;
	if (child == 0) {
		prctl(PR_SET_NAME, "orphan");
		while (getppid() == parent)
			usleep(1000);
		burning_until(CLOCK_PROCESS_CPUTIME_ID, 3 * NS_PER_MS);
		_exit(0);
	}
	burning_until(CLOCK_PROCESS_CPUTIME_ID, 3 * NS_PER_MS);
	_exit(0);
}

/* A process that is no longer ours: its parent has gone. */
static pid_t start_stranger(void)
{
	int64_t *stranger = burning_shared(sizeof(*stranger)), found;
	pid_t pid = fork();

	if (pid == 0) {
		pid_t parent = getpid();

		if (fork() == 0) {
			*stranger = getpid();
			while (getppid() == parent)
				usleep(1000);
			burning_until(CLOCK_PROCESS_CPUTIME_ID, 5 * NS_PER_MS);
			_exit(0);
		}
		while (!*(volatile int64_t *)stranger)
			usleep(1000);
		_exit(0);
	}
	burning_wait(pid);
	found = *stranger;
	munmap(stranger, sizeof(*stranger));
	return (pid_t)found;
}

enum { DEEP = 20 };

/* The deepest of DEEP cgroups, one below the other. */
static char *make_deep(const char *path)
{
	char *deep = strdup(path);

	for (int i = 0; i < DEEP; i++) {
		_cleanup_(freep) char *above = deep;

		deep = text_format("%s/below", above);
		assert_int_equal(mkdir(deep, 0755), 0);
	}
	return deep;
}

static pid_t run_stranger(void)
{
	pid_t stranger;

	prctl(PR_SET_CHILD_SUBREAPER, 0);
	stranger = start_stranger();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	while (kill(stranger, 0) == 0) /* it uses its CPU time, and ends */
		usleep(1000);
	return stranger;
}

static void the_program_is_told_from_others_by_its_cgroup_however_deep(void **state)
{
	static const struct accounting_options *const all[] = {&bpf, &bpf_read};

	for (size_t i = 0; i < ELEMENTS(all); i++) {
		_cleanup_(accounting_freep) struct accounting *a = NULL;
		_cleanup_(cgroup_freep) struct cgroup *own = NULL;
		_cleanup_(freep) char *deep = NULL;
		const struct process_cpu *inside, *deeper, *outside;
		struct process_cpus usages;
		struct error err = {};
		pid_t pids[3];

		assert_int_equal(cgroup_new(&own, NULL, &err), 0);
		deep = make_deep(own->path);
		a = begin(all[i], own->id);
		burning_wait(pids[0] = run_true_in(own->path));
		burning_wait(pids[1] = run_true_in(deep));
		pids[2] = run_stranger();
		usages = end(a);
		inside = find_pid(&usages, pids[0]);
		deeper = find_pid(&usages, pids[1]);
		outside = find_pid(&usages, pids[2]);
		assert_true(inside && inside->program && !inside->escaped);
		assert_true(deeper && deeper->program && !deeper->escaped);
		assert_true(outside && !outside->program && !outside->escaped);
	}
}

static void move_to(const char *cgroup)
{
	_cleanup_(freep) char *procs = text_format("%s/cgroup.procs", cgroup);
	FILE *file = fopen(procs, "we");

	if (!file || fputs("0", file) < 0 || fclose(file) != 0)
		_exit(1);
}

/* A child that moves from one cgroup to another, and leaves an orphan behind. */
static pid_t start_mover(const char *from, const char *to, int64_t *orphan)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	move_to(from);
	move_to(to);
	burning_wait(leave_orphan(orphan));
	_exit(0);
}

/* A child that starts others on request, such as the server of a --prepare. */
static pid_t start_server(const int request[2], const int answer[2])
{
	pid_t pid = fork(), child;
	char byte;

	if (pid != 0)
		return pid;
	while (read(request[0], &byte, 1) == 1) {
		child = fork();
		if (child == 0)
			burning_until(CLOCK_PROCESS_CPUTIME_ID, 3 * NS_PER_MS);
		if (child == 0)
			_exit(0);
		burning_wait(child);
		if (write(answer[1], &child, sizeof(child)) != sizeof(child))
			break;
	}
	_exit(0);
}

static void what_the_program_moves_to_another_cgroup_is_found(void **state)
{
	_cleanup_(cgroup_freep) struct cgroup *own = NULL, *other = NULL;
	_cleanup_(accounting_freep) struct accounting *a = NULL;
	int64_t *orphan = burning_shared(sizeof(*orphan));
	pid_t mover, server, child = 0;
	int request[2], answer[2];
	struct process_cpus usages;
	struct error err = {};

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	assert_int_equal(pipe(request) | pipe(answer), 0);
	assert_int_equal(cgroup_new(&own, NULL, &err), 0);
	assert_int_equal(cgroup_new(&other, NULL, &err), 0);
	server = start_server(request, answer);
	a = begin(&bpf, own->id);
	mover = start_mover(own->path, other->path, orphan);
	burning_wait(mover);
	burning_wait((pid_t)*orphan);
	assert_int_equal(write(request[1], "x", 1), 1);
	assert_int_equal(read(answer[0], &child, sizeof(child)), sizeof(child));
	usages = end(a);
	assert_true(find_pid(&usages, mover) && find_pid(&usages, mover)->escaped);
	assert_true(
		find_pid(&usages, (pid_t)*orphan) && find_pid(&usages, (pid_t)*orphan)->escaped);
	assert_true(find_pid(&usages, child) && !find_pid(&usages, child)->escaped);
	assert_true(server > 0);
	kill(server, SIGKILL);
	burning_wait(server);
	for (int i = 0; i < 2; i++) {
		close(request[i]);
		close(answer[i]);
	}
	munmap(orphan, sizeof(*orphan));
}

static void the_program_is_told_from_others_by_descent(void **state)
{
	static const struct accounting_options *const all[] = {&bpf, &bpf_read, &taskstats};

	for (size_t i = 0; i < ELEMENTS(all); i++) {
		_cleanup_(accounting_freep) struct accounting *a = begin(all[i], 0);
		int64_t *orphan = burning_shared(sizeof(*orphan));
		const struct process_cpu *usage;
		struct process_cpus usages;
		pid_t leaver, stranger;

		prctl(PR_SET_CHILD_SUBREAPER, 0);
		stranger = start_stranger();
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		leaver = leave_orphan(orphan);
		burning_wait(leaver);
		burning_wait((pid_t)*orphan);
		while (kill(stranger, 0) == 0) /* it uses its CPU time, and ends */
			usleep(1000);
		usages = end(a);
		prctl(PR_SET_CHILD_SUBREAPER, 0);
		assert_true(find(&usages, "leaver")->program);
		usage = find(&usages, "orphan");
		assert_non_null(usage);
		assert_true(usage->program);
		assert_int_equal(usage->pid, *orphan);
		assert_false(find_pid(&usages, stranger)->program);
		assert_null(find_pid(&usages, getpid())); /* the observer is left out */
		munmap(orphan, sizeof(*orphan));
	}
}

/* Takes samples in which rcu's kernel thread has work to do, until one has a kernel thread in
 * it. */
static struct process_cpus see_a_kernel_thread(struct accounting *a)
{
	for (int i = 0; i < 1000; i++) {
		struct process_cpus usages;
		struct error err = {};

		assert_int_equal(accounting_before(a, 0, -1, &err), 0);
		syscall(SYS_membarrier, 1, 0, 0);
		usages = end(a);
		for (size_t j = 0; j < usages.n; j++)
			if (usages.items[j].kernel)
				return usages;
	}
	fail_msg("no kernel thread in 1,000 samples");
	return (struct process_cpus){};
}

static void kernel_threads_are_told_from_programs(void **state)
{
	static const struct accounting_options *const all[] = {&bpf, &taskstats};

	for (size_t i = 0; i < ELEMENTS(all); i++) {
		_cleanup_(accounting_freep) struct accounting *a = begin(all[i], 0);
		struct process_cpus usages = see_a_kernel_thread(a);

		for (size_t j = 0; j < usages.n; j++) {
			const struct process_cpu *usage = &usages.items[j];

			assert_false(
				usage->kernel && (usage->exe || usage->unit || usage->program));
		}
	}
}

/* So many children, some at a time; returns the sum of what they used by wait4. */
static int64_t storm(int n, struct accounting *a)
{
	const char *const argv[] = {"storm", NULL};
	struct error err = {};
	int64_t sum_ns = 0;
	pid_t pids[4];

	for (int i = 0; i < n; i += (int)ELEMENTS(pids)) {
		for (size_t j = 0; j < ELEMENTS(pids); j++)
			assert_int_equal(posix_spawn(&pids[j], "/bin/true", NULL, NULL,
						 (char *const *)argv, environ),
				0);
		for (size_t j = 0; j < ELEMENTS(pids); j++)
			sum_ns += burning_wait(pids[j]);
		if (a && i % 400 == 0)
			assert_int_equal(accounting_drain(a, &err), 0);
	}
	return sum_ns;
}

/* What our own children with that name took; others may run such programs too. */
static int64_t sum_of(const struct process_cpus *usages, const char *name, size_t *ret_n)
{
	int64_t sum_ns = 0;
	size_t n = 0;

	for (size_t i = 0; i < usages->n; i++)
		if (usages->items[i].program && !strcmp(usages->items[i].name, name)) {
			sum_ns += usages->items[i].pt_ns;
			n++;
		}
	*ret_n = n;
	return sum_ns;
}

/* So many processes as start and end in 20 s at most: 5000, or fewer on an emulated machine. */
static int storm_size(void)
{
	enum { TRIED = 40 };
	int64_t begin_ns = clock_ns(CLOCK_MONOTONIC), n;

	storm(TRIED, NULL);
	n = TRIED * 20 * NS_PER_S / (clock_ns(CLOCK_MONOTONIC) - begin_ns);
	if (n > 5000)
		return 5000;
	return n < 800 ? 800 : (int)(n / 4 * 4);
}

static void none_of_thousands_of_short_processes_is_missed(void **state)
{
	static const struct accounting_options *const all[] = {&bpf, &taskstats};
	int all_n = storm_size();

	for (size_t i = 0; i < ELEMENTS(all); i++) {
		_cleanup_(accounting_freep) struct accounting *a = begin(all[i], 0);
		int64_t wait_ns = storm(all_n, a), sum_ns;
		struct process_cpus usages = end(a);
		size_t n;

		sum_ns = sum_of(&usages, "true", &n);
		print_message("%s: %zu of %d processes, lost %llu; "
			      "%.1f ms of the %.1f ms that wait4 tells\n",
			accounting_backend_names[accounting_state(a)->backend], n, all_n,
			(unsigned long long)usages.lost, (double)sum_ns / 1e6,
			(double)wait_ns / 1e6);
		assert_int_equal(usages.lost, 0);
		assert_false(usages.incomplete);
		if (all[i] != &bpf)
			/* taskstats misses those whose time no tick has written down yet */
			continue;
		assert_int_equal(n, all_n);
		assert_near(sum_ns, wait_ns, wait_ns / 50);
	}
}

static void what_was_lost_is_counted(void **state)
{
	struct accounting_options small[] = {bpf, taskstats};

	small[0].events_bytes = (size_t)sysconf(_SC_PAGESIZE);
	small[1].receive_bytes = 4096;
	for (size_t i = 0; i < ELEMENTS(small); i++) {
		_cleanup_(accounting_freep) struct accounting *a = begin(&small[i], 0);
		struct process_cpus usages;
		size_t n;

		storm(400, NULL);
		usages = end(a);
		sum_of(&usages, "true", &n);
		print_message("%s: %zu seen, %llu lost of 400\n",
			accounting_backend_names[accounting_state(a)->backend], n,
			(unsigned long long)usages.lost);
		assert_true(usages.incomplete);
		assert_true(usages.lost >= 200);
		assert_true(usages.lost + n >= (i == 0 ? 400 : 390));

		/* The next sample starts anew. */
		assert_int_equal(accounting_before(a, 0, -1, &(struct error){}), 0);
		usages = end(a);
		assert_false(usages.incomplete);
	}
}

static void *execute_from_thread(void *nothing)
{
	burning_until(CLOCK_THREAD_CPUTIME_ID, 20 * NS_PER_MS);
	execl("/bin/true", "true", NULL);
	return nothing;
}

/* The thread takes the process id and the start time of the first thread over, and that one
 * ends. */
static void a_thread_that_executes_a_program_keeps_its_time(void **state)
{
	static const struct accounting_options *const all[] = {&bpf, &taskstats};

	for (size_t i = 0; i < ELEMENTS(all); i++) {
		_cleanup_(accounting_freep) struct accounting *a = begin(all[i], 0);
		const struct process_cpu *usage;
		struct process_cpus usages;
		int64_t wait_ns;
		pid_t pid;

		pid = fork();
		if (pid == 0) {
			pthread_t thread;

			pthread_create(&thread, NULL, execute_from_thread, NULL);
			burning_until(CLOCK_THREAD_CPUTIME_ID, 5 * NS_PER_MS);
			for (;;)
				pause();
		}
		wait_ns = burning_wait(pid);
		usages = end(a);
		usage = find_pid(&usages, pid);
		assert_non_null(usage);
		assert_string_equal(usage->name, "true");
		assert_near(usage->pt_ns, wait_ns, all[i] == &bpf ? 2 * NS_PER_MS : 20 * NS_PER_MS);
	}
}

/* Others on this machine may observe, too. */
static void only_some_observe_with_bpf_at_once(void **state)
{
	enum { MANY = 9 };
	struct accounting *some[MANY] = {};
	struct error err = {};
	int n = 0, r;

	while (n < MANY && (r = accounting_new(&some[n], &bpf, &err)) == 0)
		n++;
	assert_int_equal(r, -EUSERS);
	assert_non_null(strstr(err.text, "8 programs observe with BPF already"));
	if (has_taskstats()) {
		assert_int_equal(accounting_new(&some[n], &(struct accounting_options){}, &err), 0);
		assert_int_equal(accounting_state(some[n])->backend, ACCOUNTING_TASKSTATS);
		assert_non_null(strstr(accounting_state(some[n])->why.text,
			"8 programs observe with BPF already"));
	}
	while (n >= 0)
		accounting_free(some[n--]);
	while ((r = accounting_new(&some[0], &bpf, &err)) == -EUSERS)
		usleep(1000); /* theirs are removed some time later */
	assert_int_equal(r, 0);
	accounting_free(some[0]);
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {};

	return (int)syscall(SYS_capset, &header, data);
}

static void open_and_close(const struct accounting_options *options)
{
	_cleanup_(accounting_freep) struct accounting *a = begin(options, 0);

	assert_int_equal(accounting_state(a)->backend, ACCOUNTING_BPF);
}

static char *read_bytes(const char *path, size_t size)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *bytes = malloc(size + 1);

	assert_non_null(bytes);
	assert_int_equal(read(fd, bytes, size + 1), size);
	return bytes;
}

static void spoil(const char *path, off_t at)
{
	_cleanup_(closep) int fd = open(path, O_RDWR | O_CLOEXEC);
	unsigned char byte;

	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 0x80;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
}

/* The file is made anew, as it was. */
static void assert_replaced(const struct accounting_options *options, const char *path,
	const char *bytes, const struct stat *was)
{
	_cleanup_(freep) char *now = NULL;
	struct stat st;

	open_and_close(options);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_uid == 0 && (st.st_mode & 07777) == 0644);
	now = read_bytes(path, (size_t)was->st_size);
	assert_memory_equal(now, bytes, (size_t)was->st_size);
}

static void resolved_programs_are_kept_and_used_if_only_root_can_have_written_them(void **state)
{
	char directory[] = "/tmp/emp-resolved-XXXXXX", path[64];
	const struct accounting_options options = {
		.backend = ACCOUNTING_BPF, .directory = mkdtemp(directory)};
	_cleanup_(freep) char *bytes = NULL;
	struct stat st, again;

	snprintf(path, sizeof(path), "%s/accounting-cpu.bpf", directory);
	open_and_close(&options);
	if (stat(path, &st) < 0) {
		rmdir(directory);
		skip(); /* before Linux 6.7 */
	}
	bytes = read_bytes(path, (size_t)st.st_size);
	open_and_close(&options);
	assert_int_equal(stat(path, &again), 0);
	assert_true(again.st_mtim.tv_sec == st.st_mtim.tv_sec &&
		    again.st_mtim.tv_nsec == st.st_mtim.tv_nsec);

	spoil(path, 60); /* of another object */
	assert_replaced(&options, path, bytes, &st);
	spoil(path, 120); /* its first program has another name */
	assert_replaced(&options, path, bytes, &st);
	spoil(path, 120 + 32 + 5 * 4 + 8 * 8 + 3 * 8); /* an instruction of it */
	assert_replaced(&options, path, bytes, &st);
	assert_int_equal(truncate(path, st.st_size / 2), 0);
	assert_replaced(&options, path, bytes, &st);
	assert_int_equal(chown(path, 65534, 0), 0);
	assert_replaced(&options, path, bytes, &st);
	assert_int_equal(chmod(path, 0664), 0);
	assert_replaced(&options, path, bytes, &st);

	assert_int_equal(unlink(path), 0);
	assert_int_equal(chmod(directory, 0777), 0);
	open_and_close(&options);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(rmdir(directory), 0);
}

static void without_capabilities_the_sentence_names_them(void **state)
{
	struct error *errs = burning_shared(4096);
	int *results = burning_shared(4096);
	pid_t pid = fork();

	if (pid == 0) {
		if (drop_capabilities() < 0)
			_exit(1);
		for (int i = 0; i < 3; i++)
			results[i] = accounting_new(&(struct accounting *){NULL},
				&(struct accounting_options){.backend = (enum accounting_backend)i},
				&errs[i]);
		_exit(0);
	}
	burning_wait(pid);
	for (int i = 0; i < 3; i++) {
		print_message("%s\n", errs[i].text);
		assert_int_equal(results[i], -EPERM);
		assert_non_null(strstr(errs[i].text, "cannot observe other processes: "));
	}
	assert_non_null(strstr(errs[ACCOUNTING_BPF].text, "bpf: needs CAP_BPF and CAP_PERFMON"));
	assert_non_null(strstr(errs[ACCOUNTING_TASKSTATS].text, "taskstats: needs CAP_NET_ADMIN"));
	assert_non_null(strstr(errs[ACCOUNTING_AUTO].text, "CAP_BPF"));
	assert_non_null(strstr(errs[ACCOUNTING_AUTO].text, "CAP_NET_ADMIN"));
	munmap(errs, 4096);
	munmap(results, 4096);
}

static void what_a_task_has_waited_is_what_the_kernel_says(void **state)
{
	static const struct accounting_options *const all[] = {&bpf, &bpf_read};

	for (size_t i = 0; i < ELEMENTS(all); i++) {
		_cleanup_(accounting_freep) struct accounting *a = begin(all[i], 0);
		int64_t before_ns = accounting_own_wait(a);
		struct schedstat told;

		if (!is_linux(5, 14)) {
			assert_int_equal(before_ns, -1);
			continue;
		}
		assert_true(schedstat_read(getpid(), &told));
		assert_true(before_ns >= 0 && before_ns <= told.wait_ns);
		assert_true(accounting_own_wait(a) >= told.wait_ns);
	}
	assert_int_equal(accounting_own_wait(NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_process_that_started_and_ended_inside_is_right_to_1_percent_with_bpf),
		cmocka_unit_test(the_way_of_older_kernels_is_as_right),
		cmocka_unit_test(
			with_taskstats_it_is_found_too_and_the_difference_is_some_ticks_at_most),
		cmocka_unit_test(more_tasks_than_fit_into_a_snapshot_are_seen_nevertheless),
		cmocka_unit_test(threads_are_summed_to_their_process_with_bpf),
		cmocka_unit_test(threads_are_summed_to_their_process_with_taskstats),
		cmocka_unit_test(threads_that_ended_count_while_their_process_lives),
		cmocka_unit_test(a_process_that_runs_on_another_cpu_all_the_time_is_right_with_bpf),
		cmocka_unit_test(a_program_that_was_executed_inside_is_told_with_its_path),
		cmocka_unit_test(the_unit_of_a_service_that_came_and_went_inside_is_known),
		cmocka_unit_test(the_program_is_told_from_others_by_its_cgroup_however_deep),
		cmocka_unit_test(what_the_program_moves_to_another_cgroup_is_found),
		cmocka_unit_test(with_a_cgroup_a_living_process_is_described_too),
		cmocka_unit_test(the_program_is_told_from_others_by_descent),
		cmocka_unit_test(what_a_task_has_waited_is_what_the_kernel_says),
		cmocka_unit_test(kernel_threads_are_told_from_programs),
		cmocka_unit_test(none_of_thousands_of_short_processes_is_missed),
		cmocka_unit_test(what_was_lost_is_counted),
		cmocka_unit_test(a_thread_that_executes_a_program_keeps_its_time),
		cmocka_unit_test(only_some_observe_with_bpf_at_once),
		cmocka_unit_test(
			resolved_programs_are_kept_and_used_if_only_root_can_have_written_them),
		cmocka_unit_test(without_capabilities_the_sentence_names_them),
	};
	_cleanup_(accounting_freep) struct accounting *a = NULL;
	struct error err = {};

	if (accounting_new(&a, &bpf, &err) < 0)
		return check_cannot_run(err.text);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
