/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that alternate: see alternation.h. */
#include "lib/host/process/alternation.h"

#include "lib/host/process/orphans.h"
#include "lib/host/process/signals.h"
#include "lib/host/process/slices.h"

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

const char *const slicing_names[N_SLICINGS] = {
	[SLICING_AUTO] = "auto",
	[SLICING_SCHEDULER] = "scheduler",
	[SLICING_FREEZER] = "freezer",
	[SLICING_SIGNALS] = "signals",
};

/* The time that a program has had for itself, against which its time-out is: its elapsed time, less
 * what its partners had: their CPU time, or with the freezer their turns. */
struct own_time {
	int64_t begun_ns;    /* CLOCK_MONOTONIC */
	int64_t check_ns;    /* likewise; its time is not over before then; 0: it has no time-out */
	int64_t had_ns;      /* of CPU time or turns, in all repetitions so far */
	int64_t partners_ns; /* that its partners had had when it began */

	/* CLOCK_MONOTONIC_RAW: when it was stopped last, and when it continued; 0: not yet */
	int64_t stopped_ns, continued_ns;
	int64_t away_ns;        /* how long it was stopped, before the last time */
	int64_t away_before_ns; /* of that, before the repetition under way */
};

struct alternation {
	const struct alternation_plan *plan;
	const struct command_spec *const *specs;
	struct program **programs; /* NULL: over */
	struct alternation_result *results;
	size_t n;
	size_t left; /* those that have not ended once */
	size_t turn; /* FREEZER: the one that runs */
	struct own_time *own;
	int64_t begun_ns; /* CLOCK_MONOTONIC */
	bool hurries;     /* see there */
	int policy;
};

/* This process may use a CPU beside that of the programs; then *ret is all of those. */
static bool find_other_cpus(int cpu, cpu_set_t *ret)
{
	if (sched_getaffinity(0, sizeof(*ret), ret) < 0)
		return false;
	if (cpu >= 0)
		CPU_CLR((size_t)cpu, ret);
	return CPU_COUNT(ret) > 0;
}

/* Likewise, of several CPUs. */
static bool find_cpus_beside(const struct alternation_plan *plan, cpu_set_t *ret)
{
	cpu_set_t shared;

	if (!find_other_cpus(plan->cpu, ret))
		return false;
	CPU_AND(&shared, ret, &plan->cpus);
	CPU_XOR(ret, ret, &shared);
	return CPU_COUNT(ret) > 0;
}

static int check_driver(enum slicing by, int cpu, struct error *err)
{
	cpu_set_t others;

	if (find_other_cpus(cpu, &others))
		return 0;
	return error_say(err, -ENOTSUP,
		"the %s is driven from another CPU, and there is none: allow one more",
		by == SLICING_FREEZER ? "freezer" : "alternation by signals");
}

static int check_freezer(int cpu, const struct cgroup *cgroup, struct error *err)
{
	struct error why;
	int r;

	if (!cgroup)
		return error_say(err, -ENOTSUP,
			"the freezer needs a cgroup for each program; see FOR ORDINARY USERS in "
			"emp-measure(1)");
	r = cgroup_set(cgroup, "cgroup.freeze", 0, &why);
	if (r < 0)
		return error_say(err, -ENOTSUP, "no freezer: %s", why.text);
	return check_driver(SLICING_FREEZER, cpu, err);
}

enum slicing alternation_slicing(int64_t slice_ns, int cpu, const struct cgroup *cgroup)
{
	struct timespec tick;
	bool can = false;

	if (cpu < 0)
		return check_freezer(cpu, cgroup, NULL) < 0 ? SLICING_SIGNALS : SLICING_FREEZER;
	/* The scheduler checks slices once a tick, so that none is shorter. Whether they can be set
	 * is tried, and undone. */
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) < 0 || slice_ns >= timespec_ns(tick)) {
		can = slice_set(10 * NS_PER_MS) == 0;
		can = slice_set(0) == 0 && can;
	}
	if (can)
		return SLICING_SCHEDULER;
	return check_freezer(cpu, cgroup, NULL) < 0 ? SLICING_AUTO : SLICING_FREEZER;
}

int alternation_choose(enum slicing wanted, int64_t slice_ns, int cpu, const struct cgroup *cgroup,
	enum slicing *ret, struct error *err)
{
	int r = 0;

	if (wanted == SLICING_FREEZER)
		r = check_freezer(cpu, cgroup, err);
	else if (wanted == SLICING_SIGNALS)
		r = check_driver(wanted, cpu, err);
	else if (wanted == SLICING_SCHEDULER && cpu < 0)
		r = error_say(err, -ENOTSUP,
			"the scheduler's slices are those of one CPU: --cpu N, or the freezer");
	if (r < 0)
		return r;
	if (wanted == SLICING_AUTO)
		wanted = alternation_slicing(slice_ns, cpu, cgroup) ?: SLICING_SCHEDULER;
	*ret = wanted;
	return 0;
}

static bool has_several_cpus(const struct alternation *a)
{
	return a->plan->cpu < 0;
}

/* Until all threads of a program have stopped, so that they do not run beside the next one: some 50
 * us if a CPU is idle. A thread that waits in the kernel cannot stop, and does not run either. By
 * signals, this is known of the first process only. */
static void await_stopped(const struct alternation *a, size_t i)
{
	const struct timespec most = {.tv_nsec = 5 * NS_PER_MS};
	const struct cgroup *cgroup = a->specs[i]->cgroup;
	struct pollfd events = {.fd = cgroup ? cgroup->events_fd : -1, .events = POLLPRI};

	if (a->plan->slicing == SLICING_SIGNALS && a->programs[i])
		program_await_stop(a->programs[i], timespec_ns(most));
	else if (a->plan->slicing == SLICING_FREEZER && cgroup_is(cgroup, "frozen", NULL) == 0)
		ppoll(&events, 1, &most, NULL);
}

/* Of a program that is not over. Does nothing if the scheduler has the slices. */
static int pause_program(const struct alternation *a, size_t i, bool pause, struct error *err)
{
	struct own_time *own = &a->own[i];
	int r = 0;

	if (!pause && own->stopped_ns && !own->continued_ns)
		own->continued_ns = clock_ns(CLOCK_MONOTONIC_RAW);
	if (a->plan->slicing == SLICING_FREEZER)
		r = cgroup_set(a->specs[i]->cgroup, "cgroup.freeze", pause, err);
	else if (a->plan->slicing == SLICING_SIGNALS && a->programs[i])
		program_signal(a->programs[i], pause ? SIGSTOP : SIGCONT);
	if (!pause || a->plan->slicing == SLICING_SCHEDULER)
		return r;
	if (r == 0 && has_several_cpus(a))
		await_stopped(a, i);
	if (own->stopped_ns)
		own->away_ns += own->continued_ns - own->stopped_ns;
	own->stopped_ns = clock_ns(CLOCK_MONOTONIC_RAW);
	own->continued_ns = 0;
	return r;
}

/* How long it was stopped, up to a moment that was after the last stop but one: a program may end
 * just before it is stopped. */
static int64_t time_away(const struct own_time *own, int64_t until_raw_ns)
{
	int64_t end_ns = own->continued_ns && own->continued_ns < until_raw_ns ? own->continued_ns
									       : until_raw_ns;

	if (!own->stopped_ns || end_ns < own->stopped_ns)
		return own->away_ns;
	return own->away_ns + end_ns - own->stopped_ns;
}

/* Where no CPU is left for this process, it has to get one from the programs in time. */
static void hurry(const struct alternation *a, bool on)
{
	const struct sched_param first = {.sched_priority = 1}, usual = {};

	if (a->hurries)
		sched_setscheduler(0, on ? SCHED_FIFO : a->policy, on ? &first : &usual);
}

/* Brings had_ns up to date; returns their sum. */
static int update_had(struct alternation *a, int64_t *ret_ns, struct error *err)
{
	*ret_ns = 0;
	for (size_t i = 0; i < a->n; i++) {
		struct own_time *own = &a->own[i];
		int64_t used_ns = 0; /* by the repetition under way */
		int r = 0;

		if (a->plan->slicing == SLICING_SCHEDULER && a->programs[i])
			r = program_used(a->programs[i], &used_ns, err);
		if (r < 0)
			return r;
		if (a->plan->slicing == SLICING_SCHEDULER)
			own->had_ns = a->results[i].exec.pt_ns + used_ns;
		*ret_ns += own->had_ns;
	}
	return 0;
}

static int start_in_alternation(struct alternation *a, size_t i, struct error *err)
{
	struct own_time *own = &a->own[i];
	struct command_spec spec = *a->specs[i];
	/* this process waits until the program is executed */
	int r = pause_program(a, i, false, err);

	spec.own_group = a->plan->slicing == SLICING_SIGNALS;
	spec.frozen_at_times = a->plan->slicing == SLICING_FREEZER;

	own->away_before_ns = time_away(own, clock_ns(CLOCK_MONOTONIC_RAW));
	if (r == 0)
		r = program_start(&a->programs[i], &spec, err);
	if (r == 0 && a->specs[i]->timeout_ns) {
		own->begun_ns = clock_ns(CLOCK_MONOTONIC);
		own->check_ns = own->begun_ns + a->specs[i]->timeout_ns;
		program_set_deadline(a->programs[i], 0);
		r = update_had(a, &own->partners_ns, err);
		own->partners_ns -= own->had_ns;
	}
	return r == 0 ? pause_program(a, i, true, err) : r;
}

/* Has the next wait kill the programs whose time is over. *ret: when another one may be due; 0:
 * never. */
static int check_time_outs(struct alternation *a, int64_t *ret, struct error *err)
{
	const int64_t least_ns = 10 * NS_PER_MS;
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC), sum_ns = 0;
	bool due = false;
	int r = 0;

	*ret = 0;
	for (size_t i = 0; i < a->n; i++)
		due |= a->programs[i] && a->own[i].check_ns && now_ns >= a->own[i].check_ns;
	if (due)
		r = update_had(a, &sum_ns, err);
	for (size_t i = 0; r == 0 && i < a->n; i++) {
		struct own_time *own = &a->own[i];
		int64_t partners_ns = sum_ns - own->had_ns - own->partners_ns, left_ns;

		if (!a->programs[i] || !own->check_ns)
			continue;
		if (now_ns >= own->check_ns) {
			left_ns = a->specs[i]->timeout_ns + partners_ns - (now_ns - own->begun_ns);
			if (left_ns <= 0)
				program_set_deadline(a->programs[i], now_ns);
			own->check_ns = now_ns + (left_ns > least_ns ? left_ns : least_ns);
		}
		if (!*ret || own->check_ns < *ret)
			*ret = own->check_ns;
	}
	return r;
}

/* How long the program has run beside others, up to now. */
static int64_t time_together(const struct alternation *a, size_t i)
{
	int64_t together_ns = clock_ns(CLOCK_MONOTONIC) - a->begun_ns;

	if (has_several_cpus(a))
		together_ns -= time_away(&a->own[i], clock_ns(CLOCK_MONOTONIC_RAW));
	return together_ns;
}

/* 1: one did not end by itself, which ends the alternation. */
static int end_one(struct alternation *a, size_t i, struct error *err)
{
	struct alternation_part *part = &a->results[i].part;
	struct exec_result one = *program_result(a->programs[i]);
	bool by_itself = one.end == PROGRAM_ENDED;

	if (has_several_cpus(a))
		one.et_ns -= time_away(&a->own[i], one.start_raw_ns + one.et_ns) -
			     a->own[i].away_before_ns;
	if (part->repetitions++ == 0)
		a->results[i].exec = one;
	else
		exec_result_add(&a->results[i].exec, &one);
	program_free(TAKE(a->programs[i]));
	if (!by_itself)
		return 1;
	if (part->repetitions == 1)
		a->left--;
	/* From now on, the one that is left has no other beside it. */
	for (size_t k = 0; part->repetitions == 1 && a->left == 1 && !a->plan->repeat && k < a->n;
		k++)
		if (a->programs[k])
			a->results[k].part.together_ns = time_together(a, k);
	return a->plan->repeat && a->left > 0 ? start_in_alternation(a, i, err) : 0;
}

/* Lets the program run whose turn it is, until one is over, or to the end of the slice. *ret_over:
 * the one that is over; n: none is. */
static int take_turn(struct alternation *a, size_t *ret_over, struct error *err)
{
	int64_t until_ns = 0, begun_ns, slice_end_ns;
	size_t n_alive = 0;
	bool alternate;
	int r;

	for (size_t i = 0; i < a->n; i++)
		n_alive += a->programs[i] != NULL;
	alternate = a->plan->slicing != SLICING_SCHEDULER && n_alive > 1;
	r = check_time_outs(a, &until_ns, err);

	begun_ns = clock_ns(CLOCK_MONOTONIC);
	hurry(a, true);
	if (r == 0)
		r = pause_program(a, a->turn, false, err);
	slice_end_ns = clock_ns(CLOCK_MONOTONIC) + a->plan->slice_ns;
	/* by signals, the last one goes on each time, too: it may have stopped itself */
	if ((alternate || a->plan->slicing == SLICING_SIGNALS) &&
		(!until_ns || slice_end_ns < until_ns))
		until_ns = slice_end_ns;

	if (r == 0)
		r = program_wait_any(a->programs, a->n, until_ns, ret_over, err);
	if (r == 0 && alternate && *ret_over != a->turn)
		r = pause_program(a, a->turn, true, err);
	hurry(a, false);
	a->own[a->turn].had_ns += clock_ns(CLOCK_MONOTONIC) - begun_ns;
	return r;
}

/* To the next program that is not over; it stays if there is none. */
static void pass_turn(struct alternation *a)
{
	size_t next = a->turn;

	do
		next = (next + 1) % a->n;
	while (next != a->turn && !a->programs[next]);
	a->turn = next;
}

static int take_turns(struct alternation *a, struct error *err)
{
	int r = 0;

	a->begun_ns = clock_ns(CLOCK_MONOTONIC);
	a->turn = a->plan->first % a->n;
	for (size_t k = 0; r == 0 && k < a->n; k++) {
		size_t i = (a->plan->first + k) % a->n;

		a->results[i].part.position = (int)k + 1;
		r = start_in_alternation(a, i, err);
	}

	while (r == 0 && a->left > 0) {
		size_t over = a->n;

		r = take_turn(a, &over, err);
		if (r == 0 && over < a->n)
			r = end_one(a, over, err);
		if (r == 0)
			pass_turn(a);
	}
	return r < 0 ? r : 0;
}

/* Ends the orphans without a tag, which belong to no known program. They may run for as long as
 * processes that a program left behind. */
static int end_orphans(const struct orphans *orphans, int64_t linger_ns, struct error *err)
{
	int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + linger_ns;
	int r;

	while ((r = orphans_reap(orphans, NULL, err)) > 0) {
		if (interrupt_pending() || clock_ns(CLOCK_MONOTONIC) >= until_ns)
			r = orphans_kill(orphans, err);
		if (r < 0)
			return r;
		nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
	}
	return r;
}

/* Kills the programs that are left, and makes means of the sums. */
static void conclude_alternation(struct alternation *a)
{
	for (size_t i = 0; i < a->n; i++) {
		a->results[i].part.cut_short = a->programs[i] != NULL;
		program_free(a->programs[i]);
		/* it may have ended just before it was frozen */
		a->programs[i] = NULL;
		pause_program(a, i, false, NULL);
	}
	for (size_t i = 0; i < a->n; i++) {
		struct alternation_part *part = &a->results[i].part;

		if (part->repetitions > 1)
			exec_result_divide(&a->results[i].exec, part->repetitions);
		if (part->together_ns == 0)
			part->together_ns = a->results[i].exec.et_ns;
	}
}

int alternation_run(const struct alternation_plan *plan, const struct command_spec *const *specs,
	size_t n, struct alternation_result *ret, struct error *err)
{
	_cleanup_(freep) struct program **programs = xcalloc(n, sizeof(*programs));
	_cleanup_(freep) struct own_time *own = xcalloc(n, sizeof(*own));
	struct alternation a = {.plan = plan,
		.specs = specs,
		.programs = programs,
		.results = ret,
		.own = own,
		.n = n,
		.left = n};
	struct orphans orphans;
	cpu_set_t before, others;
	bool moved;
	int r = orphans_begin(&orphans, NULL, err);

	assert(plan->slicing != SLICING_AUTO);
	if (r < 0)
		return r;
	orphans.number = -1;
	for (size_t i = 0; i < n; i++) {
		ret[i] = (struct alternation_result){};
		exec_result_clear(&ret[i].exec);
	}

	/* This process would take the programs' CPU each time it passes the turn. */
	moved = plan->slicing != SLICING_SCHEDULER &&
		sched_getaffinity(0, sizeof(before), &before) == 0 &&
		find_cpus_beside(plan, &others) &&
		sched_setaffinity(0, sizeof(others), &others) == 0;
	a.hurries = plan->cpu < 0 && !moved;
	a.policy = sched_getscheduler(0);
	r = take_turns(&a, err);
	conclude_alternation(&a);
	if (r == 0)
		r = end_orphans(&orphans, specs[0]->linger_ns, err);
	pid_list_free(&orphans.before);
	if (moved)
		sched_setaffinity(0, sizeof(before), &before);
	return r;
}
