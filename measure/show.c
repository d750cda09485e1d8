/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-measure's results as text: the first screen of each program, then the comparisons. With --verbose also the
 * details. */
#include "measure/session.h"

#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/base/tool.h"
#include "lib/base/xalloc.h"
#include "lib/report/notes.h"
#include "lib/report/run_result.h"
#include "lib/report/screen.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>

/* The comparisons of a session: each command with the first. */

struct sides {
	struct comparison_side of[N_COMPARISON_CLOCKS];
};

static void sides_clear(struct sides *s)
{
	for (size_t clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
		comparison_side_clear(&s->of[clock]);
}

static void sides_make(struct sides *ret, const struct task *t)
{
	const struct run_result *run = &t->result.run;

	for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
		ret->of[clock] = comparison_side_make(&run->discarding, run->samples, run->n_samples, clock);
}

/* The samples of a session are taken in turn; those of --order sequence are not. */
static int compare_with_first(
	const struct session *s, size_t command, struct comparisons *c, struct error *err)
{
	_cleanup_(sides_clear) struct sides a = {}, b = {};
	const struct task *of_a = &s->tasks[0], *of_b = &s->tasks[command];
	unsigned clocks;
	int r = 0;

	sides_make(&a, of_a);
	sides_make(&b, of_b);
	clocks = comparison_clocks(s->options->compare, a.of, b.of);
	for (enum comparison_clock clock = 0; r == 0 && clock < N_COMPARISON_CLOCKS; clock++) {
		struct run_variation variation = {};

		if (!(clocks >> clock & 1))
			continue;
		if (s->options->order == ORDER_SEQUENCE)
			r = run_variation_load(s->base.book, of_a->run.id, of_b->run.id,
				clock == COMPARISON_ET, &variation, err);
		if (r == 0)
			r = comparison_make(
				&a.of[clock], &b.of[clock], &variation, &c->all[clock * c->n + command], err);
	}
	return r;
}

static int compare_all(const struct session *s, struct comparisons *c, struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report duet = {};
	enum duet_doubt doubt;
	int r = 0;

	/* by the duet, or by the programs alone if that is in doubt */
	if (s->options->order == ORDER_DUET) {
		if (session_n_shown(s) > 1)
			r = session_duet(s, &duet, err);
		for (size_t i = 1; r >= 0 && i < session_n_shown(s) && i < duet.n; i++)
			r = duet_report_compare(&duet, 0, i, &c->all[i], &doubt, err);
		return r < 0 ? r : 0;
	}
	for (size_t i = 1; r == 0 && i < session_n_shown(s); i++)
		if (s->tasks[0].result.run.discarding.pt.kept.n > 0 &&
			s->tasks[i].result.run.discarding.pt.kept.n > 0)
			r = compare_with_first(s, i, c, err);
	return r;
}

int comparisons_make(const struct session *s, struct comparisons *ret, struct error *err)
{
	size_t n = N_COMPARISON_CLOCKS * s->n;
	_cleanup_(comparisons_clear) struct comparisons c = {.all = xcalloc(n, sizeof(*c.all)), .n = s->n};
	_cleanup_(freep) struct comparison **made = xcalloc(n, sizeof(struct comparison *));
	int r = compare_all(session_judged(s), &c, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		if (c.all[i].a.n > 0)
			made[c.n_made++] = &c.all[i];
	comparisons_adjust(made, c.n_made);
	*ret = TAKE_STRUCT(c);
	return 0;
}

void comparisons_clear(struct comparisons *c)
{
	free(c->all);
	*c = (struct comparisons){};
}

struct duet_advice advice_of(const struct session *s)
{
	_cleanup_(freep) struct duet_candidate *programs = xcalloc(s->n, sizeof(*programs));
	const struct measure_options *o = s->options;

	if (o->order != ORDER_INTERLEAVE || o->affine || o->perf || o->trace || s->n < 2 ||
		!duet_has_slices(DEFAULT_SLICE_NS, o->cpu, s->base.observer.cgroup))
		return (struct duet_advice){false, NAN, NAN};
	for (size_t i = 0; i < s->n; i++) {
		const struct run_result *run = &s->tasks[i].result.run;

		programs[i] = (struct duet_candidate){run->samples, run->discarding.out, run->n_samples};
	}
	return duet_advise(programs, s->n, DEFAULT_SLICE_NS);
}

/* Whether the kernel splits user and system time on this CPU by ticks, as on all CPUs but tickless ones. cpu -1:
 * any. */
static bool split_by_ticks(int cpu)
{
	_cleanup_(freep) char *text = NULL;
	_cleanup_(freep) int *cpus = NULL;
	size_t n = 0;

	if (cpu < 0 || text_read_file(AT_FDCWD, "/sys/devices/system/cpu/nohz_full", &text) < 0 ||
		text_parse_cpu_list(text, &cpus, &n) < 0)
		return true;
	for (size_t i = 0; i < n; i++)
		if (cpus[i] == cpu)
			return false;
	return true;
}

/* What results of this number of samples can show. */
static int find_resolving(const struct session *s, char ret[RESOLVING_TEXT_SIZE], struct error *err)
{
	return resolving_text(s->base.book, s->base.environment, s->options->profile ? &s->profile : NULL,
		s->tasks[0].result.run.n_samples, ret, err);
}

static int show_result(const struct session *s, const struct task *t, struct error *err)
{
	const struct result *result = &t->result;
	_cleanup_(screen_clear) struct screen screen = run_screen_fill(&result->run);
	bool only = session_n_shown(s) == 1;
	char time[TEXT_TIME_SIZE];
	int r = 0;

	screen.name = result->name;
	screen.unit = s->options->unit;
	screen.approximate = split_by_ticks(s->options->cpu);
	if (result->inc.increments > 0)
		inc_units_text(screen.inc_units, &result->inc);
	screen.all_notes = s->options->verbose;
	for (size_t i = 0; i < result->notes.n; i++) /* of several programs that one comes at the end */
		if (only || result->notes.items[i].kind != NOTE_CORRELATION)
			notes_add(&screen.notes, result->notes.items[i].kind, "%s",
				result->notes.items[i].text);
	if (only) {
		notes_add_all(&screen.notes, &s->notes);
		r = find_resolving(s, screen.resolving, err);
	}
	if (r < 0)
		return r;
	screen_print(stdout, &screen);
	if (s->trace)
		r = trace_print(s, t);
	if (r < 0)
		return r;
	if (s->options->verbose) {
		run_details_print(stdout, &result->run, s->options->unit);
		printf("  Not in PT: %s of CPU time per sample, before the program is executed\n",
			text_duration(time, result->before_ns));
	}
	return r;
}

static int by_mean_pt(const void *x, const void *y)
{
	const struct task *a = *(const struct task *const *)x, *b = *(const struct task *const *)y;
	double of_a = a->result.run.discarding.pt.kept.mean_ns;
	double of_b = b->result.run.discarding.pt.kept.mean_ns;

	return (of_a > of_b) - (of_a < of_b);
}

/* The commands that are compared with the first, in the order of --sort. */
static const struct task **sort_others(const struct session *s)
{
	const struct task **others = xcalloc(s->n, sizeof(struct task *));

	for (size_t i = 1; i < session_n_shown(s); i++)
		others[i - 1] = &s->tasks[i];
	if (s->options->sort != SORT_COMMAND)
		qsort(others, session_n_shown(s) - 1, sizeof(struct task *), by_mean_pt);
	return others;
}

/* A sentence for each comparison, and a row of the list if there is one. STATUS_NOT_FIT with a sentence: one is slower than
 * --fail-if-slower allows. */
static int show_each(const struct session *s, const struct comparisons *comparisons, bool print,
	struct table *list, struct error *err)
{
	_cleanup_(freep) const struct task **others = sort_others(s);
	struct error err2;
	int outcome = 0;

	for (size_t i = 0; i < N_COMPARISON_CLOCKS * (session_n_shown(s) - 1); i++) {
		const struct task *a = &s->tasks[0], *b = others[i / N_COMPARISON_CLOCKS];
		const struct comparison_limit limit = {s->options->fail_if_slower, a->name, b->name};
		const struct comparison *c = comparisons_of(
			comparisons, i % N_COMPARISON_CLOCKS, (size_t)(b - s->tasks));
		int r;

		if (c->a.n == 0)
			continue;
		if (print)
			comparison_line(stdout, a->name, b->name, c);
		if (list)
			comparison_list_add(list, a->name, b->name, c);
		r = comparison_judge(c, &limit, outcome ? &err2 : err);
		if (r < 0)
			return r;
		outcome = outcome ?: r == COMPARISON_OVER_LIMIT ? STATUS_NOT_FIT : r;
	}
	return outcome;
}

static int show_comparisons(const struct session *s, bool print, struct error *err)
{
	_cleanup_(table_freep) struct table *list = NULL;
	_cleanup_(comparisons_clear) struct comparisons comparisons = {};
	struct error err2 = {};
	int outcome, r = comparisons_make(s, &comparisons, err);
	_cleanup_(duet_report_clear) struct duet_report report = {};

	if (r == 0 && session_n_shown(s) > 1 && print && s->options->verbose)
		list = comparison_list_new();
	if (r < 0)
		return r;
	if (print) {
		const struct session *judged = session_judged(s);

		/* What the verdicts speak of, where that is not the duet. */
		if (s->doubt != DUET_SOUND) {
			if (judged != s)
				printf("%s, so they were taken in turn (runs %lld to %lld):\n",
					duet_doubt_sentences[s->doubt], (long long)judged->tasks[0].run.id,
					(long long)judged->tasks[judged->n - 1].run.id);
			else
				printf("%s, so their runs alone are compared:\n",
					duet_doubt_sentences[s->doubt]);
		}
	}
	outcome = show_each(s, &comparisons, print, list, err);
	if (outcome < 0 || !print || comparisons.n_made == 0)
		return outcome;
	comparisons_between_line(stdout, comparisons.all, N_COMPARISON_CLOCKS * comparisons.n);

	/* Of a duet its figures, else whether one would show more. */
	_cleanup_(freep) const char **names = session_names(s);

	if (s->options->order != ORDER_DUET) {
		if (advice_of(s).better)
			printf("The machine's speed changes between samples; --order duet would cancel that\n");
		r = 0;
	} else {
		r = session_duet(s, &report, outcome ? &err2 : err);
		if (r > 0) {
			printf("\n");
			duet_report_print(stdout, &report, names, comparisons.all);
		}
	}
	if (r < 0 || !list)
		return r < 0 ? r : outcome;
	printf("\nCompared with '%s':\n", terminal_text(s->tasks[0].name));
	comparison_list_print(list, comparisons.n_made > 1, stdout);
	return outcome;
}

static int show_results(const struct session *s, struct error *err)
{
	_cleanup_(freep)
		const struct clock_discarding **programs = xcalloc(s->n, sizeof(struct clock_discarding *));
	_cleanup_(notes_clear) struct notes rest = {};
	struct notes grave = {s->notes.items};
	char resolving[RESOLVING_TEXT_SIZE] = "";
	size_t n = session_n_shown(s), shown = 0;
	int r = 0;

	/* notes on a profile come first, on one result or on several */
	while (grave.n < s->notes.n && grave.items[grave.n].kind == NOTE_PROFILE)
		grave.n++;
	if (n > 1) {
		const struct notes others = {s->notes.items + grave.n, s->notes.n - grave.n};

		notes_print_all(stdout, &grave);
		notes_add_all(&rest, &others);
	}
	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct task *t = &s->tasks[i];

		programs[i] = &t->result.run.discarding.pt;
		if (t->result.run.n_samples == 0)
			continue;
		r = show_result(s, t, err);
		if (n > 1)
			putchar('\n');
		shown++;
	}
	if (r == 0 && n > 1)
		run_screen_note_correlation(&rest, programs, n);
	if (r == 0 && n > 1)
		r = find_resolving(s, resolving, err);
	if (shown == 0 || r < 0)
		return r;
	if (*resolving)
		printf("  %s\n", resolving);
	notes_print(stdout, &rest, rest.n, "");
	if (s->options->verbose) {
		const struct observer *o = &s->base.observer;
		const char *why = o->accounting ? accounting_why(o->accounting) : o->no_accounting.text;

		/* The notes in full. */
		if (why)
			printf("Accounting: %s (%s)\n", observer_backend_name(o), terminal_text(why));
		if (!o->cgroup)
			printf("PT is partial: it lacks processes that the program did not wait for (%s)\n",
				terminal_text(o->no_cgroup.text));
		if (o->accounting && !s->options->profile)
			printf("No profile: no sample is discarded because of a daemon (see emp-calibrate(1))\n");
		if (s->environment_changes)
			printf("Since profile '%s' was made: %s\n", terminal_text(s->options->profile),
				terminal_text(s->environment_changes));
	}
	return 0;
}

int show_session(const struct session *s, struct error *err)
{
	bool print = !s->options->json && !s->options->silent;
	_cleanup_(freep) const char **names = session_names(s);
	int r;

	terminal_names(names, s->n);
	r = print ? show_results(s, err) : 0;
	return r < 0 ? r : show_comparisons(s, print, err);
}
