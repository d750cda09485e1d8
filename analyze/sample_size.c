/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze sample-size: how many samples would have been enough (EMP, Tables XX to XXIV). */
#include "analyze/options.h"
#include "analyze/run.h"

#include "lib/base/table.h"
#include "lib/report/results.h"

static const struct option_row sample_size_options[] = {
	{0, "profile", "NAME", "the profile of cutoffs (default: only the 2-sd check)", NULL,
		&analyze_options.profile},
	LAST_RUN_OPTION,
	{},
};

static const struct column columns[] = {
	{"FIRST", COLUMN_NUMBER, "n"},
	{"BY CUTOFF", COLUMN_NUMBER, "by_cutoff"},
	{"BY 2 SD", COLUMN_NUMBER, "by_two_sd"},
	{"OUTLIERS", COLUMN_NUMBER},
	{"MEAN", COLUMN_NUMBER, "mean_ns"},
	{"SD", COLUMN_NUMBER, "sd_ns"},
	{"BLOCKS", COLUMN_NUMBER, "blocks"},
	{"THEIR SD", COLUMN_NUMBER, "blocks_sd_ns"},
	{NULL, COLUMN_TEXT, "blocks_outliers"},
	{NULL, COLUMN_TEXT, "judged"},
	{"CLOSE", COLUMN_TEXT, "close"},
	{},
};

/* How many samples a precision needs. */
static const struct column needed_columns[] = {{"CI", COLUMN_TEXT, "half_width"},
	{"PT", COLUMN_NUMBER, "pt"}, {"ET", COLUMN_NUMBER, "et"}, {}};

/* NAN: not known. */
static struct cell size_time_cell(double ns, double step_ns)
{
	const char *text = "-";

	if (!isnan(ns))
		text = text_precise(ns, isnan(step_ns) ? 0 : step_ns);
	return VALUE(json_real_or_null(ns), text);
}

static struct table *list_sizes(const struct sample_sizes *sizes)
{
	struct table *list = table_new(columns);

	for (size_t i = 0; i < sizes->n; i++) {
		const struct sample_size *s = &sizes->rows[i];
		const char *close = s->close ? "yes" : "no";

		if (!s->judged)
			close = "-";
		table_row(list, columns, NUMBER(s->n), NUMBER(s->by_cutoff), NUMBER(s->by_two_sd),
			REAL("%.1f %%", 100 * (double)(s->by_cutoff + s->by_two_sd) / (double)s->n),
			size_time_cell(s->mean_ns, s->sd_ns), size_time_cell(s->sd_ns, s->sd_ns),
			NUMBER(s->blocks), size_time_cell(s->blocks_sd_ns, s->blocks_sd_ns),
			VALUE(json_real(s->blocks_outliers), NULL),
			VALUE(json_boolean(s->judged), NULL), VALUE(json_boolean(s->close), close));
	}
	return list;
}

static void print_sizes(const struct discarding *d, const struct sample_sizes clocks[2],
	struct table *const lists[2], struct table *needed)
{
	static const char *const names[] = {"PT", "ET"};

	terminal_say(stdout, 2, "Run %" PRId64 " (%s)%s%s", d->run.id, d->run.program,
		analyze_options.profile ? ", profile "
		: d->n_by_neighbour > 0 ? ", no profile: neighbours and the 2-sd check"
					: ", no profile: only the 2-sd check",
		analyze_options.profile ?: "");
	noise_print(stdout, analyze_options.profile, &d->mark);
	for (size_t i = 0; i < 2; i++) {
		printf("\n%s\n", names[i]);
		table_print(lists[i], stdout);
	}
	printf("\n");
	for (size_t i = 0; i < 2; i++)
		if (clocks[i].suggested < clocks[i].rows[0].n)
			printf("%s: %zu samples would have been enough.\n", names[i],
				clocks[i].suggested);
		else
			printf("%s: no smaller size would have been enough.\n", names[i]);

	terminal_say(stdout, 2,
		"Enough: from that size on, the sd of all blocks is within 10 %% of the whole "
		"run's, and the share of outliers within 2.5 percentage points or one sample.");
	printf("\n"
	       "Samples needed for a 95 %% CI of the mean:\n");
	table_print(needed, stdout);
	for (size_t i = 0; i < 2; i++)
		if (clocks[i].step_ns > 0)
			printf("%s: \"-\" is less than steps of %s of the clock may hide.\n",
				names[i], text_duration((int64_t)clocks[i].step_ns));
}

static int analyze_sample_size_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(run_result_clear) struct run_result result = {};
	_cleanup_(table_freep) struct table *pt = NULL, *et = NULL,
					    *needed = table_new(needed_columns);
	const struct discarding *d = &result.discarding;
	struct sample_sizes clocks[2]; /* PT, ET */
	json_t *document;
	int64_t run;
	int r = analyze_open(argv[0], &book, &run, err);

	if (r == 0)
		r = analyze_discard_run(book, run, &result, err);
	for (size_t i = 0; r == 0 && i < 2; i++)
		r = sample_sizes_find(&clocks[i], d, result.samples, result.n_samples, i == 1, err);
	if (r < 0)
		return r;
	pt = list_sizes(&clocks[0]);
	et = list_sizes(&clocks[1]);
	for (size_t i = 0; i < N_HALF_WIDTHS; i++) {
		double half = sample_size_half_widths[i];

		table_row(needed, needed_columns,
			VALUE(json_real(half), text_brief("± %g %%", 100 * half)),
			REAL("%.0f", clocks[0].needed[i]), REAL("%.0f", clocks[1].needed[i]));
	}
	if (!analyze_options.json) {
		print_sizes(d, clocks, (struct table *const[]){pt, et}, needed);
		return 0;
	}
	document = JSON_OBJECT({"run", json_integer(d->run.id)},
		{"profile?", json_string(analyze_options.profile)},
		{"suggested", json_integer(clocks[0].suggested)},
		{"suggested_for_et", json_integer(clocks[1].suggested)}, {"pt", table_json(pt)},
		{"et", table_json(et)}, {"needed", table_json(needed)});
	noise_add_json(document, &d->mark);
	return json_print_document("emp-sample-size", document, err);
}

const struct verb analyze_sample_size = {
	.name = "sample-size",
	.args = "RUN",
	.summary = "suggest how many samples are enough",
	.min_args = 1,
	.max_args = 1,
	.options = sample_size_options,
	.run = analyze_sample_size_verb,
};
