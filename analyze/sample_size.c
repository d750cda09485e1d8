/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze sample-size: how many samples would have been enough (EMP, Tables XX to XXIV). */
#include "analyze/analyze.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/protocol/sample_size.h"

#include <inttypes.h>

static const char *profile_name;

const struct option_row sample_size_options[] = {
	{.name = "profile",
		.value = "NAME",
		.summary = "the profile of cutoffs (default: only the 2-sd check)",
		.into = &profile_name},
	{},
};

static json_t *sizes_as_json(const struct sample_sizes *sizes)
{
	json_t *array = json_array();

	for (size_t i = 0; i < sizes->n; i++) {
		const struct sample_size *s = &sizes->rows[i];

		json_array_append_new(
			array, json_pack("{s:I, s:I, s:I, s:f, s:f, s:b}", "n", (json_int_t)s->n, "by_cutoff",
				       (json_int_t)s->by_cutoff, "by_two_sd", (json_int_t)s->by_two_sd,
				       "mean_ns", s->mean_ns, "sd_ns", s->sd_ns, "close", s->close));
	}
	return array;
}

static int print_json(const struct discarding *d, const struct sample_sizes clocks[2], struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = json_pack("{s:I, s:s*, s:I, s:I}", "run",
		(json_int_t)d->run.id, "profile", profile_name, "suggested", (json_int_t)clocks[0].suggested,
		"suggested_for_et", (json_int_t)clocks[1].suggested);

	json_object_set_new(document, "pt", sizes_as_json(&clocks[0]));
	json_object_set_new(document, "et", sizes_as_json(&clocks[1]));
	return json_print(document, stdout, err);
}

static int print_clock(const char *clock, const struct sample_sizes *sizes, struct error *err)
{
	const struct column columns[] = {
		{clock},
		{"BY CUTOFF", COLUMN_NUMBER},
		{"BY TWO SD", COLUMN_NUMBER},
		{"OUTLIERS", COLUMN_NUMBER},
		{"MEAN", COLUMN_NUMBER},
		{"SD", COLUMN_NUMBER},
		{"CLOSE"},
		{},
	};
	_cleanup_(table_freep) struct table *table = NULL;
	int r = table_new(&table, columns, err);

	for (size_t i = 0; r == 0 && i < sizes->n; i++) {
		const struct sample_size *s = &sizes->rows[i];
		char text[TEXT_TIME_SIZE];

		table_row(table);
		table_cell(table, "%s %zu", i == 0 ? "all" : "first", s->n);
		table_cell(table, "%zu", s->by_cutoff);
		table_cell(table, "%zu", s->by_two_sd);
		table_cell(table, "%.1f %%", 100 * (double)(s->by_cutoff + s->by_two_sd) / (double)s->n);
		table_cell(table, "%s", text_precise(text, s->mean_ns, s->sd_ns));
		table_cell(table, "%s", text_precise(text, s->sd_ns, 0));
		table_cell(table, "%s", s->close ? "yes" : "no");
	}
	return r < 0 ? r : table_print(table, stdout, err);
}

static int print_sizes(const struct discarding *d, const struct sample_sizes clocks[2], struct error *err)
{
	int r;

	printf("Run %" PRId64 " (%s)%s%s\n", d->run.id, d->run.program,
		profile_name ? ", profile " : ", no profile: only the 2-sd check", profile_name ?: "");
	r = print_clock("PT", &clocks[0], err);
	if (r == 0)
		r = print_clock("ET", &clocks[1], err);
	if (r < 0)
		return r;
	printf("%zu samples would have been enough for PT, %zu for ET: from that size on, the sd is\n"
	       "within 10 %% of the whole run's, and the share of outliers within 2.5 percentage\n"
	       "points or one sample.\n",
		clocks[0].suggested, clocks[1].suggested);
	return 0;
}

static int find(struct book *book, int64_t run, const struct discarding *d, struct error *err)
{
	_cleanup_(freep) struct sample *samples = NULL;
	_cleanup_(sample_sizes_clear) struct sample_sizes pt = {}, et = {};
	size_t n = 0;
	int r;

	r = book_samples(book, run, &samples, &n, err);
	if (r == 0)
		r = sample_sizes_find(&pt, d, samples, n, false, err);
	if (r == 0)
		r = sample_sizes_find(&et, d, samples, n, true, err);
	if (r < 0)
		return r;
	return (analyze_options.json ? print_json : print_sizes)(d, (struct sample_sizes[]){pt, et}, err);
}

int verb_sample_size(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(discarding_clearp) struct discarding d = {};
	int64_t run;
	int r;

	r = analyze_parse_run(argv[0], "RUN", &run, err);
	if (r == 0)
		r = analyze_open_book(BOOK_READ, &book, err);
	if (r == 0)
		r = analyze_discard(book, run, profile_name, &d, err);
	return r < 0 ? r : find(book, run, &d, err);
}
