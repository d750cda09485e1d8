/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Child processes that are observed, and what sources show of them: see children.h. */
#include "lib/clocks/children.h"

#include "lib/host/accounting/taskstats.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/signals.h"
#include "lib/stats/summary.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* A child process that shows something while it is observed: it runs a function of this program,
 * and has a page of memory in common with it. */

enum { PAGE = 4096 };

struct child {
	pid_t pid;
	void *page; /* zeros at first */
};

/* run(page, data) is called in the child, pinned to `cpu`; the child ends when it returns, or when
 * its parent ends. */
static int child_start(struct child *ret, int cpu, void (*run)(void *page, const void *data),
	const void *data, struct error *err)
{
	struct child child = {.page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
	pid_t parent = getpid();

	if (child.page == MAP_FAILED)
		return error_os(err, -errno, "cannot map a page");
	child.pid = fork();
	if (child.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent && pinning_pin(cpu) == 0)
			run(child.page, data);
		_exit(0);
	}
	if (child.pid < 0) {
		int r = -errno;

		munmap(child.page, PAGE);
		return error_os(err, r, "cannot start a process");
	}
	*ret = child;
	return 0;
}

/* -ECHILD with a sentence: it has ended. */
static int child_check(const struct child *child, struct error *err)
{
	siginfo_t ended = {};

	if (waitid(P_PID, (id_t)child->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		ended.si_pid == 0)
		return 0;
	return error_say(err, -ECHILD, "the process that is measured has ended");
}

/* Kills it. A child that was not started is fine. */
static void child_end(struct child *child)
{
	if (child->pid <= 0)
		return;
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	munmap(child->page, PAGE);
	*child = (struct child){};
}

/* The staleness of CPU times that are read from another CPU.
 *
 * A child shows a CPU time that it has read, when that was, and that it has not left the CPU since:
 * it reads the cycle counter all the while, and a gap between two readings is time that it was not
 * there. Only after a gap does it read its CPU time again, because that brings the kernel's numbers
 * up to date; the switch that made the gap has done so anyway. */

enum {
	READINGS = 1000,
	ATTEMPTS = 10 * READINGS, /* the child may be waiting for its CPU */
	PAUSE_NS = 100 * 1000,    /* so that the readings are spread over many ticks */
	STRETCH = 5,              /* readings while the child was not interrupted, at least */
	/* off the CPU; interrupts are shorter, and count as the task's time */
	GAP_NS = 20 * 1000,
};

/* Written by the child; an odd sequence number: it is being written. */
struct shown {
	atomic_uint sequence;
	_Atomic int64_t cpu_ns, at;  /* its CPU time, and the cycle counter then */
	_Atomic int64_t last_cycles; /* it was on the CPU from then to this */
};

struct lags {
	struct time_reader reader; /* of the child */
	size_t source;             /* in result->sources */
	struct behind {
		/* the readings of one stretch were made while the child did not leave its CPU */
		unsigned int stretch;
		int64_t ns; /* the child's time minus the reading */
	} * items;
	size_t n;
};

/* CPU time and cycles at one moment: again, if the child was interrupted between them. */
static int64_t lag_read_both(struct shown *shown, int64_t most)
{
	int64_t before, after, cpu_ns;

	do {
		before = cycles_now();
		cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		after = cycles_now();
	} while (after - before > most);
	atomic_fetch_add(&shown->sequence, 1);
	shown->cpu_ns = cpu_ns;
	shown->at = before + (after - before) / 2;
	shown->last_cycles = after;
	atomic_fetch_add(&shown->sequence, 1);
	return after;
}

static void show_time(void *page, const void *data)
{
	const int64_t gap = llround(GAP_NS * *(const double *)data);
	struct shown *shown = page;
	int64_t last = lag_read_both(shown, gap), now;

	for (;; last = now) {
		now = cycles_now();
		if (now - last > gap)
			now = lag_read_both(shown, gap);
		else
			shown->last_cycles = now;
	}
}

/* One reading, unless the reader was interrupted, so that it is not known when it read, or the
 * child is not running, or writes. */
static void read_lag(const struct clock_bench *b, struct shown *shown, struct lags *lags)
{
	double gap = GAP_NS * b->cycles_per_ns;
	int64_t reading, before, after, cycles, at, last, child_ns;
	unsigned int sequence;

	if (lags->n >= READINGS)
		return;
	before = cycles_now();
	reading = time_read(&lags->reader);
	after = cycles_now();
	if (reading < 0 || (double)(after - before) > gap)
		return;
	cycles = before + (after - before) / 2;
	sequence = atomic_load(&shown->sequence);
	at = shown->at;
	last = shown->last_cycles;
	child_ns = shown->cpu_ns + llround((double)(cycles - at) / b->cycles_per_ns);
	if (sequence > 0 && sequence % 2 == 0 && sequence == atomic_load(&shown->sequence) &&
		cycles >= at && (double)llabs(cycles - last) < gap)
		lags->items[lags->n++] = (struct behind){sequence, child_ns - reading};
}

/* Readings from `from` on while the child was not interrupted. */
static size_t end_of_stretch(const struct lags *lags, size_t from)
{
	size_t to = from;

	while (to < lags->n && lags->items[to].stretch == lags->items[from].stretch)
		to++;
	return to;
}

static int64_t least_lag_ns(const struct behind *items, size_t n)
{
	int64_t least_ns = items[0].ns;

	for (size_t i = 1; i < n; i++)
		least_ns = items[i].ns < least_ns ? items[i].ns : least_ns;
	return least_ns;
}

/* The median and the greatest lag, unless the child hardly ran. A source that starts at a number of
 * its own cuts each switch elsewhere: the least of a stretch is no lag, and short stretches say
 * nothing. */
static void conclude_lag(const struct lags *lags, struct clock_source *source)
{
	bool relative = lags->reader.source->relative;
	int64_t ns[READINGS];
	size_t n = 0;

	for (size_t from = 0, to; from < lags->n; from = to) {
		int64_t base_ns = 0;

		to = end_of_stretch(lags, from);
		if (relative && to - from < STRETCH)
			continue;
		if (relative)
			base_ns = least_lag_ns(&lags->items[from], to - from);
		for (size_t i = from; i < to; i++) {
			int64_t lag_ns = lags->items[i].ns - base_ns;

			ns[n++] = lag_ns > 0 ? lag_ns : 0;
		}
	}
	if (n < READINGS / 4)
		return;
	sort_ascending(ns, n);
	source->lag_ns = quantile_of(ns, n, 0.5);
	source->lag_max_ns = (double)ns[n - 1];
}

/* Opens the sources that can be read for another process. Returns how many these are. */
static size_t open_lags(const struct clock_bench *b, pid_t pid, struct lags *lags)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct time_source *source = b->readers[i].source;
		struct error why;

		if (!source->of_others || time_reader_open(&lags[n].reader, source, pid, &why) < 0)
			continue;
		lags[n].source = i;
		lags[n].items = xcalloc(READINGS, sizeof(*lags[n].items));
		n++;
	}
	return n;
}

/* A reading of each source, and a pause. Returns whether all have enough. */
static bool read_lags(const struct clock_bench *b, struct shown *shown, struct lags *lags, size_t n)
{
	bool enough = true;
	int64_t until_ns;

	for (size_t i = 0; i < n; i++) {
		read_lag(b, shown, &lags[i]);
		enough = enough && lags[i].n >= READINGS;
	}
	until_ns = clock_ns(CLOCK_MONOTONIC) + PAUSE_NS;
	while (!enough && clock_ns(CLOCK_MONOTONIC) < until_ns)
		;
	return enough;
}

int clock_lag(struct clock_bench *b, struct error *err)
{
	_cleanup_(child_end) struct child child = {};
	struct lags lags[MAX_CLOCK_READERS] = {};
	bool enough = false;
	size_t n = 0;
	int r;

	if (b->other_cpu < 0)
		return clock_bench_step(b);
	r = child_start(&child, b->cpu, show_time, &b->cycles_per_ns, err);
	if (r == 0)
		r = pinning_pin(b->other_cpu);
	if (r == 0)
		n = open_lags(b, child.pid, lags);
	for (int i = 0; r == 0 && !enough && i < ATTEMPTS; i++) {
		enough = read_lags(b, child.page, lags, n);
		if (!enough && i % READINGS == 0)
			r = clock_bench_step(b);
	}

	for (size_t i = 0; i < n; i++) {
		if (r == 0)
			conclude_lag(&lags[i], &b->result->sources[lags[i].source]);
		time_reader_close(&lags[i].reader);
		free(lags[i].items);
	}
	pinning_pin(b->cpu);
	return r ?: child_check(&child, err);
}

/* How wrong it is to charge a whole tick to whatever runs at it (Hines, Wyatt & Chang, Figure 1): a
 * process that sleeps over every tick and computes between them, and one that sleeps between the
 * ticks and runs only at them.
 *
 * CLOCK_MONOTONIC_COARSE advances at the tick, so that one who watches it learns when that is. */

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

static int ticks_measure(struct clock_bench *b, struct taskstats_link *link,
	const struct task *task, struct clock_tick *ret, struct error *err)
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

/* When the ticks are: the start of the window of a twentieth of the period that has most of those
 * that are seen, since some are seen late. */
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
	struct task task = {.ticks = b->result->full ? TICKS_FULL : TICKS};
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
