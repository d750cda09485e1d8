/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A load as CSV and as a table in Markdown: see load_show.h. */
#include "lib/load/load_show.h"

#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/report/comparison_report.h"

#include <inttypes.h>
#include <math.h>

/* Seconds, as in the CSV of emp-measure; below 0: not known. */
static void csv_time(struct table *table, int64_t ns)
{
	table_cell_value(table, ns < 0 ? NULL : json_real((double)ns / 1e9), NULL);
}

static void csv_number(struct table *table, int64_t value)
{
	table_cell_value(table, value < 0 ? NULL : json_integer(value), NULL);
}

void load_write_csv(FILE *file, const struct load_reports *reports)
{
	static const struct column columns[] = {{.member = "run"}, {.member = "load"},
		{.member = "coordination"}, {.member = "sample"}, {.member = "kept"},
		{.member = "time_to_last"}, {.member = "slave"}, {.member = "script"},
		{.member = "repetitions"}, {.member = "rate"}, {.member = "started"}, {.member = "finished"},
		{.member = "last"}, {.member = "pt"}, {.member = "user"}, {.member = "system"},
		{.member = "wait"}, {.member = "io_wait"}, {.member = "major_faults"},
		{.member = "max_rss_bytes"}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t at = 0; at < reports->n; at++) {
		const struct load_report *p = reports->items[at];
		const struct run_result *r = &p->result;

		for (size_t i = 0, k = 0; i < p->n_parts; i++) {
			while (k < r->n_samples && r->samples[k].n < p->parts[i].sample)
				k++;
			if (k < r->n_samples && r->samples[k].n == p->parts[i].sample) {
				const struct sample_program *part = &p->parts[i];
				const struct run *run = &p->result.discarding.run;

				table_row(table);
				table_cell_int(table, run->id);
				table_cell_text(table, terminal_text(run->program));
				table_cell_text(table, coordination_names[p->load.coordination]);
				table_cell_int(table, r->samples[k].n);
				table_cell_int(table, !r->discarding.out[k]);
				csv_time(table, r->samples[k].et_ns);
				table_cell_int(table, part->program);
				table_cell_text(table, terminal_text(p->programs[part->program - 1].name));
				csv_number(table, part->repetitions);
				table_cell(table, "%.9f",
					load_rate_of_slave(p->load.coordination, &r->samples[k], part));
				csv_time(table, part->start_ns - r->samples[k].start_ns);
				csv_time(table, part->finished_ns);
				csv_time(table, part->et_ns);
				csv_time(table, part->pt_ns);
				csv_time(table, part->user_ns);
				csv_time(table, part->system_ns);
				csv_time(table, part->wait_ns);
				csv_time(table, part->io_wait_ns);
				csv_number(table, part->major_faults);
				csv_number(table, part->max_rss_bytes);
			}
		}
	}
	table_write(table, TABLE_CSV, file);
}

static void markdown_script(struct table *table, const struct load_rate *rate)
{
	table_row(table);
	if (rate->script)
		table_cell_code(table, rate->script);
	else
		table_cell_text(table, "all");
	table_cell_int(table, rate->slaves);
}

/* "12.26 ± 0.29" */
static void markdown_rate(struct table *table, const struct load_rate *rate, const struct load_unit *unit)
{
	double scale = unit->seconds / 1e9;
	int decimals = load_rate_decimals(rate, unit);

	if (rate->summary.n > 1)
		table_cell(table, "%.*f ± %.*f", decimals, rate->summary.mean_ns * scale, decimals,
			rate->summary.sd_ns * scale);
	else
		table_cell(table, "%.*f", decimals, rate->summary.mean_ns * scale);
}

void load_write_markdown(FILE *file, const struct load_reports *reports)
{
	if (reports->comparison) {
		const struct load_comparison *c = reports->comparison;
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
			const struct comparison *pair = &c->items[i].comparison,
						times = load_pair_as_times(&c->items[i]);

			markdown_script(table, c->items[i].b);
			markdown_rate(table, c->items[i].a, unit);
			markdown_rate(table, c->items[i].b, unit);
			table_cell(table, "%.3f", pair->ratio);
			if (isnan(pair->ratio_low))
				table_cell_text(table, NULL);
			else
				table_cell(table, "%.3f … %.3f", pair->ratio_low, pair->ratio_high);
			table_cell_text(table, comparison_verdict_text(&times));
		}
		table_write(table, TABLE_MARKDOWN, file);
	} else {
		const struct load_unit *unit = load_unit_for(
			reports->items[0]->rates.items[0].summary.mean_ns);
		bool in_shares = load_rates_in_shares(&reports->items[0]->rates);
		_cleanup_(freep) char *heading = text_format(
			"Rate of work [/%s%s]", unit->name, in_shares ? ", all: in shares" : "");
		const struct column columns[] = {{"Script"}, {"Slaves", COLUMN_NUMBER},
			{heading, COLUMN_NUMBER}, {"CV", COLUMN_NUMBER}, {"95 % CI", COLUMN_NUMBER}, {}};
		_cleanup_(table_freep) struct table *table = table_new(columns);

		for (size_t i = 0; i < (in_shares ? reports->items[0]->rates.n : 1); i++) {
			const struct load_rate *rate = &reports->items[0]->rates.items[i];
			double scale = unit->seconds / 1e9, mean = rate->summary.mean_ns;
			bool known = rate->summary.n > 1 && mean > 0;
			int decimals = load_rate_decimals(rate, unit);
			char cv[TEXT_TIME_SIZE];

			markdown_script(table, rate);
			markdown_rate(table, rate, unit);
			table_cell_text(table, known ? text_percent(cv, rate->summary.sd_ns / mean) : NULL);
			if (known)
				table_cell(table, "%.*f … %.*f", decimals, rate->interval.low_ns * scale,
					decimals, rate->interval.high_ns * scale);
			else
				table_cell_text(table, NULL);
		}
		table_write(table, TABLE_MARKDOWN, file);
	}
}
