/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze daemons: the daemons in the central cluster and in the L-samples of a run (EMP, Tables VIII, IX and
 * X). */
#include "analyze/analyze.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/report/names_load.h"
#include "lib/protocol/resolution.h"
#include "lib/report/daemon_causes.h"

#include <inttypes.h>

static struct {
	int64_t resolution_ns, central_max_ns;
	bool all;
} options;

const struct option_row daemons_options[] = {
	{.name = "all",
		.summary = "list every execution in the L-samples, not only the long ones",
		.into = &options.all},
	{.name = "resolution",
		.value = "TIME",
		.summary = "round PTs, such as 1ms (default: the run's own)",
		.parse = option_duration,
		.into = &options.resolution_ns},
	{.name = "central-max",
		.value = "TIME",
		.summary = "longest ET of the central cluster, set by hand",
		.parse = option_duration,
		.into = &options.central_max_ns},
	{},
};

/* An execution in an L-sample, and what its daemon is in this run. */
struct row {
	uint32_t sample;
	const struct daemon_statistics *daemon;
	int64_t pt_ns;
	bool is_long;
};

typedef void row_writer(const struct row *row, void *into);

static void write_json(const struct row *row, void *into)
{
	json_array_append_new(into, json_pack("{s:I, s:s, s:s*, s:I, s:b}", "sample", (json_int_t)row->sample,
					    "daemon", row->daemon->name, "unit", row->daemon->unit, "pt_ns",
					    (json_int_t)row->pt_ns, "long", row->is_long));
}

static void write_table(const struct row *row, void *into)
{
	table_row(into);
	table_cell(into, "%" PRIu32, row->sample);
	table_cell(into, "%s", row->daemon->name);
	table_cell(into, "%s", row->daemon->unit ?: "-");
	cell_time(into, row->pt_ns);
	cell_time(into, row->daemon->central_max_ns);
	table_cell(into, "%s", row->is_long ? "long" : "");
}

/* The daemons by id, and the patterns that group their names. */
struct who {
	struct sources daemons;
	struct names names;
};

static void who_clear(struct who *who)
{
	sources_clear(&who->daemons);
	names_clear(&who->names);
}

static int walk_sample(struct book *book, const struct analysis *analysis, const struct who *who,
	uint32_t sample, row_writer *write, void *into, struct error *err)
{
	_cleanup_(freep) struct execution *executions = NULL;
	size_t n = 0;
	int r = book_executions(book, analysis->run.id, sample, &executions, &n, err);

	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct source *d = &who->daemons.items[executions[i].source - 1];
		struct row row = {
			.sample = sample,
			.daemon = analysis_daemon(analysis, name_group(who->names.rows, d->name)),
			.pt_ns = resolution_round(executions[i].pt_ns, analysis->resolution_ns),
		};

		if (!row.daemon || row.pt_ns == 0)
			continue;
		row.is_long = daemon_statistics_is_long(row.daemon, row.pt_ns);
		if (row.is_long || options.all)
			write(&row, into);
	}
	return r;
}

static int walk(
	struct book *book, const struct analysis *analysis, row_writer *write, void *into, struct error *err)
{
	_cleanup_(who_clear) struct who who = {};
	int r = book_sources(book, &who.daemons, err);

	if (r == 0)
		r = names_load(&who.names, err);
	for (size_t i = 0; r == 0 && i < analysis->n_l_samples; i++)
		r = walk_sample(book, analysis, &who, analysis->l_samples[i], write, into, err);
	return r;
}

static json_t *central_as_json(const struct analysis *analysis)
{
	json_t *array = json_array();

	for (size_t i = 0; i < analysis->n_statistics; i++) {
		const struct daemon_statistics *h = &analysis->statistics[i];

		if (h->n_central > 0)
			json_array_append_new(
				array, json_pack("{s:s, s:s*, s:I, s:I, s:f}", "daemon", h->name, "unit",
					       h->unit, "executions", (json_int_t)h->n_central, "max_ns",
					       (json_int_t)h->central_max_ns, "sd_ns", h->central_sd_ns));
	}
	return array;
}

static int print_json(struct book *book, const struct analysis *analysis, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = json_pack("{s:I, s:s*, s:s, s:I}", "run",
		(json_int_t)analysis->run.id, "program", analysis->run.program, "shape",
		verdict_name(analysis->verdict), "resolution_ns", (json_int_t)analysis->resolution_ns);
	json_t *rows = json_array();
	int r;

	json_object_set_new(document, "central", central_as_json(analysis));
	json_object_set_new(document, "l_samples", rows);
	r = walk(book, analysis, write_json, rows, err);
	return r < 0 ? r : json_print(document, stdout, err);
}

static int print_central(const struct analysis *analysis, struct error *err)
{
	static const struct column columns[] = {
		{"DAEMON"},
		{"UNIT"},
		{"EXECUTIONS", COLUMN_NUMBER},
		{"MAX", COLUMN_NUMBER},
		{"SD", COLUMN_NUMBER},
		{},
	};
	_cleanup_(table_freep) struct table *table = NULL;
	int r = table_new(&table, columns, err);

	for (size_t i = 0; r == 0 && i < analysis->n_statistics; i++) {
		const struct daemon_statistics *h = &analysis->statistics[i];

		if (h->n_central == 0)
			continue;
		table_row(table);
		table_cell(table, "%s", h->name);
		table_cell(table, "%s", h->unit ?: "-");
		table_cell(table, "%zu", h->n_central);
		cell_time(table, h->central_max_ns);
		cell_time(table, (int64_t)(h->central_sd_ns + 0.5));
	}
	return r < 0 ? r : table_print(table, stdout, err);
}

static int print_l_samples(struct book *book, const struct analysis *analysis, struct error *err)
{
	static const struct column columns[] = {
		{"SAMPLE", COLUMN_NUMBER},
		{"DAEMON"},
		{"UNIT"},
		{"TOOK", COLUMN_NUMBER},
		{"CENTRAL MAX", COLUMN_NUMBER},
		{""},
		{},
	};
	_cleanup_(table_freep) struct table *table = NULL;
	int r = table_new(&table, columns, err);

	if (r == 0)
		r = walk(book, analysis, write_table, table, err);
	return r < 0 ? r : table_print(table, stdout, err);
}

static int print_daemons(struct book *book, const struct analysis *analysis, struct error *err)
{
	int r = print_analysis(analysis, err);

	if (r < 0)
		return r;
	printf("\nIn the %zu samples of the central cluster:\n", analysis->central.n_central);
	r = print_central(analysis, err);
	if (r < 0 || analysis->n_l_samples == 0)
		return r;
	printf("\nIn the %zu L-samples, %s:\n", analysis->n_l_samples,
		options.all ? "all executions"
			    : "executions over the central maximum by 2 sd (--all lists all)");
	r = print_l_samples(book, analysis, err);
	if (r < 0)
		return r;
	printf("\n");
	return daemon_causes_print(book, &analysis, 1, stdout, err);
}

int verb_daemons(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(analysis_clearp) struct analysis analysis = {};
	const struct analysis_options how = {
		.resolution_ns = options.resolution_ns,
		.central_max_ns = options.central_max_ns,
	};
	int64_t run;
	int r;

	r = analyze_parse_run(argv[0], "RUN", &run, err);
	if (r == 0)
		r = analyze_open_book(BOOK_READ, &book, err);
	if (r == 0)
		r = analysis_load(book, run, &how, &analysis, err);
	if (r < 0)
		return r;
	return (analyze_options.json ? print_json : print_daemons)(book, &analysis, err);
}
