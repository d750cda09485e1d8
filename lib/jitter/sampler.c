/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that samples a CPU: see sampler.h. */
#include "lib/jitter/sampler.h"

#include "lib/host/cpu/processor.h"
#include "lib/host/process/pinning.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	RING = 1 << 19, /* gaps: seconds of the noisiest machine, 12 MB */
	FLOOR_BLOCKS = 1 << 16,
	BLOCK = 64,
	FACTOR = 10, /* De, Kothari and Mann's */
};

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) < 0 && errno == EINTR)
		;
}

/* Of a block of readings, divided: the processor carries out single ones out of order, and two may be a tick apart. */
static uint64_t smallest_gap(void)
{
	uint64_t smallest = UINT64_MAX;

	for (int i = 0; i < FLOOR_BLOCKS; i++) {
		uint64_t first = counter_now(), last = first;

		for (int k = 0; k < BLOCK; k++)
			last = counter_now();
		smallest = last - first < smallest ? last - first : smallest;
	}
	return smallest / BLOCK ?: 1;
}

static void keep(struct sampler *s, uint64_t start, uint64_t end, bool kernel)
{
	size_t given = atomic_load_explicit(&s->given, memory_order_relaxed);

	if (end - start <= s->threshold)
		return;
	if (given - atomic_load_explicit(&s->taken, memory_order_acquire) == RING) {
		s->dropped++;
		s->dropped_ticks += end - start;
		return;
	}
	s->ring[given % RING] = (struct gap){start, end, kernel};
	atomic_store_explicit(&s->given, given + 1, memory_order_release);
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
	keep(s, start, end, kernel);
	return now;
}

static void sample(struct sampler *s)
{
	const uint64_t usual = FACTOR * s->smallest,
		       threshold = s->threshold < usual ? s->threshold : usual; /* the kernel takes longer */
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

static void *run(void *data)
{
	struct sampler *s = data;

	s->tid = gettid();
	s->failed = pinning_pin(s->cpu);
	if (s->failed == 0) {
		s->smallest = smallest_gap();
		s->threshold = s->threshold ?: FACTOR * s->smallest;
		s->kernel_known = kernel_mark_works();
		s->renewal = s->kernel_known ? smallest_renewal() : 0;
	}
	sem_post(&s->ready);
	wait_for(&s->go); /* asleep: who waits in a loop owes the scheduler that time */
	if (s->failed == 0)
		sample(s);
	return NULL;
}

int sampler_start(struct sampler *s, struct error *err)
{
	size_t size = RING * sizeof(*s->ring);
	int r;

	s->ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->ring == MAP_FAILED) {
		s->ring = NULL;
		return error_oom(err);
	}
	madvise(s->ring, size,
		MADV_HUGEPAGE); /* a gap in 256 would wait for the next small page's translation */
	if (mlock(s->ring, size) < 0)
		return error_os(err, -errno, "cannot lock 12 MB of memory for the gaps of CPU %d", s->cpu);
	sem_init(&s->ready, 0, 0);
	sem_init(&s->go, 0, 0);
	r = -pthread_create(&s->thread, NULL, run, s);
	if (r < 0)
		return error_os(err, r, "cannot start a thread for CPU %d", s->cpu);
	s->running = true;
	wait_for(&s->ready);
	return s->failed == 0 ? 0 : error_os(err, s->failed, "cannot run on CPU %d", s->cpu);
}

void sampler_go(struct sampler *s)
{
	sem_post(&s->go);
	wait_for(&s->ready);
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

void sampler_clear(struct sampler *s)
{
	sampler_stop(s);
	if (s->ring)
		munmap(s->ring, RING * sizeof(*s->ring));
	s->ring = NULL;
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
