/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze discard and protocols: the samples of a run that a profile discards, the causes,
 * and the statistics of runs after each step of the protocol (EMP, Tables XVII and XVIII, Figure
 * 17). */
#include "analyze/analysis_print.h"
#include "analyze/options.h"
#include "analyze/run.h"

#include "lib/base/table.h"
#include "lib/report/results.h"
#include "lib/report/screen.h"

static int rule = N_DISCARD_RULES; /* enum discard_rule; as it is: each */

enum stage_step { STEP_ALL, STEP_CUTOFFS, STEP_ADJUSTED, STEP_TWO_SD };

/* All samples, after the cutoffs, without the neighbour if it was taken out of the times, and after
 * the 2-sd check; for ET and for PT. */
static const struct stage {
	const char *clock, *name;
	const char *member; /* of the JSON document */
	bool et;
	enum stage_step step;
	enum discard_rule rule;
} stages[] = {
	{"ET", "all", "et_raw", true, STEP_ALL, DISCARD_NOTHING},
	{"ET", "cutoffs", "et_by_cutoff", true, STEP_CUTOFFS, DISCARD_SEDONA},
	{"ET", "adjusted", "et_adjusted", true, STEP_ADJUSTED, DISCARD_SEDONA},
	{"ET", "2 sd", "et_clean", true, STEP_TWO_SD, DISCARD_EMP},
	{"PT", "all", "pt_raw", false, STEP_ALL, DISCARD_NOTHING},
	{"PT", "cutoffs", "pt_by_cutoff", false, STEP_CUTOFFS, DISCARD_SEDONA},
	{"PT", "adjusted", "pt_adjusted", false, STEP_ADJUSTED, DISCARD_SEDONA},
	{"PT", "2 sd", "pt_clean", false, STEP_TWO_SD, DISCARD_EMP},
};

static bool rule_is_shown(enum discard_rule of)
{
	return rule == N_DISCARD_RULES || rule == (int)of;
}

/* NULL: the run has no such stage. */
static const struct summary *stage_summary(const struct stage *stage, const struct discarding *d)
{
	const struct clock_discarding *c = stage->et ? &d->et : &d->pt;
	bool adjusted = c->adjusted.times_ns;

	switch (stage->step) {
	case STEP_ALL:
		return &c->raw;
	case STEP_CUTOFFS:
		return adjusted ? &c->adjusted.before : &c->kept;
	case STEP_ADJUSTED:
		return adjusted ? &c->kept : NULL;
	default:
		return &c->papers;
	}
}

/* Of one run, from the second on. */
static const struct column stage_columns[] = {
	{"RUN", COLUMN_NUMBER},
	{"CLOCK"},
	{"STEP"},
	{"SAMPLES", COLUMN_NUMBER},
	{"MIN", COLUMN_NUMBER},
	{"MAX", COLUMN_NUMBER},
	{"MEAN", COLUMN_NUMBER},
	{"SD", COLUMN_NUMBER},
	{"CV", COLUMN_NUMBER},
	{},
};

static void add_stages(struct table *table, const struct discarding *d, bool with_run)
{
	for (const struct stage *stage = stages; stage < stages + ELEMENTS(stages); stage++) {
		const struct summary *s = stage_summary(stage, d);

		if (!s || !rule_is_shown(stage->rule))
			continue;
		table_begin_row(table);
		if (with_run)
			table_add(table, NUMBER(d->run.id));
		table_add(table, TEXT(stage->clock), TEXT(stage->name), NUMBER(s->n),
			TEXT(s->n > 0 ? text_precise((double)s->min_ns, range_step(s)) : NULL),
			TEXT(s->n > 0 ? text_precise((double)s->max_ns, range_step(s)) : NULL),
			TEXT(s->n > 0 ? text_precise(s->mean_ns, s->sd_ns) : NULL),
			TEXT(s->n > 1 ? text_precise(s->sd_ns, s->sd_ns) : NULL),
			TEXT(s->n > 1 ? text_percent(s->relative_error) : NULL));
	}
}

static void add_over_rows(struct table *list, const struct over_cutoff *over, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		table_begin_row(list);
		table_add(list, NUMBER(over[i].sample), TEXT(over[i].daemon), TEXT(over[i].unit),
			TIME(over[i].pt_ns), TIME(over[i].cutoff_ns));
	}
}

/* The samples that had a neighbour. */
static void print_neighbours(const struct run_result *result)
{
	static const struct column columns[] = {{"SAMPLE", COLUMN_NUMBER},
		{"NEIGHBOUR", COLUMN_NUMBER}, {"ALLOWED", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);
	const struct discarding *d = &result->discarding;
	const char *allowed = text_percent((double)run_neighbour_limit_ppm(&d->run) / PPM);

	if (d->n_by_neighbour == 0)
		return;
	printf("Discarded because of a neighbour on the core's other thread:\n");
	for (size_t i = 0, at = 0; i < d->n_by_neighbour; i++) {
		while (result->samples[at].n < d->by_neighbour[i])
			at++;
		table_row(table, columns, NUMBER(d->by_neighbour[i]),
			TEXT(text_percent((double)result->samples[at].neighbour_ppm / PPM)),
			TEXT(allowed));
	}
	table_print(table, stdout);
}

/* What the first check discarded, and why. */
static void print_first_check(const struct run_result *result)
{
	static const struct column columns[] = {{"SAMPLE", COLUMN_NUMBER}, {"DAEMON"},
		{"UNIT", COLUMN_WRAP}, {"PT", COLUMN_NUMBER}, {"CUTOFF", COLUMN_NUMBER}, {}};
	static const struct column unprofiled_columns[] = {{"SAMPLE", COLUMN_NUMBER}, {"PROCESS"},
		{"UNIT", COLUMN_WRAP}, {"PT", COLUMN_NUMBER}, {"ALLOWED", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *list = table_new(columns),
					    *unprofiled = table_new(unprofiled_columns);
	const struct discarding *d = &result->discarding;

	printf("Discarded by cutoff: %zu of %zu samples\n", d->n_by_cutoff, d->pt.raw.n);
	add_over_rows(list, d->over, d->n_over);
	table_print(list, stdout);
	if (d->n_unprofiled > 0)
		printf("Discarded because of processes without a cutoff:\n");
	add_over_rows(unprofiled, d->unprofiled, d->n_unprofiled);
	table_print(unprofiled, stdout);
	print_neighbours(result);
	analysis_print_numbers("Discarded as incomplete", d->incomplete, d->n_incomplete);
	analysis_print_numbers(
		"Discarded with another program of the duet", d->by_duet, d->n_by_duet);
}

/* profile NULL: it was measured without one. */
static void print_discarding(const struct run_result *result, const char *profile)
{
	_cleanup_(table_freep) struct table *table = table_new(stage_columns + 1);
	const struct discarding *d = &result->discarding;

	if (profile) {
		printf("Run %" PRId64 " (%s), profile '%s'\n", d->run.id,
			terminal_text(d->run.program), terminal_text(profile));
		noise_print(stdout, profile, &d->mark);
	} else {
		printf("Run %" PRId64 " (%s), no profile\n", d->run.id,
			terminal_text(d->run.program));
	}
	if (rule != DISCARD_NOTHING)
		print_first_check(result);
	if (rule_is_shown(DISCARD_EMP)) {
		analysis_print_numbers(
			"Discarded by the 2-sd check of PT", d->pt.by_two_sd, d->pt.n_by_two_sd);
		analysis_print_numbers(
			"Discarded by the 2-sd check of ET", d->et.by_two_sd, d->et.n_by_two_sd);
	}
	add_stages(table, d, false);
	table_print(table, stdout);
	if (rule == N_DISCARD_RULES)
		terminal_say(stdout, 2,
			"Results are by SEDONA's rule: each sample that it discards has a cause. "
			"EMP's has the 2-sd check, too.");
}

/* By --profile; or else by the rules that the run was measured with. -EINVAL if these discard
 * nothing. */
static int discard_by_own(struct book *book, int64_t id, struct run_result *ret, struct error *err)
{
	_cleanup_(run_clear) struct run run = {};
	_cleanup_(run_rules_clear) struct run_rules own = {};
	bool any;
	int r;

	if (analyze_options.profile)
		return analyze_discard_run(book, id, ret, err);
	r = book_get_run(book, id, &run, err);
	if (r == 0)
		r = run_rules_load(book, &run, NULL, false, &own, err);
	if (r < 0)
		return r;
	any = discard_rules_by_name(&own.rules) || own.rules.neighbour != NEIGHBOUR_OFF;
	if (!any || own.missing)
		return error_say(err, -EINVAL,
			"run %" PRId64
			" was measured %s: name the profile with --profile; 'emp-calibrate "
			"profile list' lists them",
			id,
			own.missing ? "with a profile that is no longer in the book"
				    : "without a profile");
	own.rules.other_cpus |= analyze_options.analysis.other_cpus;
	own.rules.clock = analyze_options.analysis.clock;
	return run_result_read(book, id, &own.rules, 0, ret, err);
}

/* Of both verbs. */
static const struct option_row profile_options[] = {
	{0, "profile", "NAME", "the profile of cutoffs (default: that of the run)", NULL,
		&analyze_options.profile},
	OTHER_CPUS_OPTION,
	EXECUTION_CLOCK_OPTION,
	{0, "rule", "RULE", "only what this rule leaves (default: each):", NULL, &rule,
		.choices = discard_rule_names, .text = true},
	LAST_RUN_OPTION,
	{},
};

static int analyze_discard_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(run_result_clear) struct run_result result = {};
	const struct discarding *d = &result.discarding;
	int64_t run;
	int r = analyze_open(argv[0], &book, &run, err);

	if (r == 0)
		r = discard_by_own(book, run, &result, err);
	if (r < 0)
		return r;
	if (analyze_options.json)
		return json_print_document("emp-discard", discarding_as_json(d), err);
	print_discarding(&result, analyze_options.profile ?: d->run.profile);
	return 0;
}

const struct verb analyze_discard = {
	.name = "discard",
	.args = "RUN",
	.summary = "apply a profile to a run: discarded samples, causes, statistics",
	.min_args = 1,
	.max_args = 1,
	.options = profile_options,
	.run = analyze_discard_verb,
};

static int analyze_protocols_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(table_freep) struct table *table = table_new(stage_columns);
	_cleanup_(json_decrefp) json_t *array = json_array();
	_cleanup_(freep) char *last = NULL; /* profile, whose mark is printed once */
	int r = book_open(&book, analyze_options.db, BOOK_READ, err);

	for (int i = 0; r == 0 && i < argc; i++) {
		_cleanup_(run_result_clear) struct run_result result = {};
		const struct discarding *d = &result.discarding;
		const char *profile;
		json_t *row;
		int64_t run;

		r = analyze_find_run(book, argv[i], &run, err);
		if (r > 0)
			r = discard_by_own(book, run, &result, err);
		if (r < 0)
			return r;

		profile = analyze_options.profile ?: d->run.profile;
		if (!analyze_options.json && profile && (!last || strcmp(last, profile)))
			noise_print(stdout, profile, &d->mark);
		row = json_pack("{s:I, s:s*, s:s?}", "run", (json_int_t)run, "program",
			d->run.program, "profile", profile);
		for (const struct stage *stage = stages; stage < stages + ELEMENTS(stages);
			stage++) {
			const struct summary *summary = stage_summary(stage, d);

			if (summary)
				json_object_set_new(row, stage->member, summary_as_json(summary));
		}
		noise_add_json(row, &d->mark);
		json_array_append_new(array, row);
		add_stages(table, d, true);
		free(last);
		last = text_copy(profile);
	}
	if (r < 0)
		return r;
	if (analyze_options.json)
		return json_print_document("emp-protocols", json_pack("{s:O}", "runs", array), err);
	table_print(table, stdout);
	return 0;
}

const struct verb analyze_protocols = {
	.name = "protocols",
	.args = "RUN...",
	.summary = "show the statistics after each step of the protocol",
	.min_args = 1,
	.max_args = -1,
	.options = profile_options,
	.run = analyze_protocols_verb,
};
