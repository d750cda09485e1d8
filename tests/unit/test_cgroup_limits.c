/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU limits of control groups, on made-up machines. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/host/process/cgroup.h"

static struct cgroup_limits limits;

static int read_again(void)
{
	cgroup_limits_clear(&limits);
	return cgroup_limits_read(&limits, tree.fd);
}

TEST_IN_TREE(the_tightest_quota_of_cgroup_v2_counts)
{
	tree_put("proc/self/mountinfo",
		"25 20 0:22 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n");
	tree_put("proc/self/cgroup", "0::/user.slice/a.service\n");
	tree_put("sys/fs/cgroup/user.slice/cpu.max", "50000 100000\n");
	tree_put("sys/fs/cgroup/user.slice/cpu.weight", "100\n");
	tree_put("sys/fs/cgroup/user.slice/a.service/cpu.max", "20000 100000\n");
	tree_put("sys/fs/cgroup/user.slice/a.service/cpu.weight", "10\n");
	assert_int_equal(read_again(), 0);
	assert_true(limits.quota > 0.199 && limits.quota < 0.201);
	assert_string_equal(limits.quota_of, "/sys/fs/cgroup/user.slice/a.service");
	assert_int_equal(limits.weight, 10);
	assert_string_equal(limits.weight_of, "/sys/fs/cgroup/user.slice/a.service");
	tree_put("sys/fs/cgroup/user.slice/a.service/cpu.max", "max 100000\n");
	tree_put("sys/fs/cgroup/user.slice/a.service/cpu.weight", "100\n");
	assert_int_equal(read_again(), 0);
	assert_string_equal(limits.quota_of, "/sys/fs/cgroup/user.slice");
	assert_null(limits.weight_of);
}

TEST_IN_TREE(a_container_sees_the_quota_of_its_own_root)
{
	tree_put("proc/self/mountinfo", "25 20 0:22 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
	tree_put("proc/self/cgroup", "0::/\n");
	tree_put("sys/fs/cgroup/cpu.max", "150000 100000\n");
	assert_int_equal(read_again(), 0);
	assert_true(limits.quota > 1.49 && limits.quota < 1.51);
	assert_int_equal(limits.weight, -1);
}

TEST_IN_TREE(quotas_of_cgroup_v1_are_found_by_the_controller)
{
	tree_put("proc/self/mountinfo",
		"30 29 0:26 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
		"31 29 0:27 /docker/x /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup "
		"rw,cpu,cpuacct\n");
	tree_put("proc/self/cgroup", "5:cpuset:/docker/x\n4:cpu,cpuacct:/docker/x/sub\n0::/\n");
	tree_put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	tree_put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
	tree_put("sys/fs/cgroup/cpu,cpuacct/sub/cpu.cfs_quota_us", "200000\n");
	tree_put("sys/fs/cgroup/cpu,cpuacct/sub/cpu.cfs_period_us", "100000\n");
	tree_put("sys/fs/cgroup/cpu,cpuacct/sub/cpu.shares", "512\n");
	assert_int_equal(read_again(), 0);
	assert_true(limits.quota > 1.99 && limits.quota < 2.01);
	assert_int_equal(limits.weight, 50);
	tree_put("proc/self/mountinfo",
		"30 29 0:26 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n");
	cgroup_limits_clear(&limits);
	assert_int_equal(cgroup_limits_read(&limits, tree.fd), -ENOENT);
}

TEST_IN_TREE(a_mount_of_another_cgroup_namespace_is_not_used)
{
	_cleanup_(freep) char *mount = NULL;
	struct error err = {};

	tree_put("proc/self/mountinfo", "41 31 0:38 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
					"42 31 0:38 / /own rw - cgroup2 cgroup2 rw\n");
	assert_int_equal(cgroup_mount(tree.fd, &mount, &err), 0);
	assert_string_equal(mount, "/own");
	tree_put("proc/self/mountinfo", "41 31 0:38 /.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	assert_int_equal(cgroup_mount(tree.fd, &(char *){NULL}, &err), -ENOTSUP);
	assert_string_equal(err.text, "cgroup v2 is mounted for another cgroup namespace only");
}
