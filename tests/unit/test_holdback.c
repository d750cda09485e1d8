/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What control groups do to a program, on made-up machines. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/host/process/holdback.h"

/* As Linux 6.12 writes them. */
#define CPU_STAT(throttled)                                                                      \
	"usage_usec 2000\nuser_usec 1500\nsystem_usec 500\nnice_usec 0\n"                        \
	"core_sched.force_idle_usec 0\nnr_periods 9\nnr_throttled 7\nthrottled_usec " #throttled \
	"\nnr_bursts 0\nburst_usec 0\n"
#define MEMORY_EVENTS(high, oom, kills) \
	"low 0\nhigh " #high "\nmax 0\noom " #oom "\noom_kill " #kills "\noom_group_kill 0\n"

static void put_v2(void)
{
	tree_put("proc/self/mountinfo",
		"25 20 0:22 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n");
	tree_put("proc/self/cgroup", "0::/docker/4f2a/task\n");
	/* the root group has no quota, so that cpu.stat does not count throttling */
	tree_put("sys/fs/cgroup/cpu.stat", "usage_usec 5000\nuser_usec 3000\nsystem_usec 2000\n");
	tree_put("sys/fs/cgroup/docker/cpu.stat", CPU_STAT(100));
	tree_put("sys/fs/cgroup/docker/4f2a/cpu.stat", CPU_STAT(5000));
	tree_put("sys/fs/cgroup/docker/4f2a/task/cpu.stat", CPU_STAT(0));
	tree_put("sys/fs/cgroup/docker/memory.events", MEMORY_EVENTS(3, 2, 2));
	tree_put("sys/fs/cgroup/docker/4f2a/memory.events", MEMORY_EVENTS(3, 2, 2));
	tree_put("sys/fs/cgroup/docker/4f2a/memory.max", "536870912\n");
	tree_put("sys/fs/cgroup/docker/4f2a/memory.pressure",
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=700\n"
		"full avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
	tree_put("proc/vmstat", "nr_free_pages 100\noom_kill 2\n");
}

TEST_IN_TREE(what_does_not_change_holds_nothing_back)
{
	_cleanup_(holdback_freep) struct holdback *h = NULL;
	struct held_back held;

	put_v2();
	h = holdback_open(tree.fd);
	holdback_begin(h);
	held = holdback_end(h);
	for (enum hold i = 0; i < N_HOLDS; i++) {
		assert_null(held.by[i].of);
		assert_int_equal(held.by[i].ns, 0);
	}
	assert_null(held_back_text(&held));
	assert_null(holdback_killer(h));
}

TEST_IN_TREE(the_group_with_the_quota_is_named_and_the_time_of_all_counts)
{
	_cleanup_(holdback_freep) struct holdback *h = NULL;
	struct held_back held;

	put_v2();
	h = holdback_open(tree.fd);
	holdback_begin(h);
	tree_put("sys/fs/cgroup/docker/cpu.stat", CPU_STAT(400));
	tree_put("sys/fs/cgroup/docker/4f2a/cpu.stat", CPU_STAT(25000));
	held = holdback_end(h);
	assert_string_equal(held.by[HOLD_QUOTA].of, "/docker/4f2a");
	assert_int_equal(held.by[HOLD_QUOTA].ns, 20300 * NS_PER_US);
	assert_string_equal(held_back_text(&held), "the quota of /docker/4f2a");
}

TEST_IN_TREE(a_quota_of_version_1_is_found_by_the_controller)
{
	_cleanup_(holdback_freep) struct holdback *h = NULL;
	struct held_back held;

	tree_put("proc/self/mountinfo",
		"32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
		"35 31 0:32 /docker/9 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
		"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
	tree_put("proc/self/cgroup", "4:memory:/docker/9\n1:cpu:/docker/9\n0::/\n");
	tree_put("sys/fs/cgroup/cpu/docker/9/cpu.stat",
		"nr_periods 3\nnr_throttled 1\nthrottled_time 1000000\n");
	tree_put("sys/fs/cgroup/memory/memory.oom_control",
		"oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
	tree_put("sys/fs/cgroup/memory/memory.failcnt", "0\n");
	tree_put("sys/fs/cgroup/memory/memory.limit_in_bytes", "60000000\n");
	h = holdback_open(tree.fd);
	holdback_begin(h);
	tree_put("sys/fs/cgroup/cpu/docker/9/cpu.stat",
		"nr_periods 4\nnr_throttled 2\nthrottled_time 91000000\n");
	tree_put("sys/fs/cgroup/memory/memory.oom_control",
		"oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
	tree_put("sys/fs/cgroup/memory/memory.failcnt", "17\n");
	held = holdback_end(h);
	assert_string_equal(held_back_text(&held), "the quota of /docker/9");
	assert_int_equal(held.by[HOLD_QUOTA].ns, 90 * NS_PER_MS);
	assert_string_equal(holdback_killer(h), "the memory limit of /docker/9 (60 MB)");
}

TEST_IN_TREE(in_a_container_the_visible_root_is_the_container)
{
	_cleanup_(holdback_freep) struct holdback *h = NULL;
	struct held_back held;

	tree_put("proc/self/mountinfo", "25 20 0:22 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
	tree_put("proc/self/cgroup", "0::/\n");
	tree_put("sys/fs/cgroup/cpu.stat", CPU_STAT(10));
	h = holdback_open(tree.fd);
	holdback_begin(h);
	tree_put("sys/fs/cgroup/cpu.stat", CPU_STAT(40));
	held = holdback_end(h);
	assert_string_equal(held_back_text(&held), "the quota of this container");
}

TEST_IN_TREE(memory_high_is_that_of_the_first_group_whose_count_grows)
{
	_cleanup_(holdback_freep) struct holdback *h = NULL;
	struct held_back held;

	put_v2();
	h = holdback_open(tree.fd);
	holdback_begin(h);
	tree_put("sys/fs/cgroup/docker/memory.events", MEMORY_EVENTS(9, 2, 2));
	tree_put("sys/fs/cgroup/docker/4f2a/memory.events", MEMORY_EVENTS(9, 2, 2));
	tree_put("sys/fs/cgroup/docker/4f2a/memory.pressure",
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=8700\n"
		"full avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
	held = holdback_end(h);
	assert_string_equal(held_back_text(&held), "memory.high of /docker/4f2a");
	assert_int_equal(held.by[HOLD_MEMORY].ns, 8 * NS_PER_MS);
	assert_null(holdback_killer(h));
}

TEST_IN_TREE(the_memory_limit_that_was_reached_is_named_as_the_killer)
{
	_cleanup_(holdback_freep) struct holdback *h = NULL;

	put_v2();
	h = holdback_open(tree.fd);
	holdback_begin(h);
	tree_put("sys/fs/cgroup/docker/memory.events", MEMORY_EVENTS(3, 3, 3));
	tree_put("sys/fs/cgroup/docker/4f2a/memory.events", MEMORY_EVENTS(3, 3, 3));
	assert_string_equal(holdback_killer(h), "the memory limit of /docker/4f2a (536.9 MB)");
}

TEST_IN_TREE(a_kill_that_no_group_counts_is_the_machines)
{
	_cleanup_(holdback_freep) struct holdback *h = NULL;

	put_v2();
	h = holdback_open(tree.fd);
	holdback_begin(h);
	tree_put("proc/vmstat", "nr_free_pages 100\noom_kill 3\n");
	assert_string_equal(holdback_killer(h), "the kernel, which had run out of memory,");
}

TEST_IN_TREE(a_frozen_group_above_is_named_with_its_time)
{
	_cleanup_(holdback_freep) struct holdback *h = NULL;
	struct held_back held;

	put_v2();
	tree_put("sys/fs/cgroup/docker/4f2a/task/cgroup.stat.local", "frozen_usec 0\n");
	tree_put("sys/fs/cgroup/docker/4f2a/cgroup.stat.local", "frozen_usec 10\n");
	h = holdback_open(tree.fd);
	holdback_begin(h);
	tree_put("sys/fs/cgroup/docker/4f2a/task/cgroup.stat.local", "frozen_usec 300000\n");
	tree_put("sys/fs/cgroup/docker/4f2a/cgroup.stat.local", "frozen_usec 300010\n");
	held = holdback_end(h);
	assert_string_equal(held_back_text(&held), "the freezer of /docker/4f2a");
	assert_int_equal(held.by[HOLD_FREEZER].ns, 300 * NS_PER_MS);
}

TEST_IN_TREE(all_that_held_back_is_named)
{
	struct held_back held = {};

	held.by[HOLD_QUOTA].of = "/a";
	held.by[HOLD_FREEZER].of = HOLD_NOT_VISIBLE;
	assert_string_equal(held_back_text(&held),
		"the quota of /a and the freezer of a control group that is not visible here");
}

TEST_IN_TREE(a_machine_without_control_groups_holds_nothing_back)
{
	_cleanup_(holdback_freep) struct holdback *h = holdback_open(tree.fd);
	struct held_back held;

	holdback_begin(h);
	held = holdback_end(h);
	assert_null(held_back_text(&held));
	assert_null(holdback_killer(h));
	assert_null(holdback_idle(tree.fd));
}

TEST_IN_TREE(an_idle_group_is_found)
{
	_cleanup_(freep) char *idle = NULL;

	put_v2();
	tree_put("sys/fs/cgroup/docker/4f2a/task/cpu.idle", "0\n");
	assert_null(holdback_idle(tree.fd));
	tree_put("sys/fs/cgroup/docker/cpu.idle", "1\n");
	idle = holdback_idle(tree.fd);
	assert_string_equal(idle, "/docker");
}
