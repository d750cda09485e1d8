/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of studies of clocks, of algorithms and of suites of programs. */
#include "lib/study/study_internal.h"

size_t study_n_clocks(const struct study_data *data)
{
	return data->n_clocks + data->n_subjects * N_STUDY_CLOCKS;
}

/* In the order of programs: the clocks of a program, and then EMP's own. */
struct study_clock_times study_clock(const struct study_report *report, size_t i)
{
	static const char *const names[] = {"ET of emp-measure", "PT of emp-measure"};
	const struct study_data *data = report->data;

	for (size_t s = 0; s < data->n_subjects; s++) {
		for (size_t k = 0; k < data->n_clocks; k++)
			if (data->clocks[k].subject == s && i-- == 0)
				return data->clocks[k];
		for (size_t clock = 0; clock < N_STUDY_CLOCKS; clock++)
			if (i-- == 0)
				return (struct study_clock_times){
					(char *)names[clock], s, *study_times(report, 0, s, clock)};
	}
	abort(); /* there are not so many */
}

void study_add_clocks(struct study_report *report)
{
	static const struct column columns[] = {
		{"PROGRAM", COLUMN_WRAP, "program"},
		{"CLOCK", COLUMN_TEXT, "clock"},
		{NULL, COLUMN_NUMBER, "blocks"},
		{"N", COLUMN_NUMBER, "samples"},
		SUMMARY_COLUMNS,
		{},
	};
	const struct study_data *data = report->data;
	struct table *table = study_add_table(report, "clocks", columns,
		"The same executions by each clock; those of emp-measure are others, in turn");

	for (size_t i = 0; i < study_n_clocks(data); i++) {
		struct study_clock_times of = study_clock(report, i);
		struct block_summary b = block_summary_of(&of.times);

		if (b.n == 0)
			continue;
		if (b.sd_ns == 0) /* below the step of the clock */
			b.sd_ns = b.cv = b.sd_interval.low = b.cv_interval.low = NAN;
		table_begin_row(table);
		table_add(table, TEXT(data->subjects[of.subject].name), TEXT(of.name),
			NUMBER(b.n_blocks), NUMBER(b.n));
		study_add_summary(table, &b);
	}
	study_add_remark(report,
		"times() counts ticks of %ld ms, and getrusage as this kernel accounts. A spread "
		"below the step of a clock is not seen: then its sd is not known.",
		1000 / sysconf(_SC_CLK_TCK));
	study_add_remark(
		report, "The numbers of the papers' Table XXV and Figure 18 are not part of EMP.");
}

int study_fit(const struct study_report *report, size_t *at, struct complexity *ret, size_t *ret_n,
	struct error *err)
{
	const struct study_data *data = report->data;
	const char *program = data->subjects[*at].program;
	_cleanup_(freep) struct sized_time *times = xcalloc(data->n_subjects, sizeof(*times));
	size_t n = 0;

	for (; *at < data->n_subjects && !strcmp(data->subjects[*at].program, program); ++*at) {
		struct block_summary b = block_summary_of(study_times(report, 0, *at, STUDY_PT));
		double size = data->subjects[*at].size;

		if (b.n > 0 && b.mean_ns > 0 && size >= 2)
			times[n++] = (struct sized_time){
				size, b.mean_ns, isnan(b.error_ns) ? 0 : b.error_ns};
	}
	*ret_n = n;
	return n > 0 ? complexity_of(times, n, ret, err) : 0;
}

static const char *fit_word(const struct complexity *c, enum growth growth)
{
	if (c->verdict == COMPLEXITY_OTHER)
		return "none";
	if (c->verdict == COMPLEXITY_CANNOT_TELL)
		return c->possible[growth] ? "cannot tell" : "no";
	return c->best == growth ? "yes" : "no";
}

enum { LEAST_SIZES = 3 };

int study_add_fits(struct study_report *report, struct error *err)
{
	static const struct column columns[] = {
		{"PROGRAM", COLUMN_WRAP, "program"},
		{"SIZES", COLUMN_NUMBER, "sizes"},
		{"GROWTH", COLUMN_TEXT, "growth"},
		{"CONSTANT", COLUMN_NUMBER, "constant_ns"},
		{"FACTOR", COLUMN_NUMBER, "factor_ns"},
		{"RESIDUAL SD", COLUMN_NUMBER, "residual_sd"},
		{"PROBABILITY", COLUMN_NUMBER, "probability"},
		{"FITS", COLUMN_TEXT, "fits"},
		{"EXPONENT", COLUMN_NUMBER, "exponent"},
		BOUND_COLUMNS("exponent", ""),
		{},
	};
	const struct study_data *data = report->data;
	struct table *table = study_add_table(report, "fits", columns,
		"PT against size: time = constant + factor * growth, in ns; log of base 2");

	for (size_t at = 0; at < data->n_subjects;) {
		const char *program = data->subjects[at].program;
		struct complexity c;
		size_t n;
		int r = study_fit(report, &at, &c, &n, err);

		if (r < 0)
			return r;
		if (n < LEAST_SIZES) {
			study_add_remark(report, "'%s' has %s with times: a fit needs %d.", program,
				text_count((int64_t)n, "size"), LEAST_SIZES);
			continue;
		}
		for (size_t g = 0; g < N_GROWTHS; g++) {
			const struct growth_curve *curve = &c.curves[g];

			table_row(table, columns, TEXT(program), NUMBER(n), TEXT(growth_names[g]),
				study_time_cell(curve->constant, 0), REAL("%.3g", curve->factor),
				study_share_cell(curve->residual_sd),
				REAL("%.3f", curve->probability), TEXT(fit_word(&c, g)),
				REAL("%.2f", c.exponent),
				VALUE(json_real_or_null(c.exponent_low), NULL),
				VALUE(json_real_or_null(c.exponent_high), NULL));
		}
	}
	return 0;
}

/* Programs by their mean ET. */
static const struct length_class {
	const char *name;
	double below_ns;
} length_classes[] = {{"under 0.1 s", 1e8}, {"0.1 to 1 s", 1e9}, {"1 to 10 s", 1e10},
	{"10 s and more", INFINITY}};

struct class_sums {
	size_t n;
	double logs[N_STUDY_CLOCKS]; /* of CVs */
	double gain;                 /* likewise */
};

static const struct column suite_columns[] = {
	{"PROGRAM", COLUMN_WRAP, "program"},
	{"N", COLUMN_NUMBER, "samples"},
	{"ET", COLUMN_NUMBER, "et_mean_ns"},
	{"CV OF ET", COLUMN_NUMBER, "et_cv"},
	BOUND_COLUMNS("et_cv", ""),
	{"PT", COLUMN_NUMBER, "pt_mean_ns"},
	{"CV OF PT", COLUMN_NUMBER, "pt_cv"},
	BOUND_COLUMNS("pt_cv", ""),
	{"GAIN", COLUMN_NUMBER, "gain"},
	{NULL, COLUMN_TEXT, "length_class"},
	{},
};

/* ET of all samples, as a stopwatch has it, against PT under the rule. */
static void add_suite_row(
	struct study_report *report, struct table *table, size_t subject, struct class_sums *sums)
{
	const struct study_data *data = report->data;
	struct block_summary et = block_summary_of(
		&study_cell_of(data, 0, subject)->times[STUDY_RULE_ALL][STUDY_ET]);
	struct block_summary pt = block_summary_of(study_times(report, 0, subject, STUDY_PT));
	double gain = et.cv / pt.cv;
	size_t k = 0;

	if (et.n == 0)
		return;
	while (et.mean_ns >= length_classes[k].below_ns)
		k++;
	if (et.cv > 0 && pt.cv > 0) {
		sums[k].n++;
		sums[k].logs[STUDY_ET] += log(et.cv);
		sums[k].logs[STUDY_PT] += log(pt.cv);
		sums[k].gain += log(gain);
	}
	table_begin_row(table);
	table_add(table, TEXT(data->subjects[subject].name), NUMBER(pt.n),
		study_time_cell(et.mean_ns, et.sd_ns), study_share_cell(et.cv));
	study_add_bounds(table, et.cv_interval);
	table_add(table, study_time_cell(pt.mean_ns, pt.sd_ns), study_share_cell(pt.cv));
	study_add_bounds(table, pt.cv_interval);
	table_add(table, REAL("%.2f", gain), TEXT(length_classes[k].name));
}

void study_add_suite(struct study_report *report)
{
	static const struct column class_columns[] = {
		{"LENGTH", COLUMN_TEXT, "length_class"},
		{"PROGRAMS", COLUMN_NUMBER, "programs"},
		{"CV OF ET", COLUMN_NUMBER, "et_cv"},
		{"CV OF PT", COLUMN_NUMBER, "pt_cv"},
		{"GAIN", COLUMN_NUMBER, "gain"},
		{},
	};
	struct class_sums sums[ELEMENTS(length_classes)] = {};
	struct table *table = study_add_table(report, "programs", suite_columns,
		"ET of all samples against PT of N of them (rule: %s); the gain is the ratio of "
		"their CVs",
		study_rule_names[report->rule]);
	struct table *classes = study_add_table(report, "classes", class_columns,
		"The same by the length of programs: geometric means");

	for (size_t s = 0; s < report->data->n_subjects; s++)
		add_suite_row(report, table, s, sums);
	for (size_t k = 0; k < ELEMENTS(length_classes); k++) {
		double n = (double)sums[k].n;

		if (sums[k].n > 0)
			table_row(classes, class_columns, TEXT(length_classes[k].name),
				NUMBER(sums[k].n),
				study_share_cell(exp(sums[k].logs[STUDY_ET] / n)),
				study_share_cell(exp(sums[k].logs[STUDY_PT] / n)),
				REAL("%.2f", exp(sums[k].gain / n)));
	}
	study_add_remark(report,
		"The papers' Table XXVI and SEDONA's Table 3 are of SPEC, which EMP cannot ship; "
		"their numbers are not part of EMP.");
}
