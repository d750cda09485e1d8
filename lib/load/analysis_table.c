/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A load as CSV and as a table in Markdown: see load.h. */
#include "lib/load/load_show.h"

#include "lib/base/markup.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/report/comparison_report.h"

#include <inttypes.h>
#include <math.h>

static const char csv_heading[] =
	"run,load,coordination,sample,kept,time_to_last,slave,script,repetitions,rate,started,finished,last,pt,user,system,"
	"wait,io_wait,major_faults,max_rss_bytes\n";

/* Seconds, as in the CSV of emp-measure; below 0: not known. */
static void csv_time(FILE *file, int64_t ns)
{
	if (ns >= 0)
		fprintf(file, ",%.9f", (double)ns / 1e9);
	else
		fputc(',', file);
}

static void csv_number(FILE *file, int64_t value)
{
	if (value >= 0)
		fprintf(file, ",%" PRId64, value);
	else
		fputc(',', file);
}

static void csv_slave(FILE *file, const struct load_report *p, const struct sample *sample, bool out,
	const struct sample_program *part)
{
	const struct run *run = &p->result.discarding.run;

	fprintf(file, "%" PRId64 ",", run->id);
	markup_csv(file, terminal_text(run->program));
	fprintf(file, ",%s,%" PRIu32 ",%d", coordination_names[p->load.coordination], sample->n, !out);
	csv_time(file, sample->et_ns);
	fprintf(file, ",%" PRIu32 ",", part->program);
	markup_csv(file, terminal_text(p->programs[part->program - 1].name));
	csv_number(file, part->repetitions);
	fprintf(file, ",%.9f", load_rate_of_slave(p->load.coordination, sample, part));
	csv_time(file, part->start_ns - sample->start_ns);
	csv_time(file, part->finished_ns);
	csv_time(file, part->et_ns);
	csv_time(file, part->pt_ns);
	csv_time(file, part->user_ns);
	csv_time(file, part->system_ns);
	csv_time(file, part->wait_ns);
	csv_time(file, part->io_wait_ns);
	csv_number(file, part->major_faults);
	csv_number(file, part->max_rss_bytes);
	fputc('\n', file);
}

static void csv_load(FILE *file, const struct load_report *p)
{
	const struct run_result *r = &p->result;

	for (size_t i = 0, k = 0; i < p->n_parts; i++) {
		while (k < r->n_samples && r->samples[k].n < p->parts[i].sample)
			k++;
		if (k < r->n_samples && r->samples[k].n == p->parts[i].sample)
			csv_slave(file, p, &r->samples[k], r->discarding.out[k], &p->parts[i]);
	}
}

void load_write_csv(FILE *file, const struct load_reports *reports)
{
	fputs(csv_heading, file);
	for (size_t i = 0; i < reports->n; i++)
		csv_load(file, reports->items[i]);
}

static void markdown_script(FILE *file, const struct load_rate *rate)
{
	fputs("| ", file);
	rate->script ? markup_markdown(file, terminal_text(rate->script)) : (void)fputs("all", file);
	fprintf(file, " | %" PRId64, rate->slaves);
}

/* "12.26 ± 0.29" */
static void markdown_rate(FILE *file, const struct load_rate *rate, const struct load_unit *unit)
{
	double scale = unit->seconds / 1e9;
	int decimals = load_rate_decimals(rate, unit);

	fprintf(file, " | %.*f", decimals, rate->summary.mean_ns * scale);
	if (rate->summary.n > 1)
		fprintf(file, " ± %.*f", decimals, rate->summary.sd_ns * scale);
}

static void markdown_row(FILE *file, const struct load_rate *rate, const struct load_unit *unit)
{
	double scale = unit->seconds / 1e9, mean = rate->summary.mean_ns;
	int decimals = load_rate_decimals(rate, unit);
	char cv[TEXT_TIME_SIZE];

	markdown_script(file, rate);
	markdown_rate(file, rate, unit);
	if (rate->summary.n > 1 && mean > 0)
		fprintf(file, " | %s | %.*f … %.*f |\n", text_percent(cv, rate->summary.sd_ns / mean),
			decimals, rate->interval.low_ns * scale, decimals, rate->interval.high_ns * scale);
	else
		fputs(" | - | - |\n", file);
}

static void markdown_load(FILE *file, const struct load_report *p)
{
	const struct load_unit *unit = load_unit_for(p->rates.items[0].summary.mean_ns);

	fprintf(file,
		"| Script | Slaves | Rate of work [/%s%s] | CV | 95 %% CI |\n|:---|---:|---:|---:|---:|\n",
		unit->name, load_rates_in_shares(&p->rates) ? ", all: in shares" : "");
	for (size_t i = 0; i < p->rates.n; i++)
		if (i == 0 || load_rates_in_shares(&p->rates))
			markdown_row(file, &p->rates.items[i], unit);
}

static void markdown_pair(FILE *file, const struct load_pair *pair, const struct load_unit *unit)
{
	const struct comparison *c = &pair->comparison, times = load_pair_as_times(pair);

	markdown_script(file, pair->b);
	markdown_rate(file, pair->a, unit);
	markdown_rate(file, pair->b, unit);
	fprintf(file, " | %.3f | ", c->ratio);
	if (isnan(c->ratio_low))
		fputc('-', file);
	else
		fprintf(file, "%.3f … %.3f", c->ratio_low, c->ratio_high);
	fprintf(file, " | %s |\n", comparison_verdict_text(&times));
}

static void markdown_comparison(FILE *file, const struct load_comparison *c)
{
	const struct load_unit *unit = load_unit_for(c->items[0].a->summary.mean_ns);

	fprintf(file,
		"| Script%s | Slaves | Run %" PRId64 " [/%s] | Run %" PRId64
		" [/%s] | Ratio | 95 %% CI | Verdict |\n|:---|---:|---:|---:|---:|---:|:---|\n",
		load_rates_in_shares(&c->rates_b) ? " (all: in shares)" : "", c->a->result.discarding.run.id,
		unit->name, c->b->result.discarding.run.id, unit->name);
	for (size_t i = 0; i < c->n; i++)
		markdown_pair(file, &c->items[i], unit);
}

void load_write_markdown(FILE *file, const struct load_reports *reports)
{
	if (reports->comparison)
		markdown_comparison(file, reports->comparison);
	else
		markdown_load(file, reports->items[0]);
}
