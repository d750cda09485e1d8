/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Observing CPUs: see observation.h. */
#include "lib/neighbour/observation.h"

#include "lib/base/terminal.h"
#include "lib/host/cpu/cpus.h"
#include "lib/host/system/machine.h"

#include <math.h>

/* Ticks of /proc/stat. */
struct cpu_time {
	uint64_t all, idle, stolen;
};

/* Of one CPU since the machine was started; zeros: not known. */
static struct cpu_time cpu_time_of(const char *stat, int cpu)
{
	const char *line = stat ? strstr(stat, text_brief("cpu%d ", cpu)) : NULL;
	struct cpu_time time = {};
	uint64_t t[8];

	/* user, nice, system, idle, iowait, irq, softirq, steal */
	if (!line || sscanf(line,
			     "cpu%*d %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			     " %" SCNu64 " %" SCNu64 " %" SCNu64,
			     &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) != 8)
		return time;
	for (size_t i = 0; i < ELEMENTS(t); i++)
		time.all += t[i];
	time.idle = t[3] + t[4];
	time.stolen = t[7];
	return time;
}

/* What has come since, in ticks. The kernel's sums of idle times may go backwards. */
static double time_share(uint64_t before, uint64_t now, double all)
{
	return all > 0 ? fmin(1, fmax(0, (double)(int64_t)(now - before) / all)) : NAN;
}

static double stolen_between(const char *before, const char *now, int cpu)
{
	struct cpu_time a = cpu_time_of(before, cpu), b = cpu_time_of(now, cpu);

	return time_share(a.stolen, b.stolen, (double)b.all - (double)a.all);
}

static double busy_between(const char *before, const char *now, int cpu)
{
	struct cpu_time a = cpu_time_of(before, cpu), b = cpu_time_of(now, cpu);

	return 1 - time_share(a.idle, b.idle, (double)b.all - (double)a.all);
}

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
	int cpu = observed->account.cpu;
	_cleanup_(freep) char *list = path_text(
		AT_FDCWD, SYS_CPU "cpu%d/topology/thread_siblings_list", cpu);
	_cleanup_(freep) int *threads = NULL;
	size_t n = 0;

	if (!list || text_parse_cpu_list(list, &threads, &n) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (threads[i] != cpu)
			*array_add(
				observed->siblings, observed->n_siblings) = (struct core_sibling){
				threads[i], busy_between(before, now, threads[i])};
}

static void show_progress(void *of, int64_t done_ns)
{
	progress_step(of, (uint64_t)(done_ns / NS_PER_S), NULL);
}

int neighbour_observe(const struct neighbour_request *request, struct neighbour_observation *ret,
	struct error *err)
{
	_cleanup_(machine_clear) struct machine machine;
	_cleanup_(freep) char *before = path_text(AT_FDCWD, "/proc/stat"), *now = NULL;
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

	now = path_text(AT_FDCWD, "/proc/stat");
	ret->cpus = xcalloc(request->n_cpus, sizeof(*ret->cpus));
	ret->n_cpus = request->n_cpus;
	for (size_t i = 0; i < ret->n_cpus; i++) {
		struct observed_cpu *observed = &ret->cpus[i];

		neighbour_account_make(&observed->account, &series[i], ret->began_ns,
			ret->began_ns + ret->took_ns);
		observed->stolen = stolen_between(before, now, series[i].cpu);
		take_siblings(observed, before, now);
		neighbour_series_clear(&series[i]);
	}
	return r < 0 ? r : 0;
}
