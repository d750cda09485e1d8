/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results as text: see show.h. */
#include "measure/show.h"

#include "measure/session_compare.h"
#include "lib/base/argv.h"
#include "lib/base/terminal.h"
#include "lib/host/cpu/cpus.h"
#include "lib/jitter/program_trace.h"
#include "lib/report/comparison_report.h"
#include "lib/report/program_rows.h"
#include "lib/report/run_details.h"
#include "lib/report/run_notes.h"
#include "lib/report/screen.h"

#include <stdarg.h>

/* Lines, below the rows of several programs. */
enum { MOST_NOTES = 3 };

static struct screen fill_screen(const struct session *s, const struct task *t)
{
	struct screen screen = run_screen_fill(&t->result);
	_cleanup_(freep) char *tickless = path_text(AT_FDCWD, "/sys/devices/system/cpu/nohz_full");
	bool only = session_n_shown(s) == 1;

	screen.name = t->name;
	screen.unit = s->options->unit;
	/* the kernel splits user and system time by ticks on all CPUs but tickless ones */
	screen.approximate = s->options->cpu < 0 || !tickless ||
			     !cpu_list_has(tickless, s->options->cpu);
	if (t->inc.increments > 0)
		inc_units_text(screen.inc_units, &t->inc);
	screen.all_notes = screen.verbose = s->options->verbose;
	for (size_t i = 0; i < t->notes.n; i++) /* of several programs that one comes at the end */
		if (only || t->notes.items[i].kind != NOTE_CORRELATION)
			notes_add(&screen.notes, t->notes.items[i].kind, "%s",
				t->notes.items[i].text);
	if (only) {
		notes_add_all(&screen.notes, &s->notes);
		snprintf(screen.mdd, sizeof(screen.mdd), "%s", t->mdd);
	}
	return screen;
}

/* A line that begins at column `at`, or as many as the terminal needs for it. */
__attribute__((format(printf, 2, 3))) static void say_wrapped(int at, const char *format, ...)
{
	_cleanup_(freep) char *text = NULL;
	va_list args;

	va_start(args, format);
	text = text_vformat(format, args);
	va_end(args);
	printf("%*s", at, "");
	terminal_wrap(stdout, text, (size_t)at, (size_t)at + 2);
}

/* The details of a program, and the whole of one that is alone. */
static void show_result(const struct session *s, const struct task *t)
{
	_cleanup_(screen_clear) struct screen screen = fill_screen(s, t);
	bool only = session_n_shown(s) == 1;

	if (!only && !s->options->verbose && !s->trace)
		return;
	screen_print_name(stdout, &screen);
	if (s->trace)
		program_trace_print(s->trace, t->preemptions, t->n_preemptions, t->result.samples,
			t->result.n_samples);
	if (s->options->verbose) {
		run_details_print(stdout, &t->result, s->options->unit, true);
		say_wrapped(2,
			"Not in PT: %s of CPU time per sample, before the program is executed",
			text_duration(t->sampling->before_ns / (int64_t)t->result.n_samples));
	}
	if (only || s->options->verbose)
		screen_print(stdout, &screen);
	if (!only)
		putchar('\n');
}

/* The programs of a session that have samples. */
struct session_rows {
	struct screen *screens;
	struct program_row *rows;
	size_t n;
};

static void session_rows_clear(struct session_rows *r)
{
	for (size_t i = 0; i < r->n; i++)
		screen_clear(&r->screens[i]);
	free(r->screens);
	free(r->rows);
}

/* Where there are more than two programs, the rows have the ratios to the first; of two there is a
 * sentence. The caller clears them. */
static struct session_rows session_rows_make(const struct session *s)
{
	size_t n = session_n_shown(s);
	struct session_rows r = {xcalloc(n, sizeof(*r.screens)), xcalloc(n, sizeof(*r.rows)), 0};

	for (size_t i = 0; i < n; i++) {
		const struct comparison *pt = &s->comparisons[i], *et = &s->comparisons[s->n + i];

		if (s->tasks[i].result.n_samples == 0)
			continue;
		r.screens[r.n] = fill_screen(s, &s->tasks[i]);
		r.rows[r.n] = (struct program_row){s->tasks[i].name, &r.screens[r.n],
			n > 2 && comparison_is_made(pt) ? pt : NULL,
			n > 2 && comparison_is_made(et) ? et : NULL};
		r.n++;
	}
	return r;
}

static void show_program_rows(const struct session *s, const struct session_rows *r)
{
	_cleanup_(freep) const struct screen **each = xcalloc(r->n + 1, sizeof(struct screen *));

	for (size_t i = 0; i < r->n; i++)
		each[i] = &r->screens[i];
	program_rows_print(stdout, r->rows, r->n, s->options->unit);
	screen_print_neighbour(stdout, each, r->n);
	screen_print_others(stdout, each, r->n);
}

/* The notes in full. */
static void show_details(const struct session *s)
{
	const struct observer *o = &s->base.observer;
	const char *why = o->accounting ? accounting_state(o->accounting)->why.text
					: o->no_accounting.text;

	if (*why)
		say_wrapped(0, "Accounting: %s (%s)", o->backend, why);
	if (!o->cgroup)
		say_wrapped(0,
			"PT is partial: it lacks processes that the program did not wait for (%s)",
			o->no_cgroup.text);
	if (o->accounting && !s->options->profile)
		say_wrapped(0, "No profile: no sample is discarded because of a daemon "
			       "(see emp-calibrate(1))");
	if (s->environment_changes)
		say_wrapped(0, "Since profile '%s' was made: %s", s->options->profile,
			s->environment_changes);
}

/* Whether the results of all programs have it. */
static bool is_note_of_all(const struct session *s, const struct note *note)
{
	for (size_t i = 0; i < session_n_shown(s); i++) {
		const struct notes *notes = &s->tasks[i].notes;
		size_t k = 0;

		while (k < notes->n && strcmp(notes->items[k].text, note->text) != 0)
			k++;
		if (k == notes->n)
			return false;
	}
	return true;
}

/* The notes of several programs, each with the name of its program. A note that all have is there
 * once. Those that are always shown, as of --perf, go to `asked`. */
static void gather_notes(const struct session *s, struct notes *all, struct notes *asked)
{
	for (size_t i = 0; i < session_n_shown(s); i++)
		for (size_t k = 0; k < s->tasks[i].notes.n; k++) {
			const struct note *note = &s->tasks[i].notes.items[k];
			const char *name = terminal_shown_name(s->tasks[i].name);
			struct notes *into = screen_note_is_asked(note) ? asked : all;

			if (note->kind == NOTE_CORRELATION)
				continue;
			if (!is_note_of_all(s, note))
				notes_add(into, note->kind, "%s: %s", name, note->text);
			else if (i == 0)
				notes_add(into, note->kind, "all: %s", note->text);
		}
}

/* Below several programs: their rows, the processes that ran beside them, and notes. */
static void show_together(
	const struct session *s, const struct session_rows *rows, const struct notes *of_session)
{
	_cleanup_(freep) const struct clock_discarding **programs = xcalloc(
		rows->n, sizeof(struct clock_discarding *));
	_cleanup_(notes_clear) struct notes rest = {}, asked = {};

	for (size_t i = 0; i < rows->n; i++)
		programs[i] = &rows->screens[i].result->pt;
	gather_notes(s, &rest, &asked);
	notes_add_all(&rest, of_session);
	show_program_rows(s, rows);
	notes_print(stdout, &asked, ALL_NOTES, NULL);
	if (s->options->verbose) {
		run_notes_add_correlation(&rest, programs, rows->n);
		if (*s->tasks[0].mdd)
			say_wrapped(2, "%s", s->tasks[0].mdd);
	}
	notes_print(stdout, &rest, s->options->verbose ? ALL_NOTES : MOST_NOTES, "-v");
}

/* rows: of several programs. */
static void show_results(const struct session *s, const struct session_rows *rows)
{
	struct notes grave = {s->notes.items}, others;
	size_t n = session_n_shown(s), shown = 0;

	/* notes on a profile come first, on one result or on several */
	while (grave.n < s->notes.n && grave.items[grave.n].kind == NOTE_PROFILE)
		grave.n++;
	others = (struct notes){s->notes.items + grave.n, s->notes.n - grave.n};
	if (n > 1)
		notes_print(stdout, &grave, ALL_NOTES, NULL);
	for (size_t i = 0; i < n; i++)
		if (s->tasks[i].result.n_samples > 0) {
			show_result(s, &s->tasks[i]);
			shown++;
		}
	if (shown == 0)
		return;
	if (n > 1)
		show_together(s, rows, &others);
	if (s->options->verbose)
		show_details(s);
}

static int by_mean_pt(const void *x, const void *y)
{
	const struct task *a = *(const struct task *const *)x, *b = *(const struct task *const *)y;
	double of_a = a->result.discarding.pt.kept.mean_ns,
	       of_b = b->result.discarding.pt.kept.mean_ns;

	return (of_a > of_b) - (of_a < of_b);
}

static const struct comparison *comparison_with(
	const struct session *s, enum comparison_clock clock, const struct task *b)
{
	const struct comparison *c = &s->comparisons[(size_t)clock * s->n + (size_t)(b - s->tasks)];

	return comparison_is_made(c) ? c : NULL;
}

/* The comparison whose verdict weighs most, and with which program it is. */
static const struct comparison *find_worst(const struct session *s, const struct task **ret)
{
	const struct comparison *worst = NULL;

	for (size_t i = 0; i < N_COMPARISON_CLOCKS * (session_n_shown(s) - 1); i++) {
		const struct task *b = &s->tasks[1 + i / N_COMPARISON_CLOCKS];
		const struct comparison *c = comparison_with(s, i % N_COMPARISON_CLOCKS, b);

		if (c && comparison_worse(worst, c) == c) {
			worst = c;
			*ret = b;
		}
	}
	return worst;
}

/* For each comparison, in the order of --sort, a row of `list`, unless that is NULL. For those with
 * `program` (NULL: for all) also a sentence; the rows of the screen have the others. */
static void show_each(const struct session *s, const struct task *program, struct table *list)
{
	_cleanup_(freep) const struct task **others = xcalloc(s->n, sizeof(struct task *));
	size_t n = session_n_shown(s) - 1;
	const struct task *a = &s->tasks[0];

	for (size_t i = 0; i < n; i++)
		others[i] = &s->tasks[i + 1];
	if (s->options->sort != SORT_COMMAND)
		qsort(others, n, sizeof(struct task *), by_mean_pt);
	for (size_t i = 0; i < N_COMPARISON_CLOCKS * n; i++) {
		const struct task *b = others[i / N_COMPARISON_CLOCKS];
		const struct comparison *c = comparison_with(s, i % N_COMPARISON_CLOCKS, b);

		if (!c)
			continue;
		if (!program || b == program)
			comparison_line(stdout, a->name, b->name, c);
		if (list)
			comparison_list_add(list, a->name, b->name, c);
	}
}

/* Of several programs, names are shortened alike on the whole screen. */
static void show_all(const struct session *s, char ***ret_names)
{
	struct session_rows rows = {};

	if (session_n_shown(s) > 1) {
		rows = session_rows_make(s);
		*ret_names = terminal_short_names(s->names, s->n,
			program_rows_name_columns(stdout, rows.rows, rows.n, s->options->unit));
		terminal_names = (struct terminal_names){s->names, *ret_names, s->n};
	}
	show_results(s, &rows);
	session_rows_clear(&rows);
}

/* Prints which of several programs has the lowest mean PT. */
static void show_fastest(const struct session *s)
{
	const struct task *fastest = NULL;

	for (size_t i = 0; i < session_n_shown(s); i++) {
		const struct task *t = &s->tasks[i];

		if (t->result.discarding.pt.kept.n > 0 &&
			(!fastest || by_mean_pt(&t, &fastest) < 0))
			fastest = t;
	}
	if (!fastest)
		return;
	fputs("Fastest by mean PT: ", stdout);
	terminal_print_name(stdout, fastest->name, SIZE_MAX);
	putchar('\n');
}

int show_session(const struct session *s, struct error *err)
{
	_cleanup_(table_freep) struct table *list = NULL;
	_cleanup_(duet_report_clear) struct duet_report report = {};
	_cleanup_(argv_freep) char **shown = NULL;
	bool print = !s->options->json && !s->options->silent;
	const struct comparison *worst;
	const struct task *program = NULL;
	int n, r;

	n = session_compare(s, err);
	if (print)
		show_all(s, &shown);
	if (n < 0)
		return n;
	if (session_n_shown(s) > 1 && print && s->options->verbose)
		list = table_new(comparison_columns);
	if (print && s->in_turn_because)
		say_wrapped(0, "Taken in turn: %s", s->in_turn_because);
	if (print && n > 0 && session_n_shown(s) > 2)
		show_fastest(s);
	worst = find_worst(s, &program);
	if (!worst)
		return 0;
	if (!print)
		return (int)comparison_judge(worst, s->tasks[0].name, program->name, err);
	show_each(s, s->options->verbose ? NULL : program, list);
	comparisons_between_line(stdout, s->comparisons, N_COMPARISON_CLOCKS * s->n);

	/* Of a duet its figures, else whether one would show more. */
	if (s->order == ORDER_DUET) {
		r = session_duet(s, &report, err);
		if (r < 0)
			return r;
		if (r > 0) {
			putchar('\n');
			duet_report_print(stdout, &report, s->names, s->comparisons);
		}
		if (session_compared_alone(s))
			say_wrapped(0, DUET_COMPARED_ALONE);
	} else if (session_advice(s).better) {
		say_wrapped(0, "The machine's speed changes between samples; "
			       "--order auto may cancel that");
	}
	if (list) {
		printf("\nCompared with '%s':\n", terminal_text(s->tasks[0].name));
		comparison_list_print(list, n > 1, stdout);
	}
	comparison_verdict_print(stdout,
		&(struct verdict_line){s->tasks[0].name, program->name, session_n_shown(s) > 2,
			(size_t)n >= session_n_shown(s)},
		worst);
	return (int)comparison_judge(worst, s->tasks[0].name, program->name, err);
}
