/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's trace during samples: see watch.h. */
#include "lib/jitter/watch.h"

#include "lib/base/number.h"
#include "lib/base/xalloc.h"
#include "lib/host/process/pinning.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BUFFER_BYTES = 32 << 20, PROBE_BYTES = 1 << 20 };
enum { FAULT_PAGES = 128, FAULT_TRIES = 100 };
enum { BLOCKED, READY };

void taken_sample_clear(struct taken_sample *sample)
{
	free(sample->items);
	*sample = (struct taken_sample){};
}

void taken_sample_add(struct taken_sample *sample, const struct taken *taken)
{
	struct taken *item = sample->items;

	while (item < sample->items + sample->n && item->source != taken->source)
		item++;
	if (item == sample->items + sample->n) {
		item = array_add(sample->items, sample->n);
		item->source = taken->source;
	}
	item->slices += taken->slices;
	item->total_ns += taken->total_ns;
	item->longest_ns = taken->longest_ns > item->longest_ns ? taken->longest_ns : item->longest_ns;
	sample->total_ns += taken->total_ns;
}

static int by_taken_ns(const void *x, const void *y)
{
	const struct taken *a = x, *b = y;

	return (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
}

void taken_sample_sort(struct taken_sample *sample)
{
	if (sample->n > 0)
		qsort(sample->items, sample->n, sizeof(*sample->items), by_taken_ns);
}

void taking_begin(struct taking *t, pid_t program, struct jitter_sources *sources)
{
	*t = (struct taking){.program = program};
	intervals_begin(&t->intervals, program, sources);
	keymap_set(&t->threads, (uint64_t)program, BLOCKED);
}

void taking_clear(struct taking *t)
{
	intervals_clear(&t->intervals);
	keymap_free(&t->threads);
	taken_sample_clear(&t->sample);
}

static bool is_of_program(const struct taking *t, pid_t pid)
{
	return keymap_find(&t->threads, (uint64_t)pid) != NULL;
}

static void set_ready(struct taking *t, pid_t pid, uint32_t ready)
{
	const uint32_t *before = keymap_find(&t->threads, (uint64_t)pid);

	t->n_ready += ready - (before ? *before : BLOCKED);
	keymap_set(&t->threads, (uint64_t)pid, ready);
}

void taking_add(struct taking *t, const struct trace_event *event, int64_t at_ns)
{
	struct trace_event seen = *event;
	bool was_runnable = t->running || t->n_ready > 0;
	struct intervals *v = &t->intervals;

	if (event->what == TRACE_FORK) {
		if (is_of_program(t, event->prev))
			set_ready(t, event->next, READY);
		return;
	}
	/* all threads of the program are one to the intervals */
	seen.pid = is_of_program(t, event->pid) ? t->program : event->pid;
	seen.prev = is_of_program(t, event->prev) ? t->program : event->prev;
	seen.next = is_of_program(t, event->next) ? t->program : event->next;
	intervals_add(&t->intervals, &seen, at_ns);
	/* a switch from one task to another leaves the first one's interval before that of the second */
	/* Closes finished slices; charges them if the program was runnable. */
	if (v->depth <= 0) {
		for (size_t i = 0; i < v->n; i++) {
			const struct trace_interval *item = &v->items[i];

			if (was_runnable && item->end_ns >= item->start_ns && !item->open_ended)
				taken_sample_add(&t->sample,
					&(struct taken){item->source, 1, item->net_ns, item->net_ns});
		}
		intervals_drop(v, v->n);
	}
	if (event->what != TRACE_SWITCH)
		return;
	if (is_of_program(t, event->prev))
		set_ready(t, event->prev, event->preempted ? READY : BLOCKED);
	t->running = is_of_program(t, event->next);
	if (t->running)
		set_ready(t, event->next, BLOCKED);
}

struct taken_sample taking_end(struct taking *t)
{
	t->sample.events = t->intervals.events;
	t->sample.broken = t->intervals.broken;
	taken_sample_sort(&t->sample);
	return TAKE_STRUCT(t->sample);
}

struct program_trace {
	int cpu;
	struct trace *trace;
	struct identity *identity;
	struct jitter_sources sources;
	int64_t event_cost_ns, lost;
};

void program_trace_free(struct program_trace *t)
{
	if (!t)
		return;
	trace_free(t->trace);
	identity_free(t->identity);
	jitter_sources_clear(&t->sources);
	free(t);
}

/* By a trace that has page faults, which that of a program does not: they are its own. */
static int measure_event_cost(struct program_trace *t, struct error *err)
{
	const struct trace_request request = {
		.cpus = &t->cpu, .n_cpus = 1, .clock = "mono_raw", .buffer_bytes = PROBE_BYTES};
	_cleanup_(trace_freep) struct trace *probe = NULL;
	int64_t untraced_ns = event_cost_fault_ns(t->cpu);
	int r = trace_open(&probe, &request, err);

	if (r == 0)
		r = trace_start(probe, err);
	if (r == 0)
		t->event_cost_ns = event_cost_ns(untraced_ns, event_cost_fault_ns(t->cpu));
	return r;
}

int program_trace_open(struct program_trace **ret, int cpu, struct error *err)
{
	_cleanup_(program_trace_freep) struct program_trace *t = xcalloc(1, sizeof(*t));
	struct trace_request request = {
		.n_cpus = 1, .clock = "mono_raw", .buffer_bytes = BUFFER_BYTES, .of_program = true};
	int r;

	t->cpu = cpu;
	request.cpus = &t->cpu;
	r = measure_event_cost(t, err);
	t->identity = identity_new();
	if (r == 0)
		r = trace_open(&t->trace, &request, err);
	if (r == 0)
		r = trace_start(t->trace, err);
	if (r < 0)
		return r;
	t->sources.identity = t->identity;
	t->sources.symbol = trace_symbol;
	t->sources.trace = t->trace;
	*ret = TAKE(t);
	return 0;
}

static void drop_event(const struct trace_event *event, void *data)
{
}

int program_trace_forget(struct program_trace *t, struct error *err)
{
	int r = trace_read(t->trace, 0, drop_event, NULL, err);

	t->lost = trace_lost(t->trace, 0);
	return r;
}

static void add_event(const struct trace_event *event, void *data)
{
	taking_add(data, event, (int64_t)event->at);
}

int program_trace_take(struct program_trace *t, pid_t program, struct taken_sample *ret, struct error *err)
{
	_cleanup_(taking_clear) struct taking taking;
	int r;

	taking_begin(&taking, program, &t->sources);
	r = trace_read(t->trace, 0, add_event, &taking, err);
	if (r < 0)
		return r;
	*ret = taking_end(&taking);
	ret->lost = trace_lost(t->trace, 0) - t->lost;
	t->lost += ret->lost;
	return 0;
}

const struct jitter_source_name *program_trace_source(const struct program_trace *t, uint32_t source)
{
	return &t->sources.items[source];
}

int program_trace_cpu(const struct program_trace *t)
{
	return t->cpu;
}

int64_t program_trace_event_cost_ns(const struct program_trace *t)
{
	return t->event_cost_ns;
}

int64_t event_cost_fault_ns(int cpu)
{
	long page = sysconf(_SC_PAGESIZE);
	size_t size = (size_t)(FAULT_PAGES * page);
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int64_t shortest_ns = INT64_MAX; /* minimum of several runs, to exclude interruptions */
	cpu_set_t before;

	if (memory == MAP_FAILED)
		return 0;
	madvise(memory, size, MADV_NOHUGEPAGE);
	sched_getaffinity(0, sizeof(before), &before);
	if (pinning_pin(cpu) < 0)
		shortest_ns = 0;
	for (int i = 0; shortest_ns > 0 && i < FAULT_TRIES; i++) {
		int64_t before_ns, took_ns;

		madvise(memory, size, MADV_DONTNEED);
		before_ns = clock_ns(CLOCK_MONOTONIC_RAW);
		for (int k = 0; k < FAULT_PAGES; k++)
			*(volatile char *)(memory + k * page) = 1;
		took_ns = clock_ns(CLOCK_MONOTONIC_RAW) - before_ns;
		shortest_ns = took_ns < shortest_ns ? took_ns : shortest_ns;
	}
	sched_setaffinity(0, sizeof(before), &before);
	munmap(memory, size);
	return shortest_ns / FAULT_PAGES;
}
