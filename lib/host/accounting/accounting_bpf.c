/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bpf backend: snapshots and exits, a record for each thread. */
#include "lib/host/accounting/accounting_backend.h"

#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/host/accounting.skel.h"
#include "lib/host/accounting/keymap.h"
#include "lib/host/bpf/bpf_programs.h"
#include "lib/host/system/lock.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

struct task_records;

static void task_records_free(struct task_records *tasks);

/* Records of the kernel's tasks from BPF programs: snapshots of all tasks, and records of those that end or
 * execute a program. */

/* `record`: a struct task_record (of a task that ended) or a struct exec_record, by its `kind`. */
typedef int task_records_event(void *context, const void *record);

DEFINE_FREEP(task_records)

struct task_snapshot {
	const struct task_record *items; /* until the next snapshot of the same moment */
	size_t n;
};

enum task_moment { TASK_BEFORE, TASK_AFTER };

/* Between the last two snapshots. */
struct task_watched {
	bool has_shares; /* the records' watched_ns are complete */
	int64_t taken_ns; /* that others had that CPU while a task of the program was ready to run; -1: not known */
	int64_t interrupts_ns; /* that interrupts took from the program on that CPU; -1: not known */
	int64_t steal_ns;      /* that the hypervisor took from that CPU; -1: not known */
};

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

/* A snapshot that was read. */
struct records {
	struct task_record *items;
	size_t n, capacity;
};

struct task_records {
	struct task_records_options options;
	struct accounting_bpf *programs;
	struct bpf_resolved loaded;
	struct ring_buffer *events;
	task_records_event *on_event;
	void *context;
	struct records read[2];
	const struct task_record *walked; /* both snapshots of walk_tasks; NULL: it is not available */
	size_t walked_bytes, walk_capacity;
	uint64_t interrupts_before_ns, steal_before_ns;
};

/* Tasks on this machine now. */
static size_t count_tasks(void)
{
	_cleanup_(freep) char *loadavg = NULL;
	const char *slash;

	if (text_read_file(AT_FDCWD, "/proc/loadavg", &loadavg) < 0)
		return 0;
	slash = strchr(loadavg, '/');
	return slash ? strtoul(slash + 1, NULL, 10) : 0;
}

static size_t choose_capacity(const struct task_records_options *options)
{
	size_t capacity = options->capacity ?: TIMES_NOW * count_tasks();

	return options->capacity || capacity > MIN_CAPACITY ? capacity : MIN_CAPACITY;
}

static int on_sample(void *context, void *data, size_t size)
{
	struct task_records *tasks = context;

	return tasks->on_event(tasks->context, data);
}

static uint32_t id_of_own(const struct task_records *tasks)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);
	int fd = bpf_resolved_program(&tasks->loaded, tasks->options.read
							      ? tasks->programs->progs.task_dies_before_6_7
							      : tasks->programs->progs.task_dies);

	return bpf_obj_get_info_by_fd(fd, &info, &size) < 0 ? 0 : info.id;
}

/* How many loaded their programs before this process did (ids ascend), so that of several that start at once the first
 * ones observe. */
static int count_earlier_observers(const struct task_records *tasks, int link)
{
	_cleanup_(closep) int fd = bpf_iter_create(link);
	uint32_t own = id_of_own(tasks), ids[128];
	ssize_t size;
	int n = 0;

	if (fd < 0)
		return fd;
	while ((size = read(fd, ids, sizeof(ids))) > 0)
		for (size_t i = 0; i < (size_t)size / sizeof(*ids); i++)
			n += ids[i] < own;
	return size < 0 ? -errno : n;
}

/* On kernels before Linux 6.7 libbpf resolves them every time. */
static int task_records_load_programs(struct task_records *tasks)
{
	const struct task_records_options *options = &tasks->options;
	struct error ignored;
	_cleanup_(closep) int directory = options->read
						  ? -1
						  : run_directory_open(
							    options->directory ?: RUN_DIRECTORY, &ignored);

	return bpf_resolved_load(&tasks->loaded, tasks->programs->skeleton, directory,
		options->no_watch ? "accounting.bpf" : "accounting-cpu.bpf");
}

static int task_records_load(void *context)
{
	struct task_records *tasks = context;
	int r;
	const struct task_records_options *options = &tasks->options;

	tasks->programs = accounting_bpf__open();
	if (!tasks->programs) {
		r = -errno;
	} else {
		/* walk_tasks needs Linux 6.7. */
		bool walk = !options->read;

		bpf_program__set_autoload(tasks->programs->progs.walk_tasks, walk);
		bpf_program__set_autoload(tasks->programs->progs.read_tasks, walk);
		bpf_program__set_autoload(tasks->programs->progs.task_dies, walk);
		bpf_program__set_autoload(tasks->programs->progs.read_tasks_before_6_7, !walk);
		bpf_program__set_autoload(tasks->programs->progs.task_dies_before_6_7, !walk);
		if (!walk && libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_SYSCALL, NULL) != 1) /* before 5.14 */
			bpf_program__set_autoload(tasks->programs->progs.read_own_wait, false);

		/* Only on x86 is the local timer no interrupt handler. */
		bool watch = !options->no_watch;

		bpf_program__set_autoload(tasks->programs->progs.irq_handler_begins, watch);
		bpf_program__set_autoload(tasks->programs->progs.irq_handler_ends, watch);
		bpf_program__set_autoload(tasks->programs->progs.softirq_begins, watch);
		bpf_program__set_autoload(tasks->programs->progs.softirq_ends, watch);
		bpf_program__set_autoload(tasks->programs->progs.local_timer_begins, watch && IS_X86);
		bpf_program__set_autoload(tasks->programs->progs.local_timer_ends, watch && IS_X86);
		tasks->walk_capacity = options->read ? 1 : choose_capacity(options);
		r = bpf_map__set_max_entries(
			tasks->programs->maps.snapshots, (uint32_t)(2 * tasks->walk_capacity));
		if (r == 0 && options->events_bytes)
			r = bpf_map__set_max_entries(
				tasks->programs->maps.events, (uint32_t)options->events_bytes);
	}

	if (r == 0)
		r = task_records_load_programs(tasks);
	if (r == 0) {
		int n, link = bpf_resolved_link(&tasks->loaded, tasks->programs->progs.list_observers);

		/* Not if too many observe already. */
		if (link < 0) {
			r = link;
		} else {
			n = count_earlier_observers(tasks, link);
			r = n < MAX_OBSERVERS ? n : -EUSERS;
		}
	}
	if (r >= 0)
		r = bpf_resolved_attach(&tasks->loaded);
	if (r == 0 && !tasks->options.read) {
		size_t bytes = 2 * tasks->walk_capacity * sizeof(struct task_record);
		void *walked = mmap(
			NULL, bytes, PROT_READ, MAP_SHARED, bpf_map__fd(tasks->programs->maps.snapshots), 0);

		if (walked == MAP_FAILED) {
			r = -errno;
		} else {
			tasks->walked = walked;
			tasks->walked_bytes = bytes;
			r = 0;
		}
	}
	if (r < 0)
		return r;
	tasks->events = ring_buffer__new(bpf_map__fd(tasks->programs->maps.events), on_sample, tasks, NULL);
	return tasks->events ? 0 : -errno;
}

static int task_records_new(struct task_records **ret, const struct task_records_options *options,
	task_records_event *on_event, void *context, struct error *err)
{
	_cleanup_(task_records_freep) struct task_records *tasks = xcalloc(1, sizeof(*tasks));
	struct error not_at_once;
	int r;

	*tasks = (struct task_records){.options = *options, .on_event = on_event, .context = context};
	bpf_load_begin();
	r = bpf_load_end(task_records_load(tasks), options->read ? err : &not_at_once);
	if (r < 0 && r != -EUSERS && !tasks->options.read) { /* as on an older kernel, then */
		bpf_resolved_clear(&tasks->loaded);
		accounting_bpf__destroy(tasks->programs);
		tasks->programs = NULL;
		tasks->options.read = true;
		bpf_load_begin();
		r = bpf_load_end(task_records_load(tasks), err);
	}
	if (r == -EUSERS)
		return error_say(err, r,
			"%d programs observe with BPF already, and each slows down every context switch of this machine; wait for one to end",
			MAX_OBSERVERS);
	if (r < 0)
		return r;
	*ret = TAKE(tasks);
	return 0;
}

static void task_records_free(struct task_records *tasks)
{
	if (!tasks)
		return;
	if (tasks->walked)
		munmap((void *)tasks->walked, tasks->walked_bytes);
	ring_buffer__free(tasks->events);
	bpf_resolved_clear(&tasks->loaded);
	accounting_bpf__destroy(tasks->programs);
	free(tasks->read[TASK_BEFORE].items);
	free(tasks->read[TASK_AFTER].items);
	free(tasks);
}

/* 1: done; 0: there are more tasks than fit. */
static int walk(struct task_records *tasks, struct task_snapshot *ret)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	struct accounting_bpf__bss *bss = tasks->programs->bss;
	size_t from = bss->walk_from;
	int r;

	bss->walk_capacity = (uint32_t)tasks->walk_capacity;
	r = bpf_prog_test_run_opts(
		bpf_resolved_program(&tasks->loaded, tasks->programs->progs.walk_tasks), &options);
	if (r < 0)
		return r;
	if (bss->walk_n > tasks->walk_capacity)
		return 0;
	*ret = (struct task_snapshot){.items = tasks->walked + from, .n = bss->walk_n};
	return 1;
}

static int reserve(struct records *records)
{
	size_t wanted = records->n + READ_BYTES / sizeof(struct task_record) + 1,
	       capacity = records->capacity ?: 1024;
	struct task_record *items;

	while (capacity < wanted)
		capacity *= 2;
	if (capacity == records->capacity)
		return 0;
	items = xrealloc(records->items, capacity * sizeof(*items));
	records->items = items;
	records->capacity = capacity;
	return 0;
}

static int read_all(int fd, struct records *records)
{
	size_t len = 0;

	for (records->n = 0;;) {
		int r = reserve(records);
		ssize_t n;

		if (r < 0)
			return r;
		n = read(fd, (char *)records->items + len, records->capacity * sizeof(*records->items) - len);
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (n > 0)
			len += (size_t)n;
		records->n = len / sizeof(struct task_record);
	}
}

static int read_snapshot(struct task_records *tasks, enum task_moment moment, struct task_snapshot *ret)
{
	int link = bpf_resolved_link(&tasks->loaded, tasks->walked
							     ? tasks->programs->progs.read_tasks
							     : tasks->programs->progs.read_tasks_before_6_7);
	_cleanup_(closep) int fd = link < 0 ? link : bpf_iter_create(link);
	struct records *records = &tasks->read[moment];
	int r = fd < 0 ? fd : read_all(fd, records);

	if (r == 0)
		*ret = (struct task_snapshot){.items = records->items, .n = records->n};
	return r;
}

static int task_records_snapshot(struct task_records *tasks, enum task_moment moment,
	const struct task_scope *scope, struct task_snapshot *ret, struct error *err)
{
	int r = 0;
	struct accounting_bpf__bss *bss = tasks->programs->bss;

	bss->walk_from = (uint32_t)(moment * tasks->walk_capacity);
	if (bss->program_cgroup != scope->cgroup)
		bss->program_level = 0; /* until something executes a file in it */
	bss->program_cgroup = scope->cgroup;
	if (moment != TASK_AFTER) {
		if (scope->cpu != tasks->programs->data->watched_cpu) {
			tasks->programs->data->watched_cpu = scope->cpu;
			bss->interrupts_depth = bss->running_pid = 0;
			bss->program_runs = false;
			bss->steal_ns = 0;
		}
		bss->sample++;
		bss->shares_full = 0;
		bss->taken_ns = -1;
		tasks->interrupts_before_ns = bss->interrupts_ns;
		tasks->steal_before_ns = bss->steal_ns;
	}
	if (tasks->walked)
		r = walk(tasks, ret);
	if (r == 0)
		r = read_snapshot(tasks, moment, ret);
	return r < 0 ? error_os(err, r, "cannot take a snapshot of the processes with BPF") : 0;
}

/* Exits so far that did not fit into the buffer. */
static uint64_t task_records_lost(const struct task_records *tasks)
{
	return tasks->programs->bss->lost;
}

/* Tasks that have begun to exit, but have not made their last context switch, and so are not among the events. (The
 * number is off by the tasks that were exiting when the programs were loaded.) */
static int64_t task_records_exiting(const struct task_records *tasks)
{
	const volatile struct accounting_bpf__bss *bss = tasks->programs->bss;
	uint64_t done = bss->exits_done;

	return (int64_t)(bss->exits_begun - done);
}

/* The process id of the caller of task_records_snapshot, as records have it. */
static unsigned int task_records_observer(const struct task_records *tasks)
{
	return tasks->programs->bss->observer_tgid;
}

/* What a process executed between the snapshots. */
struct executed {
	const char *exe, *unit;
};

struct bpf_backend {
	struct backend base;
	struct identity *identity;
	struct task_records *tasks;
	struct task_snapshot before, after;
	struct task_record *exits;
	size_t n_exits, exits_capacity;
	struct keymap parents; /* pid -> parent, in the second snapshot */
	bool has_parents;
	struct keymap executed_by; /* tgid -> index into executed */
	struct executed *executed;
	size_t n_executed, executed_capacity;
	int64_t held_up; /* exiting tasks that were waited for in vain */
	bool collecting; /* events belong to a sample */
	uint64_t before_ns, lost_before;
	struct task_scope scope;
};

static struct bpf_backend *bpf_backend_of(struct backend *backend)
{
	return (struct bpf_backend *)backend;
}

static int on_event(void *context, const void *record)
{
	const struct task_record *task = record;
	struct bpf_backend *b = context;

	if (task->kind == RECORD_KIND_EXEC) {
		const struct exec_record *exec = record;

		identity_forget(b->identity, (pid_t)exec->tgid);
		if (b->collecting) {
			struct executed *executed = array_add_reused(
				b->executed, b->n_executed, b->executed_capacity);

			if (identity_is_unit(exec->cgroup_name)) {
				executed->unit = identity_keep(b->identity, exec->cgroup_name);
				identity_learn_cgroup(b->identity, exec->cgroup, exec->cgroup_name);
			}
			if (exec->path[0] == '/' && memchr(exec->path, '\0', RECORD_PATH_SIZE - 1))
				executed->exe = identity_program(b->identity, exec->path);
			keymap_set(&b->executed_by, exec->tgid, (uint32_t)b->n_executed - 1);
		}
		return 0;
	}
	if (b->collecting) {
		struct task_record *exit = array_add_reused(b->exits, b->n_exits, b->exits_capacity);

		*exit = *task;
		return 0;
	}
	if (task->pid == task->tgid)
		identity_forget(b->identity, (pid_t)task->tgid);
	return 0;
}

static int bpf_drain(struct backend *backend, struct error *err)
{
	int r = ring_buffer__consume(bpf_backend_of(backend)->tasks->events);

	/* Calls on_event for all events since the last call, in order, until it returns a negative errno. */
	return r < 0 ? error_os(err, r, "cannot read the BPF events") : 0;
}

static int bpf_before(struct backend *backend, const struct task_scope *scope, struct error *err)
{
	struct bpf_backend *b = bpf_backend_of(backend);
	int r;

	b->collecting = false;
	r = bpf_drain(backend, err);
	if (r < 0)
		return r;
	b->collecting = true;
	b->n_exits = 0;
	b->n_executed = 0;
	if (task_records_exiting(b->tasks) < b->held_up)
		b->held_up = task_records_exiting(b->tasks);
	keymap_reset(&b->executed_by, 0);
	b->scope = *scope;
	b->lost_before = task_records_lost(b->tasks);
	b->before_ns = (uint64_t)clock_ns(CLOCK_MONOTONIC);
	return task_records_snapshot(b->tasks, TASK_BEFORE, scope, &b->before, err);
}

static int bpf_after(struct backend *backend, struct snapshots *ret, struct usages *usages, struct error *err)
{
	struct bpf_backend *b = bpf_backend_of(backend);
	struct task_watched watched;
	int r = task_records_snapshot(b->tasks, TASK_AFTER, &b->scope, &b->after, err);
	struct task_watched records_watched = {.taken_ns = -1, .interrupts_ns = -1, .steal_ns = -1};
	enum { N_YIELDS = 16, FIRST_WAIT_US = 50, ALL_WAITS_US = 20000 };

	if (r < 0)
		return r;

	/* A task can be missing from the snapshot before its end is among the events. That lasts
	 * microseconds (often it is the program under test, whose exit woke this process: it only needs
	 * this CPU), or as long as a hypervisor takes the CPU away. A task can also be delayed in its
	 * exit; such a task is waited for once. */
	int64_t exiting = task_records_exiting(b->tasks);

	for (int i = 0; exiting > b->held_up && i < N_YIELDS; i++) {
		sched_yield();
		exiting = task_records_exiting(b->tasks);
	}
	for (useconds_t us = FIRST_WAIT_US; exiting > b->held_up && us < ALL_WAITS_US; us *= 2) {
		usleep(us);
		exiting = task_records_exiting(b->tasks);
	}
	b->held_up = exiting;
	r = bpf_drain(backend, err);
	if (r < 0)
		return r;
	b->collecting = false;
	b->has_parents = false;

	const volatile struct accounting_bpf__bss *bss = b->tasks->programs->bss;

	if (b->tasks->programs->data->watched_cpu < 0) {
		watched = records_watched;
	} else {
		records_watched.has_shares = !bss->shares_full;
		records_watched.taken_ns = bss->taken_ns;
		if (bss->program_cgroup)
			records_watched.interrupts_ns = (int64_t)(bss->interrupts_ns -
								  b->tasks->interrupts_before_ns);
		if (b->tasks->steal_before_ns)
			records_watched.steal_ns = (int64_t)(bss->steal_ns - b->tasks->steal_before_ns);
		watched = records_watched;
	}
	usages->lost = task_records_lost(b->tasks) - b->lost_before;
	usages->taken_ns = watched.taken_ns;
	usages->interrupts_ns = watched.interrupts_ns;
	usages->steal_ns = watched.steal_ns;
	*ret = (struct snapshots){
		.before = b->before.items,
		.n_before = b->before.n,
		.after = b->after.items,
		.n_after = b->after.n,
		.exits = b->exits,
		.n_exits = b->n_exits,
		.before_ns = b->before_ns,
		.observer = task_records_observer(b->tasks),
		.has_shares = watched.has_shares,
	};
	return 0;
}

static pid_t bpf_parent(struct backend *backend, pid_t pid)
{
	struct bpf_backend *b = bpf_backend_of(backend);
	const uint32_t *parent;

	if (!b->has_parents) {
		keymap_reset(&b->parents, b->after.n);
		for (size_t i = 0; i < b->after.n; i++)
			keymap_set(&b->parents, b->after.items[i].tgid, b->after.items[i].ppid);
		b->has_parents = true;
	}
	parent = keymap_find(&b->parents, (uint64_t)pid);
	return parent ? (pid_t)*parent : 0;
}

static void bpf_describe(struct backend *backend, struct process_diff *process, struct identified *ret)
{
	const struct bpf_backend *b = bpf_backend_of(backend);
	const uint32_t *at = keymap_find(&b->executed_by, (uint64_t)process->pid);

	if (at)
		*ret = (struct identified){.exe = b->executed[*at].exe, .unit = b->executed[*at].unit};
}

static int bpf_poll_fd(const struct backend *backend)
{
	/* Readable when the buffer of events is half full. */
	return ring_buffer__epoll_fd((((const struct bpf_backend *)backend)->tasks)->events);
}

static int64_t bpf_own_wait(const struct backend *backend)
{
	const struct task_records *tasks = ((const struct bpf_backend *)backend)->tasks;
	const volatile struct accounting_bpf__bss *bss = tasks->programs->bss;

	/* How long the calling task has waited for a CPU so far; -1: not known, as before Linux 5.14.
	 * System calls only; before Linux 5.19 with privileges. */
	LIBBPF_OPTS(bpf_test_run_opts, options);
	int fd = bpf_resolved_program(&tasks->loaded, tasks->programs->progs.read_own_wait);

	return fd >= 0 && bpf_prog_test_run_opts(fd, &options) == 0 ? (int64_t)bss->own_wait_ns : -1;
}

static void bpf_free(struct backend *backend)
{
	struct bpf_backend *b = bpf_backend_of(backend);

	task_records_free(b->tasks);
	keymap_free(&b->executed_by);
	keymap_free(&b->parents);
	free(b->executed);
	free(b->exits);
	free(b);
}

static const struct backend_operations operations = {
	.id = ACCOUNTING_BPF,
	.poll_ms = -1,
	.sees_cgroups = true,
	.free = bpf_free,
	.poll_fd = bpf_poll_fd,
	.before = bpf_before,
	.drain = bpf_drain,
	.after = bpf_after,
	.reports_all_exits = true,
	.parent = bpf_parent,
	.own_wait = bpf_own_wait,
	.describe = bpf_describe,
};

static void bpf_freep(struct bpf_backend **b)
{
	if (*b)
		bpf_free(&(*b)->base);
}

static void *end_at_once(void *nothing)
{
	return nothing;
}

/* Starts and ends a thread, to test that exits are reported and to relate the scheduler's clock to CLOCK_MONOTONIC. */
static int see_a_thread_end(struct bpf_backend *b, struct error *err)
{
	pthread_t thread;
	int r = -pthread_create(&thread, NULL, end_at_once, NULL);

	if (r < 0)
		return error_os(err, r, "cannot test the BPF programs");
	pthread_join(thread, NULL);
	for (int ms = 0; ms < 100; ms++) { /* its last context switch is some microseconds after the join */
		r = bpf_drain(&b->base, err);
		if (r < 0)
			return r;
		for (size_t i = 0; i < b->n_exits; i++)
			if (b->exits[i].tgid == task_records_observer(b->tasks))
				return 0;
		usleep(1000);
	}
	return error_say(err, -ENOTSUP, "the BPF programs are loaded, but do not report that a thread ended");
}

int accounting_bpf_new(struct backend **ret, struct identity *identity,
	const struct accounting_options *options, struct error *err)
{
	_cleanup_(bpf_freep) struct bpf_backend *b = xcalloc(1, sizeof(*b));
	const struct task_scope none = {.cpu = -1};
	int r;

	b->base.operations = &operations;
	b->identity = identity;
	r = task_records_new(&b->tasks, &options->tasks, on_event, b, err);
	if (r == 0)
		r = bpf_before(&b->base, &none, err);
	if (r == 0)
		r = see_a_thread_end(b, err);
	if (r == 0)
		r = task_records_snapshot(b->tasks, TASK_AFTER, &none, &b->after, err);
	if (r < 0)
		return r;
	*ret = &TAKE(b)->base;
	return 0;
}
