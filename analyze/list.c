/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze list: the runs in the book. */
#include "analyze/analyze.h"

#include "lib/base/text.h"
#include "lib/report/listing.h"

static const struct listing_column columns[] = {
	{"RUN", "run", COLUMN_NUMBER},
	{"PROGRAM", "program"},
	{"KIND", "kind"},
	{"SAMPLES", "samples", COLUMN_NUMBER},
	{"STATE", "state"},
	{"STARTED", "started_ns"},
	{"CPU", "cpu", COLUMN_NUMBER},
	{"PROFILE", "profile", COLUMN_WRAP},
	{NULL, "started"},
	{NULL, "task_length_ns"},
	{NULL, "notes"},
	{NULL, "uid"},
	{NULL, "id"},      /* of 0.1.0: run */
	{NULL, "purpose"}, /* of 0.1.0: kind */
	{},
};

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

static void add_run(struct listing *list, const struct run *run)
{
	char started[TEXT_TIME_SIZE], cpu[16];

	snprintf(cpu, sizeof(cpu), "%d", run->cpu);
	listing_row(list);
	listing_int(list, run->id);
	listing_text(list, run->program);
	listing_text(list, run_kind_names[run->kind]);
	listing_int(list, run->n_samples);
	listing_text(list, run_state_word(run->state));
	listing_moment(list, run->started_ns);
	listing_cell(list, run->cpu < 0 ? NULL : json_integer(run->cpu), run->cpu < 0 ? "-" : cpu);
	listing_text(list, run->profile);
	listing_text(list, text_rfc3339(started, run->started_ns));
	listing_int(list, run->task_length_ns);
	listing_text(list, run->notes);
	listing_text(list, run->uid);
	listing_int(list, run->id);
	listing_text(list, run_kind_names[run->kind]);
}

int verb_list(int argc, char **argv, struct error *err)
{
	_cleanup_(listing_freep) struct listing *list = NULL;
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(runs_clear) struct runs runs = {};
	int r;

	r = book_open(&book, analyze_options.db, BOOK_READ, err);
	if (r == 0)
		r = book_runs(book, &runs.items, &runs.n, err);
	if (r == 0)
		r = listing_new(&list, columns, analyze_options.json, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < runs.n; i++)
		add_run(list, &runs.items[i]);
	if (analyze_options.json)
		return json_print_document("emp-runs", json_pack("{s:o}", "runs", listing_take(list)), err);
	if (runs.n > 0)
		return listing_print(list, stdout, err);
	printf("The lab book has no runs.\n");
	return 0;
}
