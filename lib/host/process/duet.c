/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that alternate on one CPU: see program.h. */
#include "lib/host/process/program.h"

#include "lib/host/process/signals.h"

#include <assert.h>

const char *const slicing_names[N_SLICINGS] = {
	[SLICING_AUTO] = "auto",
	[SLICING_SCHEDULER] = "scheduler",
	[SLICING_FREEZER] = "freezer",
};

/* The time that a program has had for itself, against which its time-out is: its elapsed time, less
 * what its partners had: their CPU time, or with the freezer their turns. */
struct own_time {
	int64_t begun_ns;    /* CLOCK_MONOTONIC */
	int64_t check_ns;    /* likewise; its time is not over before then; 0: it has no time-out */
	int64_t had_ns;      /* of CPU time or turns, in all repetitions so far */
	int64_t partners_ns; /* that its partners had had when it began */
};

struct duet {
	const struct duet_plan *plan;
	const struct command_spec *const *specs;
	struct program **programs; /* NULL: over */
	struct duet_part *parts;
	size_t n;
	size_t left; /* those that have not ended once */
	size_t turn; /* FREEZER: the one that runs */
	struct own_time *own;
	int64_t begun_ns; /* CLOCK_MONOTONIC */
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

static int check_freezer(int cpu, const struct cgroup *cgroup, struct error *err)
{
	struct error why;
	cpu_set_t others;
	int r;

	if (!cgroup)
		return error_say(err, -ENOTSUP, "the freezer needs a cgroup for each program");
	r = cgroup_set(cgroup, "cgroup.freeze", 0, &why);
	if (r < 0)
		return error_say(err, -ENOTSUP, "no freezer: %s", why.text);
	if (!find_other_cpus(cpu, &others))
		return error_say(
			err, -ENOTSUP, "the freezer is driven from another CPU, and there is none");
	return 0;
}

enum slicing duet_slicing(int64_t slice_ns, int cpu, const struct cgroup *cgroup)
{
	struct timespec tick;
	bool can = false;

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

int duet_choose(enum slicing wanted, int64_t slice_ns, int cpu, const struct cgroup *cgroup,
	enum slicing *ret, struct error *err)
{
	int r = wanted == SLICING_FREEZER ? check_freezer(cpu, cgroup, err) : 0;

	if (r < 0)
		return r;
	if (wanted == SLICING_AUTO)
		wanted = duet_slicing(slice_ns, cpu, cgroup) ?: SLICING_SCHEDULER;
	*ret = wanted;
	return 0;
}

/* Nothing where the scheduler has the slices. */
static int freeze_program(const struct duet *d, size_t i, bool freeze, struct error *err)
{
	return d->plan->slicing == SLICING_FREEZER
		       ? cgroup_set(d->specs[i]->cgroup, "cgroup.freeze", freeze, err)
		       : 0;
}

/* Brings had_ns up to date; returns their sum. */
static int update_had(struct duet *d, int64_t *ret_ns, struct error *err)
{
	*ret_ns = 0;
	for (size_t i = 0; i < d->n; i++) {
		struct own_time *own = &d->own[i];
		int64_t used_ns = 0; /* by the repetition under way */
		int r = 0;

		if (d->plan->slicing != SLICING_FREEZER && d->programs[i])
			r = program_used(d->programs[i], &used_ns, err);
		if (r < 0)
			return r;
		if (d->plan->slicing != SLICING_FREEZER)
			own->had_ns = d->parts[i].exec.pt_ns + used_ns;
		*ret_ns += own->had_ns;
	}
	return 0;
}

static int start_in_duet(struct duet *d, size_t i, struct error *err)
{
	struct own_time *own = &d->own[i];
	/* this process waits until the program is executed */
	int r = freeze_program(d, i, false, err);

	if (r == 0)
		r = program_start(&d->programs[i], d->specs[i], err);
	if (r == 0 && d->specs[i]->timeout_ns) {
		own->begun_ns = clock_ns(CLOCK_MONOTONIC);
		own->check_ns = own->begun_ns + d->specs[i]->timeout_ns;
		program_set_deadline(d->programs[i], 0);
		r = update_had(d, &own->partners_ns, err);
		own->partners_ns -= own->had_ns;
	}
	return r == 0 ? freeze_program(d, i, true, err) : r;
}

/* Lets the next wait kill the programs whose time is over. *ret: when one of the others can be, 0:
 * none. */
static int check_time_outs(struct duet *d, int64_t *ret, struct error *err)
{
	const int64_t least_ns = 10 * NS_PER_MS;
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC), sum_ns = 0;
	bool due = false;
	int r = 0;

	*ret = 0;
	for (size_t i = 0; i < d->n; i++)
		due |= d->programs[i] && d->own[i].check_ns && now_ns >= d->own[i].check_ns;
	if (due)
		r = update_had(d, &sum_ns, err);
	for (size_t i = 0; r == 0 && i < d->n; i++) {
		struct own_time *own = &d->own[i];
		int64_t partners_ns = sum_ns - own->had_ns - own->partners_ns, left_ns;

		if (!d->programs[i] || !own->check_ns)
			continue;
		if (now_ns >= own->check_ns) {
			left_ns = d->specs[i]->timeout_ns + partners_ns - (now_ns - own->begun_ns);
			if (left_ns <= 0)
				program_set_deadline(d->programs[i], now_ns);
			own->check_ns = now_ns + (left_ns > least_ns ? left_ns : least_ns);
		}
		if (!*ret || own->check_ns < *ret)
			*ret = own->check_ns;
	}
	return r;
}

/* 1: one did not end by itself, which ends the duet. */
static int end_one(struct duet *d, size_t i, struct error *err)
{
	struct duet_part *part = &d->parts[i];
	const struct exec_result *s = program_result(d->programs[i]);
	bool by_itself = s->end == SPAWN_ENDED;
	struct exec_result *sum = &part->exec;

	if (part->repetitions++ == 0) {
		*sum = *s;
	} else {
		sum->et_ns += s->et_ns;
		sum->pt_ns += s->pt_ns;
		sum->user_ns += s->user_ns;
		sum->system_ns += s->system_ns;
		sum->voluntary_switches += s->voluntary_switches;
		sum->involuntary_switches += s->involuntary_switches;
		sum->left_behind += s->left_behind;
		sum->killed += s->killed;
		sum->escaped |= s->escaped;
		sum->wait_status = sum->wait_status ?: s->wait_status;
		if (s->late_ns > sum->late_ns)
			sum->late_ns = s->late_ns;
		if (s->max_rss_bytes > sum->max_rss_bytes)
			sum->max_rss_bytes = s->max_rss_bytes;
	}
	program_free(TAKE(d->programs[i]));
	if (!by_itself)
		return 1;
	if (part->repetitions == 1)
		d->left--;
	/* From now on, the one that is left has no other beside it. */
	for (size_t k = 0; part->repetitions == 1 && d->left == 1 && !d->plan->repeat && k < d->n;
		k++)
		if (d->programs[k])
			d->parts[k].together_ns = clock_ns(CLOCK_MONOTONIC) - d->begun_ns;
	return d->plan->repeat && d->left > 0 ? start_in_duet(d, i, err) : 0;
}

static int duet_take_turns(struct duet *d, struct error *err)
{
	int r = 0;

	d->begun_ns = clock_ns(CLOCK_MONOTONIC);
	d->turn = d->plan->first % d->n;
	for (size_t k = 0; r == 0 && k < d->n; k++) {
		size_t i = (d->plan->first + k) % d->n;

		d->parts[i].position = (int)k + 1;
		r = start_in_duet(d, i, err);
	}
	while (r == 0 && d->left > 0) {
		size_t over = d->n, n_alive = 0, k = 1; /* over: the one that is over, or n */
		int64_t until_ns = 0, begun_ns, slice_end_ns;
		bool alternate;

		/* Lets the program run whose turn it is, until one is over, or to the end of the
		 * slice. */
		for (size_t i = 0; i < d->n; i++)
			n_alive += d->programs[i] != NULL;
		alternate = d->plan->slicing == SLICING_FREEZER && n_alive > 1;
		r = check_time_outs(d, &until_ns, err);
		begun_ns = clock_ns(CLOCK_MONOTONIC);
		if (r == 0)
			r = freeze_program(d, d->turn, false, err);
		slice_end_ns = clock_ns(CLOCK_MONOTONIC) + d->plan->slice_ns;
		if (alternate && (!until_ns || slice_end_ns < until_ns))
			until_ns = slice_end_ns;
		if (r == 0)
			r = program_wait_any(d->programs, d->n, until_ns, &over, err);
		if (r == 0 && alternate && over != d->turn)
			r = freeze_program(d, d->turn, true, err);
		d->own[d->turn].had_ns += clock_ns(CLOCK_MONOTONIC) - begun_ns;
		if (r == 0 && over < d->n)
			r = end_one(d, over, err);
		/* The turn passes to the next program that is not over. */
		while (r == 0 && k < d->n && !d->programs[(d->turn + k) % d->n])
			k++;
		if (r == 0 && d->programs[(d->turn + k) % d->n])
			d->turn = (d->turn + k) % d->n;
	}
	return r < 0 ? r : 0;
}

/* What is left without a tag, and so belongs to no program that is known, may run as long as what a
 * program leaves behind. */
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

int duet_run(const struct duet_plan *plan, const struct command_spec *const *specs, size_t n,
	struct duet_part *ret, struct error *err)
{
	struct duet d = {.plan = plan, .specs = specs, .parts = ret, .n = n, .left = n};
	struct orphans orphans;
	cpu_set_t before, others;
	bool moved;
	int r = orphans_begin(&orphans, NULL, err);

	assert(plan->slicing != SLICING_AUTO);
	if (r < 0)
		return r;
	orphans.number = -1;
	d.programs = xcalloc(n, sizeof(struct program *));
	d.own = xcalloc(n, sizeof(*d.own));
	for (size_t i = 0; i < n; i++)
		ret[i] = (struct duet_part){};
	/* This process would take the programs' CPU each time it passes the turn. */
	moved = plan->slicing == SLICING_FREEZER &&
		sched_getaffinity(0, sizeof(before), &before) == 0 &&
		find_other_cpus(plan->cpu, &others) &&
		sched_setaffinity(0, sizeof(others), &others) == 0;
	r = duet_take_turns(&d, err);
	for (size_t i = 0; i < n; i++) {
		ret[i].cut_short = d.programs[i] != NULL;
		program_free(d.programs[i]);
		/* it may have ended just before it was frozen */
		freeze_program(&d, i, false, NULL);
	}
	free(d.programs);
	free(d.own);
	if (r == 0)
		r = end_orphans(&orphans, specs[0]->linger_ns, err);
	pid_list_free(&orphans.before);
	if (moved)
		sched_setaffinity(0, sizeof(before), &before);
	for (size_t i = 0; i < n; i++) {
		struct exec_result *s = &ret[i].exec;
		int n_part = ret[i].repetitions;

		/* Makes means of the sums. */
		if (ret[i].together_ns == 0)
			ret[i].together_ns = s->et_ns / (n_part ?: 1);
		if (n_part < 2)
			continue;
		s->et_ns /= n_part;
		s->pt_ns /= n_part;
		s->user_ns /= n_part;
		s->system_ns /= n_part;
		s->voluntary_switches /= n_part;
		s->involuntary_switches /= n_part;
	}
	return r;
}
