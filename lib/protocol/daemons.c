/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each daemon used in a run: see daemons.h.
 *
 * Families are processes that get a new name each time, such as "memfd:j-04211" or one with the
 * number of its job. Each name alone would be a daemon that was seen once. The stem of a text is
 * the text with '*' for what changes. A family has at least four names with the same stem: most of
 * them have at most a quarter of its executions, and those that came back have at most half. At
 * least eight names with nothing in common are a family if they have the same stem of the unit, or
 * of the executable, and no name came back. Its name is that stem. */
#include "lib/protocol/daemons.h"

#include <ctype.h>
#include <search.h>

enum { FIRST_SOURCES = 64 };
enum { STEM_SIZE = 256, LEAST_NAMES = 4, LEAST_OTHER_NAMES = 8, FEW_OF = 4, HEX_DIGITS = 3 };

/* In the tree by_name: a name, and the index of its daemon + 1. */
struct daemon_key {
	const char *name;
	uint32_t daemon;
};

static int by_daemon_name(const void *a, const void *b)
{
	return strcmp(((const struct daemon_key *)a)->name, ((const struct daemon_key *)b)->name);
}

/* The daemon of a source that was not seen before, which may be a new one: its index + 1. */
static uint32_t daemon_of_source(
	struct daemons *d, const struct name_pattern *patterns, const struct source *source)
{
	const char *name = name_group(patterns, source->name);
	struct daemon_key *key = xmalloc(sizeof(*key)), **node;
	struct daemon_statistics *daemon;

	*key = (struct daemon_key){name, (uint32_t)d->n + 1};
	node = xalloc_check(tsearch(key, &d->by_name, by_daemon_name));
	if (*node != key) {
		free(key);
		d->items[(*node)->daemon - 1].kernel |= source->kind == SOURCE_KERNEL;
		return (*node)->daemon;
	}
	daemon = array_add(d->items, d->n);
	key->name = daemon->name = xstrdup(name);
	daemon->kernel = source->kind == SOURCE_KERNEL;
	daemon->alone = daemon->kernel || strcmp(name, source->name) != 0;
	for (size_t zone = 0; zone < N_ZONES; zone++)
		daemon->seen[zone] = RUNNING_NONE;
	return key->daemon;
}

/* Makes room for a source of that number. */
static void reserve_sources(struct daemons *d, uint32_t source)
{
	size_t n = d->n_sources ?: FIRST_SOURCES;

	if (source < d->n_sources)
		return;
	while (n <= source)
		n *= 2;
	d->of_source = xreallocarray(d->of_source, n, sizeof(*d->of_source));
	memset(d->of_source + d->n_sources, 0, (n - d->n_sources) * sizeof(*d->of_source));
	d->n_sources = n;
}

struct daemon_statistics *daemons_add(struct daemons *d, const struct name_pattern *patterns,
	const struct source *source, const struct execution *e, int64_t ns)
{
	struct daemon_statistics *daemon;

	reserve_sources(d, e->source);
	if (!d->of_source[e->source])
		d->of_source[e->source] = daemon_of_source(d, patterns, source);
	daemon = &d->items[d->of_source[e->source] - 1];
	daemon->executions++;
	daemon->returned |= daemon->pid != 0 && e->pid != daemon->pid;
	daemon->pid = e->pid;
	if (ns <= daemon->max_ns)
		return daemon;

	daemon->max_ns = ns;
	daemon->max_sample = e->sample;
	if (daemon->max_source != e->source) {
		daemon->max_source = e->source;
		free(daemon->unit);
		free(daemon->exe);
		daemon->unit = text_copy(source->unit);
		daemon->exe = text_copy(source->exe);
	}
	return daemon;
}

static void daemon_clear(struct daemon_statistics *daemon)
{
	free(daemon->name);
	free(daemon->unit);
	free(daemon->exe);
	free(daemon->long_executions);
}

static void join_long_executions(struct daemon_statistics *to, const struct daemon_statistics *from)
{
	size_t n = to->n_long_executions + from->n_long_executions;

	if (from->n_long_executions == 0)
		return;
	to->long_executions = xreallocarray(to->long_executions, n, sizeof(*to->long_executions));
	memcpy(to->long_executions + to->n_long_executions, from->long_executions,
		from->n_long_executions * sizeof(*to->long_executions));
	to->n_long_executions = n;
}

/* Adds what `from` used to `to`, and frees it. */
static void join_daemon(struct daemon_statistics *to, struct daemon_statistics *from)
{
	if (from->max_ns > to->max_ns) {
		to->max_ns = from->max_ns;
		to->max_sample = from->max_sample;
		to->max_source = from->max_source;
		free(to->unit);
		free(to->exe);
		to->unit = TAKE(from->unit);
		to->exe = TAKE(from->exe);
	}
	join_long_executions(to, from);
	for (size_t zone = 0; zone < N_ZONES; zone++)
		to->seen[zone] = running_join(&to->seen[zone], &from->seen[zone]);
	to->names++;

	to->n_present += from->n_present;
	to->et_ns += from->et_ns;
	to->pt_ns += from->pt_ns;
	to->profiled |= from->profiled;
	to->total_ns = saturate_add(to->total_ns, from->total_ns);
	to->long_once |= from->long_once;
	to->disturbed_ns = saturate_add(to->disturbed_ns, from->disturbed_ns);
	to->disturbed_most_ns = saturate_add(to->disturbed_most_ns, from->disturbed_most_ns);
	daemon_clear(from);
}

/* Whether a word changes from one process to the next: it has a digit, or is a hexadecimal number.
 * *ret_kept is how much of it stays: all up to the first digit; of a hexadecimal number nothing. */
static bool word_changes(const char *word, size_t len, size_t *ret_kept)
{
	size_t kept = strcspn(word, "0123456789");

	if (kept >= len) {
		*ret_kept = len;
		return false;
	}
	if (len >= HEX_DIGITS && strspn(word, "0123456789abcdef") >= len)
		kept = 0;
	*ret_kept = kept;
	return true;
}

/* The text with '*' for what changes. */
static const char *stem_of(char stem[STEM_SIZE], const char *text)
{
	size_t n = 0, len;

	for (; *text && n + 1 < STEM_SIZE; text += len) {
		size_t kept, room = STEM_SIZE - 2 - n;
		bool changes;

		for (len = 0; isalnum((unsigned char)text[len]); len++)
			;
		len = len ?: 1; /* a word, or a character between words */
		changes = word_changes(text, len, &kept);
		if (kept > room) {
			kept = room;
			changes = true;
		}
		memcpy(stem + n, text, kept);
		n += kept;
		if (changes)
			stem[n++] = '*';
	}
	stem[n] = '\0';
	return stem;
}

static bool has_stem(const char *family, const char *name, const char *unit, const char *exe)
{
	const char *const texts[] = {name, unit, exe};
	char stem[STEM_SIZE];

	for (size_t i = 0; i < ELEMENTS(texts); i++)
		if (texts[i] && !strcmp(stem_of(stem, texts[i]), family))
			return true;
	return false;
}

bool family_includes(const char *family, const struct source *source)
{
	return source->kind != SOURCE_KERNEL &&
	       has_stem(family, source->name, source->unit, source->exe);
}

const char *family_size_text(uint32_t names)
{
	return names ? text_brief(" (%s)", text_count(names, "name")) : "";
}

void daemon_name_family(struct daemon_statistics *daemon, const char *family)
{
	free(daemon->name);
	daemon->name = xstrdup(family);
	daemon->names = 1;
}

/* What names of a family have in common, in the order in which it is tried. */
enum family_key { KEY_NAME, KEY_UNIT, KEY_EXE, N_KEYS };

struct keyed_daemon {
	char *key;
	struct daemon_statistics *daemon;
};

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct keyed_daemon *)a)->key, ((const struct keyed_daemon *)b)->key);
}

/* Whether n daemons with the same key are a family. */
static bool is_family(const struct keyed_daemon *keyed, size_t n, enum family_key key)
{
	size_t executions = 0, few = 0, returned = 0, of_returned = 0;

	for (size_t i = 0; i < n; i++) {
		const struct daemon_statistics *daemon = keyed[i].daemon;

		executions += daemon->executions;
		returned += daemon->returned;
		of_returned += daemon->returned ? daemon->executions : 0;
	}
	for (size_t i = 0; i < n; i++)
		few += FEW_OF * keyed[i].daemon->executions <= executions;
	if (key != KEY_NAME)
		return n >= LEAST_OTHER_NAMES && returned == 0 && 2 * few > n;
	return n >= LEAST_NAMES && 2 * of_returned <= executions && 2 * few > n;
}

static const char *daemon_text(const struct daemon_statistics *daemon, enum family_key key)
{
	switch (key) {
	case KEY_NAME:
		return daemon->name;
	case KEY_UNIT:
		return daemon->unit;
	default:
		return daemon->exe;
	}
}

/* Whether names may belong together because they have this unit: a service, but not that of a
 * user's session. */
static bool unit_makes_family(const char *unit)
{
	const char *ending = strrchr(unit, '.');

	return ending && ending > unit && !strcmp(ending, ".service") &&
	       strncmp(unit, "user@", 5) != 0;
}

/* The stem by which a daemon may belong to a family; false: it may not. */
static bool find_family_stem(
	const struct daemon_statistics *daemon, enum family_key key, char ret[STEM_SIZE])
{
	const char *text = daemon_text(daemon, key);

	if (daemon->alone || daemon->names || !text)
		return false;
	if (key == KEY_UNIT && !unit_makes_family(text))
		return false;
	stem_of(ret, text);
	if (key != KEY_NAME)
		return true;
	return strchr(ret, '*') && strpbrk(ret, "abcdefghijklmnopqrstuvwxyz");
}

/* Finds families by what their names have in common, and names their daemons after them. */
static void find_families(struct daemons *d, enum family_key key)
{
	_cleanup_(freep) struct keyed_daemon *keyed = xcalloc(d->n, sizeof(*keyed));
	char stem[STEM_SIZE];
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		if (find_family_stem(&d->items[i], key, stem))
			keyed[n++] = (struct keyed_daemon){xstrdup(stem), &d->items[i]};
	qsort(keyed, n, sizeof(*keyed), by_key);

	for (size_t i = 0, end; i < n; i = end) { /* each row of equal keys */
		for (end = i + 1; end < n && !by_key(&keyed[i], &keyed[end]); end++)
			;
		for (size_t k = i; k < end && is_family(&keyed[i], end - i, key); k++)
			daemon_name_family(keyed[k].daemon, keyed[k].key);
	}
	for (size_t i = 0; i < n; i++)
		free(keyed[i].key);
}

static int by_sample(const void *a, const void *b)
{
	const struct long_execution *x = a, *y = b;

	return (x->sample > y->sample) - (x->sample < y->sample);
}

/* Names a daemon after the first of these families that it belongs to. */
static void join_known_family(
	struct daemon_statistics *daemon, const char *const *known, size_t n_known)
{
	for (size_t k = 0; k < n_known && !daemon->alone && !daemon->names; k++)
		if (has_stem(known[k], daemon->name, daemon->unit, daemon->exe))
			daemon_name_family(daemon, known[k]);
}

/* The daemon of the family among the first n; NULL: there is none. */
static struct daemon_statistics *family_among(struct daemons *d, size_t n, const char *family)
{
	for (size_t i = 0; i < n; i++)
		if (d->items[i].names && !strcmp(d->items[i].name, family))
			return &d->items[i];
	return NULL;
}

void daemons_join_families(struct daemons *d, const char *const *known, size_t n)
{
	size_t kept = 0;

	tdestroy(TAKE(d->by_name), free); /* its names change */
	free(TAKE(d->of_source));
	for (size_t i = 0; i < d->n; i++)
		join_known_family(&d->items[i], known, n);
	for (enum family_key key = KEY_NAME; key < N_KEYS; key++)
		find_families(d, key);

	for (size_t i = 0; i < d->n; i++) {
		struct daemon_statistics *daemon = &d->items[i], *first = NULL;

		if (daemon->names)
			first = family_among(d, kept, daemon->name);
		if (first)
			join_daemon(first, daemon);
		else
			d->items[kept++] = *daemon;
	}
	d->n = kept;

	for (size_t i = 0; i < d->n; i++) {
		struct daemon_statistics *daemon = &d->items[i];

		if (daemon->names && daemon->n_long_executions > 0)
			qsort(daemon->long_executions, daemon->n_long_executions,
				sizeof(*daemon->long_executions), by_sample);
	}
}

void daemons_clear(struct daemons *d)
{
	for (size_t i = 0; i < d->n; i++)
		daemon_clear(&d->items[i]);
	free(d->items);
	free(d->of_source);
	tdestroy(d->by_name, free);
	*d = (struct daemons){};
}
