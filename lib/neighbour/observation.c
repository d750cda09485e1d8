/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Observing CPUs: see observation.h. */
#include "lib/neighbour/observation.h"

#include "lib/base/terminal.h"
#include "lib/host/cpu/cpu_time.h"
#include "lib/host/cpu/cpus.h"
#include "lib/host/system/machine.h"

#include <math.h>

void neighbour_observation_clear(struct neighbour_observation *o)
{
	for (size_t i = 0; i < o->n_cpus; i++) {
		neighbour_account_clear(&o->cpus[i].account);
		free(o->cpus[i].siblings);
	}
	free(o->cpus);
	*o = (struct neighbour_observation){};
}

static void take_siblings(struct observed_cpu *observed, const char *before, const char *now)
{
	_cleanup_(freep) int *siblings = NULL;
	size_t n;

	cpu_siblings(observed->account.cpu, &siblings, &n);
	for (size_t i = 0; i < n; i++)
		*array_add(observed->siblings, observed->n_siblings) = (struct core_sibling){
			siblings[i], cpu_time_busy(before, now, siblings[i])};
}

static void show_progress(void *of, int64_t done_ns)
{
	progress_step(of, (uint64_t)(done_ns / NS_PER_S), NULL);
}

int neighbour_observe(const struct neighbour_request *request, struct neighbour_observation *ret,
	struct error *err)
{
	_cleanup_(machine_clear) struct machine machine;
	_cleanup_(freep) char *before = cpu_time_text(), *now = NULL;
	_cleanup_(freep) struct neighbour_series *series = xcalloc(
		request->n_cpus, sizeof(*series));
	struct progress progress;
	struct neighbour_watch watch = {series, request->n_cpus, request->for_ns, request->pause_ns,
		show_progress, &progress};
	int r;

	machine_read(&machine, AT_FDCWD);
	ret->virtual = machine.virtual;
	ret->made_ns = clock_ns(CLOCK_REALTIME);
	ret->began_ns = clock_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; i < request->n_cpus; i++)
		series[i].cpu = request->cpus[i];
	progress_begin(&progress, "Seconds",
		(uint64_t)((request->for_ns + NS_PER_S - 1) / NS_PER_S), request->quiet);
	r = neighbour_watch(&watch, err);
	progress_end(&progress);
	ret->took_ns = clock_ns(CLOCK_MONOTONIC) - ret->began_ns;
	ret->interrupted = r > 0;

	now = cpu_time_text();
	ret->cpus = xcalloc(request->n_cpus, sizeof(*ret->cpus));
	ret->n_cpus = request->n_cpus;
	for (size_t i = 0; i < ret->n_cpus; i++) {
		struct observed_cpu *observed = &ret->cpus[i];

		neighbour_account_make(&observed->account, &series[i], ret->began_ns,
			ret->began_ns + ret->took_ns);
		observed->stolen = cpu_time_stolen(before, now, series[i].cpu);
		take_siblings(observed, before, now);
		neighbour_series_clear(&series[i]);
	}
	return r < 0 ? r : 0;
}
