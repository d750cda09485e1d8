/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bpf backend: BPF programs take snapshots of all tasks, and report those that end or execute a
 * program. A record is a thread here. */
#include "lib/host/accounting/accounting_internal.h"

#include "lib/host/accounting.skel.h"
#include "lib/host/bpf/bpf_programs.h"
#include "lib/host/process/tag.h"
#include "lib/host/system/lock.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/param.h>

enum {
	READ_BYTES = 8 * 4096, /* a read gives at most eight pages */
	MIN_CAPACITY = 8192,
	TIMES_NOW = 8,
	MAX_OBSERVERS = 8, /* each adds some 70 ns to every context switch of the machine */
#if defined(__x86_64__)
	IS_X86 = 1,
#else
	IS_X86 = 0,
#endif
};

struct bpf_accounting {
	struct accounting base;
	struct accounting_bpf *programs;
	struct bpf_resolved loaded;
	struct ring_buffer *events;
	/* both snapshots of walk_tasks, read-only; NULL: it is not available */
	struct task_record *walked;
	size_t walk_capacity;
	struct task_records read[2]; /* both snapshots of read_tasks */
	struct keymap executed_by;   /* tgid -> index into executed */
	struct identified *executed; /* programs, between the snapshots */
	size_t n_executed, executed_capacity;
	bool collecting; /* events belong to a sample */
	int64_t held_up; /* exiting tasks that were waited for in vain */
	/* when the first snapshot began */
	uint64_t lost_before, interrupts_before_ns, steal_before_ns;
	struct part_record parts_before[RECORD_PROGRAMS];
	uint64_t unknown_turns_before;
};

/* Of a task that ended (struct task_record), or of a process that executed a program (struct
 * exec_record). */
static int on_event(void *context, void *data, size_t size)
{
	const struct task_record *task = data;
	const struct exec_record *exec = data;
	struct bpf_accounting *b = context;
	struct identity *identity = b->base.identity;
	struct task_records *exits = &b->base.snapshots.exits;
	struct identified *executed;

	if (task->kind == RECORD_KIND_TASK) {
		if (b->collecting)
			*array_add_reused(exits->items, exits->n, exits->capacity) = *task;
		else if (task->pid == task->tgid)
			identity_forget(identity, (pid_t)task->tgid);
		return 0;
	}
	identity_forget(identity, (pid_t)exec->tgid);
	if (!b->collecting)
		return 0;
	executed = array_add_reused(b->executed, b->n_executed, b->executed_capacity);
	if (identity_is_unit(exec->cgroup_name)) {
		executed->unit = identity_keep(identity, exec->cgroup_name);
		identity_cgroup_unit(identity, exec->cgroup, executed->unit);
	}
	if (exec->path[0] == '/' && memchr(exec->path, '\0', RECORD_PATH_SIZE - 1))
		executed->exe = identity_program(identity, exec->path);
	keymap_set(&b->executed_by, exec->tgid, (uint32_t)b->n_executed - 1);
	return 0;
}

/* -EUSERS if too many observe already. The ids of programs ascend, so that of several that start at
 * once the first ones observe. */
static int check_observers(struct bpf_accounting *b, bool walk)
{
	int link = bpf_resolved_link(&b->loaded, b->programs->progs.list_observers);
	_cleanup_(closep) int fd = link < 0 ? link : bpf_iter_create(link);
	struct bpf_prog_info own = {};
	uint32_t size = sizeof(own), ids[128];
	int n_earlier = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	bpf_obj_get_info_by_fd(
		bpf_resolved_program(&b->loaded, walk ? b->programs->progs.task_dies
						      : b->programs->progs.task_dies_before_6_7),
		&own, &size);
	while ((n = read(fd, ids, sizeof(ids))) > 0)
		for (size_t i = 0; i < (size_t)n / sizeof(*ids); i++)
			n_earlier += ids[i] < own.id;
	if (n < 0)
		return -errno;
	return n_earlier < MAX_OBSERVERS ? 0 : -EUSERS;
}

/* `walk`: take snapshots with walk_tasks, which needs Linux 6.7. `watch`: time the interrupts of
 * one CPU. */
static void choose_programs(struct accounting_bpf *p, bool walk, bool watch)
{
	const struct accounting_support support = accounting_support_read(AT_FDCWD);
	bool since_6_16 = support.kernel_major > 6 ||
			  (support.kernel_major == 6 && support.kernel_minor >= 16);
	/* since Linux 5.14 */
	bool has_calls = walk || libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_SYSCALL, NULL) == 1;
	const struct {
		struct bpf_program *program;
		bool load;
	} choices[] = {
		{p->progs.walk_tasks, walk},
		{p->progs.read_tasks, walk},
		{p->progs.task_dies, walk},
		{p->progs.read_tasks_before_6_7, !walk},
		{p->progs.task_dies_before_6_7, !walk},
		{p->progs.read_own_wait, has_calls},
		/* Before, the memory is gone when task_exits runs, and a part of the peaks is worse
		 * than none. */
		{p->progs.memory_ends, since_6_16},

		{p->progs.irq_handler_begins, watch},
		{p->progs.irq_handler_ends, watch},
		{p->progs.softirq_begins, watch},
		{p->progs.softirq_ends, watch},
		/* elsewhere it is an interrupt handler */
		{p->progs.local_timer_begins, watch && IS_X86},
		{p->progs.local_timer_ends, watch && IS_X86},
	};

	for (size_t i = 0; i < ELEMENTS(choices); i++)
		bpf_program__set_autoload(choices[i].program, choices[i].load);
}

/* On kernels before Linux 6.7 libbpf resolves the programs every time. */
static int load_programs(
	struct bpf_accounting *b, const struct accounting_options *options, bool walk)
{
	struct accounting_bpf *p = b->programs;
	_cleanup_(closep) int directory = -1;
	void *walked;
	int r;

	if (walk)
		directory = run_directory_open(options->directory ?: RUN_DIRECTORY, NULL);
	choose_programs(p, walk, !options->no_watch);
	b->walk_capacity = walk ? options->capacity : 1;
	if (b->walk_capacity == 0) { /* many times as many tasks as this machine has now */
		_cleanup_(freep) char *loadavg = path_text(AT_FDCWD, "/proc/loadavg");
		const char *slash = loadavg ? strchr(loadavg, '/') : NULL;

		b->walk_capacity = slash ? TIMES_NOW * strtoul(slash + 1, NULL, 10) : 0;
		b->walk_capacity = MAX(b->walk_capacity, (size_t)MIN_CAPACITY);
	}

	r = bpf_map__set_max_entries(p->maps.snapshots, (uint32_t)(2 * b->walk_capacity));
	if (r == 0 && options->events_bytes)
		r = bpf_map__set_max_entries(p->maps.events, (uint32_t)options->events_bytes);
	if (r == 0)
		r = bpf_resolved_load(&b->loaded, p->skeleton, directory,
			options->no_watch ? "accounting.bpf" : "accounting-cpu.bpf");
	if (r == 0)
		r = check_observers(b, walk);
	if (r == 0)
		r = bpf_resolved_attach(&b->loaded);
	if (r < 0)
		return r;

	p->bss->walk_capacity = (uint32_t)b->walk_capacity;
	b->events = ring_buffer__new(bpf_map__fd(p->maps.events), on_event, b, NULL);
	if (!b->events)
		return -errno;
	b->base.state.poll_fd = ring_buffer__epoll_fd(b->events);
	if (!walk)
		return 0;

	walked = mmap(NULL, 2 * b->walk_capacity * sizeof(*b->walked), PROT_READ, MAP_SHARED,
		bpf_map__fd(p->maps.snapshots), 0);
	if (walked == MAP_FAILED)
		return -errno;
	b->walked = walked;
	return 0;
}

static void unload_programs(struct bpf_accounting *b)
{
	if (b->walked)
		munmap(b->walked, 2 * b->walk_capacity * sizeof(*b->walked));
	ring_buffer__free(b->events);
	bpf_resolved_clear(&b->loaded);
	accounting_bpf__destroy(b->programs);
	b->walked = NULL;
	b->events = NULL;
	b->programs = NULL;
}

static void bpf_free(struct accounting *a)
{
	struct bpf_accounting *b = (struct bpf_accounting *)a;

	unload_programs(b);
	keymap_free(&b->executed_by);
	free(b->executed);
	free(a->snapshots.exits.items);
	free(b->read[0].items);
	free(b->read[1].items);
}

static int read_records(int fd, struct task_records *records)
{
	size_t len = 0;
	ssize_t n = 1;

	while (n != 0) {
		size_t size = records->capacity * sizeof(*records->items);

		if (size - len < READ_BYTES) {
			records->capacity = 2 * records->capacity ?: 1024;
			records->items = xreallocarray(
				records->items, records->capacity, sizeof(*records->items));
			continue;
		}
		n = read(fd, (char *)records->items + len, size - len);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (n > 0)
			len += (size_t)n;
	}
	records->n = len / sizeof(*records->items);
	return 0;
}

/* The first snapshot (0) or the second (1). If there are more tasks than walk_tasks has room for,
 * read_tasks takes it. */
static int take_tasks(struct bpf_accounting *b, int which, struct error *err)
{
	struct task_records *ret = which ? &b->base.snapshots.after : &b->base.snapshots.before;
	struct accounting_bpf__bss *bss = b->programs->bss;
	_cleanup_(closep) int fd = -1;
	int r = 0;

	bss->walk_from = (uint32_t)((size_t)which * b->walk_capacity);
	if (b->walked) {
		LIBBPF_OPTS(bpf_test_run_opts, options);

		r = bpf_prog_test_run_opts(
			bpf_resolved_program(&b->loaded, b->programs->progs.walk_tasks), &options);
		if (r == 0 && bss->walk_n <= b->walk_capacity) {
			*ret = (struct task_records){b->walked + bss->walk_from, bss->walk_n};
			return 0;
		}
	}
	if (r == 0)
		r = bpf_resolved_link(
			&b->loaded, b->walked ? b->programs->progs.read_tasks
					      : b->programs->progs.read_tasks_before_6_7);
	if (r >= 0)
		r = fd = bpf_iter_create(r);
	if (r >= 0)
		r = read_records(fd, &b->read[which]);
	if (r < 0)
		return error_os(err, r, "cannot take a snapshot of the processes with BPF");
	*ret = b->read[which];
	return 0;
}

/* Tasks that have begun to exit, but have not made their last context switch, and so are not among
 * the events. (The number is off by the tasks that were exiting when the programs were loaded.) */
static int64_t count_exiting(const struct bpf_accounting *b)
{
	const volatile struct accounting_bpf__bss *bss = b->programs->bss;
	uint64_t done = bss->exits_done;

	return (int64_t)(bss->exits_begun - done);
}

/* The program's tasks among them. */
static int64_t count_programs_exiting(const struct bpf_accounting *b)
{
	const volatile struct accounting_bpf__bss *bss = b->programs->bss;
	uint64_t done = bss->programs_exits_done;

	return (int64_t)(bss->programs_exits_begun - done);
}

/* All events since the last call, in order. */
static int bpf_drain(struct accounting *a, struct error *err)
{
	int r = ring_buffer__consume(((struct bpf_accounting *)a)->events);

	return r < 0 ? error_os(err, r, "cannot read the BPF events") : 0;
}

/* Waits for exits that are missing from the second snapshot and not among the events yet. That
 * lasts microseconds (often it is the program under test, whose exit woke this process: it only
 * needs this CPU), or as long as a hypervisor or other processes take the CPU away. The program's
 * tasks are waited for at least that long; another task that is delayed in its exit is waited for
 * once. */
static int await_exits(struct bpf_accounting *b, struct error *err)
{
	enum { N_YIELDS = 16, N_PAUSES = 9, FIRST_PAUSE_US = 50, N_PROGRAMS_PAUSES = 200 };
	int r = 0;

	for (int i = 0; r == 0 && i < N_YIELDS + N_PROGRAMS_PAUSES; i++) {
		bool others = i < N_YIELDS + N_PAUSES && count_exiting(b) > b->held_up;
		int pause = i - N_YIELDS < N_PAUSES ? i - N_YIELDS : N_PAUSES - 1;

		if (!others && count_programs_exiting(b) <= 0)
			break;
		if (i < N_YIELDS)
			sched_yield();
		else
			usleep(FIRST_PAUSE_US << pause);
		r = bpf_drain(&b->base, err); /* others go on to end: the buffer must not fill up */
	}
	b->held_up = count_exiting(b);
	return r;
}

static int bpf_before(struct accounting *a, uint64_t cgroup_id, int cpu, struct error *err)
{
	struct bpf_accounting *b = (struct bpf_accounting *)a;
	struct accounting_bpf__bss *bss = b->programs->bss;
	struct snapshots *snapshots = &a->snapshots;
	int64_t exiting;
	int r;

	b->collecting = false;
	r = bpf_drain(a, err);
	if (r < 0)
		return r;
	b->collecting = true;
	snapshots->exits.n = b->n_executed = 0;
	exiting = count_exiting(b);
	if (exiting < b->held_up)
		b->held_up = exiting;
	keymap_reset(&b->executed_by, 0);
	b->lost_before = bss->lost;

	snapshots->before_ns = (uint64_t)clock_ns(CLOCK_MONOTONIC);
	snapshots->has_shares = false;

	if (bss->program_cgroup != cgroup_id) {
		bss->program_level = 0; /* until something executes a file in it */
		bss->programs_exits_begun = bss->programs_exits_done = 0;
	}
	bss->program_cgroup = cgroup_id;
	if (cpu != b->programs->data->watched_cpu) {
		b->programs->data->watched_cpu = cpu;
		bss->interrupts_depth = bss->running_pid = 0;
		bss->program_runs = false;
		bss->steal_ns = 0;
	}

	bss->sample++;
	bss->shares_full = 0;
	bss->taken_ns = bss->throttled_ns = -1;
	memset(bss->peak_pages, 0, sizeof(bss->peak_pages));
	b->interrupts_before_ns = bss->interrupts_ns;
	memcpy(b->parts_before, bss->parts, sizeof(b->parts_before));
	bss->first_tag = tag_make(0);
	b->unknown_turns_before = bss->unknown_turns;
	bss->had_cpu = RECORD_PROGRAMS;
	b->steal_before_ns = bss->steal_ns;
	return take_tasks(b, 0, err);
}

static int bpf_after(struct accounting *a, struct process_cpus *usages, struct error *err)
{
	struct bpf_accounting *b = (struct bpf_accounting *)a;
	const volatile struct accounting_bpf__bss *bss = b->programs->bss;
	struct snapshots *snapshots = &a->snapshots;
	int r = take_tasks(b, 1, err);

	if (r == 0)
		r = await_exits(b, err);
	if (r == 0)
		r = bpf_drain(a, err);
	if (r < 0)
		return r;
	b->collecting = false;
	snapshots->observer = bss->observer_tgid;
	usages->lost = bss->lost - b->lost_before;
	for (size_t i = 0; i < ELEMENTS(bss->peak_pages); i++) {
		int64_t bytes = (int64_t)bss->peak_pages[i] * sysconf(_SC_PAGESIZE);

		if (bytes > usages->peak_bytes && bytes > 0)
			usages->peak_bytes = bytes;
	}
	usages->throttled_ns = bss->throttled_ns;
	if (b->programs->data->watched_cpu < 0)
		return 0;
	snapshots->has_shares = !bss->shares_full;
	usages->taken_ns = bss->taken_ns;
	if (bss->program_cgroup)
		usages->interrupts_ns = (int64_t)(bss->interrupts_ns - b->interrupts_before_ns);
	if (b->steal_before_ns)
		usages->steal_ns = (int64_t)(bss->steal_ns - b->steal_before_ns);
	return 0;
}

static void bpf_describe(struct accounting *a, struct process_cpu *process)
{
	const struct bpf_accounting *b = (struct bpf_accounting *)a;
	const uint32_t *at = keymap_find(&b->executed_by, (uint64_t)process->pid);

	if (!at)
		return;
	process->exe = b->executed[*at].exe;
	process->unit = b->executed[*at].unit;
}

/* Not known before Linux 5.14. Makes system calls only; before Linux 5.19 with privileges. */
static int64_t bpf_own_wait(const struct accounting *a)
{
	const struct bpf_accounting *b = (const struct bpf_accounting *)a;
	const volatile struct accounting_bpf__bss *bss = b->programs->bss;
	int fd = bpf_resolved_program(&b->loaded, b->programs->progs.read_own_wait);
	LIBBPF_OPTS(bpf_test_run_opts, options);

	return fd >= 0 && bpf_prog_test_run_opts(fd, &options) == 0 ? (int64_t)bss->own_wait_ns
								    : -1;
}

static struct accounting_part bpf_part(const struct accounting *a, unsigned int number)
{
	const struct bpf_accounting *b = (const struct bpf_accounting *)a;
	const struct accounting_bpf__bss *bss = b->programs->bss;

	if (number >= RECORD_PROGRAMS || !bss->first_tag || !bss->program_cgroup ||
		b->programs->data->watched_cpu < 0)
		return ACCOUNTING_PART_NONE;
	/* those that are not known may be its own */
	return (struct accounting_part){
		(int64_t)(bss->parts[number].interrupts_ns - b->parts_before[number].interrupts_ns),
		(int64_t)(bss->parts[number].turns - b->parts_before[number].turns +
			  bss->unknown_turns - b->unknown_turns_before)};
}

static int64_t bpf_end(const struct accounting *a, pid_t pid)
{
	const volatile struct accounting_bpf__bss *bss =
		((const struct bpf_accounting *)a)->programs->bss;
	size_t at = (size_t)pid % ELEMENTS(bss->end_pids);

	return bss->end_pids[at] == (uint32_t)pid ? (int64_t)bss->end_times[at] : -1;
}

static const struct accounting_operations bpf_operations = {
	.part = bpf_part,
	.free = bpf_free,
	.before = bpf_before,
	.drain = bpf_drain,
	.after = bpf_after,
	.describe = bpf_describe,
	.own_wait = bpf_own_wait,
	.end = bpf_end,
};

static void *end_at_once(void *nothing)
{
	return nothing;
}

/* Starts and ends a thread, to test that exits are reported and to relate the scheduler's clock to
 * CLOCK_MONOTONIC. */
static int see_a_thread_end(struct bpf_accounting *b, struct error *err)
{
	const struct task_records *exits = &b->base.snapshots.exits;
	pthread_t thread;
	int r = -pthread_create(&thread, NULL, end_at_once, NULL);

	if (r < 0)
		return error_os(err, r, "cannot test the BPF programs");
	pthread_join(thread, NULL);
	/* its last context switch is some microseconds after the join */
	for (int ms = 0; ms < 100; ms++) {
		r = bpf_drain(&b->base, err);
		if (r < 0)
			return r;
		for (size_t i = 0; i < exits->n; i++)
			if (exits->items[i].tgid == b->programs->bss->observer_tgid)
				return 0;
		usleep(1000);
	}
	return error_say(err, -ENOTSUP,
		"the BPF programs are loaded, but do not report that a thread ended");
}

int accounting_bpf_new(
	struct accounting **ret, const struct accounting_options *options, struct error *err)
{
	struct bpf_accounting *b = xcalloc(1, sizeof(*b));
	_cleanup_(accounting_freep) struct accounting *a = &b->base;
	int r = -ENOTSUP;

	*a = (struct accounting){
		.operations = &bpf_operations,
		.state = {ACCOUNTING_BPF, .poll_fd = -1, .poll_ms = -1},
		.identity = identity_new(),
	};
	/* If it does not work as on a new kernel, it is tried as on an older one. */
	for (int walk = !options->read; r < 0 && r != -EUSERS && walk >= 0; walk--) {
		unload_programs(b);
		bpf_load_begin();
		b->programs = accounting_bpf__open();
		r = b->programs ? load_programs(b, options, walk) : -errno;
	}
	if (r == -EUSERS)
		return error_say(err, r,
			"%d programs observe with BPF already, and each slows down every context "
			"switch of this machine; wait for one to end",
			MAX_OBSERVERS);

	r = bpf_load_end(r, err);
	if (r == 0)
		r = bpf_before(a, 0, -1, err);
	if (r == 0)
		r = see_a_thread_end(b, err);
	if (r == 0)
		r = take_tasks(b, 1, err);
	if (r < 0)
		return r;
	*ret = TAKE(a);
	return 0;
}
