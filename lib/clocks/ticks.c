/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How wrong it is to charge a whole tick to whatever runs at it (Hines, Wyatt & Chang, Figure 1): a process that sleeps
 * over every tick and computes between them, and one that sleeps between the ticks and runs only at them.
 *
 * CLOCK_MONOTONIC_COARSE advances at the tick, so that one who watches it learns when that is. */
#include "lib/clocks/bench.h"

#include "lib/host/accounting/taskstats.h"
#include "lib/host/process/signals.h"

#include <stdatomic.h>
#include <sys/prctl.h>

enum { TICKS = 150, TICKS_FULL = 1500, WATCHED = 40 };

struct task {
	int64_t period_ns, phase_ns; /* it ticks at phase_ns + n * period_ns of CLOCK_MONOTONIC */
	int ticks;
	bool at_ticks; /* runs at them; otherwise between them */
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
	atomic_bool *done = page;
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
	*done = true;
	sleep_until(INT64_MAX / 2); /* until it is killed: its times can still be read */
}

static int ticks_measure(struct clock_bench *b, struct taskstats_link *link, const struct task *task,
	struct clock_tick *ret, struct error *err)
{
	_cleanup_(child_end) struct child child = {};
	struct taskstats_fields fields;
	atomic_bool *done;
	int r = child_start(&child, b->cpu, run_by_ticks, task, err);

	if (r < 0)
		return r;
	done = child.page;
	while (r == 0 && !*done) {
		sleep_until(clock_ns(CLOCK_MONOTONIC) + 20 * NS_PER_MS);
		r = interrupt_pending() ? -EINTR : child_check(&child, err);
	}
	if (r == 0)
		r = taskstats_link_ask_one(link, child.pid, &fields, err);
	if (r == 0)
		*ret = (struct clock_tick){(double)fields.run_ns, (double)fields.tick_ns};
	return r ?: clock_bench_step(b);
}

/* When the ticks are: the start of the window of a twentieth of the period that has most of those that are seen, since some
 * are seen late. */
static int64_t find_phase_ns(int64_t period_ns)
{
	int64_t phases[WATCHED], last = clock_ns(CLOCK_MONOTONIC_COARSE), best = 0;
	int most = 0;

	for (size_t n = 0; n < WATCHED;) {
		int64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);

		if (now != last)
			phases[n++] = clock_ns(CLOCK_MONOTONIC) % period_ns;
		last = now;
	}
	for (int i = 0; i < WATCHED; i++) {
		int count = 0;

		for (int k = 0; k < WATCHED; k++)
			count += (phases[k] - phases[i] + period_ns) % period_ns < period_ns / 20;
		if (count <= most)
			continue;
		most = count;
		best = phases[i];
	}
	return best;
}

int clock_ticks(struct clock_bench *b, struct error *err)
{
	_cleanup_(taskstats_link_freep) struct taskstats_link *link = NULL;
	struct task task = {.ticks = b->full ? TICKS_FULL : TICKS};
	struct timespec resolution;
	struct error why;
	int r = taskstats_link_new(&link, &why);

	if (r < 0) {
		b->result->tick_why = xstrdup(r == -EPERM ? "needs root" : why.text);
		return clock_bench_step(b);
	}
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &resolution) < 0)
		return error_os(err, -errno, "cannot read the kernel's tick");
	task.period_ns = timespec_ns(resolution);
	task.phase_ns = find_phase_ns(task.period_ns);
	b->result->tick_period_ns = (double)task.period_ns;
	for (int i = 0; r == 0 && i < N_CLOCK_TICKS; i++) {
		task.at_ticks = i == CLOCK_TICK_RUNNER;
		r = ticks_measure(b, link, &task, &b->result->ticks[i], err);
	}
	return r;
}
