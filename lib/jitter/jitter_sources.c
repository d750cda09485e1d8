/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads, interrupts and combinations, made sources: see jitter_sources.h. */
#include "lib/jitter/jitter_sources.h"

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

static uint64_t hash_event(int kind, uint64_t number, const char *name)
{
	uint64_t hash = keymap_hash(KEYMAP_HASH_BEGIN, &kind, sizeof(kind));

	hash = keymap_hash(hash, &number, sizeof(number));
	return keymap_hash(hash, name ?: "", strlen(name ?: ""));
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

/* Whether a thread is the kernel's, and its unit, from the running system. Both stay as they are if
 * the thread has ended. */
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

/* "irq9:acpi", "softirq:TIMER", "kworker:flush_work"; NULL: it is the event's own. The caller frees
 * it. */
static char *make_event_name(const struct jitter_sources *s, const struct trace_event *event)
{
	const char *function = NULL;

	switch (event->kind) {
	case TRACE_IRQ:
		return text_format("irq%d:%s", (int)event->number, event->name ?: "unknown");
	case TRACE_SOFTIRQ:
		return text_format("softirq:%s", event->name ?: "unknown");
	case TRACE_WORK:
		if (s->decoder)
			function = trace_decoder_function(s->decoder, event->number);
		return text_format("kworker:%s", function ?: "unknown");
	default:
		return NULL;
	}
}

uint32_t jitter_source_of_event(struct jitter_sources *s, const struct trace_event *event)
{
	static const enum source_kind kinds[] = {
		[TRACE_VECTOR] = SOURCE_VECTOR,
		[TRACE_IRQ] = SOURCE_IRQ,
		[TRACE_SOFTIRQ] = SOURCE_SOFTIRQ,
		[TRACE_WORK] = SOURCE_KERNEL,
		[TRACE_NMI] = SOURCE_NMI,
		[TRACE_FAULT] = SOURCE_FAULT,
	};
	uint64_t hash = hash_event((int)event->kind, event->number, event->name);
	const uint32_t *known = keymap_find(&s->known, hash);
	_cleanup_(freep) char *made = NULL;
	const char *name;
	uint32_t source;

	if (known)
		return *known;
	made = make_event_name(s, event);
	name = made ?: event->name;
	source = jitter_source_add(s, name ?: "unknown", NULL, kinds[event->kind]);
	keymap_set(&s->known, hash, source);
	return source;
}

/* By kind, what interrupts before what it leads to; then by name. */
static bool source_is_before(const struct jitter_sources *s, uint32_t a, uint32_t b)
{
	static const int ranks[N_SOURCE_KINDS] = {
		[SOURCE_NMI] = 0,
		[SOURCE_VECTOR] = 1,
		[SOURCE_IRQ] = 2,
		[SOURCE_FAULT] = 3,
		[SOURCE_SOFTIRQ] = 4,
		[SOURCE_KERNEL] = 5,
		[SOURCE_PROCESS] = 6,
	};
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

/* A new combination, or one that had this name in another order of its parts. */
static uint32_t add_combined_source(struct jitter_sources *s, const uint32_t *sorted, size_t n)
{
	_cleanup_(freep) char *name = NULL;
	size_t before = s->n, size;
	FILE *text = xopen_memstream(&name, &size);
	struct jitter_source_name *made;
	uint32_t source;

	for (size_t i = 0; i < n; i++)
		fprintf(text, "%s%s", i ? "_" : "", s->items[sorted[i]].name);
	text_stream_close(text, &name);
	source = jitter_source_add(s, name, NULL, SOURCE_COMBINATION);
	if (source < before)
		return source;

	made = &s->items[source];
	made->parts = xmalloc(n * sizeof(*sorted));
	memcpy(made->parts, sorted, n * sizeof(*sorted));
	made->n_parts = n;
	s->n_combinations++;
	return source;
}

uint32_t jitter_source_of_parts(struct jitter_sources *s, const uint32_t *parts, size_t n)
{
	uint32_t sorted[MOST_PARTS], source;
	size_t kept = distinct_parts(s, parts, n, sorted);
	const uint32_t *known = NULL;
	uint64_t hash = 0;

	if (kept == 1)
		return sorted[0];
	if (kept <= MOST_PARTS) {
		hash = keymap_hash(KEYMAP_HASH_BEGIN, sorted, kept * sizeof(*sorted));
		known = keymap_find(&s->known, hash);
	}
	if (known)
		return *known;
	if (kept > MOST_PARTS || s->n_combinations >= MOST_COMBINATIONS)
		return jitter_source_add(s, "other combinations", NULL, SOURCE_COMBINATION);
	source = add_combined_source(s, sorted, kept);
	keymap_set(&s->known, hash, source);
	return source;
}
