/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two snapshots and the exits between them, made up. The first snapshot begins at 1000 ns. */
#include "tests/unit/check.h"

#include "lib/host/accounting/accounting_internal.h"

enum { BEFORE_NS = 1000, OBSERVER = 99 };

/* A process with one thread. */
static struct task_record task(unsigned int pid, uint64_t start_ns, uint64_t run_ns)
{
	return (struct task_record){
		.kind = RECORD_KIND_TASK,
		.key = UINT64_C(0xffff888000000000) + 64 * pid,
		.pid = pid,
		.tgid = pid,
		.ppid = 1,
		.start_ns = start_ns,
		.process_start_ns = start_ns,
		.run_ns = run_ns,
		.comm = "daemon",
	};
}

/* Another thread of process `of`. */
static struct task_record thread(
	struct task_record of, unsigned int pid, uint64_t start_ns, uint64_t run_ns)
{
	struct task_record record = task(pid, start_ns, run_ns);

	record.tgid = of.tgid;
	record.process_start_ns = of.start_ns;
	return record;
}

static struct task_record dead(struct task_record record)
{
	record.flags |= RECORD_DEAD;
	return record;
}

static struct task_record ticked(struct task_record record, uint64_t tick_ns)
{
	record.tick_ns = tick_ns;
	return record;
}

static struct task_record named(struct task_record record, const char *name)
{
	snprintf(record.comm, sizeof(record.comm), "%s", name);
	return record;
}

/* At the address where process `pid` was. */
static struct task_record in_place_of(unsigned int pid, struct task_record record)
{
	record.key = task(pid, 0, 0).key;
	return record;
}

#define TASKS(...)                                                  \
	((struct task_records){(struct task_record[]){__VA_ARGS__}, \
		sizeof((struct task_record[]){__VA_ARGS__}) / sizeof(struct task_record)})
#define NO_TASKS ((struct task_records){})

static struct snapshot_diff j;

static void diff(struct task_records before, struct task_records exits, struct task_records after)
{
	struct snapshots snapshots = {
		before, after, exits, .before_ns = BEFORE_NS, .observer = OBSERVER};

	snapshot_diff_run(&j, &snapshots);
}

static int leave(void **state)
{
	snapshot_diff_clear(&j);
	return 0;
}

#define TEST_OF_DIFF(name) TEST_WITH(name, NULL, leave)

/* The only execution. */
static const struct process_cpu *only(void)
{
	assert_int_equal(j.n, 1);
	return &j.items[0];
}

/* One without an address ends them. */
static struct task_records records_of(struct task_record *items)
{
	size_t n = 0;

	while (items[n].key)
		n++;
	return (struct task_records){items, n};
}

TEST_OF_DIFF(one_process_took_what_it_has_more_of_at_the_end)
{
	struct {
		struct task_record before[3], exits[3], after[3];
		int64_t pt_ns, tick_ns; /* pt_ns -1: it is left out */
		bool started, ended;
	} cases[] = {
		/* in both snapshots: the difference */
		{{ticked(task(10, 5, 300), 40)}, {}, {ticked(task(10, 5, 450), 80)}, 150, 40},
		/* that did not run */
		{{task(10, 5, 300)}, {}, {task(10, 5, 300)}, -1},
		/* that came and stayed: all it has; that came and went: it is in the exits */
		{{}, {}, {task(10, 1005, 70)}, 70, 0, true, false},
		{{}, {dead(task(10, 1005, 70))}, {}, 70, 0, true, true},
		/* that went: the difference */
		{{task(10, 5, 300)}, {dead(task(10, 5, 370))}, {}, 70, 0, false, true},
		/* that ended during the first snapshot */
		{{}, {dead(task(10, 5, 370))}, {task(11, 6, 9)}, -1},
		/* a zombie in the second snapshot, and one whose last switch is still to come */
		{{task(10, 5, 300)}, {dead(task(10, 5, 370))}, {dead(task(10, 5, 370))}, 70, 0,
			false, true},
		{{task(10, 5, 300)}, {}, {dead(task(10, 5, 365))}, 65, 0, false, true},
		/* time never runs backwards */
		{{ticked(task(10, 5, 300), 4)}, {}, {ticked(task(10, 5, 290), 8)}, 0, 4},
		/* threads are summed to their process */
		{{task(10, 5, 300), thread(task(10, 5, 0), 11, 6, 20)},
			{dead(thread(task(10, 5, 0), 11, 6, 27)),
				dead(thread(task(10, 5, 0), 12, 1100, 4))},
			{task(10, 5, 301), thread(task(10, 5, 0), 13, 1200, 50)}, 7 + 4 + 1 + 50},
		/* that only waits: it is not ended by its threads */
		{{task(10, 5, 300)}, {dead(thread(task(10, 5, 0), 12, 1100, 4))},
			{task(10, 5, 300)}, 4},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		diff(records_of(cases[i].before), records_of(cases[i].exits),
			records_of(cases[i].after));
		if (cases[i].pt_ns < 0) {
			assert_int_equal(j.n, 0);
			continue;
		}
		assert_int_equal(only()->pid, 10);
		assert_string_equal(only()->name, "daemon");
		assert_int_equal(only()->pt_ns, cases[i].pt_ns);
		assert_int_equal(only()->tick_ns, cases[i].tick_ns);
		assert_int_equal(only()->started, cases[i].started);
		assert_int_equal(only()->ended, cases[i].ended);
	}
}

TEST_OF_DIFF(the_time_on_the_watched_cpu_is_that_of_all_threads)
{
	struct task_record second = thread(task(10, 5, 0), 11, 6, 90),
			   third = thread(task(10, 5, 0), 12, 7, 40);
	struct task_record first = task(10, 5, 70), before[] = {task(10, 5, 0), second, third};
	struct task_record after[] = {first, second, third};
	struct snapshots snapshots = {.before = {before, 3},
		.after = {after, 3},
		.before_ns = BEFORE_NS,
		.observer = OBSERVER,
		.has_shares = true};

	after[0].watched_ns = 50;
	after[0].cpu = 1;
	after[1].watched_ns = 90; /* left over from an earlier sample: it has not run in this one */
	after[2].run_ns += 7;
	after[2].watched_ns = 7;
	after[2].cpu = 1;
	snapshot_diff_run(&j, &snapshots);
	assert_int_equal(only()->pt_ns, 77);
	assert_int_equal(only()->same_cpu_ns, 57);
	assert_int_equal(only()->cpu, 1);
	snapshots.has_shares = false;
	snapshot_diff_run(&j, &snapshots);
	assert_int_equal(only()->same_cpu_ns, -1);
}

TEST_OF_DIFF(diffs_with_one_pid_stay_apart)
{
	diff(TASKS(task(10, 5, 300)),
		TASKS(dead(task(10, 5, 310)), dead(in_place_of(71, task(10, 1100, 3)))),
		TASKS(in_place_of(72, task(10, 1200, 2))));
	assert_int_equal(j.n, 3);
	assert_int_equal(j.items[0].pt_ns, 10);
	assert_int_equal(j.items[1].pt_ns, 3);
	assert_int_equal(j.items[2].pt_ns, 2);
	assert_true(j.items[1].ended && !j.items[2].ended);
}

/* The kernel uses the memory of a task that ended for the next one. */
TEST_OF_DIFF(a_task_at_the_address_of_one_that_ended_is_another)
{
	diff(TASKS(task(10, 5, 300)), TASKS(dead(task(10, 5, 301))),
		TASKS(in_place_of(10, task(20, 1100, 9))));
	assert_int_equal(j.n, 2);
	assert_int_equal(j.items[0].pt_ns, 1);
	assert_int_equal(j.items[1].pt_ns, 9);
}

TEST_OF_DIFF(a_task_at_the_address_of_an_old_zombie_is_another)
{
	diff(TASKS(dead(task(10, 5, 300))), NO_TASKS, TASKS(in_place_of(10, task(20, 1100, 9))));
	assert_int_equal(only()->pid, 20);
	assert_int_equal(only()->pt_ns, 9);
}

/* It gets the pid and the start time of the first thread, which ends. */
TEST_OF_DIFF(a_thread_that_executes_a_program_keeps_its_time)
{
	diff(TASKS(task(10, 5, 300), thread(task(10, 5, 0), 11, 6, 20)),
		TASKS(dead(task(10, 5, 302))),
		TASKS(named(in_place_of(11, task(10, 5, 60)), "program")));
	assert_int_equal(only()->pt_ns, 2 + 40);
	assert_string_equal(only()->name, "program");
	assert_false(only()->ended);
}

TEST_OF_DIFF(tasks_that_went_without_a_word_are_counted)
{
	diff(TASKS(task(10, 5, 300), task(11, 5, 300), dead(task(12, 5, 300)), task(13, 5, 300),
		     task(OBSERVER, 5, 300)),
		TASKS(dead(task(10, 5, 300))), TASKS(task(11, 5, 300)));
	assert_int_equal(j.n_missing, 1); /* 13; 12 was a zombie before */
}

TEST_OF_DIFF(the_observer_is_left_out)
{
	diff(TASKS(task(OBSERVER, 5, 300)), TASKS(dead(thread(task(OBSERVER, 5, 0), 98, 1100, 4))),
		TASKS(task(OBSERVER, 5, 400)));
	assert_int_equal(j.n, 0);
}

TEST_OF_DIFF(diffs_come_in_order_of_pid)
{
	diff(NO_TASKS, TASKS(task(30, 1001, 1), task(10, 1002, 1)), TASKS(task(20, 1003, 1)));
	assert_int_equal(j.n, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(j.items[i].pid, 10 * (i + 1));
}

TEST_OF_DIFF(thousands_of_exits_are_result)
{
	enum { N = 5000 };
	struct task_record *exits = calloc(N, sizeof(*exits));
	int64_t sum = 0;

	for (unsigned int i = 0; i < N; i++)
		exits[i] = dead(task(100 + i, 1000 + i, i + 1));
	diff(NO_TASKS, (struct task_records){exits, N}, NO_TASKS);
	assert_int_equal(j.n, N);
	for (size_t i = 0; i < N; i++)
		sum += j.items[i].pt_ns;
	assert_int_equal(sum, N * (N + 1) / 2);
	free(exits);
}
