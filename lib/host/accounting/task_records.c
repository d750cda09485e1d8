/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads and runs the programs of accounting.bpf.c: see task_records.h. */
#include "lib/host/accounting/task_records.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"
#include "lib/host/bpf/bpf_load.h"
#include "lib/host/bpf/bpf_resolved.h"
#include "lib/host/system/lock.h"

#include "lib/host/accounting.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

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

/* Only on x86 is the local timer no interrupt handler. */
static void choose_interrupts(struct accounting_bpf *programs, bool watch)
{
	bpf_program__set_autoload(programs->progs.irq_handler_begins, watch);
	bpf_program__set_autoload(programs->progs.irq_handler_ends, watch);
	bpf_program__set_autoload(programs->progs.softirq_begins, watch);
	bpf_program__set_autoload(programs->progs.softirq_ends, watch);
	bpf_program__set_autoload(programs->progs.local_timer_begins, watch && IS_X86);
	bpf_program__set_autoload(programs->progs.local_timer_ends, watch && IS_X86);
}

/* walk_tasks needs Linux 6.7. */
static void choose_programs(struct accounting_bpf *programs, bool walk)
{
	bpf_program__set_autoload(programs->progs.walk_tasks, walk);
	bpf_program__set_autoload(programs->progs.read_tasks, walk);
	bpf_program__set_autoload(programs->progs.task_dies, walk);
	bpf_program__set_autoload(programs->progs.read_tasks_before_6_7, !walk);
	bpf_program__set_autoload(programs->progs.task_dies_before_6_7, !walk);
	if (!walk && libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_SYSCALL, NULL) != 1) /* before 5.14 */
		bpf_program__set_autoload(programs->progs.read_own_wait, false);
}

static int open_programs(struct task_records *tasks)
{
	const struct task_records_options *options = &tasks->options;
	int r;

	tasks->programs = accounting_bpf__open();
	if (!tasks->programs)
		return -errno;
	choose_programs(tasks->programs, !options->read);
	choose_interrupts(tasks->programs, !options->no_watch);
	tasks->walk_capacity = options->read ? 1 : choose_capacity(options);
	r = bpf_map__set_max_entries(tasks->programs->maps.snapshots, (uint32_t)(2 * tasks->walk_capacity));
	if (r == 0 && options->events_bytes)
		r = bpf_map__set_max_entries(tasks->programs->maps.events, (uint32_t)options->events_bytes);
	return r;
}

static int map_snapshots(struct task_records *tasks)
{
	size_t bytes = 2 * tasks->walk_capacity * sizeof(struct task_record);
	void *walked = mmap(
		NULL, bytes, PROT_READ, MAP_SHARED, bpf_map__fd(tasks->programs->maps.snapshots), 0);

	if (walked == MAP_FAILED)
		return -errno;
	tasks->walked = walked;
	tasks->walked_bytes = bytes;
	return 0;
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

/* -EUSERS: too many observe already. */
static int check_others(struct task_records *tasks)
{
	int n, link = bpf_resolved_link(&tasks->loaded, tasks->programs->progs.list_observers);

	if (link < 0)
		return link;
	n = count_earlier_observers(tasks, link);
	return n < MAX_OBSERVERS ? n : -EUSERS;
}

/* On kernels before Linux 6.7 libbpf resolves them every time. */
static int load_programs(struct task_records *tasks)
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

static int load(void *context)
{
	struct task_records *tasks = context;
	int r = open_programs(tasks);

	if (r == 0)
		r = load_programs(tasks);
	if (r == 0)
		r = check_others(tasks);
	if (r >= 0)
		r = bpf_resolved_attach(&tasks->loaded);
	if (r == 0 && !tasks->options.read)
		r = map_snapshots(tasks);
	if (r < 0)
		return r;
	tasks->events = ring_buffer__new(bpf_map__fd(tasks->programs->maps.events), on_sample, tasks, NULL);
	return tasks->events ? 0 : -errno;
}

int task_records_new(struct task_records **ret, const struct task_records_options *options,
	task_records_event *on_event, void *context, struct error *err)
{
	_cleanup_(task_records_freep) struct task_records *tasks = xcalloc(1, sizeof(*tasks));
	struct error not_at_once;
	int r;

	*tasks = (struct task_records){.options = *options, .on_event = on_event, .context = context};
	r = bpf_load(load, tasks, options->read ? err : &not_at_once);
	if (r < 0 && r != -EUSERS && !tasks->options.read) { /* as on an older kernel, then */
		bpf_resolved_clear(&tasks->loaded);
		accounting_bpf__destroy(tasks->programs);
		tasks->programs = NULL;
		tasks->options.read = true;
		r = bpf_load(load, tasks, err);
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

void task_records_free(struct task_records *tasks)
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

static void set_scope(struct task_records *tasks, enum task_moment moment, const struct task_scope *scope)
{
	struct accounting_bpf__bss *bss = tasks->programs->bss;

	bss->walk_from = (uint32_t)(moment * tasks->walk_capacity);
	if (bss->program_cgroup != scope->cgroup)
		bss->program_level = 0; /* until something executes a file in it */
	bss->program_cgroup = scope->cgroup;
	if (moment == TASK_AFTER)
		return;
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

int task_records_snapshot(struct task_records *tasks, enum task_moment moment, const struct task_scope *scope,
	struct task_snapshot *ret, struct error *err)
{
	int r = 0;

	set_scope(tasks, moment, scope);
	if (tasks->walked)
		r = walk(tasks, ret);
	if (r == 0)
		r = read_snapshot(tasks, moment, ret);
	return r < 0 ? error_os(err, r, "cannot take a snapshot of the processes with BPF") : 0;
}

int task_records_drain(struct task_records *tasks, struct error *err)
{
	int r = ring_buffer__consume(tasks->events);

	return r < 0 ? error_os(err, r, "cannot read the BPF events") : 0;
}

int task_records_poll_fd(const struct task_records *tasks)
{
	return ring_buffer__epoll_fd(tasks->events);
}

uint64_t task_records_lost(const struct task_records *tasks)
{
	return tasks->programs->bss->lost;
}

int64_t task_records_exiting(const struct task_records *tasks)
{
	const volatile struct accounting_bpf__bss *bss = tasks->programs->bss;
	uint64_t done = bss->exits_done;

	return (int64_t)(bss->exits_begun - done);
}

struct task_watched task_records_watched(const struct task_records *tasks)
{
	const volatile struct accounting_bpf__bss *bss = tasks->programs->bss;
	struct task_watched watched = {.taken_ns = -1, .interrupts_ns = -1, .steal_ns = -1};

	if (tasks->programs->data->watched_cpu < 0)
		return watched;
	watched.has_shares = !bss->shares_full;
	watched.taken_ns = bss->taken_ns;
	if (bss->program_cgroup)
		watched.interrupts_ns = (int64_t)(bss->interrupts_ns - tasks->interrupts_before_ns);
	if (tasks->steal_before_ns)
		watched.steal_ns = (int64_t)(bss->steal_ns - tasks->steal_before_ns);
	return watched;
}

int64_t task_records_own_wait(const struct task_records *tasks)
{
	const volatile struct accounting_bpf__bss *bss = tasks->programs->bss;
	LIBBPF_OPTS(bpf_test_run_opts, options);
	int fd = bpf_resolved_program(&tasks->loaded, tasks->programs->progs.read_own_wait);

	return fd >= 0 && bpf_prog_test_run_opts(fd, &options) == 0 ? (int64_t)bss->own_wait_ns : -1;
}

unsigned int task_records_observer(const struct task_records *tasks)
{
	return tasks->programs->bss->observer_tgid;
}
