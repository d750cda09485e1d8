/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which programs run, and digests. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/host/system/digest.h"
#include "lib/host/process/process.h"

TEST(names_may_hold_brackets_and_blanks)
{
	struct process p;

	assert_int_equal(process_parse("77 (a) b (c)) S 1 77 77 0 -1 4194560 100", &p), 1);
	assert_int_equal(p.pid, 77);
	assert_string_equal(p.name, "a) b (c)");
	assert_int_equal(process_parse("2 (kthreadd) S 0 0 0 0 -1 2129984 0", &p), 0);
	assert_int_equal(process_parse("77 (cron S 1", &p), -EINVAL);
	assert_int_equal(process_parse("", &p), -EINVAL);
}

TEST_IN_TREE(kernel_threads_are_left_out)
{
	struct process *processes;
	size_t n;

	tree_put("proc/300/stat", "300 (cron) S 1 300 300 0 -1 4194560 100\n");
	tree_put("proc/20/stat", "20 (atd) S 1 20 20 0 -1 4194560 100\n");
	tree_put("proc/9/stat", "9 (kauditd) S 2 0 0 0 -1 2129984 0\n");
	tree_put("proc/uptime", "1 2\n");
	processes = processes_read(tree.fd, &n);
	assert_int_equal(n, 2);
	assert_string_equal(processes[0].name, "atd");
	assert_int_equal(processes[1].pid, 300);
	free(processes);
}

TEST(a_digest_is_that_of_the_standard)
{
	char digest[DIGEST_SIZE];

	digest_of("abc", 3, digest); /* FIPS 180-2, appendix B.1 */
	assert_string_equal(
		digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
