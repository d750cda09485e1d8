/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table I of a jitter run, and who is in a peak. */
#include "tests/unit/made_up_jitter.h"

#include "lib/jitter/jitter_table.h"

#include <errno.h>
#include <math.h>

static struct error err;

static const struct source names[] = {
	{MADE_UP_TIMER, (char *)"local_timer", NULL, NULL, SOURCE_VECTOR},
	{MADE_UP_SOFTIRQ, (char *)"softirq:TIMER", NULL, NULL, SOURCE_SOFTIRQ},
	{MADE_UP_BACKUP, (char *)"backupd", NULL, (char *)"backup.service", SOURCE_PROCESS},
	{MADE_UP_BOTH, (char *)"local_timer_backupd", NULL, NULL, SOURCE_COMBINATION},
};
static const struct sources sources = {(struct source *)names, ELEMENTS(names)};

TEST(single_sources_come_largest_first_with_their_shares)
{
	const struct jitter jitter = made_up_jitter();
	struct jitter_table table = {};

	assert_int_equal(jitter_table_make(&table, &jitter, JITTER_FREQUENCY, &sources, &err), 0);
	assert_int_equal(table.n, 3);
	assert_string_equal(table.rows[0].source->name, "backupd");
	assert_string_equal(table.rows[2].source->name, "softirq:TIMER");
	assert_int_equal(table.total_ns, 27750000);
	assert_true(fabs(table.rows[0].share - 25.0 / 27.75) < 1e-12);
	assert_int_equal(table.rows[1].count, 250);
	assert_int_equal(table.rows[1].min_ns, 8000);
	assert_int_equal(table.rows[1].max_ns, 14000);
	assert_int_equal(table.rows[1].period_ns, 4000000);
	jitter_table_clear(&table);
}

TEST(the_sd_is_that_of_the_lengths)
{
	struct jitter_source row = {
		1, JITTER_FREQUENCY, MADE_UP_TIMER, 3, 1000, 5000, 9000, 35e6, 1, 0, 0, 0};
	const struct jitter jitter = {.sources = &row, .n_sources = 1}; /* 1, 3 and 5 us */
	struct jitter_table table = {};

	assert_int_equal(jitter_table_make(&table, &jitter, JITTER_FREQUENCY, &sources, &err), 0);
	assert_true(fabs(table.rows[0].mean_ns - 3000) < 1e-9);
	assert_true(fabs(table.rows[0].sd_ns - 2000) < 1e-6);
	jitter_table_clear(&table);
}

TEST(cpus_are_added_up)
{
	struct jitter_source rows[] = {
		{0, JITTER_TIME, MADE_UP_TIMER, 2, 1000, 3000, 4000, 1e7, 2, 1, 1, 4000000},
		{1, JITTER_TIME, MADE_UP_TIMER, 1, 500, 500, 500, 25e4, 1, 1, 1, 0}};
	const struct jitter jitter = {.sources = rows, .n_sources = 2};
	struct jitter_table table = {};

	assert_int_equal(jitter_table_make(&table, &jitter, JITTER_TIME, &sources, &err), 0);
	assert_int_equal(table.n, 1);
	assert_int_equal(table.rows[0].count, 3);
	assert_int_equal(table.rows[0].min_ns, 500);
	assert_int_equal(table.rows[0].max_ns, 3000);
	assert_true(table.rows[0].rounds == 3);
	jitter_table_clear(&table);
}

TEST(a_source_that_the_book_does_not_have_is_named)
{
	struct jitter_source row = {1, JITTER_TIME, 7, 3, 1000, 5000, 9000, 35e6, 1, 0, 0, 0};
	const struct jitter jitter = {.sources = &row, .n_sources = 1};
	struct jitter_table table = {};

	assert_int_equal(jitter_table_make(&table, &jitter, JITTER_TIME, &sources, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "source 7"));
}

TEST(a_peak_has_the_sources_of_its_buckets)
{
	const struct jitter jitter = made_up_jitter();
	struct jitter_peak peak = {};

	assert_int_equal(jitter_peak_make(&peak, &jitter, 2400000, 2500000, &sources, &err), 0);
	assert_int_equal(peak.low_ns, 2000000); /* the edges of the bucket */
	assert_int_equal(peak.high_ns, 3000000);
	assert_int_equal(peak.table.n, 2);
	assert_string_equal(peak.table.rows[0].source->name, "backupd");
	assert_int_equal(peak.table.rows[0].count, 8);
	assert_string_equal(peak.table.rows[1].source->name, "local_timer_backupd");
	assert_int_equal(peak.gaps, 10);
	jitter_table_clear(&peak.table);
}

TEST(where_there_is_no_peak_there_is_nobody)
{
	const struct jitter jitter = made_up_jitter();
	struct jitter_peak peak = {};

	assert_int_equal(jitter_peak_make(&peak, &jitter, 50000, 60000, &sources, &err), 0);
	assert_int_equal(peak.table.n, 0);
	assert_int_equal(peak.gaps, 0);
	assert_int_equal(peak.low_ns, 50000);
	jitter_table_clear(&peak.table);
}

TEST(all_cpus_together_are_their_sums)
{
	struct jitter_cpu cpus[] = {
		{.cpu = 0, .rounds = 2, .sampled_ns = 10, .gaps = 3, .outside_kernel = -1},
		{.cpu = 1,
			.rounds = 3,
			.sampled_ns = 20,
			.gaps = 4,
			.outside_kernel = 5,
			.threshold_ns = 7}};
	struct jitter jitter = {.cpus = cpus, .n_cpus = 2};
	struct jitter_cpu all = jitter_all_cpus(&jitter);

	assert_int_equal(all.cpu, -1);
	assert_int_equal(all.rounds, 5);
	assert_int_equal(all.sampled_ns, 30);
	assert_int_equal(all.gaps, 7);
	assert_int_equal(all.outside_kernel, 5); /* of those where it is known */
	assert_int_equal(all.threshold_ns, 7);
	jitter.n_cpus = 1;
	assert_int_equal(jitter_all_cpus(&jitter).cpu, 0);
}
