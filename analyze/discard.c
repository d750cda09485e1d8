/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze discard: which samples of a run go by a profile, why, and what is left (EMP, Tables XVII and
 * XVIII). */
#include "analyze/analyze.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/report/results_json.h"

#include <inttypes.h>

static const char *profile_name;

const struct option_row discard_options[] = {
	{.name = "profile", .value = "NAME", .summary = "the profile of cutoffs", .into = &profile_name},
	{},
};

static void cell_precise(struct table *table, double ns, double sd_ns)
{
	char text[TEXT_TIME_SIZE];

	table_cell(table, "%s", text_precise(text, ns, sd_ns));
}

static void add_row(struct table *table, const char *what, const struct summary *s)
{
	table_row(table);
	table_cell(table, "%s", what);
	table_cell(table, "%zu", s->n);
	cell_precise(table, (double)s->min_ns, s->sd_ns);
	cell_precise(table, (double)s->max_ns, s->sd_ns);
	cell_precise(table, s->mean_ns, s->sd_ns);
	cell_precise(table, s->sd_ns, 0);
	table_cell(table, "%.2g", s->relative_error);
}

static int print_statistics(const struct discarding *d, struct error *err)
{
	static const struct column columns[] = {
		{""},
		{"SAMPLES", COLUMN_NUMBER},
		{"MIN", COLUMN_NUMBER},
		{"MAX", COLUMN_NUMBER},
		{"MEAN", COLUMN_NUMBER},
		{"SD", COLUMN_NUMBER},
		{"SD / MEAN", COLUMN_NUMBER},
		{},
	};
	_cleanup_(table_freep) struct table *table = NULL;
	int r;

	r = table_new(&table, columns, err);
	if (r < 0)
		return r;
	add_row(table, "PT, all samples", &d->pt.raw);
	add_row(table, "PT, after the cutoffs", &d->pt.by_cutoff);
	add_row(table, "PT, after two sd", &d->pt.clean);
	add_row(table, "ET, all samples", &d->et.raw);
	add_row(table, "ET, after the cutoffs", &d->et.by_cutoff);
	add_row(table, "ET, after two sd", &d->et.clean);
	return table_print(table, stdout, err);
}

static void print_two_sd(const char *clock, const struct clock_discarding *c)
{
	char mean[TEXT_TIME_SIZE], sd[TEXT_TIME_SIZE];

	if (c->n_by_two_sd == 0)
		return;
	printf("%zu more because their %s is over two sd (of %s) from the mean of the rest (%s): sample%s",
		c->n_by_two_sd, clock, text_precise(sd, c->by_cutoff.sd_ns, 0),
		text_precise(mean, c->by_cutoff.mean_ns, c->by_cutoff.sd_ns), c->n_by_two_sd == 1 ? "" : "s");
	for (size_t i = 0; i < c->n_by_two_sd; i++)
		printf(" %" PRIu32, c->by_two_sd[i]);
	printf("\n");
}

static int print_discarding(const struct discarding *d, struct error *err)
{
	char mean[TEXT_TIME_SIZE];

	printf("Run %" PRId64 " (%s, mean ET %s) against profile '%s'\n", d->run.id, d->run.program,
		text_precise(mean, (double)d->mean_et_ns, d->et.by_cutoff.sd_ns), profile_name);
	printf("%zu of %zu samples go because a daemon ran longer than its cutoff%s\n", d->n_by_cutoff,
		d->pt.raw.n, d->n_over > 0 ? ":" : "");
	for (size_t i = 0; i < d->n_over; i++)
		print_over(&d->over[i]);
	for (size_t i = 0; i < d->n_incomplete; i++)
		printf("  sample %" PRIu32 ": incomplete, records of processes that ended were lost\n",
			d->incomplete[i]);
	print_two_sd("PT", &d->pt);
	print_two_sd("ET", &d->et);
	return print_statistics(d, err);
}

int verb_discard(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(discarding_clearp) struct discarding d = {};
	_cleanup_(json_decrefp) json_t *document = NULL;
	int64_t run;
	int r;

	r = analyze_need_profile(profile_name, err);
	if (r == 0)
		r = analyze_parse_run(argv[0], "RUN", &run, err);
	if (r == 0)
		r = analyze_open_book(BOOK_READ, &book, err);
	if (r == 0)
		r = analyze_discard(book, run, profile_name, &d, err);
	if (r < 0)
		return r;
	if (!analyze_options.json)
		return print_discarding(&d, err);
	document = discarding_as_json(&d);
	return json_print(document, stdout, err);
}
