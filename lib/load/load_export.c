/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CSV and Markdown: see load_export.h. */
#include "lib/load/load_export.h"

#include "lib/base/table.h"
#include "lib/base/terminal.h"
#include "lib/report/comparison_report.h"
#include "lib/report/results.h"

/* Seconds, as in the CSV of emp-measure; below 0: not known. */
static struct cell csv_time(int64_t ns)
{
	return VALUE(ns < 0 ? NULL : json_real((double)ns / 1e9), NULL);
}

static struct cell csv_number(int64_t value)
{
	return VALUE(load_known_json(value), NULL);
}

static const struct column csv_columns[] = {{.member = "run"}, {.member = "load"},
	{.member = "coordination"}, {.member = "sample"}, {.member = "kept"},
	{.member = "time_to_last"}, {.member = "slave"}, {.member = "script"},
	{.member = "repetitions"}, {.member = "rate"}, {.member = "started"},
	{.member = "finished"}, {.member = "last"}, {.member = "pt"}, {.member = "user"},
	{.member = "system"}, {.member = "wait"}, {.member = "io_wait"}, {.member = "major_faults"},
	{.member = "max_rss_bytes"}, {}};

/* What a worker did in the k-th run of a load. */
static void add_csv_row(
	struct table *table, const struct load_report *p, size_t k, const struct sample_program *w)
{
	const struct run *run = &p->result.discarding.run;
	const struct sample *sample = &p->result.samples[k];
	const char *script = p->work.programs[w->program - 1].name;
	double rate = load_rate_of_worker(p->load.coordination, sample, w);

	table_row(table, csv_columns, NUMBER(run->id), TEXT(terminal_text(run->program)),
		TEXT(coordination_names[p->load.coordination]), NUMBER(sample->n),
		NUMBER(!p->result.discarding.out[k]), csv_time(sample->et_ns), NUMBER(w->program),
		TEXT(terminal_text(script)), csv_number(w->repetitions), REAL("%.9f", rate),
		csv_time(w->start_ns - sample->start_ns), csv_time(w->finished_ns),
		csv_time(w->et_ns), csv_time(w->pt_ns), csv_time(w->user_ns),
		csv_time(w->system_ns), csv_time(w->wait_ns), csv_time(w->io_wait_ns),
		csv_number(w->major_faults), csv_number(w->max_rss_bytes));
}

static void add_csv_rows(struct table *table, const struct load_report *p)
{
	for (size_t k = 0; k < p->result.n_samples; k++) {
		struct load_parts parts = load_parts_of(&p->work, p->result.samples[k].n);

		for (size_t i = 0; i < parts.n; i++)
			add_csv_row(table, p, k, &parts.items[i]);
	}
}

void load_write_csv(FILE *file, const struct load_reports *reports)
{
	_cleanup_(table_freep) struct table *table = table_new(csv_columns);

	for (size_t i = 0; i < reports->n; i++)
		add_csv_rows(table, reports->items[i]);
	table_write(table, TABLE_CSV, file);
}

static struct cell script_cell(const struct load_rate *rate)
{
	return rate->script ? CODE(rate->script) : TEXT("all");
}

static void write_markdown_rates(FILE *file, const struct load_rates *rates)
{
	const struct load_unit *unit = load_unit_for(rates->items[0].summary.mean_ns);
	bool in_shares = load_rates_in_shares(rates);
	_cleanup_(freep) char *heading = text_format(
		"Rate of work [/%s%s]", unit->name, in_shares ? ", all: in shares" : "");
	const struct column columns[] = {{"Script"}, {"Slaves", COLUMN_NUMBER},
		{heading, COLUMN_NUMBER}, {"CV", COLUMN_NUMBER}, {"95 % CI", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < (in_shares ? rates->n : 1); i++) {
		const struct load_rate *rate = &rates->items[i];
		const char *interval = load_rate_interval_text(rate, unit), *cv = NULL;

		if (interval)
			cv = text_percent(rate->summary.sd_ns / rate->summary.mean_ns);
		table_row(table, columns, script_cell(rate), NUMBER(rate->workers),
			TEXT(load_rate_text(rate, unit)), TEXT(cv), TEXT(interval));
	}
	table_write(table, TABLE_MARKDOWN, file);
}

static void write_markdown_comparison(FILE *file, const struct load_comparison *c)
{
	const struct load_unit *unit = load_unit_for(c->items[0].a->summary.mean_ns);
	_cleanup_(freep) char *a = text_format(
		"Run %" PRId64 " [/%s]", c->a->result.discarding.run.id, unit->name);
	_cleanup_(freep) char *b = text_format(
		"Run %" PRId64 " [/%s]", c->b->result.discarding.run.id, unit->name);
	const struct column columns[] = {
		{load_rates_in_shares(&c->rates_b) ? "Script (all: in shares)" : "Script"},
		{"Slaves", COLUMN_NUMBER}, {a, COLUMN_NUMBER}, {b, COLUMN_NUMBER},
		{"Ratio", COLUMN_NUMBER}, {"95 % CI", COLUMN_NUMBER}, {"Verdict"}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < c->n; i++) {
		const struct load_pair *pair = &c->items[i];
		double low = pair->comparison.ratio_low, high = pair->comparison.ratio_high;

		table_row(table, columns, script_cell(pair->b), NUMBER(pair->b->workers),
			TEXT(load_rate_text(pair->a, unit)), TEXT(load_rate_text(pair->b, unit)),
			REAL("%.3f", pair->comparison.ratio),
			TEXT(ratio_interval_text(low, high, 3, " … ")),
			TEXT(comparison_verdict_text(&pair->times)));
	}
	table_write(table, TABLE_MARKDOWN, file);
}

void load_write_markdown(FILE *file, const struct load_reports *reports)
{
	if (reports->comparison)
		write_markdown_comparison(file, reports->comparison);
	else
		write_markdown_rates(file, &reports->items[0]->rates);
}
