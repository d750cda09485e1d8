/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze clocks: shows, draws or compares what emp-calibrate clocks measured. */
#include "analyze/analyze.h"

#include "lib/clocks/clocks.h"
#include "lib/document/document.h"
#include "lib/stats/summary.h"

#include <math.h>

static struct {
	const char *output;
	bool diff, script;
} options;

const struct option_row clocks_options[] = {
	{0, "diff", NULL, "compare with the previous calibration", NULL, &options.diff},
	{'o', "output", "FILE", "draw the precision: .png, .svg or .pdf", NULL, &options.output},
	{0, "script", NULL, "keep the gnuplot file, with its data, as FILE.gnuplot", NULL, &options.script},
	{},
};

static const struct column diff_columns[] = {
	{"COST OF A CALL"},
	{NULL, COLUMN_TEXT, "name"},
	{"BEFORE", COLUMN_NUMBER, "before_ns"},
	{"NOW", COLUMN_NUMBER, "now_ns"},
	{"CHANGE", COLUMN_NUMBER, "change"},
	{"RELATIVE", COLUMN_NUMBER, "relative"},
	{"", COLUMN_TEXT, "verdict"},
	{},
};

static double cost_ns(const struct clocks *c, const struct clock_source *source)
{
	return source ? source->median * 1e9 / c->cycles_per_second : NAN;
}

/* How much slower a source is than before; NAN: it was not there. */
static double change_of(const struct clocks *now, const struct clocks *before, size_t source)
{
	const struct clock_source *was = clocks_find(before, now->sources[source].name);

	return was && was->median > 0 ? cost_ns(now, &now->sources[source]) / cost_ns(before, was) : NAN;
}

/* The changes beside the median change, which is that of the machine's speed; NAN: no source was there before. */
static struct table *list_changes(const struct clocks *now, const struct clocks *before)
{
	_cleanup_(freep) int64_t *ppm = xcalloc(now->n_sources + 1, sizeof(*ppm));
	_cleanup_(freep) size_t *order = clocks_by_cost(now);
	struct table *list = table_new(diff_columns);
	double usual;
	size_t n = 0;

	for (size_t i = 0; i < now->n_sources; i++) {
		double change = change_of(now, before, i);

		if (isfinite(change))
			ppm[n++] = llround(change * 1e6);
	}
	usual = median_of(ppm, n) / 1e6;
	for (size_t i = 0; i < now->n_sources; i++) {
		const struct clock_source *source = &now->sources[order[i]];
		double change = change_of(now, before, order[i]), relative = change / usual;
		const char *word = relative >= 2 ? "slower" : relative <= 0.5 ? "faster" : "";

		table_row(list, TEXT(clocks_short_name(source->name)), TEXT(source->name),
			REAL("%.0f ns", cost_ns(before, clocks_find(before, source->name))),
			REAL("%.0f ns", cost_ns(now, source)), REAL("%.2f", change), REAL("%.2f", relative),
			TEXT(word));
	}
	return list;
}

static int clocks_compare(struct book *book, const struct clocks *now, struct error *err)
{
	_cleanup_(clocks_clear) struct clocks before = {};
	_cleanup_(table_freep) struct table *list = NULL;
	int r = book_get_clocks(book, now->id, true, &before, err);

	if (r == 0)
		return error_say(err, -ENOENT,
			"there is no calibration of the clocks before number %" PRId64 " on this machine",
			now->id);
	if (r < 0)
		return r;
	list = list_changes(now, &before);
	if (analyze_options.json)
		return json_print_document("emp-clocks-differences",
			json_pack("{s:I, s:I, s:o}", "before", (json_int_t)before.id, "now",
				(json_int_t)now->id, "sources", table_json(list)),
			err);
	printf("Calibration %" PRId64 " (%s) and %" PRId64 " (%s)\n", before.id, text_moment(before.made_ns),
		now->id, text_moment(now->made_ns));
	if (before.cpu != now->cpu)
		printf("They were made on CPU %" PRId64 " and CPU %" PRId64 ".\n", before.cpu, now->cpu);
	printf("\n");
	table_print(list, stdout);
	return 0;
}

int verb_clocks(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(clocks_clear) struct clocks clocks = {};
	_cleanup_(json_decrefp) json_t *document = NULL;
	int64_t id = 0;
	int r = argc > 0 ? text_parse_int(argv[0], "CALIBRATION", 1, INT64_MAX, &id, err) : 0;

	if (r == 0)
		r = book_open(&book, analyze_options.db, BOOK_READ, err);
	if (r == 0)
		r = book_get_clocks(book, id, false, &clocks, err);
	if (r < 0)
		return r;
	if (r == 0 && id > 0)
		return error_say(err, -ENOENT, "the book has no calibration %" PRId64 " of the clocks", id);
	if (r == 0)
		return error_say(err, -ENOENT,
			"the clocks of this machine are not calibrated: run 'emp-calibrate clocks'");
	if (options.diff)
		return clocks_compare(book, &clocks, err);
	if (options.output)
		return plot_drawing(figure_clocks(&clocks), options.output, options.script, err);
	if (!analyze_options.json) {
		clocks_print(&clocks);
		return 0;
	}
	r = clocks_document(book, &clocks, &document, err);
	return r < 0 ? r : json_print_exactly(document, stdout, err);
}
