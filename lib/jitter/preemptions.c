/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intervals of other tasks and interrupts, charged: see preemptions.h. */
#include "lib/jitter/preemptions.h"

enum { BLOCKED, READY };

void preemptions_clear(struct preemptions *preemptions)
{
	free(preemptions->items);
	*preemptions = (struct preemptions){};
}

void preemptions_add(struct preemptions *p, const struct preemption *more)
{
	struct preemption *item = p->items, sum;

	while (item < p->items + p->n && item->source != more->source)
		item++;
	if (item == p->items + p->n) {
		item = array_add(p->items, p->n);
		item->source = more->source;
	}
	item->slices += more->slices;
	item->total_ns += more->total_ns;
	if (more->longest_ns > item->longest_ns)
		item->longest_ns = more->longest_ns;
	p->total_ns += more->total_ns;

	sum = *item;
	for (; item > p->items && item[-1].total_ns < sum.total_ns; item--)
		*item = item[-1];
	*item = sum;
}

void preemption_finder_begin(
	struct preemption_finder *f, pid_t program, struct jitter_sources *sources)
{
	*f = (struct preemption_finder){.program = program};
	intervals_begin(&f->intervals, program, sources);
	keymap_set(&f->threads, (uint64_t)program, BLOCKED);
}

void preemption_finder_clear(struct preemption_finder *f)
{
	intervals_clear(&f->intervals);
	keymap_free(&f->threads);
	preemptions_clear(&f->found);
}

static bool is_of_program(const struct preemption_finder *f, pid_t pid)
{
	return keymap_find(&f->threads, (uint64_t)pid) != NULL;
}

static void set_ready(struct preemption_finder *f, pid_t pid, uint32_t ready)
{
	const uint32_t *before = keymap_find(&f->threads, (uint64_t)pid);

	f->n_ready += ready - (before ? *before : BLOCKED);
	keymap_set(&f->threads, (uint64_t)pid, ready);
}

/* Closes finished slices; charges them if the program was runnable. A switch from one task to
 * another leaves the first one's interval before that of the second. */
static void charge_intervals(struct preemption_finder *f, bool was_runnable)
{
	struct intervals *v = &f->intervals;

	if (v->depth > 0)
		return;
	for (size_t i = 0; i < v->n; i++) {
		const struct trace_interval *item = &v->items[i];
		const struct preemption slice = {item->source, 1, item->net_ns, item->net_ns};

		if (was_runnable && item->end_ns >= item->start_ns && !item->open_ended)
			preemptions_add(&f->found, &slice);
	}
	intervals_drop(v, v->n);
}

/* The same event, in which all threads of the program are one. */
static struct trace_event without_threads(
	const struct preemption_finder *f, const struct trace_event *event)
{
	struct trace_event seen = *event;

	seen.pid = is_of_program(f, event->pid) ? f->program : event->pid;
	seen.prev = is_of_program(f, event->prev) ? f->program : event->prev;
	seen.next = is_of_program(f, event->next) ? f->program : event->next;
	return seen;
}

void preemption_finder_add(
	struct preemption_finder *f, const struct trace_event *event, int64_t at_ns)
{
	bool was_runnable = f->running || f->n_ready > 0;
	struct trace_event seen;

	if (event->what == TRACE_FORK) {
		if (is_of_program(f, event->prev))
			set_ready(f, event->next, READY);
		return;
	}

	seen = without_threads(f, event);
	intervals_add(&f->intervals, &seen, at_ns);
	f->found.events = f->intervals.events;
	f->found.broken = f->intervals.broken;
	charge_intervals(f, was_runnable);

	if (event->what != TRACE_SWITCH)
		return;
	if (is_of_program(f, event->prev))
		set_ready(f, event->prev, event->preempted ? READY : BLOCKED);
	f->running = is_of_program(f, event->next);
	if (f->running)
		set_ready(f, event->next, BLOCKED);
}
