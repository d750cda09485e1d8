/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How wrong it is to charge a whole tick to whatever runs at it (Hines, Wyatt & Chang, Figure 1): a process that sleeps
 * over every tick and computes between them, and one that sleeps between the ticks and runs only at them.
 *
 * CLOCK_MONOTONIC_COARSE advances at the tick, so that one who watches it learns when that is. */
#include "lib/clocks/bench.h"
#include "lib/base/xalloc.h"

#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/host/accounting/taskstats.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>

enum { TICKS = 150, TICKS_FULL = 1500, WATCHED = 40 };

struct task {
	int64_t period_ns, phase_ns; /* it ticks at phase_ns + n * period_ns of CLOCK_MONOTONIC */
	int ticks;
	bool at_ticks; /* runs at them; otherwise between them */
};

struct progress_of_child {
	atomic_bool done;
};

static void sleep_until(int64_t ns)
{
	struct timespec then = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) == EINTR)
		;
}

static void compute_until(int64_t ns)
{
	while (clock_ns(CLOCK_MONOTONIC) < ns)
		;
}

/* An eighth of the period around the tick is left out, or is all that is used. */
static void run_by_ticks(void *page, const void *data)
{
	const struct task *task = data;
	struct progress_of_child *progress = page;
	int64_t period_ns = task->period_ns, margin_ns = period_ns / 16;

	prctl(PR_SET_TIMERSLACK, 1);
	for (int i = 0; i < task->ticks; i++) {
		int64_t ns = clock_ns(CLOCK_MONOTONIC);
		int64_t next_ns = (ns - (ns - task->phase_ns) % task->period_ns) + period_ns;

		if (task->at_ticks) {
			sleep_until(next_ns - margin_ns);
			compute_until(next_ns + margin_ns);
		} else {
			compute_until(next_ns - margin_ns);
			sleep_until(next_ns + margin_ns);
		}
	}
	progress->done = true;
	sleep_until(INT64_MAX / 2); /* until it is killed: its times can still be read */
}

static int ticks_read_times(struct taskstats_link *link, pid_t pid, struct clock_tick *ret, struct error *err)
{
	struct taskstats_fields fields;
	int r = taskstats_link_ask_one(link, pid, &fields, err);

	if (r == 0)
		*ret = (struct clock_tick){(double)fields.run_ns, (double)fields.tick_ns};
	return r;
}

static int ticks_measure(struct clock_bench *b, struct taskstats_link *link, const struct task *task,
	struct clock_tick *ret, struct error *err)
{
	_cleanup_(child_end) struct child child = {};
	struct progress_of_child *progress;
	int r = child_start(&child, b->cpu, run_by_ticks, task, err);

	if (r < 0)
		return r;
	progress = child.page;
	while (r == 0 && !progress->done) {
		sleep_until(clock_ns(CLOCK_MONOTONIC) + 20 * NS_PER_MS);
		r = clock_bench_stopped() ?: child_check(&child, err);
	}
	return r < 0 ? r : ticks_read_times(link, child.pid, ret, err);
}

static int measure_both(struct clock_bench *b, struct taskstats_link *link, struct error *err)
{
	struct timespec resolution;
	struct task task = {.ticks = b->full ? TICKS_FULL : TICKS};
	int r = 0;
	size_t n = 0;
	int most = 0;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &resolution) < 0)
		return error_os(err, -errno, "cannot read the kernel's tick");
	task.period_ns = timespec_ns(resolution);

	/* When the ticks are: where most of those fall that are seen, since some are seen late. */
	int64_t phases[WATCHED], last = clock_ns(CLOCK_MONOTONIC_COARSE);

	while (n < WATCHED) {
		int64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);

		if (now != last)
			phases[n++] = clock_ns(CLOCK_MONOTONIC) % task.period_ns;
		last = now;
	}

	/* The start of the window of a twentieth of the period, anywhere on the circle, that has most of
	 * them. */
	int64_t width = task.period_ns / 20, best = 0;

	for (int i = 0; i < WATCHED; i++) {
		int count = 0;

		for (int k = 0; k < WATCHED; k++)
			count += (phases[k] - phases[i] + task.period_ns) % task.period_ns < width;
		if (count <= most)
			continue;
		most = count;
		best = phases[i];
	}
	task.phase_ns = best;
	b->result->tick_period_ns = (double)task.period_ns;
	for (int i = 0; r == 0 && i < N_CLOCK_TICKS; i++) {
		task.at_ticks = i == CLOCK_TICK_RUNNER;
		r = ticks_measure(b, link, &task, &b->result->ticks[i], err);
		if (r == 0)
			r = clock_bench_step(b);
	}
	return r;
}

int clock_ticks(struct clock_bench *b, struct error *err)
{
	_cleanup_(taskstats_link_freep) struct taskstats_link *link = NULL;
	struct error why;
	int r = taskstats_link_new(&link, &why);

	if (r == 0)
		return measure_both(b, link, err);
	b->result->tick_why = xstrdup(r == -EPERM ? "needs root" : why.text);
	return clock_bench_step(b);
}
