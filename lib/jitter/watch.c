/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watching CPUs: see watch.h. */
#include "lib/jitter/watch.h"

#include "lib/book/sql.h"
#include "lib/host/process/pinning.h"
#include "lib/run/observer.h"
#include "lib/host/system/machine.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/mman.h>

struct gap {
	uint64_t start, end; /* readings of the counter */
	bool kernel;         /* it ran; if that is known */
};

struct sampler {
	int cpu;
	uint64_t threshold; /* ticks; 0: ten times the smallest gap */
	/* set when start_sampler() returns */
	pid_t tid;
	uint64_t smallest;
	bool kernel_known;
	uint64_t renewal; /* ticks that setting the mark of the kernel takes */
	uint64_t first;   /* reading; set when watch_start() returns */
	uint64_t last;    /* reading; set when sampler_stop() returns */

	struct gap *ring; /* gaps from `taken` to `given` */
	_Alignas(64) atomic_size_t given;
	uint64_t dropped, dropped_ticks; /* the ring was full */
	_Alignas(64) atomic_size_t taken;
	_Alignas(64) atomic_bool stop;
	pthread_t thread;
	sem_t ready, go;
	bool running;
	int failed; /* -errno: it could not be pinned */
};

struct watched_cpu {
	struct sampler sampler;
	struct intervals intervals;
	struct attribution attribution;
	struct gap_seen *gaps; /* of the round */
	size_t n_gaps, gaps_capacity;
	int64_t sampled_ns, lost;
	struct counter_reader *counters; /* read before and after, since that interrupts the CPU */
	struct counters changes;
	int64_t last_ns; /* when the loop ended; 0: it runs */
};

enum {
	RING = 1 << 19, /* gaps: seconds of the noisiest machine, 12 MB */
	FLOOR_BLOCKS = 1 << 16,
	BLOCK = 64,
	FACTOR = 10, /* De, Kothari and Mann's */
};

static void wait_for_post(sem_t *semaphore)
{
	while (sem_wait(semaphore) < 0 && errno == EINTR)
		;
}

/* Sets the mark anew. Returns when. */
static uint64_t renew_mark(void)
{
	uint64_t now;

	do {
		kernel_mark_set();
		now = counter_now();
	} while (!kernel_mark_is_set());
	return now;
}

/* What setting the mark takes. */
static uint64_t smallest_renewal(void)
{
	uint64_t smallest = UINT64_MAX;

	for (int i = 0; i < BLOCK * BLOCK; i++) {
		uint64_t start = counter_now(), ticks = renew_mark() - start;

		smallest = ticks < smallest ? ticks : smallest;
	}
	return smallest;
}

/* A gap that ends now. If the kernel ran, it lasts until the mark is set again, less what that takes: what comes meanwhile
 * is part of it. Returns where the next one may start. */
static uint64_t end_gap(struct sampler *s, uint64_t start, uint64_t now)
{
	bool kernel = !kernel_mark_is_set();
	uint64_t end = now;

	if (kernel && s->kernel_known) {
		now = renew_mark();
		end = now - s->renewal > end ? now - s->renewal : end;
	}

	size_t given = atomic_load_explicit(&s->given, memory_order_relaxed);

	if (end - start > s->threshold) {
		if (given - atomic_load_explicit(&s->taken, memory_order_acquire) == RING) {
			s->dropped++;
			s->dropped_ticks += end - start;
		} else {
			s->ring[given % RING] = (struct gap){start, end, kernel};
			atomic_store_explicit(&s->given, given + 1, memory_order_release);
		}
	}
	return now;
}

static void *sampler_run(void *data)
{
	struct sampler *s = data;

	s->tid = gettid();
	s->failed = pinning_pin(s->cpu);
	if (s->failed == 0) {
		uint64_t smallest = UINT64_MAX;

		/* Timed in blocks, because the processor may reorder single reads, and two may be a tick
		 * apart. */
		for (int i = 0; i < FLOOR_BLOCKS; i++) {
			uint64_t first = counter_now(), last = first;

			for (int k = 0; k < BLOCK; k++)
				last = counter_now();
			smallest = last - first < smallest ? last - first : smallest;
		}
		s->smallest = smallest / BLOCK ?: 1;
		s->threshold = s->threshold ?: FACTOR * s->smallest;
		s->kernel_known = kernel_mark_works();
		s->renewal = s->kernel_known ? smallest_renewal() : 0;
	}
	sem_post(&s->ready);
	wait_for_post(&s->go); /* asleep: who waits in a loop owes the scheduler that time */
	if (s->failed == 0) {
		const uint64_t usual = FACTOR * s->smallest,
			       threshold = s->threshold < usual ? s->threshold
								: usual; /* the kernel takes longer */
		uint64_t last;

		s->first = counter_now();
		sem_post(&s->ready);
		kernel_mark_set(); /* system calls may keep it, or not */
		last = counter_now();
		while (!atomic_load_explicit(&s->stop, memory_order_relaxed)) {
			uint64_t now = counter_now();

			if (now - last > threshold)
				now = end_gap(s, last, now);
			last = now;
		}
		s->last = last;
	}
	return NULL;
}

/* Ends the thread; its gaps can still be taken. */
static void sampler_stop(struct sampler *s)
{
	if (!s->running)
		return;
	atomic_store_explicit(&s->stop, true, memory_order_release);
	sem_post(&s->go); /* it may wait */
	pthread_join(s->thread, NULL);
	s->running = false;
}

/* Starts the thread, which measures the smallest gap and then waits. */
static int start_sampler(struct sampler *s, struct error *err)
{
	size_t size = RING * sizeof(*s->ring);
	int r;

	s->ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->ring == MAP_FAILED)
		xalloc_fail();
	madvise(s->ring, size,
		MADV_HUGEPAGE); /* a gap in 256 would wait for the next small page's translation */
	if (mlock(s->ring, size) < 0)
		return error_os(err, -errno, "cannot lock 12 MB of memory for the gaps of CPU %d", s->cpu);
	sem_init(&s->ready, 0, 0);
	sem_init(&s->go, 0, 0);
	r = -pthread_create(&s->thread, NULL, sampler_run, s);
	if (r < 0)
		return error_os(err, r, "cannot start a thread for CPU %d", s->cpu);
	s->running = true;
	wait_for_post(&s->ready);
	return s->failed == 0 ? 0 : error_os(err, s->failed, "cannot run on CPU %d", s->cpu);
}

/* This thread, which does the rest, stays off the watched CPUs if there are others. There it is a real-time one, because the
 * buffer of the trace fills while it waits; not a nice one, whose weight the scheduler would take from the loops of the same
 * group. Threads that it starts later would have its priority. */
static void stay_off_cpus(const struct watch_request *request)
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

int watch_open(struct watch *w, const struct watch_request *request, struct error *err)
{
	enum { AT_LEAST_NS = 200000000 };
	_cleanup_(machine_clear) struct machine machine;
	struct trace_request trace = {
		.cpus = request->cpus,
		.n_cpus = request->n_cpus,
		.clock = "x86-tsc",
		.buffer_bytes = request->buffer_bytes,
		.keep = request->keep,
	};
	int64_t taken_ns;
	int r;

	*w = (struct watch){.mono_raw = request->mono_raw, .scale = counter_scale_begin()};
#ifdef __aarch64__
	w->mono_raw = true;
#endif
	if (w->mono_raw)
		trace.clock = "mono_raw";
	machine_read(&machine, AT_FDCWD);
	w->sources.outside = machine.virtual ? "host or processor" : "firmware or processor";
	r = counter_check(AT_FDCWD, err);
	if (r >= 0)
		r = trace_open(&w->trace, &trace, err);
	if (r < 0)
		return r;
	w->sources.identity = identity_new();
	w->sources.decoder = w->trace->decoder;
	/* The scale of the counter is measured while the trace is made, which takes a while. */
	taken_ns = clock_ns(CLOCK_MONOTONIC_RAW) - w->scale.base_raw_ns;
	if (taken_ns < AT_LEAST_NS)
		usleep((useconds_t)((AT_LEAST_NS - taken_ns) / NS_PER_US));
	counter_scale_end(&w->scale);
	w->cpus = xalloc_check(aligned_alloc(64, request->n_cpus * sizeof(*w->cpus)));
	memset(w->cpus, 0, request->n_cpus * sizeof(*w->cpus));
	for (size_t i = 0; i < request->n_cpus; i++) {
		struct watched_cpu *cpu = &w->cpus[w->n_cpus++];

		cpu->changes = COUNTERS_NONE;
		cpu->sampler.cpu = request->cpus[i];
		cpu->sampler.threshold = (uint64_t)((double)request->threshold_ns / w->scale.ns_per_tick);
		cpu->counters = counters_open(AT_FDCWD, request->cpus[i]);
		r = start_sampler(&cpu->sampler, err);
		if (r < 0)
			return r;
		intervals_begin(&cpu->intervals, cpu->sampler.tid, &w->sources);
		attribution_begin(&cpu->attribution,
			(int64_t)((double)cpu->sampler.threshold * w->scale.ns_per_tick), &w->sources);
	}
	stay_off_cpus(request);
	return 0;
}

void watch_close(struct watch *w)
{
	for (size_t i = 0; i < w->n_cpus; i++) {
		struct sampler *s = &w->cpus[i].sampler;

		sampler_stop(s);
		if (s->ring)
			munmap(s->ring, RING * sizeof(*s->ring));
		s->ring = NULL;
		intervals_clear(&w->cpus[i].intervals);
		attribution_clear(&w->cpus[i].attribution);
		counter_reader_free(w->cpus[i].counters);
		free(w->cpus[i].gaps);
	}
	free(w->cpus);
	trace_free(w->trace);
	jitter_sources_clear(&w->sources);
	*w = (struct watch){};
}

int watch_start(struct watch *w, struct error *err)
{
	struct trace_event event;
	int r = 0;

	mlockall(MCL_CURRENT);                   /* what it is for is locked already: the loops' memory */
	for (size_t i = 0; i < w->n_cpus; i++) { /* drops what is from before the start */
		do
			r = trace_next(w->trace, i, &event, err);
		while (r > 0);
		if (r < 0)
			return r;
		w->cpus[i].lost = w->trace->cpus[i].lost;
	}
	for (size_t i = 0; i < w->n_cpus; i++)
		counters_begin(w->cpus[i].counters);
	for (size_t i = 0; i < w->n_cpus; i++) {
		/* Begins, and waits until it has begun. */
		sem_post(&w->cpus[i].sampler.go);
		wait_for_post(&w->cpus[i].sampler.ready);
	}
	w->now = counter_scale_begin();
	w->started_ns = w->round_ns = counter_ns(&w->scale, counter_now());
	return 0;
}

/* The gaps that the loop has found. */
static void drain_sampler(const struct watch *w, struct watched_cpu *cpu)
{
	struct sampler *s = &cpu->sampler;
	size_t taken = atomic_load_explicit(&s->taken, memory_order_relaxed);

	while (taken != atomic_load_explicit(&s->given, memory_order_acquire)) {
		struct gap gap = s->ring[taken % RING];
		struct gap_seen *seen = array_add_reused(cpu->gaps, cpu->n_gaps, cpu->gaps_capacity);

		atomic_store_explicit(&s->taken, ++taken, memory_order_release);
		*seen = (struct gap_seen){counter_ns(&w->scale, gap.start), counter_ns(&w->scale, gap.end),
			!s->kernel_known ? GAP_UNKNOWN
			: gap.kernel     ? GAP_IN_KERNEL
					 : GAP_OUTSIDE_KERNEL};
		cpu->sampled_ns = seen->end_ns - w->started_ns;
	}
}

/* When an event was, since the scale's base. Times of the clock mono_raw are placed by the two readings of both clocks around them. */
static int64_t event_time_ns(const struct watch *w, uint64_t at)
{
	double share, ticks;

	if (!w->mono_raw)
		return counter_ns(&w->scale, at);
	share = (double)((int64_t)at - w->before.base_raw_ns) /
		(double)(w->now.base_raw_ns - w->before.base_raw_ns);
	ticks = share * (double)(w->now.base - w->before.base);
	return counter_ns(&w->scale, w->before.base + (uint64_t)(int64_t)ticks);
}

/* Gaps first: all events of a gap are in the trace when it ends. */
int watch_drain(struct watch *w, struct error *err)
{
	struct trace_event event;
	int r = 0;

	for (size_t i = 0; i < w->n_cpus; i++)
		drain_sampler(w, &w->cpus[i]);
	w->before = w->now;
	w->now = counter_scale_begin();
	for (size_t i = 0; r == 0 && i < w->n_cpus; i++) {
		struct watched_cpu *cpu = &w->cpus[i];
		int64_t lost = w->trace->cpus[i].lost, first_ns = counter_ns(&w->scale, cpu->sampler.first);

		while ((r = trace_next(w->trace, i, &event, err)) > 0) {
			int64_t at_ns = event_time_ns(w, event.at);

			if (at_ns >= first_ns)
				intervals_add(&cpu->intervals, &event, at_ns);
		}
		if (r == 0 && w->trace->cpus[i].lost != lost)
			intervals_lost(&cpu->intervals);
	}
	return r;
}

int watch_end_round(struct watch *w, int64_t until_ns, struct error *err)
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
	r = watch_end_round(w, until_ns, err);
	for (size_t i = 0; i < w->n_cpus; i++) {
		const struct sampler *s = &w->cpus[i].sampler;

		w->cpus[i].sampled_ns = (int64_t)((double)(s->last - s->first - s->dropped_ticks) *
						  w->scale.ns_per_tick);
	}
	return r < 0 ? r : trace_stop(w->trace, err);
}

static struct jitter_cpu cpu_sums(const struct watch *w, size_t i)
{
	const struct watched_cpu *watched = &w->cpus[i];
	int64_t wall_ns = (watched->last_ns ?: w->round_ns) - w->started_ns;
	const struct counters *changes = &watched->changes;
	struct jitter_cpu cpu = attribution_sums(&watched->attribution);

	cpu.cpu = watched->sampler.cpu;
	cpu.wall_ns = wall_ns;
	cpu.sampled_ns = watched->sampled_ns < wall_ns ? watched->sampled_ns : wall_ns;
	cpu.smallest_gap_ns = (int64_t)((double)watched->sampler.smallest * w->scale.ns_per_tick + 0.5);
	cpu.events = watched->intervals.events;
	cpu.lost = w->trace->cpus[i].lost - watched->lost;
	cpu.broken = watched->intervals.broken;
	cpu.event_cost_ns = w->trace->event_cost_ns;
	cpu.steal_ns = counters_know(changes, COUNTER_STEAL) ? changes->value[COUNTER_STEAL] : -1;
	cpu.smis = counters_know(changes, COUNTER_SMIS) ? changes->value[COUNTER_SMIS] : -1;
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
static void add_rows(struct jitter *jitter, int cpu, enum jitter_level level, const struct source_rows *rows,
	const uint32_t *ids)
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
	for (const struct unexplained_period *p = unexplained->periods;
		p < unexplained->periods + UNEXPLAINED_PERIODS; p++)
		if (unexplained_period_is_firm(p)) {
			struct jitter_period *period = array_add(jitter->periods, jitter->n_periods);

			*period = (struct jitter_period){cpu, (uint32_t)jitter->n_periods, p->period_ns,
				p->count, p->total_ns, outside_kernel};
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

static int store_all(const struct watch *w, struct book *book, int64_t run, struct error *err)
{
	_cleanup_(freep) uint32_t *ids = xcalloc(w->sources.n, sizeof(*ids));
	_cleanup_(jitter_clear) struct jitter jitter = {};

	for (size_t i = 0; i < w->sources.n; i++) {
		const struct jitter_source_name *s = &w->sources.items[i];
		int r = book_source(book, s->name, NULL, s->unit, s->kind, &ids[i], err);

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < w->n_cpus; i++) {
		const struct attribution *a = &w->cpus[i].attribution;
		int cpu = w->cpus[i].sampler.cpu;

		*array_add(jitter.cpus, jitter.n_cpus) = cpu_sums(w, i);
		add_buckets(&jitter, cpu, JITTER_USER, 0, &a->user);
		add_buckets(&jitter, cpu, JITTER_MASTER, 0, &a->master);
		add_rows(&jitter, cpu, JITTER_TIME, &a->times, ids);
		add_rows(&jitter, cpu, JITTER_FREQUENCY, &a->frequencies, ids);
		add_periods(&jitter, cpu, &a->unexplained, false);
		add_periods(&jitter, cpu, &a->outside, true);
		for (int k = 0; k < MATCH_CLASSES; k++) {
			const struct jitter_match *class = &a->classes[k];

			if (class->gaps > 0)
				*array_add(jitter.matches, jitter.n_matches) = (struct jitter_match){cpu,
					k ? INT64_C(1) << k : 0, INT64_C(2) << k, class->gaps, class->matched,
					class->chance};
		}
		for (size_t k = 0; k < a->n_longest; k++)
			add_longest(&jitter, w, &w->cpus[i], &a->longest[k], ids);
	}
	for (size_t i = 0; i < w->sources.n; i++)
		for (size_t k = 0; k < w->sources.items[i].n_parts; k++)
			*array_add(jitter.combinations, jitter.n_combinations) = (struct combination_part){
				ids[i], (uint32_t)k + 1, ids[w->sources.items[i].parts[k]]};
	return book_put_jitter(book, run, &jitter, err);
}

int watch_store(const struct watch *w, struct book *book, int64_t run, struct error *err)
{
	return BOOK_ATOMIC(book, store_all(w, book, run, err), err);
}
