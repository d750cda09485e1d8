/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of taskstats, which have no start times, made comparable. The first snapshot begins at
 * 1000 ns. */
#include "tests/unit/check.h"

#include "lib/host/accounting/accounting_internal.h"

enum { BEFORE_NS = 1000, ENDING = 66 };

static struct task_record process(unsigned int pid, uint64_t run_ns)
{
	return (struct task_record){.kind = RECORD_KIND_TASK,
		.key = pid,
		.pid = pid,
		.tgid = pid,
		.run_ns = run_ns,
		.comm = "daemon"};
}

static struct task_record ended(unsigned int pid, uint64_t run_ns)
{
	struct task_record record = process(pid, run_ns);

	record.flags = RECORD_DEAD;
	return record;
}

static bool is_ending(unsigned int pid)
{
	return pid == ENDING;
}

/* An interval: what was listed, what the snapshots and the exits told. A zero ends each. */
struct interval {
	pid_t listed[8];
	struct task_record before[8], exits[8], after[8];
	size_t n_early;
};

struct result {
	struct keymap last_exit;
	struct snapshot_diff diffs;
};

static size_t count_records(const struct task_record *records)
{
	size_t n = 0;

	while (records[n].tgid)
		n++;
	return n;
}

static void date_and_join(struct interval *i, struct result *ret)
{
	struct pid_list listed = {.items = i->listed};
	struct snapshots snapshots = {
		.before = {i->before, count_records(i->before)},
		.exits = {i->exits, count_records(i->exits)},
		.after = {i->after, count_records(i->after)},
		.before_ns = BEFORE_NS,
	};

	while (listed.items[listed.n])
		listed.n++;
	*ret = (struct result){};
	taskstats_match(&snapshots, &listed, i->n_early, is_ending, &ret->last_exit);
	snapshot_diff_run(&ret->diffs, &snapshots);
}

static void forget(struct result *result)
{
	keymap_free(&result->last_exit);
	snapshot_diff_clear(&result->diffs);
}

TEST(one_process_counts_once_with_what_it_took_in_the_sample)
{
	struct {
		struct interval interval;
		int64_t pt_ns; /* -1: it is not counted */
		bool started, ended;
	} cases[] = {
		/* in both snapshots, it took the difference */
		{{.listed = {5}, .before = {process(5, 10)}, .after = {process(5, 13)}}, 3, false,
			false},
		/* not on the list, it started in the sample */
		{{.after = {process(5, 13)}}, 13, true, false},
		{{.exits = {ended(5, 13)}}, 13, true, true},
		/* listed and ended: the difference */
		{{.listed = {5}, .before = {process(5, 10)}, .exits = {ended(5, 13)}}, 3, false,
			true},
		/* gone when it was asked for */
		{{.listed = {5}, .exits = {ended(5, 13)}, .n_early = 1}, -1},
		/* a zombie when it was asked for: the kernel tells 0, and the difference would be
		 * all that it ever had */
		{{.listed = {5}, .before = {process(5, 0)}, .exits = {ended(5, 13)}, .n_early = 1},
			-1},
		/* it had not run yet, and then did */
		{{.listed = {5}, .before = {process(5, 0)}, .exits = {ended(5, 13)}}, 13, false,
			true},
		/* a zombie in the second snapshot, of one thread and of several */
		{{.listed = {5},
			 .before = {process(5, 10)},
			 .exits = {ended(5, 13)},
			 .after = {process(5, 0)}},
			3, false, true},
		{{.listed = {5},
			 .before = {process(5, 10)},
			 .exits = {ended(5, 13)},
			 .after = {process(5, 13)}},
			3, false, true},
		/* between its record and its release */
		{{.exits = {ended(ENDING, 13)}, .after = {process(ENDING, 14)}}, 13, true, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct result result;

		date_and_join(&cases[i].interval, &result);
		assert_int_equal(result.diffs.n, cases[i].pt_ns >= 0);
		if (result.diffs.n > 0) {
			assert_int_equal(result.diffs.items[0].pt_ns, cases[i].pt_ns);
			assert_int_equal(result.diffs.items[0].started, cases[i].started);
			assert_int_equal(result.diffs.items[0].ended, cases[i].ended);
		}
		forget(&result);
	}
}

TEST(diffs_with_one_pid_stay_apart)
{
	struct interval i = {.listed = {5},
		.before = {process(5, 10)},
		.exits = {ended(5, 13), ended(5, 2)},
		.after = {process(5, 4)}};
	struct result result;

	date_and_join(&i, &result);
	assert_int_equal(result.diffs.n, 3);
	assert_int_equal(result.diffs.items[0].pt_ns, 3);
	assert_int_equal(result.diffs.items[1].pt_ns, 2);
	assert_int_equal(result.diffs.items[2].pt_ns, 4);
	assert_true(result.diffs.items[1].started && result.diffs.items[1].ended);
	assert_true(result.diffs.items[2].started && !result.diffs.items[2].ended);
	forget(&result);
}

TEST(a_process_bears_the_name_of_its_first_thread)
{
	struct interval i = {.exits = {ended(5, 13), ended(7, 40)}};
	struct result result;

	i.exits[0].kind = 0; /* the first thread, alone */
	strcpy(i.exits[0].comm, "java");
	i.exits[1].tgid = 5;
	strcpy(i.exits[1].comm, "gc-thread");
	date_and_join(&i, &result);
	assert_int_equal(result.diffs.n, 1);
	assert_int_equal(result.diffs.items[0].pid, 5);
	assert_int_equal(result.diffs.items[0].pt_ns, 40);
	assert_string_equal(result.diffs.items[0].name, "java");
	forget(&result);
}

/* A thread that executes a program becomes the first one. */
TEST(a_program_that_a_thread_executed_keeps_its_own_name)
{
	struct interval i = {.exits = {ended(5, 13), ended(5, 40)}};
	struct result result;

	i.exits[0].kind = 0;
	strcpy(i.exits[1].comm, "program");
	date_and_join(&i, &result);
	assert_int_equal(result.diffs.n, 1);
	assert_string_equal(result.diffs.items[0].name, "program");
	forget(&result);
}
