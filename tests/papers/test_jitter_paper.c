/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table I of De, Kothari and Mann (2007), an hour of Fedora Core 5: what its columns of counts and
 * totals give must come out in its other columns. */
#include "tests/papers/csv.h"
#include "tests/unit/check.h"

#include "lib/jitter/jitter_table.h"

#include <math.h>

/* The paper's rows as a run has them; the squares, which it does not give, are those of equal
 * lengths. */
struct paper {
	struct csv csv;
	struct source *names;
	struct jitter_source *rows;
	struct jitter_table table;
};

static int64_t ns(double us)
{
	return llround(us * 1000);
}

static int read_table(void **state)
{
	struct paper *p = calloc(1, sizeof(*p));
	struct error err;

	p->csv = csv_read("jitter-table-01-fc5.csv");
	p->names = calloc(p->csv.n_rows, sizeof(*p->names));
	p->rows = calloc(p->csv.n_rows, sizeof(*p->rows));
	for (size_t i = 0; i < p->csv.n_rows; i++) {
		size_t from = p->csv.n_rows - 1 - i; /* in another order than the table's */
		double total = csv_number(&p->csv, from, "total_us"),
		       count = csv_number(&p->csv, from, "count");

		p->names[i] = (struct source){(int64_t)i + 1,
			(char *)csv_text(&p->csv, from, "source"), NULL, NULL, SOURCE_PROCESS};
		p->rows[i] = (struct jitter_source){.level = JITTER_FREQUENCY,
			.source = (uint32_t)i + 1,
			.count = (int64_t)count,
			.min_ns = ns(csv_number(&p->csv, from, "min_us")),
			.max_ns = ns(csv_number(&p->csv, from, "max_us")),
			.total_ns = ns(total),
			.squares_ns2 = 1e6 * total * total / count};
	}
	assert_int_equal(
		jitter_table_make(&p->table,
			&(struct jitter){.sources = p->rows, .n_sources = p->csv.n_rows},
			JITTER_FREQUENCY, &(struct sources){p->names, p->csv.n_rows}, &err),
		0);
	*state = p;
	return 0;
}

static int leave(void **state)
{
	struct paper *p = *state;

	jitter_table_clear(&p->table);
	csv_clear(&p->csv);
	free(p->names);
	free(p->rows);
	free(p);
	return 0;
}

static void its_order_is_that_of_the_totals(void **state)
{
	struct paper *p = *state;

	assert_int_equal(p->table.n, 24);
	for (size_t i = 0; i < p->table.n; i++)
		assert_string_equal(p->table.rows[i].source->name, csv_text(&p->csv, i, "source"));
}

static void its_means_and_shares_follow_from_its_totals(void **state)
{
	struct paper *p = *state;

	for (size_t i = 0; i < p->table.n; i++) {
		const struct jitter_row *row = &p->table.rows[i];
		double mean = csv_number(&p->csv, i, "mean_us"),
		       share = csv_number(&p->csv, i, "share_pct");

		if (fabs(row->mean_ns / 1000 - mean) > 0.0101)
			fail_msg("%s: mean %g, not %g us", row->source->name, row->mean_ns / 1000,
				mean);
		if (fabs(100 * row->share - share) > 0.0101)
			fail_msg("%s: %g, not %g %%", row->source->name, 100 * row->share, share);
	}
}

/* No values between min and max have an sd of more than half their range, times sqrt(n / (n -
 * 1)). */
static void its_standard_deviations_are_impossible(void **state)
{
	struct paper *p = *state;
	size_t impossible = 0, several = 0;

	for (size_t i = 0; i < p->table.n; i++) {
		const struct jitter_row *row = &p->table.rows[i];
		double n = (double)row->count,
		       range_us = (double)(row->max_ns - row->min_ns) / 1000;

		several += n > 1;
		impossible += n > 1 &&
			      csv_number(&p->csv, i, "sd_us") > range_us / 2 * sqrt(n / (n - 1));
		assert_true(row->sd_ns < 1); /* ours, of equal lengths */
	}
	assert_int_equal(several, 22);
	assert_int_equal(impossible, 22);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_order_is_that_of_the_totals),
		cmocka_unit_test(its_means_and_shares_follow_from_its_totals),
		cmocka_unit_test(its_standard_deviations_are_impossible),
	};

	return cmocka_run_group_tests(tests, read_table, leave);
}
