/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who takes a CPU from a program: see taking.h. */
#include "lib/jitter/taking.h"

#include "lib/base/array.h"
#include "lib/base/cleanup.h"

#include <errno.h>
#include <stdlib.h>

enum { BLOCKED, READY };

void taken_sample_clear(struct taken_sample *sample)
{
	free(sample->items);
	*sample = (struct taken_sample){};
}

int taken_sample_add(struct taken_sample *sample, const struct taken *taken)
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
	return 0;
}

static int by_total(const void *x, const void *y)
{
	const struct taken *a = x, *b = y;

	return (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
}

void taken_sample_sort(struct taken_sample *sample)
{
	if (sample->n > 0)
		qsort(sample->items, sample->n, sizeof(*sample->items), by_total);
}

void taking_begin(struct taking *t, pid_t program, struct jitter_sources *sources)
{
	*t = (struct taking){.program = program};
	intervals_begin(&t->intervals, program, sources);
	t->failed = keymap_set(&t->threads, (uint64_t)program, BLOCKED);
}

void taking_clear(struct taking *t)
{
	intervals_clear(&t->intervals);
	keymap_free(&t->threads);
	taken_sample_clear(&t->sample);
}

static bool is_own(const struct taking *t, pid_t pid)
{
	return keymap_find(&t->threads, (uint64_t)pid) != NULL;
}

static void set_ready(struct taking *t, pid_t pid, uint32_t ready)
{
	const uint32_t *before = keymap_find(&t->threads, (uint64_t)pid);

	t->n_ready += ready - (before ? *before : BLOCKED);
	if (keymap_set(&t->threads, (uint64_t)pid, ready) < 0)
		t->failed = -ENOMEM;
}

static void on_switch(struct taking *t, const struct trace_event *event)
{
	if (is_own(t, event->prev))
		set_ready(t, event->prev, event->preempted ? READY : BLOCKED);
	t->running = is_own(t, event->next);
	if (t->running)
		set_ready(t, event->next, BLOCKED);
}

static void add(struct taking *t, const struct trace_interval *v)
{
	const struct taken taken = {v->source, 1, v->net_ns, v->net_ns};

	if (taken_sample_add(&t->sample, &taken) < 0)
		t->failed = -ENOMEM;
}

/* Those that have ended are done with; they were taken from the program if it was ready, or ran, before their end. */
static void count_ended(struct taking *t, bool taken)
{
	struct intervals *v = &t->intervals;

	if (v->n == 0 || v->depth > 0) /* or an interrupt of a task that still runs */
		return;
	for (size_t i = 0; i < v->n; i++)
		if (taken && v->items[i].end_ns >= v->items[i].start_ns && !v->items[i].open_ended)
			add(t, &v->items[i]);
	intervals_drop(v, v->n);
}

/* All threads of the program are one to the intervals. */
static pid_t as_one(const struct taking *t, pid_t pid)
{
	return is_own(t, pid) ? t->program : pid;
}

void taking_add(struct taking *t, const struct trace_event *event, int64_t at_ns)
{
	struct trace_event seen = *event;
	bool taken = t->running || t->n_ready > 0;

	if (event->what == TRACE_FORK) {
		if (is_own(t, event->prev))
			set_ready(t, event->next, READY);
		return;
	}
	seen.pid = as_one(t, event->pid);
	seen.prev = as_one(t, event->prev);
	seen.next = as_one(t, event->next);
	intervals_add(&t->intervals, &seen, at_ns);
	/* a switch from one task to another leaves the first one's interval before that of the second */
	count_ended(t, taken);
	if (event->what == TRACE_SWITCH)
		on_switch(t, event);
}

int taking_end(struct taking *t, struct taken_sample *ret)
{
	if (t->failed < 0 || t->intervals.failed < 0)
		return -ENOMEM;
	t->sample.events = t->intervals.events;
	t->sample.broken = t->intervals.broken;
	taken_sample_sort(&t->sample);
	*ret = TAKE_STRUCT(t->sample);
	return 0;
}
