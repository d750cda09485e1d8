/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which block devices have requests. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/load/page_wait_meter.h"

#include <stdbool.h>

static void put_device(const char *name, const char *size, bool has_queues)
{
	char path[64];

	snprintf(path, sizeof(path), "sys/block/%s/size", name);
	tree_put(path, size);
	snprintf(path, sizeof(path), "sys/block/%s/mq/0/cpu_list", name);
	if (has_queues)
		tree_put(path, "0\n");
}

TEST_IN_TREE(those_with_queues_and_a_size_count)
{
	assert_int_equal(block_devices_count(tree.fd), 0); /* no /sys/block */
	put_device("loop0", "0\n", true);
	put_device("zram0", "4096\n", false);
	assert_int_equal(block_devices_count(tree.fd), 0);
	put_device("vda", "536870912\n", true);
	put_device("nvme0n1", "8\n", true);
	assert_int_equal(block_devices_count(tree.fd), 2);
}
