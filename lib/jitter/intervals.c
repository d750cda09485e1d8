/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events, made intervals of named sources: see jitter_internal.h. */
#include "lib/jitter/jitter_internal.h"

#include "lib/protocol/names.h"

enum { MOST_PARTS = 6, MOST_COMBINATIONS = 1000 };
enum { PF_KTHREAD = 0x00200000 };

void jitter_sources_clear(struct jitter_sources *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->items[i].name);
		free(s->items[i].unit);
		free(s->items[i].parts);
	}
	free(s->items);
	keymap_free(&s->known);
	identity_free(s->identity);
	*s = (struct jitter_sources){};
}

/* FNV-1a */
static const uint64_t HASH_BEGIN = UINT64_C(0xcbf29ce484222325);

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	for (const unsigned char *b = bytes, *end = b + n; b < end; b++)
		hash = (hash ^ *b) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t hash_event(int kind, uint64_t number, const char *name)
{
	uint64_t hash = hash_bytes(HASH_BEGIN, &kind, sizeof(kind));

	hash = hash_bytes(hash, &number, sizeof(number));
	return hash_bytes(hash, name ?: "", strlen(name ?: ""));
}

uint32_t jitter_source_add(
	struct jitter_sources *s, const char *name, const char *unit, enum source_kind kind)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->items[i].kind == kind && !strcmp(s->items[i].name, name) &&
			!strcmp(s->items[i].unit ?: "", unit ?: ""))
			return (uint32_t)i;
	*array_add(s->items, s->n) = (struct jitter_source_name){
		.name = xstrdup(name), .unit = text_copy(unit), .kind = kind};
	return (uint32_t)s->n - 1;
}

/* What only the running system knows. A thread that has ended leaves both as they are. */
static void describe_thread(struct identity *identity, pid_t pid, const char *name,
	bool *ret_kernel, const char **ret_unit)
{
	_cleanup_(freep) char *stat = path_text(AT_FDCWD, "/proc/%d/stat", pid);
	const char *after_name = stat ? strrchr(stat, ')') : NULL;
	unsigned int flags;

	if (!after_name || sscanf(after_name, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		return;
	*ret_kernel = flags & PF_KTHREAD;
	if (!*ret_kernel)
		*ret_unit = identity_of(identity, pid, 0, name).unit;
}

uint32_t jitter_source_of_thread(struct jitter_sources *s, pid_t pid, const char *name)
{
	uint64_t hash = hash_event(TRACE_TASK, (uint64_t)pid, name);
	const uint32_t *known = keymap_find(&s->known, hash);
	const char *unit = NULL;
	bool kernel = pid == 0;
	uint32_t source;

	if (known)
		return *known;
	if (s->identity && !kernel)
		describe_thread(s->identity, pid, name, &kernel, &unit);
	source = jitter_source_add(s, kernel ? name_group(names_default, name) : name, unit,
		kernel ? SOURCE_KERNEL : SOURCE_PROCESS);
	keymap_set(&s->known, hash, source);
	return source;
}

/* The source of an event that is not a switch. */
static uint32_t source_of_event(struct jitter_sources *s, const struct trace_event *event)
{
	static const enum source_kind kinds[] = {[TRACE_VECTOR] = SOURCE_VECTOR,
		[TRACE_IRQ] = SOURCE_IRQ,
		[TRACE_SOFTIRQ] = SOURCE_SOFTIRQ,
		[TRACE_WORK] = SOURCE_KERNEL,
		[TRACE_NMI] = SOURCE_NMI,
		[TRACE_FAULT] = SOURCE_FAULT};
	uint64_t hash = hash_event((int)event->kind, event->number, event->name);
	const uint32_t *known = keymap_find(&s->known, hash);
	const char *name = event->name;
	_cleanup_(freep) char *made = NULL;
	uint32_t source;

	if (known)
		return *known;
	if (event->kind == TRACE_WORK)
		name = s->decoder ? trace_decoder_function(s->decoder, event->number) : NULL;
	name = name ?: "unknown";
	if (event->kind == TRACE_IRQ)
		made = text_format("irq%d:%s", (int)event->number, name);
	else if (event->kind == TRACE_SOFTIRQ || event->kind == TRACE_WORK)
		made = text_format(
			"%s:%s", event->kind == TRACE_WORK ? "kworker" : "softirq", name);
	source = jitter_source_add(s, made ?: name, NULL, kinds[event->kind]);
	keymap_set(&s->known, hash, source);
	return source;
}

/* By kind, what interrupts before what it leads to; then by name. */
static bool source_is_before(const struct jitter_sources *s, uint32_t a, uint32_t b)
{
	static const int ranks[N_SOURCE_KINDS] = {[SOURCE_NMI] = 0,
		[SOURCE_VECTOR] = 1,
		[SOURCE_IRQ] = 2,
		[SOURCE_FAULT] = 3,
		[SOURCE_SOFTIRQ] = 4,
		[SOURCE_KERNEL] = 5,
		[SOURCE_PROCESS] = 6};
	const struct jitter_source_name *x = &s->items[a], *y = &s->items[b];
	int by_name;

	if (ranks[x->kind] != ranks[y->kind])
		return ranks[x->kind] < ranks[y->kind];
	by_name = strcmp(x->name, y->name);
	return by_name ? by_name < 0 : a < b;
}

/* The distinct ones among the parts, sorted, at most MOST_PARTS. Returns how many there would
 * be. */
static size_t distinct_parts(
	const struct jitter_sources *s, const uint32_t *parts, size_t n, uint32_t *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = 0;

		while (at < kept && source_is_before(s, ret[at], parts[i]))
			at++;
		if (at < kept && ret[at] == parts[i])
			continue;
		if (kept == MOST_PARTS)
			return kept + 1;
		memmove(ret + at + 1, ret + at, (kept - at) * sizeof(*ret));
		ret[at] = parts[i];
		kept++;
	}
	return kept;
}

uint32_t jitter_source_of_parts(struct jitter_sources *s, const uint32_t *parts, size_t n)
{
	uint32_t sorted[MOST_PARTS], source;
	size_t kept = distinct_parts(s, parts, n, sorted), size, before = s->n;
	_cleanup_(freep) char *name = NULL;
	const uint32_t *known = NULL;
	uint64_t hash = 0;
	FILE *text;

	if (kept == 1)
		return sorted[0];
	if (kept <= MOST_PARTS) {
		hash = hash_bytes(HASH_BEGIN, sorted, kept * sizeof(*sorted));
		known = keymap_find(&s->known, hash);
	}
	if (known)
		return *known;
	if (kept > MOST_PARTS || s->n_combinations >= MOST_COMBINATIONS)
		return jitter_source_add(s, "other combinations", NULL, SOURCE_COMBINATION);
	text = xopen_memstream(&name, &size);
	for (size_t i = 0; i < kept; i++)
		fprintf(text, "%s%s", i ? "_" : "", s->items[sorted[i]].name);
	text_stream_close(text, &name);
	source = jitter_source_add(s, name, NULL, SOURCE_COMBINATION);
	if (source >= before) { /* another order of parts may have had this name */
		s->items[source].parts = xmalloc(kept * sizeof(*sorted));
		memcpy(s->items[source].parts, sorted, kept * sizeof(*sorted));
		s->items[source].n_parts = kept;
		s->n_combinations++;
	}
	keymap_set(&s->known, hash, source);
	return source;
}

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
	uint32_t source = source_of_event(v->sources, event);

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
	struct trace_interval *task = v->depth > 0 && v->open[0].kind == TRACE_TASK
					      ? &v->items[v->open[0].item]
					      : NULL;

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

static void intervals_switch(struct intervals *v, const struct trace_event *event, int64_t at_ns)
{
	enum { MOST_THREADS = 65536 };
	const uint32_t *found = keymap_find(&v->threads, (uint64_t)event->prev);
	uint32_t known = ((found ? *found : 0) & ~(uint32_t)PREEMPTED) |
			 (event->preempted ? PREEMPTED : 0);
	struct trace_interval *item;
	uint32_t source;

	if (v->current != UNKNOWN && v->current != event->prev)
		intervals_break(v, event->prev == v->watcher, at_ns);
	for (; v->depth > 1; v->depth--) /* the end of an interrupt was not recorded */
		v->broken++;
	if (v->depth == 1 && v->open[0].kind == TRACE_TASK)
		interval_end(v, at_ns);
	v->depth = 0;
	if (v->threads.n_keys >= MOST_THREADS) /* the map grows with the pids of days */
		keymap_reset(&v->threads, 0);
	if (known || keymap_find(&v->threads, (uint64_t)event->prev))
		keymap_set(&v->threads, (uint64_t)event->prev, known);
	v->current = event->next;
	if (event->next == v->watcher)
		return;
	found = keymap_find(&v->threads, (uint64_t)event->next);
	known = found ? *found : 0;
	source = known >> WORK_SHIFT ? (known >> WORK_SHIFT) - 1
				     : jitter_source_of_thread(
					       v->sources, event->next, event->next_name ?: "?");
	item = interval_begin(v, TRACE_TASK, 0, at_ns, source);
	item->switched = true;
	item->resumed = known & PREEMPTED;
	v->worked = known >> WORK_SHIFT;
}

void intervals_add(struct intervals *v, const struct trace_event *event, int64_t at_ns)
{
	bool work = event->kind == TRACE_WORK, point = event->what == TRACE_POINT;
	struct trace_interval *item;
	size_t i = v->depth;

	v->events++;
	if (event->what == TRACE_SWITCH) {
		intervals_switch(v, event, at_ns);
	} else if (event->what == TRACE_BEGIN && work) {
		begin_work(v, event, at_ns);
	} else if (event->what == TRACE_BEGIN) {
		interval_begin(
			v, event->kind, event->number, at_ns, source_of_event(v->sources, event));
	} else if (event->what == TRACE_END && work) {
		keymap_set(&v->threads, (uint64_t)event->pid, 0);
	} else if (event->what == TRACE_END) {
		while (i > 0 && (v->open[i - 1].kind != event->kind ||
					v->open[i - 1].number != event->number))
			i--;
		if (i == 0)
			return; /* it began before the trace, or where events were lost */
		for (; v->depth > i; v->depth--)
			v->broken++;
		interval_end(v, at_ns);
	} else if (event->what == TRACE_SPAN || (point && event->pid == v->watcher)) {
		/* a fault of another task is part of what that task does; of a fork nobody took the
		 * CPU */
		item = interval_begin(v, event->kind, event->number, at_ns - event->length_ns,
			source_of_event(v->sources, event));
		if (!item)
			return;
		item->open_ended = point;
		interval_end(v, at_ns);
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
