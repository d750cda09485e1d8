/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often a calendar timer elapses, out of what systemd-analyze prints. */
#include "tests/unit/check.h"

#include "lib/host/systemd/units.h"

#define HOUR INT64_C(3600000000000)

TEST(equal_distances_are_a_period)
{
	assert_int_equal(timer_period("  Original form: *-*-* 06,18:00\n"
				      "Normalized form: *-*-* 06,18:00:00\n"
				      "    Next elapse: Sat 2026-11-21 06:00:00 UTC\n"
				      "       From now: 3h 49min left\n"
				      "       Iter. #2: Sat 2026-11-21 18:00:00 UTC\n"
				      "       From now: 15h left\n"
				      "       Iter. #3: Sun 2026-11-22 06:00:00 UTC\n"),
		12 * HOUR);
}

TEST(a_local_time_stands_before_its_utc_and_is_counted_once)
{
	assert_int_equal(timer_period("    Next elapse: Mon 2026-11-23 06:00:00 CET\n"
				      "       (in UTC): Mon 2026-11-23 05:00:00 UTC\n"
				      "   Iteration #2: Mon 2026-11-30 06:00:00 CET\n"
				      "       (in UTC): Mon 2026-11-30 05:00:00 UTC\n"),
		168 * HOUR);
}

TEST(unequal_distances_or_too_few_are_none)
{
	assert_int_equal(timer_period("Next elapse: Fri 2026-11-20 06:00:00 UTC\n"
				      "Iter. #2: Mon 2026-11-23 06:00:00 UTC\n"
				      "Iter. #3: Tue 2026-11-24 06:00:00 UTC\n"),
		0);
	assert_int_equal(timer_period("Next elapse: Fri 2026-11-20 06:00:00 UTC\n"), 0);
	assert_int_equal(timer_period("Next elapse: never\n"), 0);
	assert_int_equal(timer_period(""), 0);
}
