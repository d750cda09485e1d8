/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze daemons: the daemons in the central cluster and in the L-samples of a run (EMP,
 * Tables VIII, IX and X). */
#include "analyze/analysis_print.h"
#include "analyze/options.h"
#include "analyze/run.h"

#include "lib/base/table.h"
#include "lib/report/daemon_causes.h"

static bool all;

static const struct option_row daemons_options[] = {
	{0, "all", NULL, "list every execution in the L-samples, not only the long ones", NULL,
		&all},
	{0, "resolution", "TIME", "round PTs, such as 1ms (default: the run's own)",
		option_duration, &analyze_options.analysis.resolution_ns},
	{0, "central-max", "TIME", "longest ET of the central cluster, set by hand",
		option_duration, &analyze_options.analysis.central_max_ns},
	OTHER_CPUS_OPTION,
	EXECUTION_CLOCK_OPTION,
	BY_WAIT_OPTIONS,
	LAST_RUN_OPTION,
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

/* The statistics of a process: its group's or its family's. NULL: it has none. */
static const struct daemon_statistics *find_daemon(const struct analysis *analysis,
	const struct name_pattern *patterns, const struct source *source)
{
	const struct daemon_statistics *daemon = analysis_daemon(
		analysis, name_group(patterns, source->name));

	for (size_t i = 0; !daemon && i < analysis->n_statistics; i++)
		if (analysis->statistics[i].names > 0 &&
			family_includes(analysis->statistics[i].name, source))
			daemon = &analysis->statistics[i];
	return daemon;
}

static int list_l_samples(struct table *list, size_t *ret_n, struct book *book,
	const struct analysis *analysis, struct error *err)
{
	_cleanup_(sources_clear) struct sources sources = {};
	_cleanup_(names_clear) struct names names = {};
	int r = book_sources(book, &sources, err);

	if (r == 0)
		r = names_load(&names, NULL, err);
	for (size_t i = 0; r == 0 && i < analysis->n_l_samples; i++) {
		_cleanup_(freep) struct execution *executions = NULL;
		size_t n = 0;

		r = book_executions(
			book, analysis->run.id, analysis->l_samples[i], &executions, &n, err);
		for (struct execution *e = executions; r == 0 && e < executions + n; e++) {
			const struct daemon_statistics *daemon = NULL;
			int64_t pt_ns;
			bool is_long;

			if (analyze_options.analysis.clock == EXECUTION_TICK)
				execution_use_ticks(e); /* it is known: the analysis needed it */
			pt_ns = e->pt_ns;
			if (!analyze_options.analysis.other_cpus)
				pt_ns = execution_disturbing_ns(e);
			pt_ns = resolution_round(pt_ns, analysis->resolution_ns);
			/* it may have been added after they were read */
			if (e->source <= sources.n)
				daemon = find_daemon(
					analysis, names.rows, &sources.items[e->source - 1]);
			is_long = daemon && daemon_statistics_is_long(daemon, pt_ns);
			if (!daemon || pt_ns <= 0 || !(is_long || all))
				continue;
			++*ret_n;
			table_row(list, l_columns, NUMBER(e->sample), TEXT(daemon->name),
				TEXT(daemon->unit), TIME(pt_ns), TIME(daemon->central_max_ns),
				VALUE(json_boolean(is_long), is_long ? "yes" : "no"));
		}
	}
	return r;
}

static int daemons_print_json(const struct analysis *analysis, struct table *central,
	struct table *l_samples, struct error *err)
{
	const char *verdict = verdict_name(analysis->verdict);
	json_t *long_executions = json_array(); /* the daemons that made samples long */

	for (size_t i = 0; i < analysis->n_statistics; i++) {
		const struct daemon_statistics *d = &analysis->statistics[i];

		if (d->n_long_executions > 0)
			json_array_append_new(long_executions,
				json_pack("{s:s, s:s*, s:I, s:I, s:o}", "daemon", d->name, "unit",
					d->unit, "executions", (json_int_t)d->n_long_executions,
					"min_ns", (json_int_t)d->long_min_ns, "explained",
					json_real_or_null(d->share)));
	}
	return json_print_document("emp-daemons",
		JSON_OBJECT({"run", json_integer(analysis->run.id)},
			{"program?", json_string(analysis->run.program)},
			{"verdict", json_text(verdict)}, {"shape", json_text(verdict)},
			{"resolution_ns", json_integer(analysis->resolution_ns)},
			{"by_wait", json_boolean(analysis->by_wait)},
			{"central", table_json(central)}, {"l_samples", table_json(l_samples)},
			{"long", long_executions}),
		err);
}

static int analyze_daemons_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(table_freep) struct table *central = table_new(central_columns),
					    *l_samples = table_new(l_columns);
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(analysis_clear) struct analysis a = {};
	size_t n_central = 0, n_long = 0;
	int r = analyze_load_run(argv[0], &book, &a, err);

	if (r == 0)
		r = list_l_samples(l_samples, &n_long, book, &a, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < a.n_statistics; i++) {
		const struct daemon_statistics *d = &a.statistics[i];

		n_central += d->n_central > 0;
		if (d->n_central > 0)
			table_row(central, central_columns, TEXT(d->name), TEXT(d->unit),
				NUMBER(d->n_central), TIME(d->central_max_ns),
				VALUE(d->n_central > 1 ? json_real(d->central_sd_ns) : NULL,
					d->n_central > 1 ? text_precise(d->central_sd_ns, 0)
							 : "-"));
	}

	if (analyze_options.json)
		return daemons_print_json(&a, central, l_samples, err);
	analysis_print(&a);
	putchar('\n');
	terminal_say(stdout, 2, "In the %s of the central cluster%s",
		text_count(a.central.n_central, "sample"),
		n_central > 0 ? ":" : ", no daemon is known to have run.");
	if (n_central > 0)
		table_print(central, stdout);
	if (a.n_l_samples == 0)
		return 0;
	putchar('\n');
	terminal_say(stdout, 2, "In the %s, %s%s", text_count(a.n_l_samples, "L-sample"),
		all ? "all executions" : "executions over the central maximum + 2 sd (--all: all)",
		n_long > 0 ? ":" : ": none");
	if (n_long > 0)
		table_print(l_samples, stdout);
	printf("\n");
	return daemon_causes_print(book, &a, 1, stdout, err);
}

const struct verb analyze_daemons = {
	.name = "daemons",
	.args = "RUN",
	.summary = "list the daemons in the central cluster and in the L-samples",
	.min_args = 1,
	.max_args = 1,
	.options = daemons_options,
	.run = analyze_daemons_verb,
};
