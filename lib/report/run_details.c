/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The details that are not on the first screen: see run_screen.h. */
#include "lib/base/saturate.h"
#include "lib/base/table.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/protocol/names.h"
#include "lib/report/run_screen.h"

#include <string.h>

/* The most samples discarded for their times alone, and the most other processes, that get a line each. */
enum { MOST_LINES = 10 };

static void print_over(FILE *file, const struct over_cutoff *o, const char *limit)
{
	char pt[TEXT_TIME_SIZE], cutoff[TEXT_TIME_SIZE];

	fprintf(file, "  sample %u: %s%s%s%s used %s, %s %s\n", o->sample, terminal_text(o->daemon),
		o->unit ? " (" : "", terminal_text(o->unit) ?: "", o->unit ? ")" : "",
		text_duration(pt, o->pt_ns), limit, text_duration(cutoff, o->cutoff_ns));
}

static void print_outliers(FILE *file, const struct run_result *r, bool et)
{
	const struct clock_discarding *c = et ? &r->discarding.et : &r->discarding.pt;
	const char *name = et ? "ET" : "PT";
	char time[TEXT_TIME_SIZE];

	for (size_t i = 0; i < r->n_samples && c->n_by_two_sd <= MOST_LINES; i++)
		if (!c->in_papers[i] && !r->discarding.out[i])
			fprintf(file, "  sample %u: %s %s is more than 2 sd from the mean%s\n",
				r->samples[i].n, name,
				text_precise(time, (double)(et ? r->samples[i].et_ns : r->samples[i].pt_ns),
					c->kept.sd_ns),
				" (papers' check)");
	if (c->n_by_two_sd > MOST_LINES)
		fprintf(file, "  %zu samples: %s is more than 2 sd from the mean (--json lists them)\n",
			c->n_by_two_sd, name);
}

static void print_discards(FILE *file, const struct run_result *r)
{
	const struct discarding *d = &r->discarding;

	for (size_t i = 0; i < d->n_over; i++)
		print_over(file, &d->over[i], "cutoff");
	for (size_t i = 0; i < d->n_unprofiled; i++)
		print_over(file, &d->unprofiled[i], "unprofiled; allowed");
	for (size_t i = 0; i < d->n_incomplete; i++)
		fprintf(file, "  sample %u: incomplete: records of processes that ended were lost\n",
			d->incomplete[i]);
	print_outliers(file, r, false);
	print_outliers(file, r, true);
}

static void print_stages(FILE *file, const char *label, const struct clock_discarding *c, const char *unit)
{
	char mean[TEXT_PAIR_SIZE], range[TEXT_PAIR_SIZE], cv[TEXT_TIME_SIZE];

	if (c->raw.n != c->kept.n && c->raw.n > 1)
		fprintf(file, "  %s of all samples: %s, CV %s, range %s\n", label,
			text_mean_sd(mean, c->raw.mean_ns, c->raw.sd_ns, unit),
			text_percent(cv, c->raw.relative_error),
			text_interval(range, (double)c->raw.min_ns, (double)c->raw.max_ns, 0, unit));
	if (c->papers.n != c->kept.n && c->papers.n > 1)
		fprintf(file, "  %s as in the papers: %s, CV %s\n", label,
			text_mean_sd(mean, c->papers.mean_ns, c->papers.sd_ns, unit),
			text_percent(cv, c->papers.relative_error));
}

static void add_other(struct table *table, const struct daemon_statistics *o)
{
	char label[FAMILY_LABEL_SIZE];

	table_row(table);
	table_cell(table, "  %s", name_family_label(label, o->name, o->names));
	table_cell_text(table, o->unit ?: "-");
	table_cell_duration(table, o->disturbed_ns);
	table_cell_duration(table, o->total_ns);
	table_cell_duration(table, o->max_ns);
	table_cell(table, "%u", o->max_sample);
	table_cell_text(table, o->profiled ? "yes" : "no");
}

static int print_others(FILE *file, const struct daemons *others, struct error *err)
{
	static const struct column columns[] = {
		{"  CPU USED BY"},
		{"UNIT", COLUMN_WRAP},
		{"DISTURBED", COLUMN_NUMBER},
		{"TOTAL", COLUMN_NUMBER},
		{"LONGEST", COLUMN_NUMBER},
		{"SAMPLE", COLUMN_NUMBER},
		{"IN PROFILE"},
		{},
	};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	if (others->n == 0)
		return 0;
	for (size_t i = 0; i < others->n && i < MOST_LINES; i++)
		add_other(table, &others->items[i]);
	table_print(table, file);
	if (others->n > MOST_LINES)
		fprintf(file, "  and %zu more\n", others->n - MOST_LINES);
	return 0;
}

static int print_disturbances(FILE *file, const struct disturbances *all, struct error *err)
{
	for (size_t i = 0; i < all->n; i++) {
		_cleanup_(freep) char *text = disturbance_description(all, &all->items[i]);

		if (!text)
			return error_oom(err);
		fputs("  Warning:", file);
		terminal_wrap(file, text, strlen("  Warning:"), 4);
	}
	return 0;
}

static void print_sums(FILE *file, const struct run_result *r)
{
	int64_t observer_ns = 0, lost = 0, left_behind = 0, n = 0;
	char time[TEXT_TIME_SIZE];

	for (size_t i = 0; i < r->n_samples; i++) {
		lost = saturate_add(lost, r->samples[i].lost);
		left_behind += r->samples[i].left_behind;
		if (r->samples[i].observer_ns < 0)
			continue;
		observer_ns = saturate_add(observer_ns, r->samples[i].observer_ns);
		n++;
	}
	if (lost > 0)
		fprintf(file, "  Warning: %lld records of processes that ended were lost\n", (long long)lost);
	if (left_behind > 0)
		fprintf(file, "  The program left %lld process%s behind, in all samples\n",
			(long long)left_behind, left_behind == 1 ? "" : "es");
	if (n > 0)
		fprintf(file, "  Accounting: %s, %s of CPU time per sample; PT from %s\n",
			terminal_text(r->discarding.run.backend) ?: "imported",
			text_duration(time, observer_ns / n),
			terminal_text(r->discarding.run.pt_source) ?: "an import");
}

int run_details_print(FILE *file, const struct run_result *r, const char *unit, struct error *err)
{
	int result;

	print_discards(file, r);
	print_stages(file, "PT", &r->discarding.pt, unit);
	print_stages(file, "ET", &r->discarding.et, unit);
	result = print_others(file, &r->discarding.others, err);
	if (result == 0)
		result = print_disturbances(file, &r->disturbances, err);
	if (result == 0)
		print_sums(file, r);
	return result;
}
