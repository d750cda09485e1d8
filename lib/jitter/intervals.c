/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events, made intervals: see intervals.h. */
#include "lib/jitter/intervals.h"

#include "lib/base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = -1 };

/* What is kept of a thread that was switched from: whether it was preempted, and the work it was in, plus one. */
enum { PREEMPTED = 1, WORK_SHIFT = 1 };

void intervals_begin(struct intervals *v, pid_t watcher, struct jitter_sources *sources)
{
	*v = (struct intervals){.watcher = watcher, .sources = sources, .current = UNKNOWN};
}

void intervals_clear(struct intervals *v)
{
	free(v->items);
	keymap_free(&v->threads);
	*v = (struct intervals){};
}

/* NULL: no memory, or nested too deep. */
static struct trace_interval *append(struct intervals *v, int64_t start_ns, int64_t source)
{
	struct trace_interval *item;

	if (source < 0) {
		v->failed = (int)source;
		return NULL;
	}
	item = array_add_reused(v->items, v->n, v->capacity);
	if (!item) {
		v->failed = -ENOMEM;
		return NULL;
	}
	*item = (struct trace_interval){.start_ns = start_ns,
		.end_ns = start_ns - 1,
		.source = (uint32_t)source,
		.depth = (uint8_t)v->depth};
	return item;
}

static struct trace_interval *begin(
	struct intervals *v, enum trace_kind kind, uint64_t number, int64_t at_ns, int64_t source)
{
	struct trace_interval *item;

	if (v->depth == INTERVALS_DEEPEST) {
		v->broken++;
		return NULL;
	}
	item = append(v, at_ns, source);
	if (!item)
		return NULL;
	v->open[v->depth].item = v->n - 1;
	v->open[v->depth].kind = kind;
	v->open[v->depth].number = number;
	v->open[v->depth].inner_ns = 0;
	v->depth++;
	return item;
}

/* The innermost of those that are open. */
static void end(struct intervals *v, int64_t at_ns)
{
	size_t top = --v->depth;
	struct trace_interval *item = &v->items[v->open[top].item];

	item->end_ns = at_ns;
	item->net_ns = at_ns - item->start_ns - v->open[top].inner_ns;
	item->net_ns = item->net_ns < 0 ? 0 : item->net_ns;
	if (top > 0)
		v->open[top - 1].inner_ns += at_ns - item->start_ns;
}

/* They stay as they are: open, and nobody ends them. */
static void drop_open(struct intervals *v)
{
	v->depth = 0;
}

void intervals_lost(struct intervals *v)
{
	drop_open(v);
	v->current = UNKNOWN;
}

/* The work of a kernel worker is its source, from its first work in this interval on. */
static void begin_work(struct intervals *v, const struct trace_event *event, int64_t at_ns)
{
	int64_t source = jitter_source_of_event(v->sources, event);
	struct trace_interval *item;

	if (source < 0)
		v->failed = (int)source;
	if (source < 0 || v->depth != 1 || v->open[0].kind != TRACE_TASK)
		return;
	if (v->worked) {
		end(v, at_ns);
		item = begin(v, TRACE_TASK, 0, at_ns, source);
		if (item)
			item->switched = true;
	} else {
		v->items[v->open[0].item].source = (uint32_t)source;
	}
	v->worked = true;
	keymap_set(&v->threads, (uint64_t)event->pid, (uint32_t)(source + 1) << WORK_SHIFT);
}

static void end_work(struct intervals *v, const struct trace_event *event)
{
	keymap_set(&v->threads, (uint64_t)event->pid, 0);
}

static uint32_t known_of(const struct intervals *v, pid_t pid)
{
	const uint32_t *known = keymap_find(&v->threads, (uint64_t)pid);

	return known ? *known : 0;
}

static void begin_task(struct intervals *v, const struct trace_event *event, int64_t at_ns)
{
	uint32_t known = known_of(v, event->next);
	int64_t source = known >> WORK_SHIFT
				 ? (known >> WORK_SHIFT) - 1
				 : jitter_source_of_thread(v->sources, event->next, event->next_name ?: "?");
	struct trace_interval *item = begin(v, TRACE_TASK, 0, at_ns, source);

	v->worked = known >> WORK_SHIFT;
	if (item) {
		item->switched = true;
		item->resumed = known & PREEMPTED;
	}
}

/* The map grows with the pids of days. */
static void keep_thread(struct intervals *v, const struct trace_event *event)
{
	enum { MOST_THREADS = 65536 };
	uint32_t known = (known_of(v, event->prev) & ~(uint32_t)PREEMPTED) |
			 (event->preempted ? PREEMPTED : 0);

	if (v->threads.n_keys >= MOST_THREADS)
		keymap_reset(&v->threads, 0);
	if (known || keymap_find(&v->threads, (uint64_t)event->prev))
		keymap_set(&v->threads, (uint64_t)event->prev, known);
}

/* The switch back to the watcher is missing: nothing but what is open can have run until then. */
static void leave_open(struct trace_interval *item, int64_t inner_ns)
{
	item->open_ended = true;
	item->end_ns = item->start_ns;
	item->net_ns = -inner_ns;
}

/* The task in front of an event that does not fit. */
static void end_broken(struct intervals *v, bool back, int64_t at_ns)
{
	int64_t source = jitter_source_unknown(v->sources);

	v->broken++;
	if (v->depth == 0 || v->open[0].kind != TRACE_TASK || source < 0)
		return;
	if (back) {
		leave_open(&v->items[v->open[0].item], v->open[0].inner_ns);
		return;
	}
	v->depth = 1;
	v->items[v->open[0].item].source = (uint32_t)source;
	end(v, at_ns);
}

static void on_switch(struct intervals *v, const struct trace_event *event, int64_t at_ns)
{
	if (v->current != UNKNOWN && v->current != event->prev) {
		end_broken(v, event->prev == v->watcher, at_ns);
		drop_open(v);
	}
	while (v->depth > 1) { /* the end of an interrupt was not recorded */
		v->depth--;
		v->broken++;
	}
	if (v->depth == 1 && v->open[0].kind == TRACE_TASK)
		end(v, at_ns);
	v->depth = 0;
	keep_thread(v, event);
	v->current = event->next;
	if (event->next != v->watcher)
		begin_task(v, event, at_ns);
}

static void on_end(struct intervals *v, const struct trace_event *event, int64_t at_ns)
{
	size_t i = v->depth;

	while (i > 0 && (v->open[i - 1].kind != event->kind || v->open[i - 1].number != event->number))
		i--;
	if (i == 0)
		return; /* it began before the trace, or where events were lost */
	for (; v->depth > i; v->depth--)
		v->broken++;
	end(v, at_ns);
}

static void on_span(struct intervals *v, const struct trace_event *event, int64_t at_ns)
{
	if (begin(v, event->kind, event->number, at_ns - event->length_ns,
		    jitter_source_of_event(v->sources, event)))
		end(v, at_ns);
}

/* A fault of another task is part of what that task does. */
static void on_point(struct intervals *v, const struct trace_event *event, int64_t at_ns)
{
	struct trace_interval *item;

	if (event->pid != v->watcher)
		return;
	item = append(v, at_ns, jitter_source_of_event(v->sources, event));
	if (item) {
		item->end_ns = at_ns;
		item->open_ended = true;
	}
}

void intervals_add(struct intervals *v, const struct trace_event *event, int64_t at_ns)
{
	v->events++;
	switch (event->what) {
	case TRACE_SWITCH:
		on_switch(v, event, at_ns);
		return;
	case TRACE_BEGIN:
		if (event->kind == TRACE_WORK)
			begin_work(v, event, at_ns);
		else
			begin(v, event->kind, event->number, at_ns,
				jitter_source_of_event(v->sources, event));
		return;
	case TRACE_END:
		if (event->kind == TRACE_WORK)
			end_work(v, event);
		else
			on_end(v, event, at_ns);
		return;
	case TRACE_SPAN:
		on_span(v, event, at_ns);
		return;
	case TRACE_POINT:
		on_point(v, event, at_ns);
		return;
	case TRACE_FORK:
		return; /* nobody took the CPU */
	}
}

void intervals_drop(struct intervals *v, size_t n)
{
	if (v->depth > 0 && v->open[0].item < n)
		n = v->open[0].item;
	if (n == 0)
		return;
	memmove(v->items, v->items + n, (v->n - n) * sizeof(*v->items));
	v->n -= n;
	for (size_t i = 0; i < v->depth; i++)
		v->open[i].item -= n;
}
