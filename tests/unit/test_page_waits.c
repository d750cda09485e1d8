/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which block devices have requests; the arithmetic of page waits: bins, totals, rows; how long
 * CPUs were idle. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/load/coordinator.h"
#include "lib/load/page_wait_meter.h"
#include "lib/load/page_wait_total.h"

TEST(each_wait_is_in_the_bin_that_has_its_length)
{
	for (uint32_t bin = 0; bin < N_PAGE_WAIT_BINS; bin++) {
		uint64_t from = page_wait_bin_from(bin);

		assert_int_equal(page_wait_bin_of(from), bin);
		if (bin > 0)
			assert_int_equal(page_wait_bin_of(from - 1), bin - 1);
	}
	assert_int_equal(page_wait_bin_of(UINT64_MAX), N_PAGE_WAIT_BINS - 1);
	assert_int_equal(page_wait_bin_from(N_PAGE_WAIT_BINS - 1), NS_PER_S);
}

/* So bins of 1 or 2 ms are sums of them. */
TEST(each_whole_millisecond_is_an_edge)
{
	for (uint64_t ms = 0; ms <= 1000; ms++)
		assert_int_equal(page_wait_bin_from(page_wait_bin_of(ms * 1000000)), ms * 1000000);
}

#define SLAVE PAGE_WAIT_WORKER
#define READ PAGE_WAIT_READ

static struct page_wait items[] = {
	{1, SLAVE, 12, 4000000, 100, 0},
	{1, READ, 1, 50000, -1, 0},
	{2, SLAVE, 1, 700000000, 50, 3},
	{3, SLAVE, 2, 60000, 10, 0},
};
static struct page_wait_bin bins[] = {
	{1, SLAVE, 0, 10000, 11, 90000},
	{1, SLAVE, 3900000, 4000000, 1, 3910000},
	{1, READ, 50000, 60000, 1, 50000},
	{2, SLAVE, 700000000, 701000000, 1, 700000000},
	{3, SLAVE, 0, 10000, 1, 5000},
	{3, SLAVE, 50000, 60000, 1, 55000},
};
static const struct page_waits waits = {items, ELEMENTS(items), bins, ELEMENTS(bins)};

TEST(a_total_has_the_runs_that_count)
{
	static const struct sample samples[] = {{.n = 1}, {.n = 3}};
	_cleanup_(page_wait_total_clear) struct page_wait_total total = page_wait_total_of(
		&waits, PAGE_WAIT_WORKER, samples, 2);

	assert_int_equal(total.n, 2);
	assert_int_equal(total.count, 14);
	assert_int_equal(total.total_ns, 4060000);
	assert_int_equal(total.ready_ns, 110);
	assert_int_equal(total.lost, 0);
	assert_int_equal(total.n_bins, 3);
	assert_int_equal(total.bins[0].count, 12);
	assert_int_equal(total.bins[0].total_ns, 95000);
	assert_int_equal(total.bins[1].low_ns, 50000);
	assert_int_equal(total.bins[2].low_ns, 3900000);
}

TEST(what_was_not_watched_has_no_runs)
{
	static const struct sample samples[] = {{.n = 1}, {.n = 3}};
	_cleanup_(page_wait_total_clear) struct page_wait_total reads = page_wait_total_of(
		&waits, PAGE_WAIT_READ, samples, 2);
	_cleanup_(page_wait_total_clear) struct page_wait_total writes = page_wait_total_of(
		&waits, PAGE_WAIT_WRITE, samples, 2);

	assert_int_equal(reads.n, 1);
	assert_int_equal(reads.ready_ns, -1);
	assert_int_equal(writes.n, 0);
	assert_null(page_wait_find(&waits, PAGE_WAIT_READ, 3));
}

TEST(rows_have_all_waits_and_the_last_has_no_end)
{
	static const struct sample samples[] = {{.n = 1}, {.n = 2}, {.n = 3}};
	_cleanup_(page_wait_total_clear) struct page_wait_total total = page_wait_total_of(
		&waits, PAGE_WAIT_WORKER, samples, 3);
	struct page_wait_bin rows[PAGE_WAIT_ROWS];
	int64_t count = 0, total_ns = 0;

	assert_int_equal(total.lost, 3);
	assert_int_equal(page_wait_rows(&total, NS_PER_MS, rows), PAGE_WAIT_ROWS);
	for (size_t i = 0; i < PAGE_WAIT_ROWS; i++) {
		assert_int_equal(rows[i].low_ns, (int64_t)i * NS_PER_MS);
		count += rows[i].count;
		total_ns += rows[i].total_ns;
	}
	assert_int_equal(count, total.count);
	assert_int_equal(total_ns, total.total_ns);
	assert_int_equal(rows[0].count, 13);
	assert_int_equal(rows[3].count, 1);
	assert_int_equal(rows[PAGE_WAIT_ROWS - 1].count, 1);
	assert_int_equal(rows[PAGE_WAIT_ROWS - 1].high_ns, -1);
	assert_int_equal(page_wait_rows(&total, NS_PER_S, rows), 1);
}

TEST(the_width_suits_most_waits)
{
	static const struct {
		int64_t each_ns, width_ns;
	} cases[] = {{5000, 10000}, {59000, 10000}, {60000, 20000}, {115000, 20000},
		{500000, 100000}, {5000000, 1000000}, {8000000, 2000000}, {999000000, 200000000},
		{1000000000, 200000000}};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		struct page_wait_bin bin = {.low_ns = (int64_t)page_wait_bin_from(
						    page_wait_bin_of((uint64_t)cases[i].each_ns)),
			.count = 9};
		struct page_wait_total total = {.n = 1, .count = 10, .bins = &bin, .n_bins = 1};

		assert_int_equal(page_wait_width(&total), cases[i].width_ns);
	}
}

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

static const char stat_of_three[] = "cpu  3 9 9 9000 900 9 9 9 0 0\n"
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
