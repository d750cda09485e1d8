/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze list: the runs in the book. */
#include "analyze/analyze.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <inttypes.h>

struct runs {
	struct run *items;
	size_t n;
};

static void runs_clear(struct runs *runs)
{
	for (size_t i = 0; i < runs->n; i++)
		run_clear(&runs->items[i]);
	free(runs->items);
}

static json_t *run_as_json(const struct run *run)
{
	return json_pack("{s:I, s:I, s:s*, s:s, s:s, s:s, s:I, s:I, s:I, s:s*, s:s*}", "run",
		(json_int_t)run->id, "id", (json_int_t)run->id, "program", run->program, "kind",
		run_kind_names[run->kind], "purpose", run_kind_names[run->kind], "state",
		run_state_names[run->state], "samples", (json_int_t)run->n_samples, "started_ns",
		(json_int_t)run->started_ns, "task_length_ns", (json_int_t)run->task_length_ns, "profile",
		run->profile, "notes", run->notes);
}

static int print_json(const struct runs *runs, struct error *err)
{
	_cleanup_(json_decrefp) json_t *array = json_array();

	for (size_t i = 0; i < runs->n; i++)
		json_array_append_new(array, run_as_json(&runs->items[i]));
	return json_print(array, stdout, err);
}

static int print_table(const struct runs *runs, struct error *err)
{
	static const struct column columns[] = {
		{"RUN", COLUMN_NUMBER},
		{"PROGRAM"},
		{"SAMPLES", COLUMN_NUMBER},
		{"KIND"},
		{"STATE"},
		{"STARTED"},
		{"PROFILE"},
		{},
	};
	_cleanup_(table_freep) struct table *table = NULL;
	int r;

	r = table_new(&table, columns, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < runs->n; i++) {
		const struct run *run = &runs->items[i];
		char started[TEXT_TIME_SIZE];

		table_row(table);
		table_cell(table, "%" PRId64, run->id);
		table_cell(table, "%s", run->program ?: "-");
		table_cell(table, "%" PRIu32, run->n_samples);
		table_cell(table, "%s", run_kind_names[run->kind]);
		table_cell(table, "%s", run_state_names[run->state]);
		table_cell(table, "%s", run->started_ns > 0 ? text_moment(started, run->started_ns) : "-");
		table_cell(table, "%s", run->profile ?: "-");
	}
	return table_print(table, stdout, err);
}

int verb_list(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(runs_clear) struct runs runs = {};
	int r;

	r = analyze_open_book(BOOK_READ, &book, err);
	if (r == 0)
		r = book_runs(book, &runs.items, &runs.n, err);
	if (r < 0)
		return r;
	if (analyze_options.json)
		return print_json(&runs, err);
	if (runs.n > 0)
		return print_table(&runs, err);
	printf("The book has no runs yet.\n");
	return 0;
}
