/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampling loop: orders, warm-ups, hooks, targets that move, and what becomes of runs that
 * fail. */
#include "tests/unit/scratch.h"

#include "lib/host/process/signals.h"
#include "lib/run/sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

/* What happened, a letter each: (b)egin, (p)repare, (c)onclude, (t)aken, (e)nd, and the run. */
static char events[256];
static uint32_t enough;       /* what `more` asks for */
static const char *fails_at;  /* an event such as "p1"; NULL: none */
static const char *signal_at; /* likewise */

static int note(char what, const struct sampling *s, struct error *err)
{
	char event[3] = {what, *(const char *)s->data};

	strcat(events, event);
	if (signal_at && !strcmp(event, signal_at))
		raise(SIGTERM);
	return fails_at && !strcmp(event, fails_at) ? error_say(err, -EIO, "%s fails", event) : 0;
}

static int begin(struct sampling *s, struct error *err)
{
	return note('b', s, err);
}

static int prepare(struct sampling *s, struct error *err)
{
	return note(s->warm_up ? 'w' : 'p', s, err);
}

static int conclude(struct sampling *s, struct error *err)
{
	return note('c', s, err);
}

static int taken(struct sampling *s, const struct sample *sample,
	const struct execution *executions, size_t n_executions, struct error *err)
{
	assert_int_equal(sample->n, s->run->n_samples);
	assert_int_equal(n_executions, 0); /* no accounting */
	return note('t', s, err);
}

static int more(struct sampling *s, struct error *err)
{
	return s->run->n_samples < enough;
}

static int end(struct sampling *s, struct error *err)
{
	return note('e', s, err);
}

/* Two runs of a program that does nothing. */
static struct two {
	struct run runs[2];
	char *argv[4];
	struct command_spec spec;
	struct sampling items[2];
	struct run_session session;
	struct sampling_plan plan;
} two;

static void two_clear(void)
{
	counter_reader_free(two.session.observer.counters);
	run_clear(&two.runs[0]);
	run_clear(&two.runs[1]);
}

static void two_make(struct scratch *s, const char *script, enum order order)
{
	two_clear(); /* those of the test before */
	*events = '\0';
	enough = 0;
	fails_at = signal_at = NULL;
	two = (struct two){.argv = {(char *)"sh", (char *)"-c", (char *)script, NULL}};
	two.spec = (struct command_spec){.argv = two.argv,
		.path = "/bin/sh",
		.cpu = -1,
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1};

	for (size_t i = 0; i < 2; i++) {
		two.runs[i] = scratch_run("sh");
		two.items[i] = (struct sampling){.run = &two.runs[i],
			.spec = &two.spec,
			.samples = 2,
			.data = (char *)(i ? "2" : "1")};
	}
	two.session = RUN_SESSION_NEW;
	two.session.book = s->book;
	two.session.observer.counters = counters_open(AT_FDCWD, -1);
	two.plan = (struct sampling_plan){
		.session = &two.session,
		.items = two.items,
		.n = 2,
		.order = order,
		.hooks = {begin, prepare, conclude, taken, more, end},
		.quiet = true,
	};
}

/* The run in the book is in this state with so many samples. */
static void check_run(struct scratch *s, int64_t id, const char *wanted, uint32_t n)
{
	_cleanup_(run_clear) struct run run = {};

	assert_done(s, book_get_run(s->book, id, &run, &s->err));
	assert_string_equal(run_state_names[run.state], wanted);
	assert_int_equal(run.n_samples, n);
}

TEST_IN_BOOK(a_sequence_finishes_one_run_before_the_next)
{
	two_make(s, "exit 0", ORDER_SEQUENCE);
	two.items[1].warm_ups = 1;
	assert_done(s, sampling_run(&two.plan, &s->err));
	assert_string_equal(events, "b1p1t1c1p1t1c1e1b2w2c2p2t2c2p2t2c2e2");
	check_run(s, two.runs[0].id, "done", 2);
	check_run(s, two.runs[1].id, "done", 2);
}

TEST_IN_BOOK(interleaved_runs_take_turns_after_all_warm_ups)
{
	two_make(s, "exit 0", ORDER_INTERLEAVE);
	two.items[0].warm_ups = two.items[1].warm_ups = 1;
	assert_done(s, sampling_run(&two.plan, &s->err));
	assert_string_equal(events, "b1w1c1b2w2c2p1t1c1p2t2c2p2t2c2p1t1c1e1e2");
}

TEST_IN_BOOK(a_shuffle_takes_one_sample_of_each_in_every_round)
{
	int swapped = 0;

	two_make(s, "exit 0", ORDER_SHUFFLE);
	two.items[0].samples = two.items[1].samples = 12;
	two.plan.hooks = (struct sampling_hooks){.prepare = prepare};
	two.plan.seed = 7;
	assert_done(s, sampling_run(&two.plan, &s->err));
	assert_int_equal(strlen(events), 48);
	for (size_t i = 0; i < 48; i += 4) {
		assert_int_not_equal(events[i + 1], events[i + 3]);
		swapped += events[i + 1] == '2';
	}
	assert_in_range(swapped, 1, 11);
}

TEST_IN_BOOK(a_run_gets_more_samples_as_long_as_it_asks)
{
	two_make(s, "exit 0", ORDER_INTERLEAVE);
	two.items[1].samples = 1;
	enough = 4;
	assert_done(s, sampling_run(&two.plan, &s->err));
	check_run(s, two.runs[0].id, "done", 4);
	check_run(s, two.runs[1].id, "done", 4);
}

TEST_IN_BOOK(a_run_that_has_an_id_is_resumed)
{
	int64_t id;

	two_make(s, "exit 0", ORDER_SEQUENCE);
	two.plan.n = 1;
	assert_done(s, sampling_run(&two.plan, &s->err));
	id = two.runs[0].id;
	two.items[0].samples = 3;
	two.items[0].warm_ups = 1;
	*events = '\0';
	assert_done(s, sampling_run(&two.plan, &s->err));
	assert_string_equal(events, "b1w1c1p1t1c1e1");
	assert_int_equal(two.runs[0].id, id);
	check_run(s, id, "done", 3);
	*events = '\0'; /* complete: no warm-up either */
	assert_done(s, sampling_run(&two.plan, &s->err));
	assert_string_equal(events, "b1e1");
}

TEST_IN_BOOK(what_fails_first_is_reported_and_every_run_that_was_begun_is_ended)
{
	two_make(s, "exit 0", ORDER_INTERLEAVE);
	fails_at = "t2";
	assert_int_equal(sampling_run(&two.plan, &s->err), -EIO);
	assert_string_equal(s->err.text, "t2 fails");
	assert_string_equal(events, "b1b2p1t1c1p2t2c2e1e2");
	check_run(s, two.runs[0].id, "failed", 1);
	check_run(s, two.runs[1].id, "failed", 1);
}

TEST_IN_BOOK(a_failure_at_the_end_of_one_run_leaves_the_others_done)
{
	two_make(s, "exit 0", ORDER_INTERLEAVE);
	fails_at = "e1";
	assert_int_equal(sampling_run(&two.plan, &s->err), -EIO);
	assert_string_equal(s->err.text, "e1 fails");
	check_run(s, two.runs[0].id, "done", 2);
	check_run(s, two.runs[1].id, "done", 2);
}

TEST_IN_BOOK(a_program_that_fails_ends_the_run_and_is_named_with_its_sample)
{
	two_make(s, "exit 3", ORDER_SEQUENCE);
	assert_int_equal(sampling_run(&two.plan, &s->err), -ECANCELED);
	assert_string_equal(
		/* no option of emp-measure */
		s->err.text, "'sh' ended with exit status 3 in sample 1");
	check_run(s, two.runs[0].id, "failed", 0);
	assert_int_equal(two.runs[1].id, 0);
	two_make(s, "exec sleep 1000", ORDER_SEQUENCE);
	two.items[0].warm_ups = 1;
	two.spec.timeout_ns = 50000000;
	assert_int_equal(sampling_run(&two.plan, &s->err), -ETIMEDOUT);
	assert_says(s, "'sh' ran longer than 50.00 ms in warm-up 1 and was killed");
}

/* Last: the signal stays. */
TEST_IN_BOOK(an_interrupt_keeps_the_samples_before)
{

	assert_int_equal(interrupt_init(), 0);
	two_make(s, "exit 0", ORDER_INTERLEAVE);
	signal_at = "p2";
	assert_int_equal(sampling_run(&two.plan, &s->err), -EINTR);
	check_run(s, two.runs[0].id, "interrupted", 1);
	check_run(s, two.runs[1].id, "interrupted", 0);
}
