/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sources by name: see jitter_sources.h. */
#include "lib/jitter/jitter_sources.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/text.h"
#include "lib/jitter/describe.h"
#include "lib/protocol/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 6, MOST_COMBINATIONS = 1000 };

void jitter_sources_clear(struct jitter_sources *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->items[i].name);
		free(s->items[i].unit);
		free(s->items[i].parts);
	}
	free(s->items);
	keymap_free(&s->known);
	*s = (struct jitter_sources){};
}

/* FNV-1a, to go on with. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	for (const unsigned char *b = bytes, *end = b + n; b < end; b++)
		hash = (hash ^ *b) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t hash_of(int kind, uint64_t number, const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	hash = hash_bytes(hash, &kind, sizeof(kind));
	hash = hash_bytes(hash, &number, sizeof(number));
	return hash_bytes(hash, name ?: "", strlen(name ?: ""));
}

static int64_t find(const struct jitter_sources *s, const char *name, const char *unit, enum source_kind kind)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->items[i].kind == kind && !strcmp(s->items[i].name, name) &&
			!strcmp(s->items[i].unit ?: "", unit ?: ""))
			return (int64_t)i;
	return -1;
}

static int64_t add(struct jitter_sources *s, const char *name, const char *unit, enum source_kind kind)
{
	int64_t found = find(s, name, unit, kind);
	struct jitter_source_name *item;

	if (found >= 0)
		return found;
	item = array_add(s->items, s->n);
	*item = (struct jitter_source_name){.name = xstrdup(name), .unit = text_copy(unit), .kind = kind};
	return item->name && !item->unit == !unit ? (int64_t)s->n - 1 : -ENOMEM;
}

static int64_t remember(struct jitter_sources *s, uint64_t hash, int64_t source)
{
	int r = source < 0 ? 0 : keymap_set(&s->known, hash, (uint32_t)source);

	return r < 0 ? r : source;
}

int64_t jitter_source_of_thread(struct jitter_sources *s, pid_t pid, const char *name)
{
	uint64_t hash = hash_of(TRACE_TASK, (uint64_t)pid, name);
	const uint32_t *known = keymap_find(&s->known, hash);
	const char *unit = NULL;
	bool kernel = pid == 0;

	if (known)
		return *known;
	if (s->identity && !kernel)
		jitter_describe_thread(s->identity, pid, name, &kernel, &unit);
	return remember(s, hash,
		add(s, kernel ? name_group(names_default, name) : name, unit,
			kernel ? SOURCE_KERNEL : SOURCE_PROCESS));
}

int64_t jitter_source_unknown(struct jitter_sources *s)
{
	return add(s, "unknown task", NULL, SOURCE_PROCESS);
}

int64_t jitter_source_outside(struct jitter_sources *s)
{
	return add(s, s->outside ?: "outside the kernel", NULL, SOURCE_OUTSIDE);
}

static int64_t add_event(struct jitter_sources *s, const struct trace_event *event)
{
	_cleanup_(freep) char *made = NULL;
	const char *name = event->name ?: "unknown";

	switch (event->kind) {
	case TRACE_IRQ:
		made = text_format("irq%d:%s", (int)event->number, name);
		return made ? add(s, made, NULL, SOURCE_IRQ) : -ENOMEM;
	case TRACE_SOFTIRQ:
		made = text_format("softirq:%s", name);
		return made ? add(s, made, NULL, SOURCE_SOFTIRQ) : -ENOMEM;
	case TRACE_WORK:
		name = s->symbol ? s->symbol(s->trace, event->number) : NULL;
		made = text_format("kworker:%s", name ?: "unknown");
		return made ? add(s, made, NULL, SOURCE_KERNEL) : -ENOMEM;
	case TRACE_NMI:
		return add(s, name, NULL, SOURCE_NMI);
	case TRACE_FAULT:
		return add(s, name, NULL, SOURCE_FAULT);
	default:
		return add(s, name, NULL, SOURCE_VECTOR);
	}
}

int64_t jitter_source_of_event(struct jitter_sources *s, const struct trace_event *event)
{
	uint64_t hash = hash_of((int)event->kind, event->number, event->name);
	const uint32_t *known = keymap_find(&s->known, hash);

	return known ? *known : remember(s, hash, add_event(s, event));
}

/* What interrupts comes before what it leads to. */
static int rank(enum source_kind kind)
{
	static const int ranks[N_SOURCE_KINDS] = {[SOURCE_NMI] = 0,
		[SOURCE_VECTOR] = 1,
		[SOURCE_IRQ] = 2,
		[SOURCE_FAULT] = 3,
		[SOURCE_SOFTIRQ] = 4,
		[SOURCE_KERNEL] = 5,
		[SOURCE_PROCESS] = 6};

	return ranks[kind];
}

static bool is_before(const struct jitter_sources *s, uint32_t a, uint32_t b)
{
	const struct jitter_source_name *x = &s->items[a], *y = &s->items[b];
	int by_name;

	if (rank(x->kind) != rank(y->kind))
		return rank(x->kind) < rank(y->kind);
	by_name = strcmp(x->name, y->name);
	return by_name ? by_name < 0 : a < b;
}

/* The distinct ones among the parts, sorted, at most MOST_PARTS. Returns how many there would be. */
static size_t distinct(const struct jitter_sources *s, const uint32_t *parts, size_t n, uint32_t *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = 0;

		while (at < kept && is_before(s, ret[at], parts[i]))
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

static char *join_names(const struct jitter_sources *s, const uint32_t *parts, size_t n)
{
	char *joined = NULL;
	size_t size;
	FILE *text = xopen_memstream(&joined, &size);

	for (size_t i = 0; i < n; i++)
		fprintf(text, "%s%s", i ? "_" : "", s->items[parts[i]].name);
	return text_stream_close(text, &joined);
}

static int64_t add_combination(struct jitter_sources *s, const uint32_t *parts, size_t n)
{
	_cleanup_(freep) char *name = join_names(s, parts, n);
	size_t before = s->n;
	int64_t source = name ? add(s, name, NULL, SOURCE_COMBINATION) : -ENOMEM;
	struct jitter_source_name *item;

	if (source < 0 || (size_t)source < before)
		return source;
	item = &s->items[source];
	item->parts = xmalloc(n * sizeof(*parts));
	memcpy(item->parts, parts, n * sizeof(*parts));
	item->n_parts = n;
	s->n_combinations++;
	return source;
}

int64_t jitter_source_of_parts(struct jitter_sources *s, const uint32_t *parts, size_t n)
{
	uint32_t sorted[MOST_PARTS];
	size_t kept = distinct(s, parts, n, sorted);
	const uint32_t *known;
	uint64_t hash;

	if (kept == 1)
		return sorted[0];
	if (kept > MOST_PARTS)
		return add(s, "other combinations", NULL, SOURCE_COMBINATION);
	hash = hash_bytes(UINT64_C(0xcbf29ce484222325), sorted, kept * sizeof(*sorted));
	known = keymap_find(&s->known, hash);
	if (known)
		return *known;
	if (s->n_combinations >= MOST_COMBINATIONS)
		return add(s, "other combinations", NULL, SOURCE_COMBINATION);
	return remember(s, hash, add_combination(s, sorted, kept));
}
