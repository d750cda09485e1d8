/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads and asks the programs of accounting.bpf.c: see task_records.h. */
#include "lib/host/accounting/task_records.h"

#include "lib/base/text.h"

#include "lib/host/accounting.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

enum {
	/* A read gives at most eight pages; room for that is kept free behind what was read. */
	READ_BYTES = 8 * 4096,
	MIN_ROOM = 8192,
	TIMES_NOW = 8,
};

/* An image that was read. */
struct records {
	struct task_record *items;
	size_t n, capacity;
};

struct task_records {
	struct accounting_bpf *programs;
	struct ring_buffer *events;
	task_records_event *on_event;
	void *context;
	struct records read[2];
	const struct task_record *walked; /* both images of walk_tasks; NULL: it is not there */
	size_t walked_bytes, walk_capacity;
};

/* libbpf explains itself in many lines; the first warning of a failed load is the cause. */
static _Thread_local char first_warning[256];

static int keep_first_warning(enum libbpf_print_level level, const char *format, va_list ap)
{
	if (level == LIBBPF_WARN && !first_warning[0])
		vsnprintf(first_warning, sizeof(first_warning), format, ap);
	return 0;
}

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

static size_t choose_room(const struct task_records_options *options)
{
	size_t capacity = options->capacity ?: TIMES_NOW * count_tasks();

	return options->capacity || capacity > MIN_ROOM ? capacity : MIN_ROOM;
}

/* Linux 6.7 has what walk_tasks needs; there are others for older kernels. */
static void choose_programs(struct accounting_bpf *programs, bool walk)
{
	bpf_program__set_autoload(programs->progs.walk_tasks, walk);
	bpf_program__set_autoload(programs->progs.read_tasks, walk);
	bpf_program__set_autoload(programs->progs.task_dies, walk);
	bpf_program__set_autoload(programs->progs.read_tasks_before_6_7, !walk);
	bpf_program__set_autoload(programs->progs.task_dies_before_6_7, !walk);
}

static int open_programs(struct task_records *watch, const struct task_records_options *options, bool walk)
{
	int r = 0;

	watch->programs = accounting_bpf__open();
	if (!watch->programs)
		return -errno;
	watch->walk_capacity = walk ? choose_room(options) : 1;
	r = bpf_map__set_max_entries(watch->programs->maps.snapshots, (uint32_t)(2 * watch->walk_capacity));
	if (r == 0 && options->events_bytes)
		r = bpf_map__set_max_entries(watch->programs->maps.events, (uint32_t)options->events_bytes);
	if (r == 0)
		choose_programs(watch->programs, walk);
	return r;
}

/* An older kernel does not take the program that walks: then without it. */
static int load_programs(struct task_records *watch, const struct task_records_options *options)
{
	bool walk = !options->read;
	int r = open_programs(watch, options, walk);

	if (r == 0)
		r = accounting_bpf__load(watch->programs);
	if (r < 0 && walk) {
		accounting_bpf__destroy(watch->programs);
		watch->programs = NULL;
		first_warning[0] = '\0';
		walk = false;
		r = open_programs(watch, options, walk);
		if (r == 0)
			r = accounting_bpf__load(watch->programs);
	}
	if (r == 0)
		r = accounting_bpf__attach(watch->programs);
	if (r < 0 || !walk)
		return r;
	watch->walked_bytes = 2 * watch->walk_capacity * sizeof(struct task_record);
	watch->walked = mmap(NULL, watch->walked_bytes, PROT_READ, MAP_SHARED,
		bpf_map__fd(watch->programs->maps.snapshots), 0);
	if (watch->walked == MAP_FAILED) {
		watch->walked = NULL;
		return -errno;
	}
	return 0;
}

static int on_sample(void *context, void *data, size_t size)
{
	struct task_records *watch = context;

	return watch->on_event(watch->context, data);
}

static int load(struct task_records *watch, const struct task_records_options *options)
{
	libbpf_print_fn_t print = libbpf_set_print(keep_first_warning);
	int r;

	first_warning[0] = '\0';
	r = load_programs(watch, options);
	if (r == 0) {
		watch->events = ring_buffer__new(
			bpf_map__fd(watch->programs->maps.events), on_sample, watch, NULL);
		if (!watch->events)
			r = -errno;
	}
	libbpf_set_print(print);
	return r;
}

int task_records_new(struct task_records **ret, const struct task_records_options *options,
	task_records_event *on_event, void *context, struct error *err)
{
	_cleanup_(task_records_freep) struct task_records *watch = calloc(1, sizeof(*watch));
	int r;

	if (!watch)
		return error_os(err, -ENOMEM, "cannot account for processes");
	watch->on_event = on_event;
	watch->context = context;
	r = load(watch, options);
	if (r < 0) {
		first_warning[strcspn(first_warning, "\n")] = '\0';
		return error_os(err, r, "the kernel does not take the BPF programs (%s)",
			first_warning[0] ? first_warning : "libbpf says no more");
	}
	*ret = TAKE(watch);
	return 0;
}

void task_records_free(struct task_records *watch)
{
	if (!watch)
		return;
	if (watch->walked)
		munmap((void *)watch->walked, watch->walked_bytes);
	ring_buffer__free(watch->events);
	accounting_bpf__destroy(watch->programs);
	free(watch->read[TASK_BEFORE].items);
	free(watch->read[TASK_AFTER].items);
	free(watch);
}

/* 1: done; 0: there are more tasks than room. */
static int walk(struct task_records *watch, enum task_moment moment, struct task_snapshot *ret)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	struct accounting_bpf__bss *bss = watch->programs->bss;
	size_t from = moment * watch->walk_capacity;
	int r;

	bss->walk_from = (uint32_t)from;
	bss->walk_capacity = (uint32_t)watch->walk_capacity;
	r = bpf_prog_test_run_opts(bpf_program__fd(watch->programs->progs.walk_tasks), &options);
	if (r < 0)
		return r;
	if (bss->walk_n > watch->walk_capacity)
		return 0;
	*ret = (struct task_snapshot){.items = watch->walked + from, .n = bss->walk_n};
	return 1;
}

static int keep_room(struct records *records)
{
	size_t wanted = records->n + READ_BYTES / sizeof(struct task_record) + 1,
	       capacity = records->capacity ?: 1024;
	struct task_record *items;

	while (capacity < wanted)
		capacity *= 2;
	if (capacity == records->capacity)
		return 0;
	items = realloc(records->items, capacity * sizeof(*items));
	if (!items)
		return -ENOMEM;
	records->items = items;
	records->capacity = capacity;
	return 0;
}

static int read_all(int fd, struct records *records)
{
	size_t len = 0;

	for (records->n = 0;;) {
		int r = keep_room(records);
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

static int read_image(struct task_records *watch, enum task_moment moment, struct task_snapshot *ret)
{
	_cleanup_(closep) int fd = bpf_iter_create(
		bpf_link__fd(watch->walked ? watch->programs->links.read_tasks
					   : watch->programs->links.read_tasks_before_6_7));
	struct records *records = &watch->read[moment];
	int r = fd < 0 ? fd : read_all(fd, records);

	if (r == 0)
		*ret = (struct task_snapshot){.items = records->items, .n = records->n};
	return r;
}

int task_records_snapshot(struct task_records *watch, enum task_moment moment, uint64_t program_cgroup,
	struct task_snapshot *ret, struct error *err)
{
	int r = 0;

	watch->programs->bss->program_cgroup = program_cgroup;
	if (watch->walked)
		r = walk(watch, moment, ret);
	if (r == 0)
		r = read_image(watch, moment, ret);
	return r < 0 ? error_os(err, r, "cannot take an image of the processes by BPF") : 0;
}

int task_records_drain(struct task_records *watch, struct error *err)
{
	int r = ring_buffer__consume(watch->events);

	return r < 0 ? error_os(err, r, "cannot read from BPF which processes ended") : 0;
}

int task_records_poll_fd(const struct task_records *watch)
{
	return ring_buffer__epoll_fd(watch->events);
}

uint64_t task_records_lost(const struct task_records *watch)
{
	return watch->programs->bss->lost;
}

int64_t task_records_exiting(const struct task_records *watch)
{
	const volatile struct accounting_bpf__bss *bss = watch->programs->bss;
	uint64_t done = bss->exits_done;

	return (int64_t)(bss->exits_begun - done);
}

unsigned int task_records_observer(const struct task_records *watch)
{
	return watch->programs->bss->observer_tgid;
}
