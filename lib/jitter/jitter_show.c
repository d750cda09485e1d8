/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A jitter run of the book, on the screen and as JSON: see jitter_show.h. */
#include "lib/jitter/jitter_show.h"

#include "lib/base/table.h"
#include "lib/host/system/policy.h"
#include "lib/jitter/jitter_change_show.h"
#include "lib/jitter/jitter_figures.h"
#include "lib/jitter/jitter_remedy.h"

#include <math.h>

/* What took less than this of all is not listed without --all. */
static const double LITTLE = 0.0005;

enum { SUMMARY_ROWS = 10 };

/* What a row of a source may show: one list for the screen and for documents, from which each table
 * chooses. */
enum {
	END,
	NAME,
	NAMES,
	KIND,
	UNIT,
	COUNT,
	MIN,
	MAX,
	MEAN,
	SD,
	TOTAL,
	SHARE,
	PERIOD,
	REMEDY,
	PARTS
};

static const struct column row_columns[] = {
	[NAME] = {"SOURCE", COLUMN_WRAP, "name"},
	[NAMES] = {"SOURCES", COLUMN_WRAP, NULL},
	[KIND] = {"KIND", COLUMN_TEXT, "kind"},
	[UNIT] = {"UNIT", COLUMN_WRAP, "unit"},
	[COUNT] = {"COUNT", COLUMN_NUMBER, "count"},
	[MIN] = {"MIN", COLUMN_NUMBER, "min_ns"},
	[MAX] = {"MAX", COLUMN_NUMBER, "max_ns"},
	[MEAN] = {"MEAN", COLUMN_NUMBER, "mean_ns"},
	[SD] = {"SD", COLUMN_NUMBER, "sd_ns"},
	[TOTAL] = {"TOTAL", COLUMN_NUMBER, "total_ns"},
	[SHARE] = {"SHARE", COLUMN_NUMBER, "share"},
	[PERIOD] = {"PERIOD", COLUMN_NUMBER, "period_ns"},
	[REMEDY] = {"WHAT KEEPS IT AWAY", COLUMN_WRAP, "remedy"},
	[PARTS] = {NULL, COLUMN_TEXT, "parts"},
};

/* The name of what stopped its CPUs outside the kernel. */
static const char *outside_of(const struct jitter_run *run)
{
	for (size_t i = 0; i < run->frequency.n; i++)
		if (run->frequency.rows[i].source->kind == SOURCE_OUTSIDE)
			return run->frequency.rows[i].source->name;
	return "nothing";
}

static struct cell parts_cell(const struct jitter_run *run, uint32_t combination)
{
	json_t *names = json_array();

	for (size_t i = 0; i < run->jitter.n_combinations; i++) {
		const struct combination_part *part = &run->jitter.combinations[i];

		if (part->combination == combination && part->source <= run->sources.n)
			json_array_append_new(
				names, json_string(run->sources.items[part->source - 1].name));
	}
	return VALUE(names, NULL);
}

/* By the policy of this machine, if the run is from it. *ret holds the text of the cell. */
static struct cell remedy_cell(
	const struct jitter_run *run, const struct source *source, struct remedy *ret)
{
	const struct policy *policy = source->unit ? run->policy : NULL;
	const char *never = policy ? policy_never(policy, source->unit) : NULL;
	bool listed = policy && policy_stop(policy, source->unit);

	*ret = jitter_remedy(source, run->all.cpu, never, listed);
	return VALUE(json_pack("{s:s, s:s}", "kind", remedy_kind_names[ret->kind], "how", ret->how),
		ret->how);
}

/* `remedy` holds the text of that cell. */
static struct cell source_cell(int which, const struct jitter_run *run,
	const struct jitter_row *row, struct remedy *remedy)
{
	const struct source *source = row->source;
	const bool no_share = source->kind == SOURCE_OUTSIDE && row->share <= 0;

	switch (which) {
	case KIND:
		return TEXT(source_kind_names[source->kind]);
	case UNIT:
		return TEXT(source->unit);
	case COUNT:
		return NUMBER(row->count);
	case MIN:
		return TIME(row->min_ns);
	case MAX:
		return TIME(row->max_ns);
	case MEAN:
		return TIME(llround(row->mean_ns));
	case SD:
		return TIME(row->count > 1 ? llround(row->sd_ns) : -1);
	case TOTAL:
		return TIME(row->total_ns);
	case SHARE:
		return VALUE(json_real(row->share), no_share ? "-" : text_percent(row->share));
	case PERIOD:
		return TIME(row->period_ns > 0 ? row->period_ns : -1);
	case REMEDY:
		return remedy_cell(run, source, remedy);
	case PARTS:
		return parts_cell(run, source->id);
	default: /* NAME, NAMES */
		return TEXT(source->name);
	}
}

/* Which rows. */
enum { LITTLE_TOO = 1, OUTSIDE_TOO = 2, ONLY_COMBINATIONS = 4 };

static bool row_is_chosen(const struct jitter_row *row, int which)
{
	if (row->source->kind == SOURCE_OUTSIDE)
		return which & OUTSIDE_TOO;
	if (which & ONLY_COMBINATIONS && row->source->kind != SOURCE_COMBINATION)
		return false;
	return which & LITTLE_TOO || row->share >= LITTLE;
}

/* Prints these cells of the rows. With `ret_json` they become an array of objects instead. */
static void show_source_rows(const struct jitter_run *run, const struct jitter_table *rows,
	const int *cells, int which, json_t **ret_json)
{
	struct column columns[ELEMENTS(row_columns)] = {};
	_cleanup_(table_freep) struct table *table = NULL;
	struct remedy remedy;

	for (size_t i = 0; cells[i]; i++)
		columns[i] = row_columns[cells[i]];
	table = table_new(columns);
	for (size_t i = 0; i < rows->n; i++) {
		const struct jitter_row *row = &rows->rows[i];

		if (!row_is_chosen(row, which))
			continue;
		table_begin_row(table);
		for (const int *cell = cells; *cell; cell++)
			table_add(table, source_cell(*cell, run, row, &remedy));
	}
	if (ret_json)
		*ret_json = table_json(table);
	else
		table_print(table, stdout);
}

static void print_gaps(
	const char *what, int64_t n, int64_t ns, const struct jitter_cpu *cpu, const char *note)
{
	int width = printf("  %-20s %9" PRId64 " %10s %8s", what, n, text_duration(ns),
		text_percent(jitter_share(ns, cpu->gaps_ns)));

	terminal_wrap(stdout, note, (size_t)width + 1, 4); /* two blanks before the note */
}

/* What counters say of the time outside the kernel. */
static void print_outside(const struct jitter_run *run, const struct jitter_cpu *cpu)
{
	if (cpu->outside_kernel >= 0)
		terminal_say(stdout, 4, "  Outside the kernel: %s", outside_of(run));
	else
		terminal_say(stdout, 4,
			"  This processor does not show whether the kernel ran in a gap");
	if (cpu->steal_ns > 0)
		printf("  The host reports %s of steal time\n", text_duration(cpu->steal_ns));
	if (cpu->smis > 0)
		printf("  The firmware interrupted this CPU %" PRId64 " times (SMIs)\n", cpu->smis);
}

/* What may be wrong with the run, and what tracing took. */
static void print_limits(const struct jitter_cpu *cpu)
{
	double sampled = jitter_share(cpu->sampled_ns, cpu->wall_ns);
	int64_t recording_ns = saturate_multiply((uint64_t)cpu->event_cost_ns, cpu->events);

	if (cpu->lost > 0)
		terminal_say(stdout, 4,
			"  Warning: %" PRId64 " of %" PRId64 " events were lost: sources may lack "
			"interruptions; use a larger --buffer",
			cpu->lost, saturate_add(cpu->lost, cpu->events));
	if (cpu->broken > 0)
		terminal_say(stdout, 4,
			"  In %s the trace lacks switches of tasks; the time there is listed as an "
			"unknown task",
			text_count(cpu->broken, "place"));
	if (cpu->in_no_gap > 0)
		printf("  %" PRId64 " intervals of the trace are in no gap\n", cpu->in_no_gap);
	if (sampled < 0.99)
		printf("  Warning: only %s of the time was sampled\n", text_percent(sampled));
	if (cpu->event_cost_ns > 0)
		terminal_say(stdout, 4, "  Recording took %s an event, %s of the sampled time",
			text_duration(cpu->event_cost_ns),
			text_percent(jitter_share(recording_ns, cpu->sampled_ns)));
}

static void print_periods(const struct jitter_run *run, const struct jitter_cpu *cpu)
{
	size_t n = 0;

	for (size_t i = 0; i < run->jitter.n_periods; i++) {
		const struct jitter_period *p = &run->jitter.periods[i];
		const char *where = "";

		if (p->cpu != cpu->cpu)
			continue;
		if (p->outside_kernel)
			where = " (outside)";
		else if (cpu->outside_kernel < 0)
			where = " (the host?)";
		print_gaps("without, periodic", p->count, p->total_ns, cpu,
			text_brief("every %s%s", text_duration(p->period_ns), where));
		n++;
	}
	if (n == 0)
		print_gaps("without, periodic", 0, 0, cpu, "");
}

/* "1.2 % of the time": of that in which gaps are seen. */
static const char *share_of_sampled(int64_t ns, const struct jitter_cpu *cpu)
{
	return text_brief("%s of the time", text_percent(jitter_share(ns, cpu->sampled_ns)));
}

/* How far the run can be relied upon, for one of its CPUs. */
static void print_cpu(const struct jitter_run *run, const struct jitter_cpu *cpu)
{
	printf("\nCPU %d: %.1f %% of %s sampled, gaps over %s\n", cpu->cpu,
		100 * jitter_share(cpu->sampled_ns, cpu->wall_ns), text_duration(cpu->wall_ns),
		text_duration(cpu->threshold_ns));

	printf("  %-20s %9s %10s %8s\n", "", "GAPS", "TIME", "SHARE");
	print_gaps("all", cpu->gaps, cpu->gaps_ns, cpu, "");
	print_gaps("explained by events", cpu->explained, cpu->explained_ns, cpu, "");
	print_gaps("  of these by chance", cpu->chance, cpu->chance_ns, cpu, "(a shifted trace)");
	print_periods(run, cpu);
	if (cpu->outside_kernel >= 0)
		print_gaps("outside the kernel", cpu->outside_kernel, cpu->outside_kernel_ns, cpu,
			share_of_sampled(cpu->outside_kernel_ns, cpu));
	print_gaps("unexplained", cpu->unexplained, cpu->unexplained_ns, cpu,
		share_of_sampled(cpu->unexplained_ns, cpu));

	print_outside(run, cpu);
	print_limits(cpu);
}

/* What emp-calibrate prints: the largest sources, or all of them. kept: the file with the trace;
 * NULL: none. */
static void print_jitter_summary(const struct jitter_run *run, const char *kept, bool all)
{
	static const int cells[] = {NAME, UNIT, COUNT, MEAN, MAX, TOTAL, SHARE, PERIOD, END};
	struct jitter_table rows = run->frequency;

	if (!all && rows.n > SUMMARY_ROWS)
		rows.n = SUMMARY_ROWS;
	show_source_rows(run, &rows, cells, LITTLE_TOO | OUTSIDE_TOO, NULL);
	if (rows.n < run->frequency.n)
		printf("and %zu more (-v)\n", run->frequency.n - rows.n);

	for (size_t i = 0; i < run->jitter.n_cpus; i++) {
		const struct jitter_cpu *cpu = &run->jitter.cpus[i];

		print_cpu(run, cpu);
		printf("  %" PRId64 " of %" PRId64 " events lost\n", cpu->lost,
			cpu->lost + cpu->events);
	}

	if (kept)
		printf("\nThe trace is in '%s': trace-cmd report -i FILE, kernelshark FILE\n",
			kept);
	printf("\nRun %" PRId64 "%s. Next: emp-analyze jitter %" PRId64 "\n", run->run.id,
		run->run.state == RUN_INTERRUPTED ? ", interrupted" : "", run->run.id);
}

/* How many rows are not chosen, and what they took together. */
static void print_rest(const struct jitter_table *table, int which)
{
	double share = 0;
	size_t n = 0;

	for (size_t i = 0; i < table->n; i++) {
		if (row_is_chosen(&table->rows[i], which))
			continue;
		share += table->rows[i].share;
		n++;
	}
	if (n > 0)
		terminal_say(stdout, 2, "and %zu more that took %s together (--all lists them)", n,
			text_percent(share));
}

/* Table I, where the sources come from, and what the run says of its own limits. */
static void print_jitter_run(const struct jitter_run *run, bool all)
{
	static const int lengths[] = {NAME, COUNT, MIN, MAX, MEAN, SD, TOTAL, SHARE, END};
	static const int remedies[] = {NAME, KIND, UNIT, PERIOD, REMEDY, END};
	const struct jitter_table *table = &run->frequency;
	const int which = OUTSIDE_TOO | (all ? LITTLE_TOO : 0);

	terminal_say(stdout, 2, "Run %" PRId64 ": sources took %s, %s of the sampled time of %s%s",
		run->run.id, text_duration(table->total_ns),
		text_percent(jitter_share(table->total_ns, run->all.sampled_ns)),
		text_count(run->jitter.n_cpus, "CPU"),
		run->run.state == RUN_INTERRUPTED ? " (interrupted)" : "");

	show_source_rows(run, table, lengths, which, NULL);
	print_rest(table, which);
	printf("\n");
	show_source_rows(run, table, remedies, which, NULL);
	for (size_t i = 0; i < run->jitter.n_cpus; i++)
		print_cpu(run, &run->jitter.cpus[i]);
}

/* What several sources took together, in the time domain. Their names are long: there is no room
 * for MIN and SD. */
static void print_combinations(const struct jitter_run *run, bool all)
{
	static const int cells[] = {NAMES, COUNT, MAX, MEAN, TOTAL, SHARE, END};
	int64_t total_ns = 0;

	for (size_t i = 0; i < run->time.n; i++)
		if (run->time.rows[i].source->kind == SOURCE_COMBINATION)
			total_ns = saturate_add(total_ns, run->time.rows[i].total_ns);
	terminal_say(stdout, 2,
		"Run %" PRId64 ": several sources in one interruption took %s of the time of all "
		"interruptions; their names are joined by _",
		run->run.id, text_percent(jitter_share(total_ns, run->time.total_ns)));
	show_source_rows(run, &run->time, cells, ONLY_COMBINATIONS | (all ? LITTLE_TOO : 0), NULL);
}

/* -1: not known. */
static json_t *known_or_null(int64_t value)
{
	return value >= 0 ? json_integer(value) : json_null();
}

static json_t *periods_json(const struct jitter_run *run)
{
	json_t *periods = json_array();

	for (size_t i = 0; i < run->jitter.n_periods; i++) {
		const struct jitter_period *p = &run->jitter.periods[i];

		json_array_append_new(periods,
			json_pack("{s:i, s:I, s:I, s:I, s:b}", "cpu", p->cpu, "period_ns",
				(json_int_t)p->period_ns, "count", (json_int_t)p->count, "total_ns",
				(json_int_t)p->total_ns, "outside_kernel", p->outside_kernel));
	}
	return periods;
}

/* null: it is not known which gaps these are. */
static json_t *outside_json(const struct jitter_run *run)
{
	const struct jitter_cpu *all = &run->all;

	if (all->outside_kernel < 0)
		return json_null();
	return json_pack("{s:s, s:I, s:I, s:f}", "name", outside_of(run), "count",
		(json_int_t)all->outside_kernel, "total_ns", (json_int_t)all->outside_kernel_ns,
		"time_share", jitter_share(all->outside_kernel_ns, all->sampled_ns));
}

/* time_share is of the sampled time, and neither what has a period nor what is outside the kernel
 * is in it. */
static json_t *unexplained_json(const struct jitter_run *run)
{
	const struct jitter_cpu *all = &run->all;

	return JSON_OBJECT({"count", json_integer(all->unexplained)},
		{"total_ns", json_integer(all->unexplained_ns)},
		{"time_share",
			json_real_or_null(jitter_share(all->unexplained_ns, all->sampled_ns))},
		{"periods", periods_json(run)}, {"outside_kernel", outside_json(run)},
		{"steal_ns", known_or_null(all->steal_ns)}, {"smis", known_or_null(all->smis)});
}

static json_t *gaps_json(int64_t count, int64_t ns, const struct jitter_cpu *cpu)
{
	return json_pack("{s:I, s:I, s:f, s:f}", "count", (json_int_t)count, "total_ns",
		(json_int_t)ns, "count_share", jitter_share(count, cpu->gaps), "time_share",
		jitter_share(ns, cpu->gaps_ns));
}

static json_t *run_json(const struct jitter_run *run)
{
	static const int of_sources[] = {
		NAME, KIND, UNIT, COUNT, MIN, MAX, MEAN, SD, TOTAL, SHARE, PERIOD, REMEDY, END};
	static const int of_combinations[] = {
		NAME, KIND, UNIT, COUNT, MIN, MAX, MEAN, SD, TOTAL, SHARE, PERIOD, PARTS, END};
	const struct jitter_cpu *all = &run->all;
	json_t *cpus = json_array(), *sources, *combinations;
	int64_t duration_ns = 0;

	for (size_t i = 0; i < run->jitter.n_cpus; i++) {
		const struct jitter_cpu *cpu = &run->jitter.cpus[i];

		duration_ns = cpu->wall_ns > duration_ns ? cpu->wall_ns : duration_ns;
		json_array_append_new(cpus, json_integer(cpu->cpu));
	}
	show_source_rows(run, &run->frequency, of_sources, LITTLE_TOO, &sources);
	show_source_rows(
		run, &run->time, of_combinations, LITTLE_TOO | ONLY_COMBINATIONS, &combinations);

	return JSON_OBJECT({"context?", json_incref(run->context)},
		{"run", json_integer(run->run.id)},
		{"state", json_text(run_state_word(run->run.state))}, {"cpus", cpus},
		{"duration_ns", json_integer(duration_ns)},
		{"sampled_share", json_real_or_null(jitter_share(all->sampled_ns, all->wall_ns))},
		{"threshold_ns", json_integer(all->threshold_ns)},
		{"events", json_integer(all->events)}, {"events_lost", json_integer(all->lost)},
		{"chain_breaks", json_integer(all->broken)},
		{"event_cost_ns", json_integer(all->event_cost_ns)},
		{"gaps", JSON_OBJECT({"count", json_integer(all->gaps)},
				 {"total_ns", json_integer(all->gaps_ns)})},
		{"explained", gaps_json(all->explained, all->explained_ns, all)},
		{"by_chance", gaps_json(all->chance, all->chance_ns, all)},
		{"residue", unexplained_json(run)}, {"sources", sources},
		{"combinations", combinations});
}

/* The interruptions of one range of lengths, by source. Buckets do not know the shortest, the
 * longest, the standard deviation and the period. */
static json_t *peak_json(const struct jitter_run *run, const struct jitter_peak *peak)
{
	static const int members[] = {NAME, KIND, UNIT, COUNT, MEAN, TOTAL, SHARE, REMEDY, END};
	json_t *sources;

	show_source_rows(run, &peak->table, members, LITTLE_TOO | OUTSIDE_TOO, &sources);
	return JSON_OBJECT({"run", json_integer(run->run.id)},
		{"low_ns", json_integer(peak->low_ns)}, {"high_ns", json_integer(peak->high_ns)},
		{"gaps", JSON_OBJECT({"count", json_integer(peak->gaps)},
				 {"total_ns", json_integer(peak->gaps_ns)})},
		{"sources", sources});
}

static void print_peak(const struct jitter_run *run, const struct jitter_peak *peak)
{
	static const int cells[] = {NAME, COUNT, MEAN, TOTAL, SHARE, END};

	terminal_say(stdout, 2, "Run %" PRId64 ": interruptions of %s to %s (edges of buckets)",
		run->run.id, text_duration(peak->low_ns), text_duration(peak->high_ns));
	if (peak->table.n == 0)
		printf("The trace has no interruptions of these lengths.\n");
	show_source_rows(run, &peak->table, cells, LITTLE_TOO | OUTSIDE_TOO, NULL);
	terminal_say(stdout, 2,
		"The loop saw %" PRId64 " gaps of these lengths, %s in total. A gap is slightly "
		"longer than the trace shows.",
		peak->gaps, text_duration(peak->gaps_ns));
}

static int show_peak(
	const struct jitter_run *run, const struct jitter_view *view, struct error *err)
{
	struct jitter_peak peak;
	int r = jitter_peak_make(
		&peak, &run->jitter, view->low_ns, view->high_ns, &run->sources, err);

	if (r < 0)
		return r;
	if (view->json)
		r = json_print_document("emp-jitter-peak", peak_json(run, &peak), err);
	else
		print_peak(run, &peak);
	jitter_table_clear(&peak.table);
	return r;
}

/* A run without a baseline, of which no picture is wanted. */
static int show_run(const struct jitter_run *run, const struct jitter_view *view, struct error *err)
{
	if (view->high_ns > 0)
		return show_peak(run, view, err);
	if (view->json)
		return json_print_document("emp-jitter", run_json(run), err);
	if (view->summary)
		print_jitter_summary(run, view->kept, view->all);
	else if (view->combinations)
		print_combinations(run, view->all);
	else
		print_jitter_run(run, view->all);
	return 0;
}

int jitter_show(struct book *book, int64_t id, const struct jitter_view *view, struct error *err)
{
	_cleanup_(jitter_run_clear) struct jitter_run run = {}, baseline = {};
	_cleanup_(jitter_changes_clear) struct jitter_changes changes = {};
	struct jitter_pair pair = {.run = &run};
	int r = jitter_run_load(book, id, &run, err);

	if (r == 0 && view->baseline)
		r = jitter_run_load(book, view->baseline, &baseline, err);
	if (r == 0 && view->baseline) {
		changes = jitter_changes_make(
			&baseline.frequency, &baseline.all, &run.frequency, &run.all);
		pair = (struct jitter_pair){&run, &baseline, changes};
	}
	if (r == 0 && view->output)
		r = jitter_draw(&pair, view, err);
	if (r < 0 || (view->output && !view->baseline))
		return r;
	return view->baseline ? jitter_changes_show(&pair, view, err) : show_run(&run, view, err);
}
