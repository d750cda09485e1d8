/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INC in a duet with itself: see calibration_duet.h. */
#include "calibrate/calibration_duet.h"

#include "calibrate/options.h"
#include "lib/host/process/signals.h"
#include "lib/base/terminal.h"
#include "lib/record/profile.h"

#include <math.h>

/* INC as a duet with itself. The slice is emp-measure's. */
enum { DUET_ROUNDS = 20, LEAST_SLICES = 5 };
static const int64_t SLICE_NS = 10 * NS_PER_MS, MOST_NS = 100 * NS_PER_MS;

/* How long each INC of a duet runs: 0 where there can be no duets by the scheduler's slices, that
 * is, on one CPU and in cgroups, or where it would be too short. */
static int64_t duet_length_ns(const struct calibration *c)
{
	int64_t length_ns = c->plan.phases[SHORT_PHASE].length_ns;

	if (c->plan.cpu < 0 || !c->base.observer.cgroup || length_ns < LEAST_SLICES * SLICE_NS)
		return 0;
	return length_ns < MOST_NS ? length_ns : MOST_NS;
}

int64_t calibration_duet_ns(const struct calibration *c)
{
	return DUET_ROUNDS * 2 * duet_length_ns(c);
}

/* Takes DUET_ROUNDS rounds, which last a few seconds together. Each gives the logarithm of the
 * ratio of both PTs. */
int calibration_duet(struct calibration *c, struct mdd rows[N_MDD], struct error *err)
{
	const struct observer *o = &c->base.observer;
	const struct command_spec all = {.cpu = c->plan.cpu,
		.cgroup = o->cgroup,
		.accounting = o->accounting,
		.prober = o->prober};
	struct alternation_plan plan = {.slice_ns = SLICE_NS, .cpu = c->plan.cpu};
	struct cgroup *cgroups[2] = {};
	_cleanup_(progress_end) struct progress progress = {};
	const struct command_spec *specs[2];
	struct inc_program inc[2];
	struct raw_sample seen[2] = {};
	double log_ratios[DUET_ROUNDS];
	bool can = true;
	int r = 0;

	if (rows[0].samples == 0 || duet_length_ns(c) == 0)
		return 0;
	for (size_t i = 0; r == 0 && i < 2; i++) {
		r = cgroup_new_in(&cgroups[i], o->cgroup->path, err);
		calibration_make_inc(c, duet_length_ns(c), &inc[i]);
		inc[i].spec.cgroup = cgroups[i];
		inc[i].spec.slice_ns = SLICE_NS;
		specs[i] = &inc[i].spec;
	}
	if (r == 0)
		can = alternation_choose(SLICING_SCHEDULER, SLICE_NS, plan.cpu, cgroups[0],
			      &plan.slicing, NULL) == 0;

	progress_begin(&progress, "INC in a duet with itself", can ? DUET_ROUNDS : 0,
		calibrate_options.quiet);
	for (size_t i = 0; r == 0 && can && i < DUET_ROUNDS; i++) {
		plan.first = i % 2;
		if (interrupt_pending())
			r = -EINTR;
		else
			r = observe_together(&plan, &all, specs, 2, o->counters, seen, err);
		if (r == 0 && (seen[0].exec.pt_ns <= 0 || seen[1].exec.pt_ns <= 0))
			r = error_say(err, -ECANCELED, "INC took no CPU time in a duet");
		if (r == 0)
			log_ratios[i] = log(
				(double)seen[0].exec.pt_ns / (double)seen[1].exec.pt_ns);
		progress_step(&progress, i + 1, NULL);
	}

	if (r == 0 && can)
		mdd_add_duet(rows, log_ratios, DUET_ROUNDS);
	for (size_t i = 0; i < 2; i++)
		cgroup_free(cgroups[i]);
	return r;
}
