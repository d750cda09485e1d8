/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One sample: see observer.h. */
#include "lib/run/observer.h"

#include "lib/base/xalloc.h"
#include "lib/base/number.h"
#include "lib/host/accounting/accounting_backend.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

int observer_open(struct observer *ret, enum accounting_backend backend, int cpu, struct error *err)
{
	const struct accounting_options options = {.backend = backend, .tasks.no_watch = cpu < 0};
	_cleanup_(observer_close) struct observer o = {};
	_cleanup_(freep) char *partition = NULL;
	int r;

	if (backend == ACCOUNTING_NONE) {
		o.accounting_missing = "not requested";
	} else {
		privilege_raise();
		r = accounting_new_with(&o.accounting, &options, &o.no_accounting);
		privilege_lower();
		if (r < 0 && backend != ACCOUNTING_AUTO) {
			*err = o.no_accounting;
			return r;
		}
		o.accounting_missing = r < 0 ? accounting_missing() : NULL;
	}
	partition = cpu >= 0 && partition_has(AT_FDCWD, cpu) ? partition_directory(AT_FDCWD) : NULL;
	cgroup_new(&o.cgroup, partition, &o.no_cgroup);
	o.counters = counters_open(AT_FDCWD, cpu);
	*ret = TAKE_STRUCT(o);
	return 0;
}

void observer_close(struct observer *observer)
{
	accounting_free(observer->accounting);
	cgroup_free(observer->cgroup);
	counter_reader_free(observer->counters);
	*observer = (struct observer){};
}

const char *observer_backend_name(const struct observer *observer)
{
	return accounting_backend_name(accounting_backend_of(observer->accounting));
}

const char *observer_pt_source(const struct observer *observer)
{
	return observer->cgroup ? "cgroup" : "wait4";
}

const char *observer_wait_source(const struct observer *observer)
{
	return observer->accounting ? observer_backend_name(observer) : "schedstat";
}

/* The program's own processes count in its PT only. If some left its cgroup, PT is the sum of all. */
static void drop_program(struct observation *o)
{
	struct usages *usages = &o->usages;
	int64_t sum_ns = 0;
	size_t kept = 0;

	for (size_t i = 0; i < usages->n; i++) {
		const struct usage *u = &usages->items[i];

		if (u->escaped) {
			o->spawned.escaped = true;
			memcpy(o->escaped, u->name, sizeof(o->escaped));
			for (char *c = o->escaped; *c; c++) /* a process chooses its name */
				if (*c < ' ' || *c > '~')
					*c = '?';
		}
		if (!u->program && !u->escaped) {
			usages->items[kept++] = *u;
			continue;
		}
		sum_ns += u->pt_ns;
		/* on another CPU for longer than a child is before it is pinned */
		if (u->same_cpu_ns >= 0 && u->pt_ns - u->same_cpu_ns > NS_PER_MS + u->pt_ns / 50)
			usages->taken_ns = -1;
	}
	usages->n = kept;
	sum_ns -= o->spawned.before_ns;
	if (o->escaped[0] && sum_ns > o->spawned.pt_ns)
		o->spawned.pt_ns = sum_ns;
}

/* W begins and ends with ET. The accounting knows it for all of the program's tasks, but not for those that left its cgroup. Several
 * tasks also wait for each other, which does not count; how long they do is not known if they left their CPU. The last task may
 * wait for the CPU once more after the end was seen: what PT leaves of ET is the most. */
static int64_t find_wait(const struct observation *o)
{
	const struct usages *usages = &o->usages;
	int64_t before_ns = o->spawned.wait_before_ns, wait_ns = usages->wait_ns - before_ns;
	int64_t rest_ns = o->spawned.et_ns - o->spawned.pt_ns;

	if (usages->wait_ns < 0 && o->spawned.wait_ns >= 0)
		wait_ns = o->spawned.wait_ns;
	else if (usages->wait_ns < 0 || before_ns < 0 || o->spawned.escaped || (usages->shared_wait && usages->taken_ns < 0))
		return -1;
	else if (usages->shared_wait && wait_ns > usages->taken_ns)
		wait_ns = usages->taken_ns;
	else if (wait_ns < 0)
		wait_ns = 0;
	return wait_ns <= rest_ns ? wait_ns : rest_ns > 0 ? rest_ns : 0;
}

static void set_switches(struct observation *o)
{
	counters_set(&o->changes, COUNTER_VOLUNTARY, o->spawned.voluntary_switches);
	counters_set(&o->changes, COUNTER_INVOLUNTARY, o->spawned.involuntary_switches);
}

/* The counters are read outside the snapshots, so that reading them is not part of the sample. */
int observe_several(const struct spawn *spawn, struct counter_reader *counters, observed_run *run, void *data,
	struct observation *ret, struct error *err)
{
	int64_t begin_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct observation o = {.usages = USAGES_NONE};
	int r = 0;

	counters_begin(counters);
	if (spawn->accounting) {
		privilege_raise();
		r = accounting_before(
			spawn->accounting, spawn->cgroup ? cgroup_id(spawn->cgroup) : 0, spawn->cpu, err);
		privilege_lower();
	}
	if (r == 0)
		r = run(data, &o.spawned, err);
	if (r == 0 && spawn->accounting) {
		privilege_raise();
		r = accounting_after(spawn->accounting, &o.usages, err);
		privilege_lower();
	}
	if (r < 0)
		return r;
	if (spawn->accounting)
		drop_program(&o);
	o.wait_ns = find_wait(&o);
	o.changes = counters_end(counters);
	set_switches(&o);
	if (o.usages.interrupts_ns >= 0)
		counters_set(&o.changes, COUNTER_INTERRUPTS, o.usages.interrupts_ns);
	if (o.usages.steal_ns >= 0) /* of this sample alone */
		counters_set(&o.changes, COUNTER_STEAL, o.usages.steal_ns);
	o.observer_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
	if (o.spawned.end == SPAWN_INTERRUPTED)
		return -EINTR;
	*ret = o;
	return 0;
}

static int run_program(void *data, struct spawned *ret, struct error *err)
{
	return program_run(data, ret, err);
}

int observe_sample(const struct spawn *spawn, struct counter_reader *counters, struct observation *ret,
	struct error *err)
{
	return observe_several(spawn, counters, run_program, (void *)(uintptr_t)spawn, ret, err);
}

struct duet_call {
	const struct duet_plan *plan;
	const struct spawn *const *spawns;
	size_t n;
	struct duet_part *parts;
	int64_t span_ns; /* from the first start to the last end */
};

/* The sum of all PTs, and of an end that was not by itself the kind. */
static int run_duet(void *data, struct spawned *ret, struct error *err)
{
	struct duet_call *call = data;
	int64_t begun_ns = clock_ns(CLOCK_MONOTONIC);
	int r = duet_run(call->plan, call->spawns, call->n, call->parts, err);

	call->span_ns = clock_ns(CLOCK_MONOTONIC) - begun_ns;
	*ret = (struct spawned){};
	for (size_t i = 0; r == 0 && i < call->n; i++) {
		const struct duet_part *part = &call->parts[i];

		ret->pt_ns += part->spawned.pt_ns * part->repetitions;
		if (part->spawned.end != SPAWN_ENDED)
			ret->end = part->spawned.end;
	}
	return r;
}

int observe_duet(const struct duet_plan *plan, const struct spawn *all, const struct spawn *const *spawns,
	size_t n, struct counter_reader *counters, struct observation *ret, struct error *err)
{
	_cleanup_(freep) struct duet_part *parts = xcalloc(n, sizeof(*parts));
	struct duet_call call = {plan, spawns, n, parts, 0};
	struct observation o;
	int r = observe_several(all, counters, run_duet, &call, &o, err);

	for (size_t i = 0; r == 0 && i < n; i++) {
		ret[i] = o;
		ret[i].part = parts[i];
		ret[i].spawned = parts[i].spawned;
		ret[i].spawned.escaped |= o.spawned.escaped;

		/* The share in what processes outside the duet took from all programs that falls on one,
		 * if they took as much all the time; -1: not known. */
		int64_t off_ns = call.span_ns - o.spawned.pt_ns, taken_ns = o.usages.taken_ns;

		if (call.plan->repeat || call.span_ns <= 0 || taken_ns < 0) /* some were cut short */ {
			ret[i].wait_ns = -1;
		} else {
			if (taken_ns > off_ns)
				taken_ns = off_ns > 0 ? off_ns : 0;
			ret[i].wait_ns = (int64_t)((double)taken_ns * (double)parts[i].spawned.et_ns /
						   (double)call.span_ns);
		}
		ret[i].observer_ns = o.observer_ns / (int64_t)n;
		set_switches(&ret[i]);
	}
	return r;
}
