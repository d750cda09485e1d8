/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who takes a CPU from a program. */
#include "lib/jitter/preemptions.h"

#include "tests/unit/check.h"

enum { PROGRAM = 100, CHILD = 101, DAEMON = 200, OTHER = 201 };

static struct scene {
	struct jitter_sources sources;
	struct preemption_finder finder;
	struct preemptions found;
} s;

static int begin(void **state)
{
	s = (struct scene){};
	preemption_finder_begin(&s.finder, PROGRAM, &s.sources);
	return 0;
}

static int leave(void **state)
{
	preemption_finder_clear(&s.finder);
	preemptions_clear(&s.found);
	jitter_sources_clear(&s.sources);
	return 0;
}

static const char *name_of(pid_t pid)
{
	if (pid == DAEMON)
		return "backupd";
	if (pid == OTHER)
		return "other";
	return pid == 0 ? "swapper/1" : "program";
}

static void switched(int64_t at_ns, pid_t prev, pid_t next, bool preempted)
{
	const struct trace_event event = {.what = TRACE_SWITCH,
		.pid = prev,
		.prev = prev,
		.next = next,
		.prev_name = name_of(prev),
		.next_name = name_of(next),
		.preempted = preempted};

	preemption_finder_add(&s.finder, &event, at_ns);
}

static void timer(int64_t at_ns, pid_t pid, int64_t length_ns)
{
	struct trace_event event = {
		.what = TRACE_BEGIN, .kind = TRACE_VECTOR, .name = "local_timer", .pid = pid};

	preemption_finder_add(&s.finder, &event, at_ns);
	event.what = TRACE_END;
	preemption_finder_add(&s.finder, &event, at_ns + length_ns);
}

static void forked(int64_t at_ns, pid_t parent, pid_t child)
{
	const struct trace_event event = {
		.what = TRACE_FORK, .pid = parent, .prev = parent, .next = child};

	preemption_finder_add(&s.finder, &event, at_ns);
}

static const struct preemption *taken_by(const char *name)
{
	for (size_t i = 0; i < s.found.n; i++)
		if (!strcmp(s.sources.items[s.found.items[i].source].name, name))
			return &s.found.items[i];
	return NULL;
}

static void end(void)
{
	s.found = TAKE_STRUCT(s.finder.found);
}

#define SCENE(name) TEST_WITH(name, begin, leave)

SCENE(who_preempts_the_program_takes_it)
{
	switched(0, 0, PROGRAM, false);
	switched(1000, PROGRAM, DAEMON, true);
	switched(4000, DAEMON, PROGRAM, false);
	switched(9000, PROGRAM, DAEMON, true);
	switched(9500, DAEMON, PROGRAM, true);
	end();
	assert_int_equal(s.found.n, 1);
	assert_int_equal(taken_by("backupd")->slices, 2);
	assert_int_equal(taken_by("backupd")->total_ns, 3500);
	assert_int_equal(taken_by("backupd")->longest_ns, 3000);
	assert_int_equal(s.found.total_ns, 3500);
}

SCENE(who_runs_while_the_program_waits_takes_nothing)
{
	switched(0, 0, PROGRAM, false);
	switched(1000, PROGRAM, DAEMON, false); /* it waits for the disk */
	timer(2000, DAEMON, 100);
	switched(4000, DAEMON, 0, false);
	timer(4500, 0, 100);
	switched(5000, 0, PROGRAM, false);
	end();
	assert_int_equal(s.found.n, 0);
}

SCENE(an_interrupt_takes_from_a_program_that_runs)
{
	switched(0, 0, PROGRAM, false);
	timer(1000, PROGRAM, 300);
	timer(2000, PROGRAM, 200);
	end();
	assert_int_equal(taken_by("local_timer")->slices, 2);
	assert_int_equal(taken_by("local_timer")->total_ns, 500);
}

SCENE(an_interrupt_of_a_daemon_is_not_the_daemons_time)
{
	switched(0, 0, PROGRAM, false);
	switched(1000, PROGRAM, DAEMON, true);
	timer(2000, DAEMON, 300);
	switched(4000, DAEMON, OTHER, true);
	switched(4500, OTHER, PROGRAM, true);
	end();
	assert_int_equal(taken_by("backupd")->total_ns, 2700);
	assert_int_equal(taken_by("local_timer")->total_ns, 300);
	assert_int_equal(taken_by("other")->total_ns, 500);
	assert_int_equal(s.found.total_ns, 3500);
	/* the largest */
	assert_string_equal(s.sources.items[s.found.items[0].source].name, "backupd");
}

SCENE(what_the_program_forks_is_the_program)
{
	switched(0, 0, PROGRAM, false);
	forked(500, PROGRAM, CHILD);
	switched(1000, PROGRAM, CHILD, true);
	timer(1500, CHILD, 100);
	switched(2000, CHILD, PROGRAM, true);
	switched(3000, PROGRAM, CHILD, false);
	end();
	assert_int_equal(s.found.n, 1);
	assert_int_equal(taken_by("local_timer")->total_ns, 100);
}

SCENE(a_child_that_waits_for_its_first_turn_is_ready)
{
	switched(0, 0, PROGRAM, false);
	forked(500, PROGRAM, CHILD);
	switched(1000, PROGRAM, DAEMON, false);
	switched(4000, DAEMON, CHILD, false);
	end();
	assert_int_equal(taken_by("backupd")->total_ns, 3000);
}

SCENE(before_the_program_and_after_it_nothing_is_taken)
{
	switched(0, 0, DAEMON, false);
	timer(100, DAEMON, 50);
	switched(1000, DAEMON, PROGRAM, false);
	switched(2000, PROGRAM, DAEMON, false); /* it has ended */
	switched(9000, DAEMON, 0, false);
	end();
	assert_int_equal(s.found.n, 0);
}

SCENE(a_hole_in_the_trace_is_counted_and_not_guessed)
{
	switched(0, 0, PROGRAM, false);
	switched(1000, PROGRAM, DAEMON, true);
	switched(4000, OTHER, PROGRAM, false); /* from DAEMON to OTHER is missing */
	end();
	assert_int_equal(s.found.broken, 1);
	assert_null(taken_by("backupd"));
	assert_null(taken_by("other"));
}
