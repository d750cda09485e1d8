/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze show: shows one run: how it was made, its times, and its verdict. */
#include "analyze/analysis_print.h"
#include "analyze/options.h"
#include "analyze/run.h"

#include "lib/base/argv.h"
#include "lib/base/terminal.h"
#include "lib/duet/duet_report.h"
#include "lib/duet/inc_units.h"
#include "lib/report/results.h"
#include "lib/report/run_details.h"
#include "lib/report/run_notes.h"
#include "lib/report/screen.h"

#include <math.h>

static bool verbose;

static const struct option_row show_options[] = {
	{'v', "verbose", NULL, "each discarded sample, and all warnings in full", NULL, &verbose,
		.text = true},
	RECOMPUTE_OPTION,
	LAST_RUN_OPTION,
	{},
};

/* NULL: not known. */
static const char *task_length_text(const struct run *run)
{
	if (run->task_length_ns <= 0)
		return NULL;
	return text_brief("%s s", text_seconds(run->task_length_ns));
}

static const char *short_digest(const char *digest)
{
	const char *shown = terminal_text(digest);

	return text_brief("%.*s", (int)terminal_text_fit(shown, 16), shown);
}

static void show_print_run(const struct run *run, size_t n_samples, const char *digest)
{
	const char *options = run_rules_options(run);
	const struct {
		const char *label, *text; /* NULL: not known */
	} rows[] = {
		{"kind:", run_kind_names[run->kind]},
		{"started:", run->started_ns > 0 ? text_moment(run->started_ns) : NULL},
		{"task length:", task_length_text(run)},
		{"resolution:", text_duration(run->resolution_ns)},
		{"processes:", run->backend ?: "as imported"},
		{"PT from:", run->pt_source},
		{"W from:", run->wait_source},
		{"pinned to:", run->cpu >= 0 ? text_brief("CPU %d", run->cpu) : NULL},
		{"environment:", digest ? short_digest(digest) : NULL},
		{"profile:", run->profile},
		{"discarding:", *options ? options : NULL},
		{"held by:", run->held_back_by},
		{"notes:", run->notes},
	};

	printf("Run %" PRId64 ": %s, %s, %s\n", run->id, terminal_text(run->program),
		text_count(n_samples, "sample"), run_state_word(run->state));
	for (size_t i = 0; i < ELEMENTS(rows); i++)
		if (rows[i].text)
			printf("  %-12s %s\n", rows[i].label, terminal_text(rows[i].text));
}

/* What differs between the result as it was measured and as it is recomputed. */
static int print_recomputed(struct book *book, const struct run *run, const struct run_rules *today,
	const struct discarding *now, struct error *err)
{
	_cleanup_(run_rules_clear) struct run_rules rules = {};
	_cleanup_(run_result_clear) struct run_result then = {};
	const struct clock_discarding *a = &then.discarding.pt, *b = &now->pt;
	const char *before, *after;
	int r = run_rules_load(book, run, NULL, false, &rules, err);

	if (r == 0)
		r = run_result_read(book, run->id, &rules.rules, 0, &then, err);
	if (r < 0)
		return r;
	printf("Recomputed with what the book holds now:\n");
	run_rules_print_changes(stdout, run, today);
	before = text_interval(a->interval.low_ns, a->interval.high_ns, a->kept.sd_ns, NULL);
	after = text_interval(b->interval.low_ns, b->interval.high_ns, b->kept.sd_ns, NULL);
	if (a->kept.n != b->kept.n)
		printf("  kept were %zu samples, are %zu\n", a->kept.n, b->kept.n);
	if (isnan(a->interval.low_ns) && isnan(b->interval.low_ns))
		printf("  PT has no 95 %% CI\n");
	else if (strcmp(before, after) != 0)
		printf("  PT's 95 %% CI was %s, is %s\n", before, after);
	else
		printf("  PT's 95 %% CI is the same\n");
	printf("\n");
	return 0;
}

/* As emp-measure showed it, by the rules that it was measured with. */
static int print_result(
	struct book *book, const struct run *run, const struct run_rules *rules, struct error *err)
{
	_cleanup_(run_result_clear) struct run_result result = {};
	_cleanup_(screen_clear) struct screen screen = {};
	_cleanup_(freep) char *command = run_command_line(run);
	bool today = analyze_options.recompute;
	struct inc_units inc = {};
	int r = run_result_read(book, run->id, &rules->rules, RESULT_ALL, &result, err);

	r = r ?: run_result_add_between(book, &result, today, err);
	if (r < 0)
		return r;
	screen = run_screen_fill(&result);
	r = run_notes_load(
		book, &result, rules->rules.profile, today, &screen.notes, screen.mdd, err);
	if (r == 0 && today)
		r = print_recomputed(book, run, rules, &result.discarding, err);
	if (r == 0)
		r = inc_units_load(book, run->id, &rules->rules, &inc, err);
	if (r < 0)
		return r;
	if (r > 0)
		inc_units_text(screen.inc_units, &inc);
	screen.name = run->name ?: command ?: run->program;
	screen.approximate = true;
	screen.verbose = true;
	screen.by_all_runs = today;
	screen.all_notes = verbose;
	screen_print_name(stdout, &screen);
	run_details_print(stdout, &result, NULL, verbose);
	screen_print(stdout, &screen);
	return 0;
}

/* The other programs that ran with it, and what that cost. The document gets it, or if that is NULL
 * it is printed. */
static int show_duet(struct book *book, const struct run *run, const struct run_rules *rules,
	json_t *document, struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report report = {};
	_cleanup_(argv_freep) char **names = NULL;
	int r = duet_report_load(book, run->id, &rules->rules, NULL, &report, err);

	if (r <= 0)
		return r;
	names = xcalloc(report.n + 1, sizeof(*names));
	for (size_t i = 0; i < report.n; i++) {
		const struct run *of = &report.results[i]->discarding.run;

		names[i] = of->name ? xstrdup(of->name) : run_command_line(of);
	}
	if (document) {
		json_object_set_new(
			document, "duet", duet_report_as_json(&report, (const char *const *)names));
		return 0;
	}
	printf("\n");
	duet_report_print(stdout, &report, (const char *const *)names, NULL);
	return 0;
}

static json_t *run_as_json(const struct run *run, size_t n_samples, const char *digest)
{
	const char *kind = run_kind_names[run->kind];

	return JSON_OBJECT({"run", json_integer(run->id)}, {"uid", json_text(run->uid)},
		{"program?", json_string(run->program)}, {"kind", json_text(kind)},
		{"purpose", json_text(kind)}, {"state", json_text(run_state_word(run->state))},
		{"samples", json_integer(n_samples)},
		{"started_ns", json_int_if(run->started_ns > 0, run->started_ns)},
		{"started", json_text(run->started_ns > 0 ? text_rfc3339(run->started_ns) : NULL)},
		{"task_length_ns", json_int_if(run->task_length_ns > 0, run->task_length_ns)},
		{"resolution_ns", json_integer(run->resolution_ns)},
		{"backend?", json_string(run->backend)},
		{"pt_source?", json_string(run->pt_source)},
		{"wait_source?", json_string(run->wait_source)},
		{"environment?", json_string(digest)}, {"profile?", json_string(run->profile)},
		{"other_cpus", json_boolean(run->other_cpus)},
		{"unprofiled_share_ppm",
			json_int_if(run->unprofiled_share_ppm > 0, run->unprofiled_share_ppm)},
		{"notes?", json_string(run->notes)});
}

/* Both clocks as the screen has them, of the samples kept; "raw": of all samples. */
static json_t *times_as_json(const struct discarding *d)
{
	json_t *pt = kept_as_json(&d->pt), *et = kept_as_json(&d->et);

	json_object_set_new(pt, "raw", summary_as_json(&d->pt.raw));
	json_object_set_new(et, "raw", summary_as_json(&d->et.raw));
	return json_pack("{s:o, s:o}", "pt", pt, "et", et);
}

/* "changes": the lines that the screen has; "measured": the result before. */
static int recomputed_as_json(struct book *book, const struct run *run,
	const struct run_rules *today, json_t **ret, struct error *err)
{
	_cleanup_(run_rules_clear) struct run_rules rules = {};
	_cleanup_(run_result_clear) struct run_result then = {};
	_cleanup_(freep) char *text = NULL;
	json_t *changes = json_array();
	size_t size;
	FILE *memory = xopen_memstream(&text, &size);
	int r = run_rules_load(book, run, NULL, false, &rules, err);

	if (r == 0)
		r = run_result_read(book, run->id, &rules.rules, 0, &then, err);
	run_rules_print_changes(memory, run, today);
	text_stream_close(memory, &text);
	for (char *at = text, *line; (line = strsep(&at, "\n"));)
		if (*line)
			json_array_append_new(changes, json_string(line + strspn(line, " ")));
	*ret = json_pack(
		"{s:o, s:o}", "changes", changes, "measured", times_as_json(&then.discarding));
	return r;
}

static int show_json(
	struct book *book, const struct analysis *analysis, const char *digest, struct error *err)
{
	_cleanup_(run_result_clear) struct run_result result = {};
	_cleanup_(run_rules_clear) struct run_rules rules = {};
	const struct run *run = &analysis->run;
	_cleanup_(json_decrefp) json_t *document = NULL;
	struct inc_units inc = {};
	json_t *recomputed = NULL;
	int r = run_rules_load(book, run, NULL, analyze_options.recompute, &rules, err);

	if (r == 0)
		r = run_result_read(book, run->id, &rules.rules, 0, &result, err);
	if (r == 0)
		r = run_result_add_between(book, &result, analyze_options.recompute, err);
	if (r == 0 && analyze_options.recompute)
		r = recomputed_as_json(book, run, &rules, &recomputed, err);
	if (r < 0)
		return r;
	document = run_as_json(run, analysis->n_samples, digest);
	if (run->cpu >= 0)
		json_object_set_new(document, "cpu", json_integer(run->cpu));
	json_object_update_new(document, analysis_as_json(analysis));
	/* the mark of the profile that the run was measured with, if the book still has that */
	noise_add_json(document, &result.discarding.mark);
	json_object_update_new(document, times_as_json(&result.discarding));
	json_object_set_new(document, "held_back", held_back_as_json(&result));
	json_object_set_new(document, "neighbour", neighbour_as_json(&result));
	if (recomputed)
		json_object_set_new(document, "recomputed", recomputed);
	r = show_duet(book, run, &rules, document, err);
	if (r >= 0)
		r = inc_units_load(book, run->id, &rules.rules, &inc, err);
	if (r > 0)
		json_object_set_new(document, "inc_units", inc_units_as_json(&inc));
	return r < 0 ? r : json_print_document("emp-analysis", json_incref(document), err);
}

/* A run that was ended before its first sample has no scatter, and neither has a load. */
static int show_head(
	struct book *book, const struct run *run, const char *digest, struct error *err)
{
	_cleanup_(notes_clear) struct notes notes = {};
	int r = book_rows(book, run->id, &note_table, &notes.items, &notes.n, err);

	if (r < 0)
		return r;
	if (analyze_options.json)
		return json_print_document(
			"emp-analysis", run_as_json(run, run->n_samples, digest), err);
	show_print_run(run, run->n_samples, digest);
	notes_print(stdout, &notes, ALL_NOTES, NULL);
	if (run->kind == RUN_LOAD && run->n_samples > 0)
		printf("\n'emp-analyze load %" PRId64 "' shows its rate of work.\n", run->id);
	return 0;
}

static int show_recorded_run(
	struct book *book, const struct run *run, const char *digest, struct error *err)
{
	_cleanup_(analysis_clear) struct analysis analysis = {};
	_cleanup_(run_rules_clear) struct run_rules rules = {};
	int r = analysis_load(book, run->id, &(struct analysis_options){.by_wait_if_exact = true},
		&analysis, err);

	if (r < 0)
		return r;
	if (analyze_options.json)
		return show_json(book, &analysis, digest, err);
	show_print_run(run, analysis.n_samples, digest);
	printf("\n");
	r = run_rules_load(book, run, NULL, analyze_options.recompute, &rules, err);
	if (r == 0 && rules.missing)
		printf("The profile '%s' is not in the book: it discards no samples.\n\n",
			terminal_text(run->profile));
	if (r == 0)
		r = print_result(book, run, &rules, err);
	if (r == 0)
		r = show_duet(book, run, &rules, NULL, err);
	printf("\n");
	if (r == 0)
		analysis_print(&analysis);
	return r;
}

static int analyze_show_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(run_clear) struct run run = {};
	_cleanup_(freep) char *digest = NULL;
	int64_t id;
	int r;

	r = analyze_open(argv[0], &book, &id, err);
	if (r == 0)
		r = book_get_run(book, id, &run, err);
	if (r == 0)
		r = book_get_environment(book, run.environment, &digest, NULL, NULL, err);
	if (r < 0)
		return r;
	return run.n_samples > 0 && run.kind != RUN_LOAD
		       ? show_recorded_run(book, &run, digest, err)
		       : show_head(book, &run, digest, err);
}

const struct verb analyze_show = {
	.name = "show",
	.args = "RUN",
	.summary = "show one run: how it was made, its times, its verdict",
	.min_args = 1,
	.max_args = 1,
	.options = show_options,
	.run = analyze_show_verb,
};
