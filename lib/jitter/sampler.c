/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop, the counter that it reads, and the mark of the kernel: see sampler.h. */
#include "lib/jitter/sampler.h"

#include "lib/host/process/pinning.h"

#include <sys/mman.h>

int counter_check(struct error *err)
{
#if defined(__x86_64__) || defined(__i386__)
	_cleanup_(freep) char *info = path_text(AT_FDCWD, "/proc/cpuinfo");

	if (!info)
		return error_say(err, -ENOTSUP, "cannot read /proc/cpuinfo; is /proc mounted?");
	if (strstr(info, " constant_tsc") && strstr(info, " nonstop_tsc"))
		return 0;
	return error_say(err, -ENOTSUP,
		"this processor's time stamp counter is not invariant (/proc/cpuinfo lacks "
		"constant_tsc or nonstop_tsc), so interruptions cannot be measured with it");
#elif defined(__aarch64__)
	return 0; /* the architecture demands it */
#else
	return error_say(err, -ENOTSUP,
		"interruptions can be measured on x86 and arm64 only: EMP supports no counter on "
		"this architecture");
#endif
}

/* The one with the least time between the readings. */
struct counter_scale counter_read(void)
{
	enum { TRIES = 50 };
	struct counter_scale best = {};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = tsc_read(), after;
		int64_t raw_ns = clock_ns(CLOCK_MONOTONIC_RAW);

		after = tsc_read();
		if (after - before >= least)
			continue;
		least = after - before;
		best.base = before + least / 2;
		best.base_raw_ns = raw_ns;
	}
	best.base_realtime_ns = clock_ns(CLOCK_REALTIME) -
				(clock_ns(CLOCK_MONOTONIC_RAW) - best.base_raw_ns);
	return best;
}

bool kernel_mark_works(void)
{
	enum { PAGES = 64, TRIES = 1000 };
	long page = sysconf(_SC_PAGESIZE);
	size_t size = (size_t)(PAGES * page);
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int cleared = 0, kept = 0;

	if (memory == MAP_FAILED)
		return false;
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (int i = 0; i < PAGES; i++) {
		kernel_mark_set();
		*(volatile char *)(memory + i * page) = 1;
		cleared += !kernel_mark_is_set();
	}
	for (int i = 0; cleared == PAGES && i < TRIES; i++) { /* interrupts clear some */
		kernel_mark_set();
		kept += kernel_mark_is_set();
	}
	munmap(memory, size);
	return kept > TRIES / 2;
}

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
static uint64_t kernel_mark_renew(void)
{
	uint64_t now;

	do {
		kernel_mark_set();
		now = tsc_read();
	} while (!kernel_mark_is_set());
	return now;
}

/* Gives a gap to who takes it; if the ring is full, it is only counted. */
static void sampler_give(struct sampler *s, const struct gap *gap)
{
	size_t given = atomic_load_explicit(&s->given, memory_order_relaxed);

	if (given - atomic_load_explicit(&s->taken, memory_order_acquire) == RING) {
		s->dropped++;
		s->dropped_ticks += gap->end - gap->start;
	} else {
		s->ring[given % RING] = *gap;
		atomic_store_explicit(&s->given, given + 1, memory_order_release);
	}
}

/* A gap that ends now. If the kernel ran, it lasts until the mark is set again, less what that
 * takes: what comes meanwhile is part of it. Returns where the next one may start. */
static uint64_t sampler_end_gap(struct sampler *s, uint64_t start, uint64_t now)
{
	struct gap gap = {start, now, !kernel_mark_is_set()};

	if (gap.kernel && s->kernel_known) {
		now = kernel_mark_renew();
		gap.end = now - s->renewal > gap.end ? now - s->renewal : gap.end;
	}
	if (gap.end - gap.start > s->threshold)
		sampler_give(s, &gap);
	return now;
}

/* The mean time between two readings, in the fastest of many blocks: the processor may reorder
 * single reads, and two may be a tick apart. */
static uint64_t measure_smallest_gap(void)
{
	uint64_t smallest = UINT64_MAX;

	for (int i = 0; i < FLOOR_BLOCKS; i++) {
		uint64_t first = tsc_read(), last = first;

		for (int k = 0; k < BLOCK; k++)
			last = tsc_read();
		smallest = last - first < smallest ? last - first : smallest;
	}
	return smallest / BLOCK ?: 1;
}

/* Ticks that setting the mark of the kernel takes at least. */
static uint64_t measure_renewal(void)
{
	uint64_t renewal = UINT64_MAX;

	for (int i = 0; i < BLOCK * BLOCK; i++) {
		uint64_t start = tsc_read(), ticks = kernel_mark_renew() - start;

		renewal = ticks < renewal ? ticks : renewal;
	}
	return renewal;
}

/* On its CPU, before the loop. */
static void sampler_prepare(struct sampler *s)
{
	s->smallest = measure_smallest_gap();
	s->threshold = s->threshold ?: FACTOR * s->smallest;
	s->kernel_known = kernel_mark_works();
	s->renewal = s->kernel_known ? measure_renewal() : UINT64_MAX;
}

static void sampler_loop(struct sampler *s)
{
	/* What the kernel does takes longer than this, and the mark must be set anew. */
	const uint64_t usual = FACTOR * s->smallest;
	const uint64_t threshold = s->threshold < usual ? s->threshold : usual;
	uint64_t last;

	s->first = tsc_read();
	sem_post(&s->ready);
	kernel_mark_set(); /* system calls may keep it, or not */
	last = tsc_read();
	while (!atomic_load_explicit(&s->stop, memory_order_relaxed)) {
		uint64_t now = tsc_read();

		if (now - last > threshold)
			now = sampler_end_gap(s, last, now);
		last = now;
	}
	s->last = last;
}

static void *sampler_run(void *data)
{
	struct sampler *s = data;

	s->tid = gettid();
	s->failed = pinning_pin(s->cpu);
	if (s->failed == 0)
		sampler_prepare(s);
	sem_post(&s->ready);
	wait_for_post(&s->go); /* asleep: who waits in a loop owes the scheduler that time */
	if (s->failed == 0)
		sampler_loop(s);
	return NULL;
}

void sampler_stop(struct sampler *s)
{
	if (!s->running)
		return;
	atomic_store_explicit(&s->stop, true, memory_order_release);
	sem_post(&s->go); /* it may wait */
	pthread_join(s->thread, NULL);
	s->running = false;
}

int sampler_start(struct sampler *s, struct error *err)
{
	size_t size = RING * sizeof(*s->ring);
	int r;

	s->ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->ring == MAP_FAILED)
		xalloc_fail();
	/* a gap in 256 would wait for the next small page's translation */
	madvise(s->ring, size, MADV_HUGEPAGE);
	if (mlock(s->ring, size) < 0)
		return error_os(
			err, -errno, "cannot lock 12 MB of memory for the gaps of CPU %d", s->cpu);
	sem_init(&s->ready, 0, 0);
	sem_init(&s->go, 0, 0);
	r = -pthread_create(&s->thread, NULL, sampler_run, s);
	if (r < 0)
		return error_os(err, r, "cannot start a thread for CPU %d", s->cpu);
	s->running = true;
	wait_for_post(&s->ready);
	return s->failed == 0 ? 0 : error_os(err, s->failed, "cannot run on CPU %d", s->cpu);
}

void sampler_go(struct sampler *s)
{
	sem_post(&s->go);
	wait_for_post(&s->ready);
}

bool sampler_take(struct sampler *s, struct gap *ret)
{
	size_t taken = atomic_load_explicit(&s->taken, memory_order_relaxed);

	if (taken == atomic_load_explicit(&s->given, memory_order_acquire))
		return false;
	*ret = s->ring[taken % RING];
	atomic_store_explicit(&s->taken, taken + 1, memory_order_release);
	return true;
}

void sampler_clear(struct sampler *s)
{
	sampler_stop(s);
	if (s->ring)
		munmap(s->ring, RING * sizeof(*s->ring));
}
