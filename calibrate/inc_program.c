/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INC as a calibration starts it, how fast it is ('constant'), and what two of them that alternate on one CPU can resolve on this
 * machine. See calibration.h. */
#include "calibrate/calibration.h"

#include "lib/base/number.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/signals.h"
#include "lib/host/process/subprocess.h"
#include "lib/protocol/sample_size.h"
#include "lib/protocol/names.h"

#include <errno.h>
#include <math.h>

enum { ROUNDS = 20, LEAST_SLICES = 5 };
/* The slice is emp-measure's. */
static const int64_t SLICE_NS = 10 * NS_PER_MS, MOST_NS = 100 * NS_PER_MS;

void inc_program_make(struct inc_program *p, const struct calibration *c, int64_t length_ns)
{
	*p = (struct inc_program){
		.length_ns = length_ns,
		.argv = {(char *)"inc", (char *)"--iterations", p->iterations},
		.spawn = {.argv = p->argv,
			.path = c->inc,
			.cpu = c->plan.cpu,
			.stdin_fd = -1,
			.stdout_fd = -1,
			.stderr_fd = -1,
			.cgroup = c->base.observer.cgroup,
			.accounting = c->base.observer.accounting},
	};
	snprintf(p->iterations, sizeof(p->iterations), "%.0f",
		c->constant.per_second * (double)length_ns / 1e9);
}

int inc_program_describe(const struct inc_program *p, const struct calibration *c, enum run_kind kind,
	struct run *run, struct error *err)
{
	_cleanup_(json_decrefp) json_t *command = json_pack("[sss]", p->argv[0], p->argv[1], p->argv[2]);
	char seconds[TEXT_TIME_SIZE];

	*run = (struct run){
		.program = text_format("INC%s", text_seconds(seconds, p->length_ns)),
		.command = json_dumps(command, JSON_COMPACT),
		.kind = kind,
		.notes = text_copy(c->notes),
		.task_length_ns = p->length_ns,
		.cpu = c->plan.cpu,
	};
	run_session_describe(&c->base, run);
	return names_text(&run->name_patterns, err);
}

static int64_t duet_length_ns(const struct calibration *c)
{
	int64_t length_ns = c->plan.phases[SHORT_PHASE].length_ns;

	return length_ns < MOST_NS ? length_ns : MOST_NS;
}

/* Each gives the logarithm of the ratio of their PTs. -EINTR without a sentence. */
static int take_duet_rounds(
	struct calibration *c, struct cgroup *const cgroups[2], struct resolving rows[N_RESOLVING], struct error *err)
{
	const struct spawn *spawns[2];
	struct inc_program inc[2];
	const struct observer *o = &c->base.observer;
	const struct spawn all = {.cpu = c->plan.cpu, .cgroup = o->cgroup, .accounting = o->accounting};
	struct duet_plan plan = {.slice_ns = SLICE_NS, .cpu = c->plan.cpu};
	struct observation seen[2] = {};
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
		r = interrupt_pending() ? -EINTR
					: observe_duet(&plan, &all, spawns, 2, o->counters, seen, err);
		if (r == 0 && (seen[0].spawned.pt_ns <= 0 || seen[1].spawned.pt_ns <= 0))
			r = error_say(err, -ECANCELED, "INC took no CPU time in a duet");
		if (r == 0)
			log_ratios[i] = log((double)seen[0].spawned.pt_ns / (double)seen[1].spawned.pt_ns);
	}
	if (r == 0)
		resolving_add_duet(rows, log_ratios, ROUNDS);
	return r;
}

int64_t calibration_duet_ns(const struct calibration *c)
{
	int64_t length_ns = duet_length_ns(c);

	return c->plan.cpu < 0 || !c->base.observer.cgroup || length_ns < LEAST_SLICES * SLICE_NS ? 0 : ROUNDS * 2 * length_ns;
}

int calibration_duet(struct calibration *c, struct resolving rows[N_RESOLVING], struct error *err)
{
	struct cgroup *cgroups[2] = {};
	int r = 0;

	if (rows[0].samples == 0 || calibration_duet_ns(c) == 0)
		return 0;
	for (size_t i = 0; r == 0 && i < 2; i++)
		r = cgroup_new_in(&cgroups[i], c->base.observer.cgroup, err);
	if (r == 0)
		r = take_duet_rounds(c, cgroups, rows, err);
	for (size_t i = 0; i < 2; i++)
		cgroup_free(cgroups[i]);
	return r;
}

const struct option_row constant_options[] = {
	{0, "cpu", "N", "measure it on this CPU", pinning_option, &calibrate_options.cpu},
	{},
};

/* emp-calibrate constant: how many iterations INC makes in a second here. */
int verb_constant(int argc, char **argv, struct error *err)
{
	_cleanup_(run_session_close) struct run_session session = RUN_SESSION_NEW;
	_cleanup_(freep) char *inc = NULL;
	struct constant constant;
	int r;

	r = suite_tool_find("inc", &inc, err);
	if (r == 0)
		r = run_session_open(&session, calibrate_options.db, BOOK_WRITE, RUN_LOCK_IGNORED, err);
	if (r == 0)
		r = run_session_environment(&session, err);
	if (r == 0)
		r = observer_open(&session.observer, ACCOUNTING_NONE, -1, err);
	if (r < 0)
		return r;
	r = constant_get(&(struct constant_request){&session, session.environment, session.environment_digest,
				 inc, calibrate_options.cpu},
		&constant, err);
	if (r < 0)
		return r == -EINTR ? STATUS_INTERRUPTED : r;
	if (calibrate_options.json)
		return json_print_document("emp-constant",
			json_pack("{s:f, s:s, s:b}", "iterations_per_second", constant.per_second, "environment",
				session.environment_digest, "found_now", constant.found_now),
			err);
	printf("INC makes %.0f iterations/s in environment %.16s (%s)\n", constant.per_second,
		session.environment_digest, constant.found_now ? "measured now" : "measured before");
	return 0;
}
