/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze protocols: what each step of the protocol does to the figures (EMP, Figure 17): elapsed time as
 * it is and process time as it is, both after the cutoffs, and both after two sd. */
#include "analyze/analyze.h"

#include "lib/base/text.h"
#include "lib/report/results_json.h"

#include <inttypes.h>

static const char *profile_name;

const struct option_row protocols_options[] = {
	{.name = "profile", .value = "NAME", .summary = "the profile of cutoffs", .into = &profile_name},
	{},
};

static const struct stage {
	const char *clock, *stage, *key;
	bool et;
	size_t summary; /* its place in struct clock_discarding */
} stages[] = {
	{"ET", "all samples", "et_raw", true, offsetof(struct clock_discarding, raw)},
	{"ET", "after the cutoffs", "et_by_cutoff", true, offsetof(struct clock_discarding, by_cutoff)},
	{"ET", "after two sd", "et_clean", true, offsetof(struct clock_discarding, clean)},
	{"PT", "all samples", "pt_raw", false, offsetof(struct clock_discarding, raw)},
	{"PT", "after the cutoffs", "pt_by_cutoff", false, offsetof(struct clock_discarding, by_cutoff)},
	{"PT", "after two sd", "pt_clean", false, offsetof(struct clock_discarding, clean)},
};

static const struct summary *summary_at(const struct discarding *d, const struct stage *stage)
{
	const struct clock_discarding *c = stage->et ? &d->et : &d->pt;

	return (const struct summary *)((const char *)c + stage->summary);
}

static void add_json(json_t *array, const struct discarding *d)
{
	json_t *row = json_pack("{s:I, s:s*, s:s*}", "run", (json_int_t)d->run.id, "program", d->run.program,
		"profile", profile_name);

	for (size_t i = 0; i < ELEMENTS(stages); i++)
		json_object_set_new(row, stages[i].key, summary_as_json(summary_at(d, &stages[i])));
	json_array_append_new(array, row);
}

static void add_rows(struct table *table, const struct discarding *d)
{
	for (size_t i = 0; i < ELEMENTS(stages); i++) {
		const struct summary *s = summary_at(d, &stages[i]);
		char text[TEXT_TIME_SIZE];

		table_row(table);
		table_cell(table, "%" PRId64, d->run.id);
		table_cell(table, "%s", d->run.program);
		table_cell(table, "%s", stages[i].clock);
		table_cell(table, "%s", stages[i].stage);
		table_cell(table, "%zu", s->n);
		table_cell(table, "%s", text_precise(text, s->mean_ns, s->sd_ns));
		table_cell(table, "%s", text_precise(text, s->sd_ns, 0));
		table_cell(table, "%.2g", s->relative_error);
	}
}

static int gather(
	struct book *book, int argc, char **argv, json_t *array, struct table *table, struct error *err)
{
	for (int i = 0; i < argc; i++) {
		_cleanup_(discarding_clearp) struct discarding d = {};
		int64_t run;
		int r = analyze_parse_run(argv[i], "RUN", &run, err);

		if (r == 0)
			r = analyze_discard(book, run, profile_name, &d, err);
		if (r < 0)
			return r;
		add_json(array, &d);
		add_rows(table, &d);
	}
	return 0;
}

int verb_protocols(int argc, char **argv, struct error *err)
{
	static const struct column columns[] = {
		{"RUN", COLUMN_NUMBER},
		{"PROGRAM"},
		{"CLOCK"},
		{"STEP"},
		{"SAMPLES", COLUMN_NUMBER},
		{"MEAN", COLUMN_NUMBER},
		{"SD", COLUMN_NUMBER},
		{"SD / MEAN", COLUMN_NUMBER},
		{},
	};
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(table_freep) struct table *table = NULL;
	_cleanup_(json_decrefp) json_t *array = json_array();
	int r;

	r = analyze_need_profile(profile_name, err);
	if (r == 0)
		r = analyze_open_book(BOOK_READ, &book, err);
	if (r == 0)
		r = table_new(&table, columns, err);
	if (r == 0)
		r = gather(book, argc, argv, array, table, err);
	if (r < 0)
		return r;
	return analyze_options.json ? json_print(array, stdout, err) : table_print(table, stdout, err);
}
