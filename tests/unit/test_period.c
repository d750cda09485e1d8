/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a daemon comes round. */
#include "tests/unit/check.h"

#include "lib/base/cleanup.h"
#include "lib/protocol/period.h"

#include <string.h>

static struct period find(const uint32_t *at, size_t n_at, size_t n)
{
	return period_find(at, n_at, n);
}

#define FIND(n, ...) \
	find((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), n)

/* rhn_check of EMP, Table IX. */
TEST(equal_gaps_within_their_slack_are_a_firm_period)
{
	struct period p = FIND(800, 75, 186, 298, 410, 522, 634, 746);

	assert_true(p.samples == 112);
	assert_true(p.firm);
	assert_int_equal(p.occurrences, 7);
}

/* flush-9:0 (75, 634) has one, bash (366, 451) has none: it would have come before 366 and after 451. */
TEST(two_occurrences_are_tentative_and_none_may_be_missing)
{
	struct period flush = FIND(800, 75, 634), bash = FIND(800, 366, 451);

	assert_true(flush.samples == 559 && !flush.firm);
	assert_true(bash.samples == 0);
}

/* The chances are those of 200000 draws by another program. */
TEST(a_period_that_chance_often_makes_is_not_firm)
{
	struct period two = FIND(800, 75, 634), three = FIND(800, 100, 370, 640), few = FIND(20, 4, 10, 16),
		      many = FIND(800, 75, 186, 298, 410, 522, 634, 746);
	char why[PERIOD_WHY_SIZE];

	assert_true(two.chance > 0.30 && two.chance < 0.40);
	assert_true(three.chance < 0.05 && three.firm);
	assert_true(few.samples == 6 && few.chance > 0.05 && !few.firm);
	assert_true(many.chance == 0);
	assert_string_equal(period_why(why, &many), "firm (7 times; by chance in under 0.1 %)");
	assert_int_equal(strncmp(period_why(why, &two), "tentative (2 times; by chance in 3", 34), 0);
}

TEST(an_occurrence_missing_before_or_behind_is_no_period)
{
	assert_true(FIND(100, 40, 50, 60, 70, 80, 90, 100).samples == 0);
	assert_true(FIND(100, 5, 15, 25, 35).samples == 0);
	assert_true(FIND(100, 9, 19, 29, 39, 49, 59, 69, 79, 89, 99).samples == 10);
}

TEST(irregular_gaps_are_no_period)
{
	assert_true(FIND(100, 10, 20, 45, 90).samples == 0);
}

TEST(once_or_never_is_no_period)
{
	assert_true(FIND(100, 50).samples == 0);
	assert_true(period_find(NULL, 0, 100).samples == 0);
}

/* It began in one sample and ended in the next. */
TEST(what_runs_across_the_border_of_two_samples_ran_once)
{
	struct period p = FIND(100, 20, 21, 40, 60, 61, 80);

	assert_true(p.samples == 20);
	assert_int_equal(p.occurrences, 4);
	assert_true(p.firm);
}
