/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long CPUs were idle, out of a made-up /proc/stat. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/base/text.h"
#include "lib/host/cpu/cpus.h"

#include <unistd.h>

static const char stat_of_three[] = "cpu  9 9 9 9000 900 9 9 9 0 0\n"
				    "cpu0 1 2 3 1000 100 6 7 8 0 0\n"
				    "cpu1 1 2 3 2000 200 6 7 8 0 0\n"
				    "cpu3 1 2 3 4000 400 6 7 8 0 0\n"
				    "intr 1 2 3\n";

TEST_IN_TREE(the_idle_time_of_the_named_cpus_that_are_online_is_added_up)
{
	int64_t tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
	cpu_set_t cpus;
	int n;

	CPU_ZERO(&cpus);
	assert_int_equal(idle_time_ns(&cpus, tree.fd, &n), -1);
	tree_put("proc/stat", stat_of_three);
	assert_int_equal(idle_time_ns(&cpus, tree.fd, &n), -1);
	CPU_SET(1, &cpus);
	CPU_SET(2, &cpus);
	CPU_SET(3, &cpus);
	assert_int_equal(idle_time_ns(&cpus, tree.fd, &n), 6600 * tick_ns);
	assert_int_equal(n, 2);
}
