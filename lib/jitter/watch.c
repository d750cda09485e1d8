/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watching CPUs: see watch.h. */
#include "lib/jitter/watch.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/host/system/machine.h"
#include "lib/jitter/event_cost.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

/* This thread, which merges, stays off the watched CPUs if there are others. There it is a real-time one, because the buffer of the
 * trace fills while it waits; not a nice one, whose weight the scheduler would take from the loops of the same group. */
static void step_aside(const struct watch_request *request)
{
	const struct sched_param priority = {.sched_priority = 1};
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return;
	for (size_t i = 0; i < request->n_cpus; i++)
		CPU_CLR(request->cpus[i], &set);
	if (CPU_COUNT(&set) > 0 && sched_setaffinity(0, sizeof(set), &set) == 0)
		sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority);
}

static int open_trace(struct watch *w, const struct watch_request *request, struct error *err)
{
	const struct trace_request trace = {
		.cpus = request->cpus,
		.n_cpus = request->n_cpus,
		.clock = w->mono_raw ? "mono_raw" : "x86-tsc",
		.buffer_bytes = request->buffer_bytes,
		.keep = request->keep,
	};

	return trace_open(&w->trace, &trace, err);
}

static int open_cpus(struct watch *w, const struct watch_request *request, struct error *err)
{
	int r = 0;

	w->cpus = aligned_alloc(64, request->n_cpus * sizeof(*w->cpus));
	if (!w->cpus)
		return error_oom(err);
	memset(w->cpus, 0, request->n_cpus * sizeof(*w->cpus));
	for (size_t i = 0; r == 0 && i < request->n_cpus; i++) {
		struct sampler *sampler = &w->cpus[w->n_cpus++].sampler;

		sampler->cpu = request->cpus[i];
		sampler->threshold = (uint64_t)((double)request->threshold_ns / w->scale.ns_per_tick);
		w->cpus[i].counters = counters_open(AT_FDCWD, request->cpus[i]);
		r = sampler_start(sampler, err);
	}
	return r;
}

static int begin_cpu(struct watch *w, struct watched_cpu *cpu, struct error *err)
{
	int64_t threshold_ns = (int64_t)((double)cpu->sampler.threshold * w->scale.ns_per_tick);

	intervals_begin(&cpu->intervals, cpu->sampler.tid, &w->sources);
	return merge_begin(&cpu->merge, threshold_ns, &w->sources, err);
}

/* The scale of the counter is measured while the trace is made, which takes a while. */
static int measure_scale(struct watch *w)
{
	enum { AT_LEAST_NS = 200000000 };
	int64_t taken_ns = clock_ns(CLOCK_MONOTONIC_RAW) - w->scale.base_raw_ns;

	if (taken_ns < AT_LEAST_NS)
		usleep((useconds_t)((AT_LEAST_NS - taken_ns) / NS_PER_US));
	counter_scale_end(&w->scale);
	return 0;
}

static const char *outside_name(void)
{
	_cleanup_(machine_clear) struct machine machine;

	machine_read(&machine, AT_FDCWD);
	return machine.virtual ? "host or processor" : "firmware or processor";
}

int watch_open(struct watch *w, const struct watch_request *request, struct error *err)
{
	int64_t untraced_ns;
	int r;

	*w = (struct watch){.mono_raw = request->mono_raw, .scale = counter_scale_begin()};
#ifdef __aarch64__
	w->mono_raw = true;
#endif
	w->sources.outside = outside_name();
	r = counter_check(AT_FDCWD, err);
	untraced_ns = r == 0 ? event_cost_fault_ns(request->cpus[0]) : 0;
	if (r == 0)
		r = identity_new(&w->identity, err);
	if (r == 0)
		r = open_trace(w, request, err);
	if (r == 0)
		r = trace_start(w->trace, err);
	w->sources.identity = w->identity;
	w->sources.symbol = trace_symbol;
	w->sources.trace = w->trace;
	if (r == 0)
		w->event_cost_ns = event_cost_ns(untraced_ns, event_cost_fault_ns(request->cpus[0]));
	if (r == 0)
		r = measure_scale(w);
	if (r == 0)
		r = open_cpus(w, request, err);
	for (size_t i = 0; r == 0 && i < w->n_cpus; i++)
		r = begin_cpu(w, &w->cpus[i], err);
	step_aside(request); /* after the threads have its priority */
	return r;
}

void watch_close(struct watch *w)
{
	for (size_t i = 0; i < w->n_cpus; i++) {
		sampler_clear(&w->cpus[i].sampler);
		intervals_clear(&w->cpus[i].intervals);
		merge_clear(&w->cpus[i].merge);
		counter_reader_free(w->cpus[i].counters);
		free(w->cpus[i].gaps);
	}
	free(w->cpus);
	trace_free(w->trace);
	identity_free(w->identity);
	jitter_sources_clear(&w->sources);
	*w = (struct watch){};
}

static int64_t now_ns(const struct watch *w)
{
	return counter_ns(&w->scale, counter_now());
}

static void forget(const struct trace_event *event, void *data)
{
}

int watch_start(struct watch *w, struct error *err)
{
	int r = 0;

	mlockall(MCL_CURRENT); /* what it is for is locked already: the loops' memory */
	for (size_t i = 0; r == 0 && i < w->n_cpus; i++)
		r = trace_read(w->trace, i, forget, NULL, err); /* from before the start */
	for (size_t i = 0; i < w->n_cpus; i++)
		w->cpus[i].lost = trace_lost(w->trace, i);
	for (size_t i = 0; i < w->n_cpus; i++)
		counters_begin(w->cpus[i].counters);
	for (size_t i = 0; r == 0 && i < w->n_cpus; i++)
		sampler_go(&w->cpus[i].sampler);
	w->now = counter_scale_begin();
	w->started_ns = w->round_ns = now_ns(w);
	return r;
}

static enum gap_place place_of(const struct sampler *sampler, const struct gap *gap)
{
	if (!sampler->kernel_known)
		return GAP_UNKNOWN;
	return gap->kernel ? GAP_IN_KERNEL : GAP_OUTSIDE_KERNEL;
}

static int take_gaps(struct watch *w, struct watched_cpu *cpu, struct error *err)
{
	struct gap gap;

	while (sampler_take(&cpu->sampler, &gap)) {
		struct gap_seen *seen = array_add_reused(cpu->gaps, cpu->n_gaps, cpu->gaps_capacity);

		*seen = (struct gap_seen){counter_ns(&w->scale, gap.start), counter_ns(&w->scale, gap.end),
			place_of(&cpu->sampler, &gap)};
		cpu->sampled_ns = seen->end_ns - w->started_ns;
	}
	return 0;
}

struct reading {
	struct watch *watch;
	struct watched_cpu *cpu;
	int64_t first_ns; /* the loop began */
};

/* In the other clock, by the two readings around it. */
static int64_t of_raw(const struct watch *w, int64_t raw_ns)
{
	double share = (double)(raw_ns - w->before.base_raw_ns) /
		       (double)(w->now.base_raw_ns - w->before.base_raw_ns);
	double ticks = share * (double)(w->now.base - w->before.base);

	return counter_ns(&w->scale, w->before.base + (uint64_t)(int64_t)ticks);
}

static void take_event(const struct trace_event *event, void *data)
{
	const struct reading *reading = data;
	const struct watch *w = reading->watch;
	int64_t at_ns = w->mono_raw ? of_raw(w, (int64_t)event->at) : counter_ns(&w->scale, event->at);

	if (at_ns >= reading->first_ns)
		intervals_add(&reading->cpu->intervals, event, at_ns);
}

static int take_trace(struct watch *w, size_t i, struct error *err)
{
	struct watched_cpu *cpu = &w->cpus[i];
	struct reading reading = {w, cpu, counter_ns(&w->scale, cpu->sampler.first)};
	int64_t lost = trace_lost(w->trace, i);
	int r = trace_read(w->trace, i, take_event, &reading, err);

	if (r == 0 && trace_lost(w->trace, i) != lost)
		intervals_lost(&cpu->intervals);
	return cpu->intervals.failed < 0 ? error_oom(err) : r;
}

/* Gaps first: all events of a gap are in the trace when it ends. */
int watch_drain(struct watch *w, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < w->n_cpus; i++)
		r = take_gaps(w, &w->cpus[i], err);
	w->before = w->now;
	w->now = counter_scale_begin();
	for (size_t i = 0; r == 0 && i < w->n_cpus; i++)
		r = take_trace(w, i, err);
	return r;
}

static int merge_cpu(struct watch *w, struct watched_cpu *cpu, int64_t until_ns, struct error *err)
{
	size_t used = 0;
	int r = merge_round(&cpu->merge, w->round_ns, until_ns, cpu->gaps, cpu->n_gaps, cpu->intervals.items,
		cpu->intervals.n, &used);

	if (r < 0)
		return error_oom(err);
	intervals_drop(&cpu->intervals, used);
	cpu->n_gaps = 0;
	return 0;
}

static int end_round(struct watch *w, int64_t until_ns, struct error *err)
{
	int r = watch_drain(w, err);

	for (size_t i = 0; r == 0 && i < w->n_cpus; i++)
		r = merge_cpu(w, &w->cpus[i], until_ns, err);
	w->round_ns = until_ns;
	w->rounds += r == 0;
	return r;
}

int watch_end_round(struct watch *w, struct error *err)
{
	return end_round(w, now_ns(w), err);
}

int watch_stop(struct watch *w, struct error *err)
{
	int64_t until_ns = w->round_ns;
	int r;

	for (size_t i = 0; i < w->n_cpus; i++) {
		struct watched_cpu *cpu = &w->cpus[i];

		sampler_stop(&cpu->sampler);
		cpu->changes = counters_end(cpu->counters);
		cpu->last_ns = counter_ns(&w->scale, cpu->sampler.last);
		until_ns = cpu->last_ns > until_ns ? cpu->last_ns : until_ns;
	}
	r = end_round(w, until_ns, err);
	for (size_t i = 0; i < w->n_cpus; i++) {
		const struct sampler *s = &w->cpus[i].sampler;

		w->cpus[i].sampled_ns = (int64_t)((double)(s->last - s->first - s->dropped_ticks) *
						  w->scale.ns_per_tick);
	}
	return r < 0 ? r : trace_stop(w->trace, err);
}

/* -1: not known. */
static int64_t change_of(const struct watched_cpu *cpu, enum counter which)
{
	return counters_know(&cpu->changes, which) ? cpu->changes.value[which] : -1;
}

static struct jitter_cpu facts_of(const struct watch *w, size_t i)
{
	const struct watched_cpu *cpu = &w->cpus[i];
	int64_t wall_ns = (cpu->last_ns ?: w->round_ns) - w->started_ns;

	return (struct jitter_cpu){
		.cpu = cpu->sampler.cpu,
		.rounds = w->rounds,
		.wall_ns = wall_ns,
		.sampled_ns = cpu->sampled_ns < wall_ns ? cpu->sampled_ns : wall_ns,
		.smallest_gap_ns = (int64_t)((double)cpu->sampler.smallest * w->scale.ns_per_tick + 0.5),
		.events = cpu->intervals.events,
		.lost = trace_lost(w->trace, i) - cpu->lost,
		.broken = cpu->intervals.broken,
		.event_cost_ns = w->event_cost_ns,
		.steal_ns = change_of(cpu, COUNTER_STEAL),
		.smis = change_of(cpu, COUNTER_SMIS),
	};
}

struct jitter_watched *watch_facts(const struct watch *w)
{
	struct jitter_watched *all = xcalloc(w->n_cpus, sizeof(*all));

	for (size_t i = 0; all && i < w->n_cpus; i++)
		all[i] = (struct jitter_watched){facts_of(w, i), &w->cpus[i].merge};
	return all;
}

int64_t watch_started_ns(const struct watch *w)
{
	return w->scale.base_realtime_ns + w->started_ns;
}
