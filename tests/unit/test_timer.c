/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often a calendar timer elapses, out of what systemd-analyze prints. */
#include "tests/unit/check.h"

#include "lib/host/systemd/units.h"

#define HOUR INT64_C(3600000000000)

TEST(equal_distances_are_a_period)
{
	static const struct {
		const char *printed;
		int64_t period_ns;
	} rows[] = {
		{"  Original form: *-*-* 06,18:00\n"
		 "Normalized form: *-*-* 06,18:00:00\n"
		 "    Next elapse: Sat 2026-11-21 06:00:00 UTC\n"
		 "       From now: 3h 49min left\n"
		 "       Iter. #2: Sat 2026-11-21 18:00:00 UTC\n"
		 "       From now: 15h left\n"
		 "       Iter. #3: Sun 2026-11-22 06:00:00 UTC\n",
			12 * HOUR},
		/* a local time stands before its UTC and is counted once */
		{"    Next elapse: Mon 2026-11-23 06:00:00 CET\n"
		 "       (in UTC): Mon 2026-11-23 05:00:00 UTC\n"
		 "   Iteration #2: Mon 2026-11-30 06:00:00 CET\n"
		 "       (in UTC): Mon 2026-11-30 05:00:00 UTC\n",
			168 * HOUR},
		/* unequal distances or too few are none */
		{"Next elapse: Fri 2026-11-20 06:00:00 UTC\n"
		 "Iter. #2: Mon 2026-11-23 06:00:00 UTC\n"
		 "Iter. #3: Tue 2026-11-24 06:00:00 UTC\n",
			0},
		{"Next elapse: Fri 2026-11-20 06:00:00 UTC\n", 0},
		{"Next elapse: never\n", 0},
		{"", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(timer_period(rows[i].printed), rows[i].period_ns);
}
