/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which programs run, programs of the system that answer questions, and digests. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/host/process/subprocess.h"
#include "lib/host/system/digest.h"
#include "lib/host/process/process.h"

static void names_may_hold_brackets_and_blanks(void **state)
{
	struct process p;

	assert_int_equal(process_parse("77 (a) b (c)) S 1 77 77 0 -1 4194560 100", &p), 1);
	assert_int_equal(p.pid, 77);
	assert_string_equal(p.name, "a) b (c)");
	assert_int_equal(process_parse("2 (kthreadd) S 0 0 0 0 -1 2129984 0", &p), 0);
	assert_int_equal(process_parse("77 (cron S 1", &p), -EINVAL);
	assert_int_equal(process_parse("", &p), -EINVAL);
}

static void kernel_threads_are_left_out(void **state)
{
	struct process *processes;
	struct error err = {};
	struct tree tree;
	size_t n;

	tree_make(&tree);
	tree_put(&tree, "proc/300/stat", "300 (cron) S 1 300 300 0 -1 4194560 100\n");
	tree_put(&tree, "proc/20/stat", "20 (atd) S 1 20 20 0 -1 4194560 100\n");
	tree_put(&tree, "proc/9/stat", "9 (kauditd) S 2 0 0 0 -1 2129984 0\n");
	tree_put(&tree, "proc/uptime", "1 2\n");
	assert_int_equal(processes_read(&processes, &n, tree.fd, &err), 0);
	assert_int_equal(n, 2);
	assert_string_equal(processes[0].name, "atd");
	assert_int_equal(processes[1].pid, 300);
	free(processes);
	tree_remove(&tree);
}

static void a_program_answers_with_its_output_and_status(void **state)
{
	static const char *const argv[] = {"sh", "-c", "echo to; echo nobody >&2; exit 3", NULL};
	struct error err = {};
	char *output = NULL;
	int status = 0;

	assert_int_equal(command_ask(argv, 5000, &output, &status, &err), 0);
	assert_string_equal(output, "to\n");
	assert_int_equal(status, 3);
	free(output);
}

static void a_program_that_hangs_is_ended_and_named(void **state)
{
	static const char *const argv[] = {"sleep", "60", NULL};
	struct error err = {};
	char *output = NULL;
	int status = 0;

	assert_int_equal(command_ask(argv, 50, &output, &status, &err), -ETIMEDOUT);
	assert_null(output);
	assert_non_null(strstr(err.text, "/sleep did not answer within 50 ms"));
}

static void a_program_that_floods_us_is_cut_off(void **state)
{
	static const char *const argv[] = {"yes", NULL};
	struct error err = {};
	char *output = NULL;
	int status = 0;

	assert_int_equal(command_ask(argv, 5000, &output, &status, &err), 0);
	assert_int_equal(strlen(output), 65536);
	free(output);
}

static void a_program_that_is_not_there_is_named(void **state)
{
	static const char *const argv[] = {"emp-no-such-program", NULL};
	struct error err = {};
	char *output = NULL;
	int status = 0;

	assert_int_equal(command_ask(argv, 5000, &output, &status, &err), -ENOENT);
	assert_string_equal(err.text, "emp-no-such-program is not installed");
}

static void a_digest_is_that_of_the_standard(void **state)
{
	char digest[DIGEST_SIZE];

	digest_of("abc", 3, digest); /* FIPS 180-2, appendix B.1 */
	assert_string_equal(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_may_hold_brackets_and_blanks),
		cmocka_unit_test(kernel_threads_are_left_out),
		cmocka_unit_test(a_program_answers_with_its_output_and_status),
		cmocka_unit_test(a_program_that_hangs_is_ended_and_named),
		cmocka_unit_test(a_program_that_floods_us_is_cut_off),
		cmocka_unit_test(a_program_that_is_not_there_is_named),
		cmocka_unit_test(a_digest_is_that_of_the_standard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
