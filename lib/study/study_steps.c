/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of a study of settings: times under each combination, what each step changes, where the
 * variance comes from, and which daemons went. */
#include "lib/study/study_internal.h"

#include "lib/study/paper_numbers.h"

/* A step shows something if chance explains as much in one study of 200. */
static const double LEVEL = 0.005;

/* Of all samples, a daemon that took less is not shown. */
static const double LEAST_SHARE = 1e-5;
enum { MOST_DAEMONS = 12 };

#define TIMES_COLUMNS(settings)                                                               \
	{                                                                                     \
		{"PROGRAM", COLUMN_WRAP, "program"}, {settings, COLUMN_WRAP, "settings"},     \
			{"CLOCK", COLUMN_TEXT, "clock"}, {"BLOCKS", COLUMN_NUMBER, "blocks"}, \
			{"N", COLUMN_NUMBER, "samples"}, SUMMARY_COLUMNS,                     \
			{NULL, COLUMN_NUMBER, "size"}, {},                                    \
	}

/* Without steps all is as it was. */
static const struct column times_columns[] = TIMES_COLUMNS(NULL),
			   settings_columns[] = TIMES_COLUMNS("SETTINGS");

void study_add_times(struct study_report *report)
{
	const struct study_data *data = report->data;
	struct table *table = study_add_table(report, "times",
		data->n_combinations > 1 ? settings_columns : times_columns,
		"Times (rule: %s), with the intervals of the sd", study_rule_names[report->rule]);

	for (size_t s = 0; s < data->n_subjects; s++)
		for (size_t k = 0; k < data->n_combinations * N_STUDY_CLOCKS; k++) {
			size_t c = k % data->n_combinations;
			enum study_clock clock = k / data->n_combinations;
			struct block_summary b = block_summary_of(study_times(report, c, s, clock));

			if (b.n == 0)
				continue;
			table_begin_row(table);
			table_add(table, TEXT(data->subjects[s].name),
				TEXT(study_combination_name(data, c)),
				TEXT(study_clock_names[clock]), NUMBER(b.n_blocks), NUMBER(b.n));
			study_add_summary(table, &b);
			table_add(table, VALUE(json_real_or_null(data->subjects[s].size), NULL));
		}
}

/* The times of all programs under a combination, one after another; not copied. */
static struct time_blocks *times_of_all(
	const struct study_report *report, size_t combination, enum study_clock clock)
{
	size_t n = report->data->n_subjects;
	struct time_blocks *times = xcalloc(n + 1, sizeof(*times));

	for (size_t s = 0; s < n; s++)
		times[s] = *study_times(report, combination, s, clock);
	return times;
}

/* Of all contrasts and both clocks: what is judged together. */
struct judged_step {
	struct step_effect effect;
	bool time_shown, spread_shown;
};

static struct judged_step *judge_steps(const struct study_report *report)
{
	const struct study_data *data = report->data;
	size_t n = data->n_contrasts * N_STUDY_CLOCKS;
	struct judged_step *steps = xcalloc(n + 1, sizeof(*steps));
	_cleanup_(freep) double *p = xcalloc(2 * n + 1, sizeof(*p));
	_cleanup_(freep) bool *shown = xcalloc(2 * n + 1, sizeof(*shown));

	for (size_t i = 0; i < n; i++) {
		const struct study_contrast *c = &data->contrasts[i / N_STUDY_CLOCKS];
		enum study_clock clock = i % N_STUDY_CLOCKS;
		_cleanup_(freep) struct time_blocks *before = times_of_all(
			report, c->before, clock);
		_cleanup_(freep) struct time_blocks *after = times_of_all(report, c->after, clock);

		steps[i].effect = step_effect_of(before, after, data->n_subjects);
		p[2 * i] = steps[i].effect.time.p;
		p[2 * i + 1] = steps[i].effect.spread.p;
	}
	p_values_judge(p, 2 * n, LEVEL, shown);
	for (size_t i = 0; i < n; i++) {
		steps[i].time_shown = shown[2 * i];
		steps[i].spread_shown = shown[2 * i + 1];
	}
	return steps;
}

/* "faster, steadier"; of one round nothing can be said. */
static const char *step_word(const struct judged_step *j)
{
	const char *time = "", *spread = "";

	if (isnan(j->effect.time.p))
		return "one round";
	if (j->time_shown)
		time = j->effect.time.ratio < 1 ? "faster" : "slower";
	if (j->spread_shown)
		spread = j->effect.spread.ratio < 1 ? "steadier" : "less steady";
	if (!*time && !*spread)
		return "nothing";
	return text_brief("%s%s%s", time, *time && *spread ? ", " : "", spread);
}

/* A change as a share: ratio 0.95 is -5.0 %. */
static void add_change(struct table *table, const struct round_ratio *ratio)
{
	struct block_interval i = ratio->interval;

	table_add(table, study_share_cell(ratio->ratio - 1));
	study_add_share_interval(table, (struct block_interval){i.low - 1, i.high - 1});
}

static void add_verdicts(struct study_report *report)
{
	static const struct column columns[] = {
		{"STEP", COLUMN_WRAP, "step"},
		{"CLOCK", COLUMN_TEXT, "clock"},
		{"TIME", COLUMN_NUMBER, "time_change"},
		INTERVAL_COLUMNS("time_change", ""),
		{"SPREAD", COLUMN_NUMBER, "spread_change"},
		INTERVAL_COLUMNS("spread_change", ""),
		{"SHOWS", COLUMN_WRAP, "shows"},
		{NULL, COLUMN_NUMBER, "time_p"},
		{NULL, COLUMN_NUMBER, "spread_p"},
		{},
	};
	const struct study_data *data = report->data;
	_cleanup_(freep) struct judged_step *steps = judge_steps(report);
	struct table *table = study_add_table(report, "steps", columns,
		"What each step changes, over all programs: their time, and how far samples of a "
		"block are from their median");

	for (size_t i = 0; i < data->n_contrasts * N_STUDY_CLOCKS; i++) {
		const struct judged_step *j = &steps[i];

		table_begin_row(table);
		table_add(table, TEXT(data->contrasts[i / N_STUDY_CLOCKS].name),
			TEXT(study_clock_names[i % N_STUDY_CLOCKS]));
		add_change(table, &j->effect.time);
		add_change(table, &j->effect.spread);
		table_add(table, TEXT(step_word(j)),
			VALUE(json_real_or_null(j->effect.time.p), NULL),
			VALUE(json_real_or_null(j->effect.spread.p), NULL));
	}
	study_add_remark(report,
		"SHOWS names a change only if chance would show one, at any step, in no more than "
		"one study of %.0f. Steps are compared within rounds.",
		1 / LEVEL);
}

/* A share of a variance, in percent with one decimal. */
static void add_share_cells(struct table *table, const struct variance_share *share)
{
	struct block_interval i = share->interval;

	table_add(table,
		VALUE(json_real_or_null(share->share),
			isnan(share->share) ? "-" : text_brief("%.1f %%", 100 * share->share)));
	study_add_interval(table, i, text_brief("%.1f … %.1f %%", 100 * i.low, 100 * i.high));
}

static void add_step_shares(struct study_report *report)
{
	static const struct column columns[] = {
		{"PROGRAM", COLUMN_WRAP, "program"},
		{"STEP", COLUMN_WRAP, "step"},
		{"CLOCK", COLUMN_TEXT, "clock"},
		{"REMOVES", COLUMN_NUMBER, "removed"},
		INTERVAL_COLUMNS("removed", ""),
		{"SHIFT", COLUMN_NUMBER, "explained"},
		INTERVAL_COLUMNS("explained", ""),
		{},
	};
	const struct study_data *data = report->data;
	struct table *table = study_add_table(report, "shares", columns,
		"The share of the variance as it was that each step removes; and of the variance "
		"of samples before and after it together, the share of the shift between them");

	for (size_t s = 0; s < data->n_subjects; s++)
		for (size_t i = 0; i < data->n_contrasts * N_STUDY_CLOCKS; i++) {
			const struct study_contrast *c = &data->contrasts[i / N_STUDY_CLOCKS];
			enum study_clock clock = i % N_STUDY_CLOCKS;
			struct step_shares shares = step_shares_of(
				study_times(report, c->before, s, clock),
				study_times(report, c->after, s, clock),
				study_times(report, 0, s, clock));

			table_begin_row(table);
			table_add(table, TEXT(data->subjects[s].name), TEXT(c->name),
				TEXT(study_clock_names[clock]));
			add_share_cells(table, &shares.removed);
			add_share_cells(table, &shares.explained);
		}
}

static void add_variance(struct study_report *report)
{
	static const struct column columns[] = {
		{"PROGRAM", COLUMN_WRAP, "program"},
		{"CLOCK", COLUMN_TEXT, "clock"},
		{"SETTINGS", COLUMN_NUMBER, "settings"},
		INTERVAL_COLUMNS("settings", ""),
		{"BLOCKS", COLUMN_NUMBER, "blocks"},
		INTERVAL_COLUMNS("blocks", ""),
		{"SAMPLES", COLUMN_NUMBER, "samples"},
		INTERVAL_COLUMNS("samples", ""),
		{},
	};
	const struct study_data *data = report->data;
	struct table *table = study_add_table(report, "variance", columns,
		"Where the variance of all samples comes from: settings, blocks (the state of the "
		"machine, which changes slowly), single samples");

	for (size_t i = 0; i < data->n_subjects * N_STUDY_CLOCKS; i++) {
		_cleanup_(freep) struct time_blocks *settings = xcalloc(
			data->n_combinations, sizeof(*settings));
		struct variance_shares shares;

		for (size_t c = 0; c < data->n_combinations; c++)
			settings[c] = *study_times(
				report, c, i / N_STUDY_CLOCKS, i % N_STUDY_CLOCKS);
		shares = variance_shares_of(settings, data->n_combinations);
		table_begin_row(table);
		table_add(table, TEXT(data->subjects[i / N_STUDY_CLOCKS].name),
			TEXT(study_clock_names[i % N_STUDY_CLOCKS]));
		for (size_t p = 0; p < N_VARIANCE_PARTS; p++)
			add_share_cells(table, &shares.parts[p]);
	}
}

static const struct column daemon_columns[] = {
	{"STEP", COLUMN_WRAP, "step"},
	{"DAEMON", COLUMN_WRAP, "daemon"},
	{"UNIT", COLUMN_WRAP, "unit"},
	{"BEFORE", COLUMN_NUMBER, "before"},
	{"AFTER", COLUMN_NUMBER, "after"},
	{"IN THE PAPER", COLUMN_WRAP, "in_paper"},
	{},
};

/* Daemons that were there before a step, and took a tenth of that or less after it. */
static void add_daemons_gone(struct study_report *report)
{
	const struct study_data *data = report->data;
	struct table *table = study_add_table(report, "daemons", daemon_columns,
		"Daemons that went, by their shares of the time of all samples");

	if (data->n_daemons == 0)
		study_add_remark(report,
			"Which daemons went is not known: no run could see other processes (see "
			"emp-accounting(7)).");
	for (size_t i = 0; i < data->n_contrasts; i++) {
		const struct study_contrast *c = &data->contrasts[i];
		size_t shown = 0;

		for (size_t k = 0; !c->all && k < data->n_daemons && shown < MOST_DAEMONS; k++) {
			const struct study_daemon *d = &data->daemons[k];
			double before = d->shares[c->before], after = d->shares[c->after];

			if (before < LEAST_SHARE || after > before / 10)
				continue;
			table_row(table, daemon_columns, TEXT(c->name), TEXT(d->name),
				TEXT(d->unit), study_share_cell(before), study_share_cell(after),
				TEXT(paper_purpose(d->unit ?: d->name)));
			shown++;
		}
	}
}

void study_add_steps(struct study_report *report)
{
	if (report->data->virtual)
		study_add_remark(report,
			"This is a virtual machine: turbo, SpeedStep and other settings of the "
			"processor are the host's, and steps that set them show nothing here.");
	study_add_remark(report,
		"The numbers of the papers' Tables II to V and of Figures 2, 9 to 12 and 17 are not "
		"part of EMP.");
	if (report->data->n_contrasts == 0)
		return;
	add_verdicts(report);
	add_step_shares(report);
	add_variance(report);
	add_daemons_gone(report);
}
