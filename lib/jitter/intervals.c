/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events, made intervals: see intervals.h. */
#include "lib/jitter/intervals.h"

enum { UNKNOWN = -1 };

/* What is kept of a thread that was switched from: whether it was preempted, and the work it was
 * in, plus one. */
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

/* NULL: nested too deep. */
static struct trace_interval *interval_begin(
	struct intervals *v, enum trace_kind kind, uint64_t number, int64_t at_ns, uint32_t source)
{
	struct trace_interval *item;

	if (v->depth == INTERVALS_DEEPEST) {
		v->broken++;
		return NULL;
	}
	item = array_add_reused(v->items, v->n, v->capacity);
	*item = (struct trace_interval){.start_ns = at_ns,
		.end_ns = at_ns - 1,
		.source = source,
		.depth = (uint8_t)v->depth};
	v->open[v->depth].item = v->n - 1;
	v->open[v->depth].kind = kind;
	v->open[v->depth].number = number;
	v->open[v->depth].inner_ns = 0;
	v->depth++;
	return item;
}

/* The innermost of those that are open. */
static void interval_end(struct intervals *v, int64_t at_ns)
{
	size_t top = --v->depth;
	struct trace_interval *item = &v->items[v->open[top].item];

	item->end_ns = at_ns;
	item->net_ns = at_ns - item->start_ns - v->open[top].inner_ns;
	item->net_ns = item->net_ns < 0 ? 0 : item->net_ns;
	if (top > 0)
		v->open[top - 1].inner_ns += at_ns - item->start_ns;
}

/* Those that are open stay so: nobody ends them. */
void intervals_lost(struct intervals *v)
{
	v->depth = 0;
	v->current = UNKNOWN;
}

/* The work of a kernel worker is its source, from its first work in this interval on. */
static void begin_work(struct intervals *v, const struct trace_event *event, int64_t at_ns)
{
	uint32_t source = jitter_source_of_event(v->sources, event);

	if (v->depth != 1 || v->open[0].kind != TRACE_TASK)
		return;
	if (v->worked) {
		interval_end(v, at_ns);
		interval_begin(v, TRACE_TASK, 0, at_ns, source)->switched = true;
	} else {
		v->items[v->open[0].item].source = source;
	}
	v->worked = true;
	keymap_set(&v->threads, (uint64_t)event->pid, (source + 1) << WORK_SHIFT);
}

/* The switch before this one is missing, which ends what is open. */
static void intervals_break(struct intervals *v, bool from_watcher, int64_t at_ns)
{
	uint32_t unknown = jitter_source_add(v->sources, "unknown task", NULL, SOURCE_PROCESS);
	struct trace_interval *task = NULL;

	if (v->depth > 0 && v->open[0].kind == TRACE_TASK)
		task = &v->items[v->open[0].item];
	v->broken++;
	if (task && from_watcher) {
		/* the switch back to the watcher is missing: nothing but what is open can have run
		 * until then */
		task->open_ended = true;
		task->end_ns = task->start_ns;
		task->net_ns = -v->open[0].inner_ns;
	} else if (task) {
		v->depth = 1;
		task->source = unknown;
		interval_end(v, at_ns);
	}
	v->depth = 0;
}

/* Ends what is open when a task is left. */
static void intervals_end_task(struct intervals *v, const struct trace_event *event, int64_t at_ns)
{
	if (v->current != UNKNOWN && v->current != event->prev)
		intervals_break(v, event->prev == v->watcher, at_ns);
	for (; v->depth > 1; v->depth--) /* the end of an interrupt was not recorded */
		v->broken++;
	if (v->depth == 1 && v->open[0].kind == TRACE_TASK)
		interval_end(v, at_ns);
	v->depth = 0;
}

/* Keeps what is known of a thread that is left. */
static void remember_thread(struct intervals *v, pid_t pid, bool preempted)
{
	enum { MOST_THREADS = 65536 };
	const uint32_t *found = keymap_find(&v->threads, (uint64_t)pid);
	uint32_t known = (found ? *found : 0) & ~(uint32_t)PREEMPTED;

	if (preempted)
		known |= PREEMPTED;
	if (v->threads.n_keys >= MOST_THREADS) /* the map grows with the pids of days */
		keymap_reset(&v->threads, 0);
	if (known || keymap_find(&v->threads, (uint64_t)pid))
		keymap_set(&v->threads, (uint64_t)pid, known);
}

/* Begins the interval of a task that is not the watcher. */
static void intervals_begin_task(
	struct intervals *v, const struct trace_event *event, int64_t at_ns)
{
	const uint32_t *found = keymap_find(&v->threads, (uint64_t)event->next);
	uint32_t known = found ? *found : 0, work = known >> WORK_SHIFT, source;
	struct trace_interval *item;

	if (work)
		source = work - 1;
	else
		source = jitter_source_of_thread(v->sources, event->next, event->next_name ?: "?");
	item = interval_begin(v, TRACE_TASK, 0, at_ns, source);
	item->switched = true;
	item->resumed = known & PREEMPTED;
	v->worked = work;
}

static void intervals_switch(struct intervals *v, const struct trace_event *event, int64_t at_ns)
{
	intervals_end_task(v, event, at_ns);
	remember_thread(v, event->prev, event->preempted);
	v->current = event->next;
	if (event->next != v->watcher)
		intervals_begin_task(v, event, at_ns);
}

/* The end of an interrupt, and of those in it whose end was not recorded. */
static void intervals_end(struct intervals *v, const struct trace_event *event, int64_t at_ns)
{
	size_t i = v->depth;

	while (i > 0 &&
		(v->open[i - 1].kind != event->kind || v->open[i - 1].number != event->number))
		i--;
	if (i == 0)
		return; /* it began before the trace, or where events were lost */
	for (; v->depth > i; v->depth--)
		v->broken++;
	interval_end(v, at_ns);
}

/* What began `length_ns` ago and ends now; of a point it is not known when it ends. */
static void intervals_add_span(struct intervals *v, const struct trace_event *event, int64_t at_ns)
{
	uint32_t source = jitter_source_of_event(v->sources, event);
	int64_t start_ns = at_ns - event->length_ns;
	struct trace_interval *item = interval_begin(
		v, event->kind, event->number, start_ns, source);

	if (!item)
		return;
	item->open_ended = event->what == TRACE_POINT;
	interval_end(v, at_ns);
}

void intervals_add(struct intervals *v, const struct trace_event *event, int64_t at_ns)
{
	bool work = event->kind == TRACE_WORK;

	v->events++;
	switch (event->what) {
	case TRACE_SWITCH:
		intervals_switch(v, event, at_ns);
		break;
	case TRACE_BEGIN:
		if (work)
			begin_work(v, event, at_ns);
		else
			interval_begin(v, event->kind, event->number, at_ns,
				jitter_source_of_event(v->sources, event));
		break;
	case TRACE_END:
		if (work)
			keymap_set(&v->threads, (uint64_t)event->pid, 0);
		else
			intervals_end(v, event, at_ns);
		break;

	case TRACE_POINT: /* a fault of another task is part of what that task does */
		if (event->pid == v->watcher)
			intervals_add_span(v, event, at_ns);
		break;
	case TRACE_SPAN:
		intervals_add_span(v, event, at_ns);
		break;
	case TRACE_FORK: /* nobody took the CPU */
		break;
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
