/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of studies of lengths and numbers of samples: what each rule leaves, detection limits,
 * whether fewer samples would do, and the papers' numbers. */
#include "lib/study/study_internal.h"

#include "lib/report/run_result.h"
#include "lib/study/paper_numbers.h"

#include <gsl/gsl_cdf.h>

/* The combination of settings that the tables of rules, lengths and sizes are of: all steps. */
static size_t last_combination(const struct study_data *data)
{
	if (data->file.order == STUDY_EACH_LEFT_OUT && data->n_combinations > 1)
		return 1;
	return data->file.order == STUDY_EACH_ALONE ? 0 : data->n_combinations - 1;
}

#define RULE_COLUMNS(paper)                                                                    \
	{                                                                                      \
		{"PROGRAM", COLUMN_WRAP, "program"}, {NULL, COLUMN_TEXT, "clock"},             \
			{"RULE", COLUMN_TEXT, "rule"}, {"N", COLUMN_NUMBER, "samples"},        \
			{"OUT", COLUMN_NUMBER, "discarded"}, {"MIN", COLUMN_NUMBER, "min_ns"}, \
			{"MAX", COLUMN_NUMBER, "max_ns"}, {"MEAN", COLUMN_NUMBER, "mean_ns"},  \
			BOUND_COLUMNS("mean", "_ns"), {"SD", COLUMN_NUMBER, "sd_ns"},          \
			BOUND_COLUMNS("sd", "_ns"), {"CV", COLUMN_NUMBER, "cv"},               \
			BOUND_COLUMNS("cv", ""), {paper, COLUMN_NUMBER, "paper_cv"},           \
			{NULL, COLUMN_NUMBER, "size"}, {},                                     \
	}

/* The papers' are shown beside PT, where their tables are. */
static const struct column rule_columns[] = RULE_COLUMNS(NULL),
			   rule_columns_beside[] = RULE_COLUMNS("PAPER'S");

/* Of Tables VI (all) and XIX (both checks), for an INC of the same length. */
static double paper_cv_of(const char *program, enum study_clock clock, size_t rule)
{
	if (clock == STUDY_PT && rule == STUDY_RULE_ALL)
		return paper_cv("VI", program);
	if (clock == STUDY_PT && rule == STUDY_RULE_EMP)
		return paper_cv("XIX", program);
	return NAN;
}

static void add_rule_row(struct table *table, const struct study_report *report, size_t subject,
	enum study_clock clock, size_t rule)
{
	const struct study_data *data = report->data;
	const struct study_cell *cell = study_cell_of(data, last_combination(data), subject);
	struct block_summary all = block_summary_of(&cell->times[STUDY_RULE_ALL][clock]);
	struct block_summary b = block_summary_of(&cell->times[rule][clock]);
	const char *name = data->subjects[subject].name;

	/* without cutoffs sedona is as all */
	if (all.n == 0 || (rule == STUDY_RULE_SEDONA && rule != report->rule && !data->has_cutoffs))
		return;
	table_begin_row(table);
	table_add(table, TEXT(name), TEXT(study_clock_names[clock]), TEXT(study_rule_names[rule]),
		NUMBER(b.n), NUMBER(all.n - b.n),
		study_time_cell(b.n > 0 ? (double)b.min_ns : NAN, b.sd_ns),
		study_time_cell(b.n > 0 ? (double)b.max_ns : NAN, b.sd_ns),
		study_time_cell(b.mean_ns, b.sd_ns));
	study_add_bounds(table, b.mean_interval);
	table_add(table, study_time_cell(b.sd_ns, b.sd_ns));
	study_add_bounds(table, b.sd_interval);
	table_add(table, study_share_cell(b.cv));
	study_add_bounds(table, b.cv_interval);
	table_add(table, study_share_cell(paper_cv_of(name, clock, rule)),
		VALUE(json_real_or_null(data->subjects[subject].size), NULL));
}

void study_add_rules(struct study_report *report)
{
	const struct study_data *data = report->data;
	const bool beside = data->study.what == STUDY_LENGTHS;
	size_t last = last_combination(data);

	for (size_t clock = 0; clock < N_STUDY_CLOCKS; clock++) {
		struct table *table = study_add_table(report,
			clock == STUDY_ET ? "rules_et" : "rules_pt",
			beside && clock == STUDY_PT ? rule_columns_beside : rule_columns,
			"%s: what each rule leaves%s%s", study_clock_names[clock],
			last > 0 ? ", with the settings: " : "",
			last > 0 ? study_combination_name(data, last) : "");

		for (size_t k = 0; k < data->n_subjects * N_STUDY_RULES; k++)
			add_rule_row(table, report, k / N_STUDY_RULES, clock, k % N_STUDY_RULES);
	}
	if (!data->has_cutoffs)
		study_add_remark(report,
			"No run was measured with a profile: sedona discards nothing%s, and emp "
			"discards only what is beyond 2 sd. --profile NAME applies one.",
			report->rule == STUDY_RULE_SEDONA ? "" : " and is not shown");
	study_add_remark(report,
		"Rules: all samples; sedona, those without an execution over a cutoff of the "
		"profile; emp, of these those within 2 sd of their mean (the papers' two checks); "
		"causes, all but those for which EMP can name a cause. Only the last gives "
		"intervals that hold: the check by 2 sd has no cause for what it discards, and "
		"makes the sd look small. A mean is that of the means of blocks, and an sd that of "
		"a sample in any block.");
}

/* What the central cluster hides (EMP, step 2), of all blocks together: each without what its
 * median is away from that of the first, since the machine's speed changes. NAN: nothing is
 * known. */
static double detection_limit(const struct time_blocks *blocks)
{
	_cleanup_(cluster_clear) struct cluster cluster = {};
	struct sample *samples = NULL;
	_cleanup_(freep) struct sample *owned = NULL;
	double first = NAN;
	size_t n = 0;

	for (const struct time_block *b = blocks->items; b < blocks->items + blocks->n; b++) {
		double median = median_of(b->times_ns, b->n);

		first = isnan(first) ? median : first;
		for (size_t i = 0; i < b->n; i++)
			array_add(samples, n)->et_ns = b->times_ns[i] + llround(first - median);
	}
	owned = samples;
	if (n < 2 || cluster_find(&cluster, samples, n, 1, 0, NULL) < 0)
		return NAN;
	return (double)(cluster.high_ns - cluster.median_ns);
}

void study_add_limits(struct study_report *report)
{
	static const struct column columns[] = {
		{"PROGRAM", COLUMN_WRAP, "program"},
		{"N", COLUMN_NUMBER, "samples"},
		{"BY", COLUMN_TEXT, "by"},
		{"DETECTION LIMIT", COLUMN_NUMBER, "detection_limit_ns"},
		{"SHARE", COLUMN_NUMBER, "share"},
		{NULL, COLUMN_NUMBER, "size"},
		{},
	};
	const struct study_data *data = report->data;
	struct table *table = study_add_table(report, "limits", columns,
		"Detection limits: daemons that take less of a sample are not seen in its waiting "
		"time W, or its ET where W is not known exactly");

	for (size_t s = 0; s < data->n_subjects; s++) {
		const struct study_cell *cell = study_cell_of(data, last_combination(data), s);
		const struct time_blocks *ets = &cell->times[STUDY_RULE_ALL][STUDY_ET];
		struct block_summary b = block_summary_of(ets);
		bool by_wait = cell->waits.n > 0;
		double limit_ns = detection_limit(by_wait ? &cell->waits : ets);

		if (b.n == 0)
			continue;
		table_row(table, columns, TEXT(data->subjects[s].name), NUMBER(b.n),
			TEXT(by_wait ? "W" : "ET"), study_time_cell(limit_ns, 0),
			study_share_cell(limit_ns / b.mean_ns),
			VALUE(json_real_or_null(data->subjects[s].size), NULL));
	}
}

static const struct column size_columns[] = {
	{"PROGRAM", COLUMN_WRAP, "program"},
	{"CLOCK", COLUMN_TEXT, "clock"},
	{"FIRST", COLUMN_NUMBER, "first"},
	{"OUTLIERS", COLUMN_NUMBER},
	{NULL, COLUMN_NUMBER, "by_cutoff"},
	{NULL, COLUMN_NUMBER, "by_two_sd"},
	{"MEAN", COLUMN_NUMBER, "mean_ns"},
	INTERVAL_COLUMNS("mean", "_ns"),
	{"SD", COLUMN_NUMBER, "sd_ns"},
	{NULL, COLUMN_NUMBER, "blocks"},
	{"BLOCKS", COLUMN_NUMBER, "blocks_sd_ns"},
	{"CLOSE", COLUMN_TEXT, "close"},
	{NULL, COLUMN_NUMBER, "size"},
	{},
};

/* The interval of the mean of the samples left, as of independent ones. */
static struct block_interval interval_of_size(const struct sample_size *s)
{
	double n = (double)(s->n - s->by_cutoff - s->by_two_sd), half;

	if (n < 2 || isnan(s->sd_ns))
		return (struct block_interval){NAN, NAN};
	half = gsl_cdf_tdist_Pinv(0.975, n - 1) * s->sd_ns / sqrt(n);
	return (struct block_interval){s->mean_ns - half, s->mean_ns + half};
}

static void add_size_rows(struct table *table, const struct study_program *subject,
	enum study_clock clock, const struct sample_sizes *sizes)
{
	for (size_t i = 0; i < sizes->n; i++) {
		const struct sample_size *s = &sizes->rows[i];
		const char *close = s->close ? "yes" : "no";

		table_begin_row(table);
		table_add(table, TEXT(subject->name), TEXT(study_clock_names[clock]), NUMBER(s->n),
			TEXT(text_brief("%zu+%zu", s->by_cutoff, s->by_two_sd)),
			VALUE(json_integer((json_int_t)s->by_cutoff), NULL),
			VALUE(json_integer((json_int_t)s->by_two_sd), NULL),
			study_time_cell(s->mean_ns, s->sd_ns));
		study_add_time_interval(table, interval_of_size(s), s->sd_ns);
		table_add(table, study_time_cell(s->sd_ns, s->sd_ns), NUMBER(s->blocks),
			study_time_cell(s->blocks_sd_ns, s->blocks_sd_ns),
			TEXT(s->judged ? close : NULL),
			VALUE(json_real_or_null(subject->size), NULL));
	}
}

/* The samples of all blocks as one run, judged by the rule of causes. */
struct joined_samples {
	struct sample *samples;
	struct discarding discarding; /* .out belongs to the cell */
};

static struct joined_samples join_samples(const struct study_cell *cell)
{
	struct joined_samples j = {
		xcalloc(cell->n_samples + 1, sizeof(*j.samples)), {.out = cell->out}};

	for (size_t clock = 0; clock < N_STUDY_CLOCKS; clock++) {
		struct clock_discarding *d = clock == STUDY_ET ? &j.discarding.et
							       : &j.discarding.pt;
		size_t n, at = 0;
		_cleanup_(freep) int64_t *kept = time_blocks_join(
			&cell->times[STUDY_RULE_CAUSES][clock], &n);

		for (size_t i = 0; i < cell->n_samples; i++) {
			int64_t ns = cell->out[i] ? 0 : kept[at++];

			if (clock == STUDY_ET)
				j.samples[i].et_ns = ns;
			else
				j.samples[i].pt_ns = ns;
		}
		d->kept = summary_of(kept, n);
		d->interval = interval_of_mean(kept, n, NULL, 0);
	}
	return j;
}

/* All samples are enough for what they show themselves, which is no answer. */
static struct cell enough_cell(size_t enough, size_t n_samples)
{
	return enough < n_samples ? NUMBER(enough) : VALUE(NULL, "-");
}

int study_sizes(const struct study_report *report, size_t subject, enum study_clock clock,
	struct sample_sizes *ret, struct error *err)
{
	const struct study_cell *cell = study_cell_of(
		report->data, last_combination(report->data), subject);
	struct joined_samples j = join_samples(cell);
	_cleanup_(freep) struct sample *samples = j.samples;

	*ret = (struct sample_sizes){};
	if (cell->n_samples == 0)
		return 0;
	return sample_sizes_find(
		ret, &j.discarding, samples, cell->n_samples, clock == STUDY_ET, err);
}

int study_add_sizes(struct study_report *report, struct error *err)
{
	static const struct column enough_columns[] = {
		{"PROGRAM", COLUMN_WRAP, "program"},
		{"CLOCK", COLUMN_TEXT, "clock"},
		{"SAMPLES", COLUMN_NUMBER, "samples"},
		{"ENOUGH", COLUMN_NUMBER, "enough"},
		{},
	};
	const struct study_data *data = report->data;
	struct table *table = study_add_table(report, "sizes", size_columns,
		"The first samples of each program, as of one run; outliers by cause + by 2 sd; "
		"intervals as of independent samples; BLOCKS: the sd in all blocks of that "
		"size, by which it is CLOSE");
	struct table *enough = study_add_table(report, "enough", enough_columns,
		"Enough: from that size on, the sd of all blocks of this size is within 10 %% of "
		"that of all samples, and the share of outliers within 2.5 percentage points or "
		"one sample; -: no smaller number is");

	for (size_t i = 0; i < data->n_subjects * N_STUDY_CLOCKS; i++) {
		const struct study_program *subject = &data->subjects[i / N_STUDY_CLOCKS];
		enum study_clock clock = i % N_STUDY_CLOCKS;
		struct sample_sizes sizes;
		int r = study_sizes(report, i / N_STUDY_CLOCKS, clock, &sizes, err);

		if (r < 0)
			return r;
		if (sizes.n == 0)
			continue;
		add_size_rows(table, subject, clock, &sizes);
		table_row(enough, enough_columns, TEXT(subject->name),
			TEXT(study_clock_names[clock]), NUMBER(sizes.rows[0].n),
			enough_cell(sizes.suggested, sizes.rows[0].n));
	}
	return 0;
}

/* Which tables of the papers a study is shown beside, NULL: none. */
static const char *paper_tables(enum study_kind kind)
{
	switch (kind) {
	case STUDY_LENGTHS:
		return "VI, VII, XVIII, XIX";
	case STUDY_SAMPLES:
		return "XX, XXI";
	case STUDY_SETTINGS:
	case STUDY_VERSIONS:
		return "VII, XVIII";
	default:
		return NULL;
	}
}

static struct cell paper_count_cell(int count)
{
	return VALUE(json_int_if(count >= 0, count), count < 0 ? "-" : text_brief("%d", count));
}

void study_add_papers(struct study_report *report)
{
	static const struct column columns[] = {
		{"EMP", COLUMN_TEXT, "table"},
		{"PROGRAM", COLUMN_TEXT, "program"},
		{"CLOCK", COLUMN_TEXT, "clock"},
		{NULL, COLUMN_TEXT, "stage"},
		{"N", COLUMN_NUMBER, "samples"},
		{"I", COLUMN_NUMBER, "by_cutoff"},
		{"II", COLUMN_NUMBER, "by_two_sd"},
		{NULL, COLUMN_NUMBER, "min_ns"},
		{NULL, COLUMN_NUMBER, "max_ns"},
		{"MEAN", COLUMN_NUMBER, "mean_ns"},
		{"SD", COLUMN_NUMBER, "sd_ns"},
		{"CV", COLUMN_NUMBER, "cv"},
		{},
	};
	const char *wanted = paper_tables(report->data->study.what);
	struct table *table;

	if (!wanted)
		return;
	table = study_add_table(report, "papers", columns,
		"The paper's numbers (EMP, Tables %s), of Red Hat Enterprise Linux 6 in 2012; "
		"outliers by cutoff (I%s) and by 2 sd (II)",
		wanted, text_has_word(wanted, "XIX") ? "; in Table XIX by both checks" : "");
	for (const struct paper_row *p = paper_rows; p->table; p++)
		if (text_has_word(wanted, p->table))
			table_row(table, columns, TEXT(p->table), TEXT(p->program), TEXT(p->clock),
				TEXT(p->stage), paper_count_cell(p->samples ?: -1),
				paper_count_cell(p->by_cutoff), paper_count_cell(p->by_two_sd),
				study_time_cell(1e6 * p->min_ms, 0),
				study_time_cell(1e6 * p->max_ms, 0),
				study_time_cell(1e6 * p->mean_ms, 1e6 * p->sd_ms),
				study_time_cell(1e6 * p->sd_ms, 1e6 * p->sd_ms),
				study_share_cell(p->sd_ms / p->mean_ms));
	study_add_remark(report,
		"The paper's numbers are those that it prints. Its samples are not published: "
		"where EMP's own tests have samples of these runs, they are a reconstruction.");
}
