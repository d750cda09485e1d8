/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze daemons: the daemons in the central cluster and in the L-samples of a run (EMP, Tables VIII, IX and
 * X). */
#include "analyze/analyze.h"

#include "lib/base/text.h"
#include "lib/protocol/analysis.h"
#include "lib/report/results.h"
#include "lib/base/table.h"
#include "lib/protocol/names.h"

#include <math.h>

static struct {
	int64_t resolution_ns, central_max_ns;
	bool all;
} options;

const struct option_row daemons_options[] = {
	{0, "all", NULL, "list every execution in the L-samples, not only the long ones", NULL, &options.all},
	{0, "resolution", "TIME", "round PTs, such as 1ms (default: the run's own)", option_duration,
		&options.resolution_ns},
	{0, "central-max", "TIME", "longest ET of the central cluster, set by hand", option_duration,
		&options.central_max_ns},
	OTHER_CPUS_OPTION,
	BY_WAIT_OPTIONS,
	{},
};

static const struct column central_columns[] = {
	{"DAEMON", COLUMN_TEXT, "daemon"},
	{"UNIT", COLUMN_WRAP, "unit"},
	{"EXECUTIONS", COLUMN_NUMBER, "executions"},
	{"MAX", COLUMN_NUMBER, "max_ns"},
	{"SD", COLUMN_NUMBER, "sd_ns"},
	{},
};

static const struct column l_columns[] = {
	{"SAMPLE", COLUMN_NUMBER, "sample"},
	{"DAEMON", COLUMN_TEXT, "daemon"},
	{"UNIT", COLUMN_WRAP, "unit"},
	{"PT", COLUMN_NUMBER, "pt_ns"},
	{"CENTRAL MAX", COLUMN_NUMBER},
	{"LONG", COLUMN_TEXT, "long"},
	{},
};

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

static int list_l_samples(
	struct table **ret, struct book *book, const struct analysis *analysis, struct error *err)
{
	_cleanup_(table_freep) struct table *list = table_new(l_columns);
	_cleanup_(who_clear) struct who who = {};
	int r;

	r = book_sources(book, &who.daemons, err);
	if (r == 0)
		r = names_load(&who.names, err);
	for (size_t i = 0; r == 0 && i < analysis->n_l_samples; i++) {
		_cleanup_(freep) struct execution *executions = NULL;
		size_t n = 0;

		r = book_executions(book, analysis->run.id, analysis->l_samples[i], &executions, &n, err);
		for (size_t k = 0; r == 0 && k < n; k++) {
			/* a source may have been added after the daemons were read */
			const struct source *d = executions[k].source <= who.daemons.n
							 ? &who.daemons.items[executions[k].source - 1]
							 : NULL;
			const struct daemon_statistics *daemon = d ? analysis_daemon_of(
									     analysis, who.names.rows, d)
								   : NULL;
			int64_t used_ns = analyze_options.other_cpus
						  ? executions[k].pt_ns
						  : execution_disturbing_ns(&executions[k]);
			int64_t pt_ns = resolution_round(used_ns, analysis->resolution_ns);
			bool is_long = daemon && daemon_statistics_is_long(daemon, pt_ns);

			if (daemon && pt_ns > 0 && (is_long || options.all)) {
				table_row(list);
				table_cell_int(list, analysis->l_samples[i]);
				table_cell_text(list, daemon->name);
				table_cell_text(list, daemon->unit);
				table_cell_duration(list, pt_ns);
				table_cell_duration(list, daemon->central_max_ns);
				table_cell_value(list, json_boolean(is_long), is_long ? "yes" : "no");
			}
		}
	}
	if (r == 0)
		*ret = TAKE(list);
	return r;
}

/* The daemons that made samples long. */
static json_t *long_daemons(const struct analysis *analysis)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < analysis->n_statistics; i++) {
		const struct daemon_statistics *d = &analysis->statistics[i];

		if (d->n_longs > 0)
			json_array_append_new(
				array, json_pack("{s:s, s:s*, s:I, s:I, s:f}", "daemon", d->name, "unit",
					       d->unit, "executions", (json_int_t)d->n_longs, "min_ns",
					       (json_int_t)d->long_min_ns, "explained",
					       isnan(d->share) ? 0 : d->share));
	}
	return array;
}

static int daemons_print_json(
	const struct analysis *analysis, struct table *central, struct table *l_samples, struct error *err)
{
	const char *verdict = verdict_name(analysis->verdict);
	json_t *document = json_pack("{s:I, s:s*, s:s, s:s, s:I, s:b, s:o, s:o, s:o}", "run",
		(json_int_t)analysis->run.id, "program", analysis->run.program, "verdict", verdict, "shape",
		verdict, "resolution_ns", (json_int_t)analysis->resolution_ns, "by_wait", analysis->by_wait,
		"central", table_json(central), "l_samples", table_json(l_samples), "long",
		long_daemons(analysis));

	return json_print_document("emp-daemons", document, err);
}

static int daemons_print(struct book *book, const struct analysis *analysis, struct table *central,
	struct table *l_samples, struct error *err)
{
	print_analysis(analysis);
	printf("\nIn the %zu sample%s of the central cluster:\n", analysis->central.n_central,
		analysis->central.n_central == 1 ? "" : "s");
	table_print(central, stdout);
	if (analysis->n_l_samples == 0)
		return 0;
	printf("\nIn the %zu L-sample%s, %s:\n", analysis->n_l_samples, analysis->n_l_samples == 1 ? "" : "s",
		options.all ? "all executions" : "executions over the central maximum + 2 sd (--all: all)");
	table_print(l_samples, stdout);
	printf("\n");
	return daemon_causes_print(book, &analysis, 1, stdout, err);
}

int verb_daemons(int argc, char **argv, struct error *err)
{
	_cleanup_(table_freep) struct table *central = NULL, *l_samples = NULL;
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(analysis_clear) struct analysis analysis = {};
	const struct analysis_options how = {
		.resolution_ns = options.resolution_ns,
		.central_max_ns = options.central_max_ns,
	};
	int r = analyze_load(argv[0], &how, &book, &analysis, err);

	if (r == 0)
		r = list_l_samples(&l_samples, book, &analysis, err);
	if (r < 0)
		return r;

	struct table *list = table_new(central_columns);

	for (size_t i = 0; i < analysis.n_statistics; i++) {
		const struct daemon_statistics *d = &analysis.statistics[i];

		if (d->n_central == 0)
			continue;
		table_row(list);
		table_cell_text(list, d->name);
		table_cell_text(list, d->unit);
		table_cell_int(list, (int64_t)d->n_central);
		table_cell_duration(list, d->central_max_ns);
		table_cell_value(list, json_real(d->central_sd_ns), text_precise(d->central_sd_ns, 0));
	}
	central = list;
	return analyze_options.json ? daemons_print_json(&analysis, central, l_samples, err)
				    : daemons_print(book, &analysis, central, l_samples, err);
}
