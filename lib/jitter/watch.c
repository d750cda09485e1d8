/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loops of the watched CPUs and the kernel's trace of them, put together after each round and
 * stored: see watch.h. */
#include "lib/jitter/watch.h"

#include "lib/base/terminal.h"
#include "lib/book/sql.h"
#include "lib/host/cpu/cpus.h"
#include "lib/host/process/signals.h"
#include "lib/host/system/machine.h"
#include "lib/jitter/attribution.h"
#include "lib/jitter/sampler.h"
#include "lib/jitter/trace.h"

#include <poll.h>
#include <sys/mman.h>

struct watched_cpu {
	struct sampler sampler;
	struct intervals intervals;
	struct attribution attribution;
	struct gap_seen *gaps; /* of the round */
	size_t n_gaps, gaps_capacity;
	int64_t sampled_ns;
	struct counter_reader *counters; /* read before and after, since that interrupts the CPU */
	struct counters changes;
	int64_t last_ns; /* when the loop ended; 0: it runs */
};

struct watch {
	struct trace *trace;
	struct jitter_sources sources;
	struct counter_scale scale;
	/* two readings of both clocks, between which events are placed (mono_raw) */
	struct counter_scale before, now;
	bool mono_raw;
	struct watched_cpu *cpus;
	size_t n_cpus;
	/* since the scale's base: the start of all, and of this round */
	int64_t started_ns, round_ns;
	int64_t rounds;
};

/* The rate of the counter, from its first reading and one at least AT_LEAST_NS later. */
static void measure_scale(struct counter_scale *scale)
{
	enum { AT_LEAST_NS = 200000000 };
	int64_t taken_ns = clock_ns(CLOCK_MONOTONIC_RAW) - scale->base_raw_ns;
	struct counter_scale now;

	if (taken_ns < AT_LEAST_NS)
		usleep((useconds_t)((AT_LEAST_NS - taken_ns) / NS_PER_US));
	now = counter_read();
	scale->ns_per_tick = (double)(now.base_raw_ns - scale->base_raw_ns) /
			     (double)(now.base - scale->base);
}

/* Begins one CPU, whose loop waits. */
static int watch_cpu(struct watch *w, int number, int64_t threshold_ns, struct error *err)
{
	struct watched_cpu *cpu = &w->cpus[w->n_cpus++];
	struct sampler *sampler = &cpu->sampler;
	int r;

	cpu->changes = COUNTERS_NONE;
	cpu->counters = counters_open(AT_FDCWD, number);
	sampler->cpu = number;
	sampler->threshold = (uint64_t)((double)threshold_ns / w->scale.ns_per_tick);
	r = sampler_start(sampler, err);
	if (r < 0)
		return r;
	intervals_begin(&cpu->intervals, sampler->tid, &w->sources);
	attribution_begin(&cpu->attribution,
		(int64_t)((double)sampler->threshold * w->scale.ns_per_tick), &w->sources);
	return 0;
}

/* Nothing runs yet. */
static int watch_open(struct watch *w, const struct watch_request *request, struct error *err)
{
	_cleanup_(machine_clear) struct machine machine;
	struct trace_request trace = {
		.cpus = request->cpus,
		.n_cpus = request->n_cpus,
		.clock = "x86-tsc",
		.buffer_bytes = request->buffer_bytes,
		.keep = request->keep,
	};
	int r;

	*w = (struct watch){.mono_raw = request->mono_raw, .scale = counter_read()};
#ifdef __aarch64__
	w->mono_raw = true;
#endif
	if (w->mono_raw)
		trace.clock = "mono_raw";
	machine_read(&machine, AT_FDCWD);
	w->sources.outside = machine.virtual ? "host or processor" : "firmware or processor";
	r = counter_check(err);
	if (r >= 0)
		r = trace_open(&w->trace, &trace, err);
	if (r < 0)
		return r;
	w->sources.identity = identity_new();
	w->sources.decoder = w->trace->decoder;
	measure_scale(&w->scale); /* the trace has been made meanwhile, which takes a while */

	w->cpus = xalloc_check(aligned_alloc(64, request->n_cpus * sizeof(*w->cpus)));
	memset(w->cpus, 0, request->n_cpus * sizeof(*w->cpus));
	for (size_t i = 0; r >= 0 && i < request->n_cpus; i++)
		r = watch_cpu(w, request->cpus[i], request->threshold_ns, err);
	return r < 0 ? r : 0;
}

static void watch_close(struct watch *w)
{
	for (size_t i = 0; i < w->n_cpus; i++) {
		sampler_clear(&w->cpus[i].sampler);
		intervals_clear(&w->cpus[i].intervals);
		attribution_clear(&w->cpus[i].attribution);
		counter_reader_free(w->cpus[i].counters);
		free(w->cpus[i].gaps);
	}
	free(w->cpus);
	trace_free(w->trace);
	jitter_sources_clear(&w->sources);
}

static int watch_start(struct watch *w, struct error *err)
{
	const struct sched_param priority = {.sched_priority = 1};
	cpu_set_t set;
	int r;

	/* This thread, which does the rest, stays off the watched CPUs if there are others. There
	 * it is a real-time one, because the buffer of the trace fills while it waits; not a nice
	 * one, whose weight the scheduler would take from the loops of the same group. Threads that
	 * it starts later would have its priority. */
	if (sched_getaffinity(0, sizeof(set), &set) == 0) {
		for (size_t i = 0; i < w->n_cpus; i++)
			CPU_CLR(w->cpus[i].sampler.cpu, &set);
		if (CPU_COUNT(&set) > 0 && sched_setaffinity(0, sizeof(set), &set) == 0)
			sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority);
	}
	mlockall(MCL_CURRENT); /* the loops' memory, which matters most, is locked already */
	r = trace_forget(w->trace, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < w->n_cpus; i++)
		counters_begin(w->cpus[i].counters);
	for (size_t i = 0; i < w->n_cpus; i++)
		sampler_go(&w->cpus[i].sampler);
	w->now = counter_read();
	w->started_ns = w->round_ns = counter_ns(&w->scale, tsc_read());
	return 0;
}

static enum gap_origin origin_of(const struct sampler *sampler, const struct gap *gap)
{
	if (!sampler->kernel_known)
		return GAP_UNKNOWN;
	return gap->kernel ? GAP_IN_KERNEL : GAP_OUTSIDE_KERNEL;
}

static void take_gaps(const struct watch *w, struct watched_cpu *cpu)
{
	struct gap gap;

	while (sampler_take(&cpu->sampler, &gap)) {
		struct gap_seen *seen = array_add_reused(
			cpu->gaps, cpu->n_gaps, cpu->gaps_capacity);

		seen->start_ns = counter_ns(&w->scale, gap.start);
		seen->end_ns = counter_ns(&w->scale, gap.end);
		seen->origin = origin_of(&cpu->sampler, &gap);
		cpu->sampled_ns = seen->end_ns - w->started_ns;
	}
}

/* When an event was, on the counter: times of the clock mono_raw are placed by the two readings of
 * both clocks around them. */
static uint64_t counter_at(const struct watch *w, uint64_t event_at)
{
	const struct counter_scale *before = &w->before, *now = &w->now;
	double share;

	if (!w->mono_raw)
		return event_at;
	share = (double)((int64_t)event_at - before->base_raw_ns) /
		(double)(now->base_raw_ns - before->base_raw_ns);
	return before->base + (uint64_t)(int64_t)(share * (double)(now->base - before->base));
}

static int take_events(struct watch *w, size_t i, struct error *err)
{
	struct watched_cpu *cpu = &w->cpus[i];
	int64_t lost = w->trace->cpus[i].lost;
	int64_t first_ns = counter_ns(&w->scale, cpu->sampler.first);
	struct trace_event event;
	int r;

	while ((r = trace_next(w->trace, i, &event, err)) > 0) {
		int64_t at_ns = counter_ns(&w->scale, counter_at(w, event.at));

		if (at_ns >= first_ns)
			intervals_add(&cpu->intervals, &event, at_ns);
	}
	if (r == 0 && w->trace->cpus[i].lost != lost)
		intervals_lost(&cpu->intervals);
	return r;
}

/* Takes what there is, gaps first: all events of a gap are in the trace when it ends. */
static int watch_drain(struct watch *w, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < w->n_cpus; i++)
		take_gaps(w, &w->cpus[i]);
	w->before = w->now;
	w->now = counter_read();
	for (size_t i = 0; r == 0 && i < w->n_cpus; i++)
		r = take_events(w, i, err);
	return r;
}

/* Ends the round at a time since the scale's base: gaps are attributed. */
static int watch_end_round(struct watch *w, int64_t until_ns, struct error *err)
{
	int r = watch_drain(w, err);

	for (size_t i = 0; r == 0 && i < w->n_cpus; i++) {
		struct watched_cpu *cpu = &w->cpus[i];
		const struct jitter_round round = {w->round_ns, until_ns, cpu->gaps, cpu->n_gaps,
			cpu->intervals.items, cpu->intervals.n};

		intervals_drop(&cpu->intervals, attribution_round(&cpu->attribution, &round));
		cpu->n_gaps = 0;
	}
	w->round_ns = until_ns;
	w->rounds += r == 0;
	return r;
}

/* Ends the loops, and the last round. */
static int watch_stop(struct watch *w, struct error *err)
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
	r = watch_end_round(w, until_ns, err);
	for (size_t i = 0; i < w->n_cpus; i++) {
		const struct sampler *s = &w->cpus[i].sampler;

		w->cpus[i].sampled_ns = (int64_t)((double)(s->last - s->first - s->dropped_ticks) *
						  w->scale.ns_per_tick);
	}
	return r;
}

/* What a counter has grown by; -1: not known. */
static int64_t change_or_unknown(const struct counters *changes, enum counter counter)
{
	return counters_know(changes, counter) ? changes->value[counter] : -1;
}

static struct jitter_cpu cpu_sums(const struct watch *w, size_t i)
{
	const struct watched_cpu *watched = &w->cpus[i];
	double smallest = (double)watched->sampler.smallest;
	int64_t wall_ns = (watched->last_ns ?: w->round_ns) - w->started_ns;
	struct jitter_cpu cpu = attribution_sums(&watched->attribution);

	cpu.cpu = watched->sampler.cpu;
	cpu.wall_ns = wall_ns;
	cpu.sampled_ns = watched->sampled_ns < wall_ns ? watched->sampled_ns : wall_ns;
	cpu.smallest_gap_ns = (int64_t)(smallest * w->scale.ns_per_tick + 0.5);
	cpu.events = watched->intervals.events;
	cpu.lost = w->trace->cpus[i].lost;
	cpu.broken = watched->intervals.broken;
	cpu.event_cost_ns = w->trace->event_cost_ns;
	cpu.steal_ns = change_or_unknown(&watched->changes, COUNTER_STEAL);
	cpu.smis = change_or_unknown(&watched->changes, COUNTER_SMIS);
	return cpu;
}

static void add_buckets(struct jitter *jitter, int cpu, enum jitter_level level, uint32_t source,
	const struct histogram *histogram)
{
	for (size_t i = 0; i < histogram->n; i++) {
		const struct histogram_bucket *b = &histogram->buckets[i];

		*array_add(jitter->buckets, jitter->n_buckets) = (struct jitter_bucket){
			cpu, level, source, b->low, b->high, b->count, b->total};
	}
}

/* ids: of the sources in the book, by index. */
static void add_rows(struct jitter *jitter, int cpu, enum jitter_level level,
	const struct source_rows *rows, const uint32_t *ids)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct source_statistics *s = &rows->items[i];
		struct jitter_source *row;

		if (s->row.count == 0)
			continue;
		row = array_add(jitter->sources, jitter->n_sources);
		*row = s->row;
		row->cpu = cpu;
		row->level = level;
		row->source = ids[i];
		row->period_ns = source_period(s);
		add_buckets(jitter, cpu, level, ids[i], &s->lengths);
	}
}

static void add_periods(
	struct jitter *jitter, int cpu, const struct unexplained *unexplained, bool outside_kernel)
{
	for (size_t i = 0; i < UNEXPLAINED_PERIODS; i++) {
		const struct unexplained_period *p = &unexplained->periods[i];
		const struct jitter_period period = {cpu, (uint32_t)jitter->n_periods + 1,
			p->period_ns, p->count, p->total_ns, outside_kernel};

		if (p->firm)
			*array_add(jitter->periods, jitter->n_periods) = period;
	}
}

static void add_longest(struct jitter *jitter, const struct watch *w, const struct watched_cpu *cpu,
	const struct long_interruption *x, const uint32_t *ids)
{
	struct interruption *interruption = array_add(jitter->longest, jitter->n_longest);

	*interruption = (struct interruption){.cpu = cpu->sampler.cpu,
		.start_ns = w->scale.base_realtime_ns + x->start_ns,
		.length_ns = x->length_ns,
		.source = x->source >= 0 ? ids[x->source] : 0};
	for (size_t i = 0; i < x->n_parts; i++) {
		const struct trace_interval *v = &x->parts[i];
		int64_t offset_ns = v->start_ns - x->start_ns;

		*array_add(jitter->parts, jitter->n_parts) = (struct interruption_part){
			.cpu = interruption->cpu,
			.start_ns = interruption->start_ns,
			.n = (uint32_t)i + 1,
			.offset_ns = offset_ns > 0 ? offset_ns : 0,
			.length_ns = v->end_ns - v->start_ns,
			.net_ns = v->net_ns,
			.source = ids[v->source]};
	}
}

static void add_matches(struct jitter *jitter, int cpu, const struct jitter_match *classes)
{
	for (int i = 0; i < MATCH_CLASSES; i++) {
		struct jitter_match *match;

		if (classes[i].gaps == 0)
			continue;
		match = array_add(jitter->matches, jitter->n_matches);
		*match = classes[i];
		match->cpu = cpu;
		match->low_ns = i ? INT64_C(1) << i : 0;
		match->high_ns = INT64_C(2) << i;
	}
}

static void add_cpu(struct jitter *jitter, const struct watch *w, size_t i, const uint32_t *ids)
{
	const struct attribution *a = &w->cpus[i].attribution;
	int cpu = w->cpus[i].sampler.cpu;

	*array_add(jitter->cpus, jitter->n_cpus) = cpu_sums(w, i);
	add_buckets(jitter, cpu, JITTER_USER, 0, &a->user);
	add_buckets(jitter, cpu, JITTER_MASTER, 0, &a->master);
	add_rows(jitter, cpu, JITTER_TIME, &a->times, ids);
	add_rows(jitter, cpu, JITTER_FREQUENCY, &a->frequencies, ids);
	add_periods(jitter, cpu, &a->unexplained, false);
	add_periods(jitter, cpu, &a->outside, true);
	add_matches(jitter, cpu, a->classes);
	for (size_t k = 0; k < a->n_longest; k++)
		add_longest(jitter, w, &w->cpus[i], &a->longest[k], ids);
}

static void add_combination(struct jitter *jitter, const struct jitter_source_name *source,
	uint32_t id, const uint32_t *ids)
{
	for (size_t k = 0; k < source->n_parts; k++)
		*array_add(
			jitter->combinations, jitter->n_combinations) = (struct combination_part){
			id, (uint32_t)k + 1, ids[source->parts[k]]};
}

/* Stores all that is known so far, replacing what the book has of the run. */
static int watch_store(const struct watch *w, struct book *book, int64_t run, struct error *err)
{
	_cleanup_(freep) uint32_t *ids = xcalloc(w->sources.n, sizeof(*ids));
	_cleanup_(jitter_clear) struct jitter jitter = {};

	for (size_t i = 0; i < w->sources.n; i++) {
		const struct jitter_source_name *s = &w->sources.items[i];
		const struct source who = {.name = s->name, .unit = s->unit, .kind = s->kind};
		int r = book_source(book, &who, &ids[i], err);

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < w->n_cpus; i++)
		add_cpu(&jitter, w, i, ids);
	for (size_t i = 0; i < w->sources.n; i++)
		add_combination(&jitter, &w->sources.items[i], ids[i], ids);
	return book_put_jitter(book, run, &jitter, err);
}

/* Rounds of a second, until the time is over or a signal comes. */
static int watch_rounds(struct watch *w, const struct watch_request *request, struct book *book,
	int64_t run, struct error *err)
{
	enum { DRAIN_MS = 100, STORE_ROUNDS = 30 };
	struct pollfd interrupt = {.fd = interrupt_fd, .events = POLLIN};
	struct progress progress;
	int64_t now_ns, in_ns;
	int r = 0;

	progress_begin(&progress, "Seconds",
		(uint64_t)((request->observe_ns + NS_PER_S - 1) / NS_PER_S), request->quiet);
	while (r == 0) {
		now_ns = counter_ns(&w->scale, tsc_read());
		in_ns = now_ns - w->started_ns;
		if (in_ns >= request->observe_ns ||
			(poll(&interrupt, 1, DRAIN_MS) > 0 && interrupt_pending()))
			break;
		if (in_ns < (w->rounds + 1) * NS_PER_S) {
			r = watch_drain(w, err);
		} else {
			r = watch_end_round(w, now_ns, err);
			if (r == 0 && w->rounds % STORE_ROUNDS == 0)
				r = BOOK_ATOMIC_RETRIED(book, watch_store(w, book, run, err), err);
		}
		progress_step(&progress, (uint64_t)(in_ns / NS_PER_S), NULL);
	}
	progress_end(&progress);
	return r;
}

int watch_run(const struct watch_request *request, struct run_session *session, struct run *run,
	struct error *err)
{
	_cleanup_(freep) char *list = cpu_list_text(request->cpus, request->n_cpus);
	_cleanup_(watch_close) struct watch w = {};
	struct error err2 = {};
	int r = run_session_open(session, request->db, BOOK_MEASURE, RUN_LOCK_TAKEN, err), end = 0;

	if (r == 0)
		r = watch_open(&w, request, err);
	if (r == 0)
		r = run_session_environment(session, err);
	if (r < 0)
		return r;

	*run = (struct run){
		.kind = RUN_JITTER,
		.program = xstrdup("jitter"),
		.backend = xstrdup("tracefs"),
		.notes = text_format("CPUs %s", list),
		.resolution_ns = 1,
		.started_ns = w.scale.base_realtime_ns,
		.environment = session->environment,
		.cpu = request->n_cpus == 1 ? request->cpus[0] : -1,
	};
	r = book_begin_run(session->book, run, err);
	if (r == 0)
		r = watch_start(&w, err);
	if (r < 0)
		return r;

	terminal_say(request->screen, 2,
		"Observing CPU %s for %s, until %s; ^C ends it and keeps what was measured", list,
		text_duration(request->observe_ns),
		text_moment(saturate_add(clock_ns(CLOCK_REALTIME), request->observe_ns)));
	fflush(request->screen);
	r = watch_rounds(&w, request, session->book, run->id, err);

	/* The state is stored although the rounds failed, with all that were finished. */
	run->state = interrupt_pending() ? RUN_INTERRUPTED : RUN_DONE;
	if (r < 0)
		run->state = RUN_FAILED;
	if (r == 0)
		end = watch_stop(&w, &err2);
	end = BOOK_ATOMIC_RETRIED(
		      session->book, watch_store(&w, session->book, run->id, &err2), &err2)
		      ?: end;
	end = book_end_run(session->book, run->id, run->state, NULL, &err2) ?: end;
	if (r == 0 && end == 0)
		end = trace_keep(w.trace, &err2);
	if (r == 0 && end < 0)
		*err = err2;
	return r < 0 ? r : end;
}
