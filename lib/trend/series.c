/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runs of a series: see series.h. */
#include "lib/trend/series.h"

#include "lib/base/xalloc.h"
#include "lib/base/argv.h"
#include "lib/run/duet.h"
#include "lib/duet/inc_units.h"
#include "lib/report/run_result.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* A run that may belong to a series. */
struct candidate {
	struct run *run;
	char *command; /* the line */
	bool inc;      /* it alternated with INC */
	bool meant;    /* by the name that is looked for */
};

struct candidates {
	struct run *runs; /* all of the book */
	size_t n_runs;
	struct candidate *items; /* by their start */
	size_t n;
};

static void candidates_clear(struct candidates *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->items[i].command);
	free(c->items);
	for (size_t i = 0; i < c->n_runs; i++)
		run_clear(&c->runs[i]);
	free(c->runs);
}

static const char *key_of(const struct candidate *c)
{
	return c->run->name ?: c->command;
}

/* 1: it alternated with INC; 0: it is of no duet; -ENOENT without a sentence: it is not to be followed. */
static int look_at_duet(struct book *book, const struct run *run, struct error *err)
{
	_cleanup_(freep) int64_t *runs = NULL;
	struct duet_row own = {}, row = {};
	size_t n;
	int r = run->kind == RUN_DUET ? book_get_duet(book, run->id, &own, err) : 0;

	if (r <= 0 || own.increments > 0)
		return r <= 0 ? r : -ENOENT;
	r = book_duet_runs(book, own.reference, &runs, &n, err);
	for (size_t i = 0; r == 0 && i < n; i++) {
		r = book_get_duet(book, runs[i], &row, err);
		if (r > 0)
			r = row.increments > 0 ? 1 : 0;
	}
	return r == 0 ? -ENOENT : r;
}

static bool may_be_followed(const struct run *run)
{
	return run->n_samples > 0 && run->kind != RUN_JITTER && run->kind != RUN_CLOCKS &&
	       run->kind != RUN_LOAD;
}

static int add_candidate(struct book *book, struct run *run, struct candidates *c, struct error *err)
{
	struct candidate *item;
	int inc = may_be_followed(run) ? look_at_duet(book, run, err) : -ENOENT;

	if (inc < 0)
		return inc == -ENOENT ? 0 : inc;
	item = array_add(c->items, c->n);
	*item = (struct candidate){run, run_command_line(run), inc > 0, false};
	return 0;
}

static int candidate_by_start(const void *x, const void *y)
{
	const struct run *a = ((const struct candidate *)x)->run, *b = ((const struct candidate *)y)->run;

	if (a->started_ns != b->started_ns)
		return a->started_ns < b->started_ns ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int load_candidates(struct book *book, struct candidates *c, struct error *err)
{
	int r = book_runs(book, &c->runs, &c->n_runs, err);

	for (size_t i = 0; r == 0 && i < c->n_runs; i++)
		r = add_candidate(book, &c->runs[i], c, err);
	if (r == 0 && c->n > 0)
		qsort(c->items, c->n, sizeof(*c->items), candidate_by_start);
	return r;
}

static bool is_name(const struct candidate *c, const char *name)
{
	return c->run->name && !strcmp(c->run->name, name);
}

/* The words are the same, however they are quoted. */
static bool is_command(const struct candidate *c, const char *name)
{
	_cleanup_(argv_freep) char **words = NULL;
	_cleanup_(freep) char *joined = NULL;
	struct error ignored;

	if (!strcmp(c->command, name))
		return true;
	if (argv_split(name, &words, &ignored) < 0)
		return false;
	joined = argv_join(words);
	return !strcmp(joined, c->command);
}

static bool is_program(const struct candidate *c, const char *name)
{
	return !strcmp(c->run->program, name);
}

/* All that have the same key as one that is meant. */
static size_t count_series(const struct candidates *c, bool only_meant)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		bool first = c->items[i].meant || !only_meant;

		for (size_t k = 0; first && k < i; k++)
			first = (only_meant && !c->items[k].meant) ||
				strcmp(key_of(&c->items[k]), key_of(&c->items[i]));
		n += first;
	}
	return n;
}

/* The first rule by which any run is meant decides. */
static void find_meant(struct candidates *c, const char *name)
{
	static bool (*const rules[])(const struct candidate *, const char *) = {
		is_name, is_command, is_program};
	size_t found = 0;

	for (size_t rule = 0; found == 0 && rule < ELEMENTS(rules); rule++)
		for (size_t i = 0; i < c->n; i++) {
			c->items[i].meant = rules[rule](&c->items[i], name);
			found += c->items[i].meant;
		}
}

/* "'xz -1 file' (12 runs), 'sort big' (3 runs) and 4 more". */
static void list_series(const struct candidates *c, bool only_meant, char *ret, size_t size)
{
	size_t used = 0, listed = 0, all = count_series(c, only_meant);

	*ret = '\0';
	for (size_t i = c->n; i-- > 0 && used < size / 2 && listed < 8;) { /* the latest first */
		const char *key = key_of(&c->items[i]);
		size_t n = 0;
		bool later = only_meant && !c->items[i].meant;

		for (size_t k = 0; k < c->n; k++) {
			n += !strcmp(key_of(&c->items[k]), key);
			later |= k > i && (c->items[k].meant || !only_meant) &&
				 !strcmp(key_of(&c->items[k]), key);
		}
		if (later)
			continue;
		used += (size_t)snprintf(ret + used, size - used, "%s'%.80s' (%zu run%s)", listed ? ", " : "",
			key, n, n == 1 ? "" : "s");
		listed++;
	}
	if (listed < all && used < size)
		snprintf(ret + used, size - used, " and %zu more", all - listed);
}

static int choose_series(struct candidates *c, const char *name, char **ret_key, struct error *err)
{
	char list[500];
	size_t n;

	find_meant(c, name);
	n = count_series(c, true);
	if (n == 1) {
		size_t i = 0;

		while (!c->items[i].meant)
			i++;
		*ret_key = xstrdup(key_of(&c->items[i]));
		return 0;
	}
	list_series(c, n > 0, list, sizeof(list));
	if (n > 1)
		return error_say(err, -ENOENT, "'%.80s' matches %zu programs in the lab book; name one: %s",
			name, n, list);
	if (c->n == 0)
		return error_say(err, -ENOENT, "the lab book has no runs of programs");
	return error_say(err, -ENOENT, "the lab book has no runs of '%.80s'; it has runs of %s", name, list);
}

static int mean_in_inc(
	struct book *book, const struct discard_rules *rules, struct series_run *item, struct error *err)
{
	struct inc_units units = {};
	int r = inc_units_load(book, item->run.id, rules, &units, err);

	if (r > 0) {
		item->n_samples = units.n;
		item->log = log(units.mean);
	}
	return r < 0 ? r : 0;
}

static int mean_in_seconds(
	struct book *book, const struct discard_rules *rules, struct series_run *item, struct error *err)
{
	_cleanup_(discarding_clear) struct discarding d = {};
	int r = discard_run(book, item->run.id, rules, &d, err);

	if (r < 0)
		return r;
	item->n_samples = d.pt.kept.mean_ns > 0 ? d.pt.kept.n : 0;
	item->log = log(d.pt.kept.mean_ns / 1e9);
	return 0;
}

/* Without the samples that the run's own rules discard. */
static int find_run_mean(struct book *book, enum series_unit unit, struct series_run *item, struct error *err)
{
	_cleanup_(run_rules_clear) struct run_rules rules = {};
	int r = run_rules_load(book, &item->run, NULL, false, &rules, err);

	if (r < 0)
		return r;
	return unit == SERIES_INC ? mean_in_inc(book, &rules.rules, item, err)
				  : mean_in_seconds(book, &rules.rules, item, err);
}

static int machine_of(struct book *book, const struct run *run, char **ret, struct error *err)
{
	return run->environment > 0 ? book_get_machine(book, run->environment, ret, err) : 0;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static int add_series_run(struct book *book, struct candidate *c, struct series *s, struct error *err)
{
	struct series_run item = {.run = *c->run};
	const struct run *last = s->n > 0 ? &s->items[s->n - 1].run : NULL;
	struct series_run *added;
	int r;

	if (last && c->run->started_ns < last->ended_ns) {
		s->n_at_once++;
		return 0;
	}
	r = find_run_mean(book, s->unit, &item, err);
	if (r < 0 || item.n_samples < SERIES_LEAST_SAMPLES) {
		s->n_few += r == 0;
		return r;
	}
	added = array_add(s->items, s->n);
	*added = item;
	*c->run = (struct run){}; /* taken over */
	return 0;
}

/* The runs of the chosen series, the unit's and the machine's. */
static int add_runs(
	struct book *book, struct candidates *c, const char *machine, struct series *s, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->n; i++) {
		struct candidate *item = &c->items[i];
		_cleanup_(freep) char *of = NULL;

		if (!item->meant)
			continue;
		r = machine_of(book, item->run, &of, err);
		if (r < 0)
			return r;
		if (s->unit == SERIES_INC && !item->inc)
			s->n_other_unit++;
		else if (!same_text(machine, of))
			s->n_other_machine++;
		else
			r = add_series_run(book, item, s, err);
	}
	return r;
}

/* From now on, those of the series are meant. */
static const struct run *mark_series(struct candidates *c, bool seconds, struct series *s)
{
	const struct run *last = NULL;

	for (size_t i = 0; i < c->n; i++) {
		c->items[i].meant = !strcmp(key_of(&c->items[i]), s->name);
		if (c->items[i].meant && c->items[i].inc && !seconds)
			s->unit = SERIES_INC;
	}
	for (size_t i = 0; i < c->n; i++)
		if (c->items[i].meant && (c->items[i].inc || s->unit == SERIES_SECONDS))
			last = c->items[i].run;
	return last;
}

int series_load(struct book *book, const char *name, bool seconds, struct series *ret, struct error *err)
{
	_cleanup_(series_clear) struct series s = {};
	_cleanup_(candidates_clear) struct candidates c = {};
	_cleanup_(freep) char *machine = NULL;
	const struct run *last;
	int r = load_candidates(book, &c, err);

	if (r == 0)
		r = choose_series(&c, name, &s.name, err);
	if (r < 0)
		return r;
	last = mark_series(&c, seconds, &s);
	if (last)
		r = machine_of(book, last, &machine, err);
	if (r == 0)
		r = add_runs(book, &c, machine, &s, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(s);
	return 0;
}

void series_clear(struct series *s)
{
	for (size_t i = 0; i < s->n; i++)
		run_clear(&s->items[i].run);
	free(s->items);
	free(s->name);
	*s = (struct series){};
}
