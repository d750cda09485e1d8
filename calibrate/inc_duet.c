/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What two programs that alternate on one CPU can resolve on this machine: INC as a duet with itself, at the end of a
 * calibration. See calibration.h. */
#include "calibrate/calibration.h"

#include "calibrate/inc_program.h"

#include "lib/base/clock.h"
#include "lib/host/process/signals.h"
#include "lib/protocol/sample_size.h"

#include <errno.h>
#include <math.h>

enum { ROUNDS = 20, LEAST_SLICES = 5 };
/* The slice is emp-measure's. */
static const int64_t SLICE_NS = 10 * NS_PER_MS, MOST_NS = 100 * NS_PER_MS;

/* The logarithm of the ratio of their PTs. -EINTR without a sentence. */
static int take_round(struct calibration *c, const struct duet_plan *plan,
	const struct spawn *const spawns[2], double *ret, struct error *err)
{
	const struct spawn all = {
		.cpu = plan->cpu, .cgroup = c->observer.cgroup, .accounting = c->observer.accounting};
	struct observation seen[2] = {};
	int r = interrupt_pending() ? -EINTR
				    : observe_duet(plan, &all, spawns, 2, c->observer.counters, seen, err);

	if (r < 0)
		return r;
	if (seen[0].spawned.pt_ns <= 0 || seen[1].spawned.pt_ns <= 0)
		return error_say(err, -ECANCELED, "INC took no CPU time in a duet");
	*ret = log((double)seen[0].spawned.pt_ns / (double)seen[1].spawned.pt_ns);
	return 0;
}

static int64_t duet_length_ns(const struct calibration *c)
{
	int64_t length_ns = c->plan.phases[SHORT_PHASE].length_ns;

	return length_ns < MOST_NS ? length_ns : MOST_NS;
}

static int take_rounds(
	struct calibration *c, struct cgroup *const cgroups[2], struct resolving rows[N_RESOLVING], struct error *err)
{
	const struct spawn *spawns[2];
	struct inc_program inc[2];
	struct duet_plan plan = {.slice_ns = SLICE_NS, .cpu = c->plan.cpu};
	double log_ratios[ROUNDS];
	struct error err2;
	int r = 0;

	if (duet_choose(SLICING_SCHEDULER, SLICE_NS, plan.cpu, cgroups[0], &plan.slicing, &err2) < 0)
		return 0;
	for (size_t i = 0; i < 2; i++) {
		inc_program_make(&inc[i], c, duet_length_ns(c));
		inc[i].spawn.cgroup = cgroups[i];
		inc[i].spawn.slice_ns = SLICE_NS;
		spawns[i] = &inc[i].spawn;
	}
	for (size_t i = 0; r == 0 && i < ROUNDS; i++) {
		plan.first = i % 2;
		r = take_round(c, &plan, spawns, &log_ratios[i], err);
	}
	if (r == 0)
		resolving_add_duet(rows, log_ratios, ROUNDS);
	return r;
}

int64_t calibration_duet_ns(const struct calibration *c)
{
	int64_t length_ns = duet_length_ns(c);

	return c->plan.cpu < 0 || !c->observer.cgroup || length_ns < LEAST_SLICES * SLICE_NS ? 0 : ROUNDS * 2 * length_ns;
}

int calibration_duet(struct calibration *c, struct resolving rows[N_RESOLVING], struct error *err)
{
	struct cgroup *cgroups[2] = {};
	int r = 0;

	if (rows[0].samples == 0 || calibration_duet_ns(c) == 0)
		return 0;
	for (size_t i = 0; r == 0 && i < 2; i++)
		r = cgroup_new_in(&cgroups[i], c->observer.cgroup, err);
	if (r == 0)
		r = take_rounds(c, cgroups, rows, err);
	for (size_t i = 0; i < 2; i++)
		cgroup_free(cgroups[i]);
	return r;
}
