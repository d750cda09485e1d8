/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runs of a series, their levels, and what changed in the environment, and in how runs were
 * made, where a level begins: see series.h. */
#include "lib/trend/series.h"

#include "lib/base/argv.h"
#include "lib/duet/book_duet.h"
#include "lib/duet/inc_units.h"
#include "lib/report/notes.h"
#include "lib/report/run_result.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

enum { MOST_DIFFERENCES = 3, MOST_RUNS_OFF = 2 /* a change point may be so far off */ };

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

/* 1: it alternated with INC; 0: it is of no duet; -ENOENT without a sentence: it is not to be
 * followed. */
static int look_at_duet(struct book *book, const struct run *run, struct error *err)
{
	_cleanup_(freep) struct duet_row *rows = NULL;
	bool with_inc = false;
	size_t n = 0;
	int r = run->kind == RUN_DUET ? book_duet(book, run->id, &rows, &n, err) : 0;

	if (r < 0 || n == 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		if (rows[i].increments > 0 && rows[i].run == run->id)
			return -ENOENT;
		with_inc |= rows[i].increments > 0;
	}
	return with_inc ? 1 : -ENOENT;
}

static int candidate_by_start(const void *x, const void *y)
{
	const struct run *a = ((const struct candidate *)x)->run,
			 *b = ((const struct candidate *)y)->run;

	if (a->started_ns != b->started_ns)
		return a->started_ns < b->started_ns ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

/* "'xz -1 file' (12 runs), 'sort big' (3 runs) and 4 more"; returns how many programs that are: all
 * that have the same key are one. */
static size_t list_series(const struct candidates *c, bool only_meant, char *ret, size_t size)
{
	size_t used = 0, listed = 0, all = 0;

	*ret = '\0';
	for (size_t i = c->n; i-- > 0;) { /* the latest first */
		const char *key = key_of(&c->items[i]);
		bool later = only_meant && !c->items[i].meant;
		size_t n = 0;

		for (size_t k = 0; k < c->n; k++) {
			bool same = !strcmp(key_of(&c->items[k]), key);

			n += same;
			later |= same && k > i && (c->items[k].meant || !only_meant);
		}
		if (later)
			continue;
		all++;
		if (used >= size / 2 || listed == 8)
			continue;
		used += (size_t)snprintf(ret + used, size - used, "%s'%.80s' (%s)",
			listed ? ", " : "", key, text_count(n, "run"));
		listed++;
	}
	if (listed < all && used < size)
		snprintf(ret + used, size - used, " and %zu more", all - listed);
	return all;
}

/* By rule 0, whether the run has that name; by rule 1, that command line (`joined`: the same words,
 * however they are quoted; NULL: none); by rule 2, that program. */
static bool is_meant(const struct candidate *c, int rule, const char *name, const char *joined)
{
	if (rule == 0)
		return c->run->name && !strcmp(c->run->name, name);
	if (rule == 1)
		return !strcmp(c->command, name) || (joined && !strcmp(c->command, joined));
	return !strcmp(c->run->program, name);
}

/* Finds out which candidates are meant: the first rule by which any is decides. */
static void find_meant(struct candidates *c, const char *name)
{
	_cleanup_(argv_freep) char **words = NULL;
	_cleanup_(freep) char *joined = NULL;
	size_t found = 0;

	if (argv_split(name, &words, NULL) == 0)
		joined = argv_join(words);
	for (int rule = 0; found == 0 && rule < 3; rule++)
		for (size_t k = 0; k < c->n; k++) {
			c->items[k].meant = is_meant(&c->items[k], rule, name, joined);
			found += c->items[k].meant;
		}
}

static int choose_series(struct candidates *c, const char *name, char **ret_key, struct error *err)
{
	char list[500];
	size_t n, i = 0;

	find_meant(c, name);
	n = list_series(c, true, list, sizeof(list));
	if (n > 1)
		return error_say(err, -ENOENT,
			"'%.80s' matches %zu programs in the lab book; name one: %s", name, n,
			list);
	if (c->n == 0)
		return error_say(err, -ENOENT,
			"the lab book has no runs of programs that were not in a duet");
	if (n == 0) {
		list_series(c, false, list, sizeof(list));
		return error_say(err, -ENOENT,
			"the lab book has no runs of '%.80s'; it has runs of %s", name, list);
	}
	while (!c->items[i].meant)
		i++;
	*ret_key = xstrdup(key_of(&c->items[i]));
	return 0;
}

/* The figures of a run in units of INC, by these rules; no samples if it has none. */
static int load_inc_figures(struct book *book, const struct discard_rules *rules,
	struct series_run *run, struct error *err)
{
	struct inc_units units = {};
	int r = inc_units_load(book, run->run.id, rules, &units, err);

	if (r <= 0 || units.n == 0)
		return r < 0 ? r : 0;
	run->n_samples = units.n;
	run->log = log(units.mean);
	run->error = units.error;
	run->hidden = units.hidden;
	run->step = units.step;
	return 0;
}

/* The figures of a run in seconds, by these rules; no samples if none is kept. Below 0 is a
 * failure; 1: its mean PT is 0. */
static int load_second_figures(struct book *book, const struct discard_rules *rules,
	struct series_run *run, struct error *err)
{
	_cleanup_(run_result_clear) struct run_result result = {};
	const struct clock_discarding *pt = &result.discarding.pt;
	const struct summary *kept = &pt->kept;
	int r = run_result_read(book, run->run.id, rules, 0, &result, err);

	if (r < 0 || kept->n == 0)
		return r;
	if (kept->n >= SERIES_LEAST_SAMPLES && !(kept->mean_ns > 0))
		return 1;
	run->n_samples = kept->n;
	run->log = log(kept->mean_ns / 1e9);
	run->error = hypot(kept->relative_error / sqrt((double)kept->n),
		sqrt(pt->adjusted.by.variance) / kept->mean_ns);
	run->hidden = pt->interval.bias_ns / kept->mean_ns;
	run->step = pt->interval.step_ns / kept->mean_ns;
	return 0;
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* What decides which runs of the chosen program belong to the series: those of its last run. */
struct series_scope {
	char *machine;    /* NULL: not known */
	char *inc_digest; /* a unit is of one INC; NULL: not known */
};

static void series_scope_clear(struct series_scope *scope)
{
	free(scope->machine);
	free(scope->inc_digest);
}

/* Adds a run of the chosen program, or counts why it is left out. */
static int add_series_run(struct book *book, struct candidate *item,
	const struct series_scope *scope, struct series *s, struct error *err)
{
	_cleanup_(freep) char *machine = NULL;
	_cleanup_(run_rules_clear) struct run_rules rules = {};
	struct series_run run = {.run = *item->run}, *added;
	const char *inc_digest = item->run->inc_digest ?: "";
	int r = book_get_environment(book, item->run->environment, NULL, &machine, NULL, err);

	if (r < 0)
		return r;
	if (s->unit == SERIES_INC && !item->inc) {
		s->n_other_unit++;
		return 0;
	}
	if (s->unit == SERIES_INC && strcmp(inc_digest, scope->inc_digest ?: "") != 0) {
		s->n_other_inc++;
		return 0;
	}
	if (!is_same_text(scope->machine, machine)) {
		s->n_other_machine++;
		return 0;
	}
	if (s->n > 0 && run.run.started_ns < s->items[s->n - 1].run.ended_ns) {
		s->n_at_once++;
		return 0;
	}

	/* Without the samples that the run's own rules discard. */
	r = run_rules_load(book, &run.run, NULL, false, &rules, err);
	if (r == 0 && s->unit == SERIES_INC)
		r = load_inc_figures(book, &rules.rules, &run, err);
	else if (r == 0)
		r = load_second_figures(book, &rules.rules, &run, err);
	if (r < 0)
		return r;
	if (r > 0) {
		s->n_without_pt++;
		return 0;
	}
	if (run.n_samples < SERIES_LEAST_SAMPLES) {
		s->n_few++;
		return 0;
	}
	added = array_add(s->items, s->n);
	*added = run;
	*item->run = (struct run){}; /* taken over */
	return 0;
}

/* Whether a run is of a kind that a series may have. */
static bool may_be_in_series(const struct run *run)
{
	return run->n_samples > 0 && run->kind != RUN_JITTER && run->kind != RUN_CLOCKS &&
	       run->kind != RUN_LOAD;
}

/* All runs that may belong to a series, by their start. */
static int load_candidates(struct book *book, struct candidates *c, struct error *err)
{
	int r = book_runs(book, &c->runs, &c->n_runs, err);

	for (struct run *run = c->runs; r == 0 && run < c->runs + c->n_runs; run++) {
		int inc;

		if (!may_be_in_series(run))
			continue;
		inc = look_at_duet(book, run, err);
		if (inc == -ENOENT)
			continue;
		if (inc < 0)
			return inc;
		*array_add(c->items, c->n) = (struct candidate){
			run, run_command_line(run), .inc = inc > 0};
	}
	if (r == 0 && c->n > 0)
		qsort(c->items, c->n, sizeof(*c->items), candidate_by_start);
	return r;
}

/* Chooses the unit: that of INC, if any run of the series alternated with it. From now on, the runs
 * of the series are meant. */
static void choose_unit(struct candidates *c, bool seconds, struct series *s)
{
	for (size_t i = 0; i < c->n; i++) {
		struct candidate *item = &c->items[i];

		item->meant = !strcmp(key_of(item), s->name);
		if (item->meant && item->inc && !seconds)
			s->unit = SERIES_INC;
	}
}

/* The last run in the unit of the series; NULL: none. */
static const struct run *last_of_series(const struct candidates *c, const struct series *s)
{
	const struct run *last = NULL;

	for (size_t i = 0; i < c->n; i++)
		if (c->items[i].meant && (c->items[i].inc || s->unit == SERIES_SECONDS))
			last = c->items[i].run;
	return last;
}

static int load_series(
	struct book *book, const char *name, bool seconds, struct series *s, struct error *err)
{
	_cleanup_(candidates_clear) struct candidates c = {};
	_cleanup_(series_scope_clear) struct series_scope scope = {};
	const struct run *last;
	int r = load_candidates(book, &c, err);

	if (r == 0)
		r = choose_series(&c, name, &s->name, err);
	if (r < 0)
		return r;
	choose_unit(&c, seconds, s);
	last = last_of_series(&c, s);
	if (last) {
		scope.inc_digest = text_copy(last->inc_digest);
		r = book_get_environment(book, last->environment, NULL, &scope.machine, NULL, err);
	}
	for (size_t i = 0; r == 0 && i < c.n; i++)
		if (c.items[i].meant)
			r = add_series_run(book, &c.items[i], &scope, s, err);
	return r;
}

/* What is different in the environment, and in how the runs themselves were made. *ret NULL:
 * nothing. */
static int find_cause(struct book *book, const struct run *before, const struct run *now,
	char **ret, struct error *err)
{
	_cleanup_(differences_clear) struct differences differences = {};
	_cleanup_(freep) char *text = NULL;
	_cleanup_(freep) char *was = run_command_line(before), *is = run_command_line(now);
	char was_on[16], is_on[16];
	int r = 0;

	if (before->environment != now->environment)
		r = environment_differences(
			book, before->environment, now->environment, &differences, err);
	if (r < 0)
		return r;
	if (r > 0 && differences.n > 0)
		text = differences_description(&differences, MOST_DIFFERENCES, false);
	snprintf(was_on, sizeof(was_on), "%d", before->cpu);
	snprintf(is_on, sizeof(is_on), "%d", now->cpu);

	const struct {
		const char *what, *before, *now;
	} rows[] = {
		{"command", was, is},
		{"cpu", before->cpu < 0 ? "any" : was_on, now->cpu < 0 ? "any" : is_on},
		{"against", before->kind == RUN_DUET ? "inc" : NULL,
			now->kind == RUN_DUET ? "inc" : NULL},
		{"profile", before->profile, now->profile},
		{"accounting", before->backend, now->backend},
		{"pt_source", before->pt_source, now->pt_source},
	};

	for (size_t i = 0; i < ELEMENTS(rows); i++)
		if (strcmp(rows[i].before ?: "", rows[i].now ?: "") != 0)
			text_append(&text, "; ", "%s was %s, is %s", rows[i].what,
				rows[i].before ?: "nothing", rows[i].now ?: "nothing");
	*ret = TAKE(text);
	return 0;
}

static bool of_one_clock(const struct run *a, const struct run *b)
{
	return !strcmp(a->pt_source ?: "", b->pt_source ?: "") &&
	       !strcmp(a->backend ?: "", b->backend ?: "") && a->resolution_ns == b->resolution_ns;
}

/* The step of the clock of a run is at most the least that any run with that clock shows. */
static double step_of_clock(const struct series *s, const struct run *run)
{
	double least = INFINITY;

	for (size_t i = 0; i < s->n; i++)
		if (of_one_clock(&s->items[i].run, run))
			least = fmin(least, s->items[i].step * exp(s->items[i].log));
	return least;
}

/* Rounding alone makes noise of step² / 12. */
static void find_levels(const struct series *s, struct levels *ret)
{
	_cleanup_(freep) double *values = xcalloc(2 * s->n + 1, sizeof(*values));
	double *errors = values + s->n, hidden = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct series_run *run = &s->items[i];
		double step = step_of_clock(s, &run->run) / exp(run->log);

		values[i] = run->log;
		errors[i] = fmax(run->error, step / sqrt(12 * (double)run->n_samples));
		hidden += fmin(run->hidden, step / 2) / (double)s->n;
	}
	change_points_find(values, s->n, s->n > 0 ? gsl_stats_median(errors, 1, s->n) : 0, ret);
	levels_widen(ret, hidden);
}

int trend_load(struct book *book, const char *name, bool seconds, struct trend_view *ret,
	struct error *err)
{
	int r = load_series(book, name, seconds, &ret->series, err);

	if (r < 0)
		return r;
	find_levels(&ret->series, &ret->levels);
	/* The nearest change to the first run of each level, at it or a run or two off, if that is
	 * still within both levels. */
	ret->causes = xcalloc(ret->levels.n + 1, sizeof(*ret->causes));
	for (size_t i = 1; i < ret->levels.n; i++) {
		const struct level *at = &ret->levels.items[i], *last = at - 1;
		struct trend_cause *cause = &ret->causes[i];

		for (int off = 0; r == 0 && !cause->text && off <= MOST_RUNS_OFF;
			off = off > 0 ? -off : 1 - off) {
			size_t now = at->first + (size_t)off;

			if (now <= last->first || now >= at->first + at->n)
				continue;
			cause->later = off;
			r = find_cause(book, &ret->series.items[now - 1].run,
				&ret->series.items[now].run, &cause->text, err);
		}
	}
	return r;
}

int trend_refer(struct trend_view *view, const struct trend_reference *since,
	const struct comparison_rules *rules, struct error *err)
{
	const struct series *s = &view->series;
	size_t i = 0;

	while (i < s->n && (since->run ? s->items[i].run.id != since->run
				       : s->items[i].run.started_ns < since->since_ns))
		i++;
	if (i == s->n && since->run)
		return error_say(err, -ENOENT,
			"run %" PRId64 " is none of the runs of '%s' that are followed", since->run,
			s->name);
	if (i == s->n && since->since_ns)
		return error_say(err, -ENOENT,
			"no run of '%s' that is followed started since then; the last one did at "
			"%s",
			s->name,
			s->n > 0 ? text_moment(s->items[s->n - 1].run.started_ns) : "no time");
	if (i + 1 == s->n && (since->run || since->since_ns))
		return error_say(err, -EINVAL,
			"run %" PRId64
			" is the last run of '%s', and is compared with an earlier one; none is "
			"since then",
			s->items[i].run.id, s->name);
	view->reference = i;
	view->rules = *rules;
	view->judgement = trend_judge(&view->levels, i, rules);
	return 0;
}

void trend_clear(struct trend_view *view)
{
	for (size_t i = 0; view->causes && i < view->levels.n; i++)
		free(view->causes[i].text);
	free(view->causes);
	for (size_t i = 0; i < view->series.n; i++)
		run_clear(&view->series.items[i].run);
	free(view->series.items);
	free(view->series.name);
	levels_clear(&view->levels);
	*view = (struct trend_view){};
}
