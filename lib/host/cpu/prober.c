/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that looks for a neighbour, and the sum of what it saw: see prober.h. */
#include "lib/host/cpu/prober.h"

#include "lib/base/interrupt.h"
#include "lib/host/cpu/neighbour.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/slices.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

/* Readings that say how fast the CPU is without a neighbour. */
enum { FIRST_READINGS = 16 };
/* A reading that is not sound is taken again so often. */
enum { MOST_TRIES = 3 };
/* A neighbour who is there for less of a reading is not waited for. */
static const double WAITED_FOR = 0.05;
static const int64_t FIRST_WAIT_NS = NS_PER_S / 5;
/* Neighbours who come and go between two readings that did not see them, per second. */
static const double UNSEEN = 0.5;
/* How often who waits for the thread looks for a signal, and after how many looks without another
 * reading the thread is taken to get no CPU. */
static const int64_t LOOK_NS = 20 * NS_PER_MS;
enum { MOST_LOOKS = 50 };

struct prober {
	struct prober_options options;
	pthread_t thread;
	sem_t begin, stop, done;
	atomic_bool hurry, quit;
	atomic_uint readings;
	double alone;
	int64_t period_ns;   /* see prober_set_period */
	int64_t wait_ns;     /* how long it may still wait for a neighbour to go */
	bool stopped, ended; /* of the last sample, for who asks */
	bool elsewhere;      /* the thread may run on any CPU: what it reads is of no use */

	/* Of a sample, from its first reading to the last one so far. */
	struct neighbour_reading last;
	double share; /* of the last one; if it is not sound, of the one before */
	int64_t first_ns;
	int64_t waited_ns; /* for a neighbour to go */
	double with_ns;    /* with a neighbour */
	double with_var;   /* of that, ns² */
	int64_t within_ns; /* CPU time of the readings within it */
};

/* Sets .last and .share. */
static void read_sound(struct prober *p)
{
	int tries = 0;

	do {
		p->last = neighbour_read();
		atomic_fetch_add(&p->readings, 1);
	} while (!neighbour_sound(&p->last) && ++tries < MOST_TRIES);
	if (!neighbour_sound(&p->last))
		return;
	p->alone = neighbour_alone_after(p->alone, &p->last);
	p->share = neighbour_share(&p->last, p->alone);
}

/* Takes another reading, and adds the time since the last one. Between readings that differ, the
 * neighbour came or went at any moment. Between two that agree, one may have come and gone. */
static void read_next(struct prober *p)
{
	int64_t from_ns = p->last.at_ns;
	double from = p->share, change, time_ns, unseen;

	read_sound(p);
	change = p->share - from;
	time_ns = (double)(p->last.at_ns - from_ns);
	unseen = fmin(UNSEEN * time_ns / NS_PER_S / 4, 1.0 / 12);
	p->with_ns += time_ns * (from + p->share) / 2;
	p->with_var += time_ns * time_ns * fmax(change * change / 12, unseen);
}

/* The last reading of those that there is time for, or the first without a neighbour. */
static void read_before(struct prober *p)
{
	const struct timespec pause = {.tv_nsec = NS_PER_MS}; /* others need the CPU, too */
	int64_t begun_ns, waited_ns = 0;

	read_sound(p);
	begun_ns = p->last.at_ns;
	while (p->options.wait && waited_ns < p->wait_ns && !atomic_load(&p->hurry) &&
		p->share > WAITED_FOR) {
		nanosleep(&pause, NULL);
		read_sound(p);
		waited_ns = p->last.at_ns - begun_ns;
	}
	p->wait_ns -= waited_ns;
	p->waited_ns = waited_ns;
	p->first_ns = p->last.at_ns;
	p->with_ns = p->with_var = 0;
	p->within_ns = 0;
}

/* From the last reading to the next one within a sample; PROBER_NEVER: there is none. */
static int64_t period_of(const struct prober *p)
{
	if (p->period_ns != 0)
		return p->period_ns;
	if (!(p->options.share > 0))
		return PROBER_NEVER;
	return (int64_t)((double)neighbour_uninterrupted_ns(&p->last) / p->options.share);
}

/* Until prober_stop. */
static void read_within(struct prober *p)
{
	for (int64_t period_ns; (period_ns = period_of(p)) != PROBER_NEVER;) {
		int64_t next_ns = p->last.at_ns + period_ns;
		struct timespec at = {next_ns / NS_PER_S, next_ns % NS_PER_S};
		int64_t begin_ns;

		if (sem_clockwait(&p->stop, CLOCK_MONOTONIC, &at) == 0)
			return;
		if (errno != ETIMEDOUT)
			continue;
		begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		read_next(p);
		p->within_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	}
	while (sem_wait(&p->stop) < 0)
		;
}

static void *probe(void *data)
{
	struct prober *p = data;
	struct neighbour_reading first[FIRST_READINGS];

	for (size_t i = 0; i < FIRST_READINGS; i++)
		first[i] = neighbour_read();
	p->alone = neighbour_alone(first, FIRST_READINGS);
	slice_set(SLICE_LEAST_NS); /* if it is not of the class of real-time tasks */
	for (;;) {
		while (sem_wait(&p->begin) < 0)
			;
		if (atomic_load(&p->quit))
			return NULL;
		read_before(p);
		sem_post(&p->done);
		read_within(p);
		read_next(p);
		p->wait_ns += p->last.at_ns - p->first_ns;
		sem_post(&p->done);
	}
}

static int start_thread(struct prober *p)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(p->options.cpu, &cpus);
	return pinning_thread(&p->thread, &cpus, probe, p);
}

int prober_new(struct prober **ret, const struct prober_options *options, struct error *err)
{
	struct prober *p = xcalloc(1, sizeof(*p));
	int r;

	p->options = *options;
	p->wait_ns = FIRST_WAIT_NS;
	p->stopped = p->ended = true;
	sem_init(&p->begin, 0, 0);
	sem_init(&p->stop, 0, 0);
	sem_init(&p->done, 0, 0);
	r = start_thread(p);
	if (r < 0) {
		free(p);
		return error_os(err, r, "cannot probe CPU %d for a neighbour", options->cpu);
	}
	*ret = p;
	return 0;
}

void prober_set_period(struct prober *p, int64_t period_ns)
{
	prober_end(p);
	p->period_ns = period_ns;
}

/* On its CPU, or wherever it gets one. */
static void place_thread(struct prober *p, bool elsewhere)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(p->options.cpu, &cpus);
	if (elsewhere)
		memset(&cpus, 0xff, sizeof(cpus));
	pthread_setaffinity_np(p->thread, sizeof(cpus), &cpus);
	p->elsewhere = elsewhere;
}

static bool is_interrupted(void)
{
	struct pollfd fd = {.fd = interrupt_fd, .events = POLLIN};

	return interrupt_noted() || poll(&fd, 1, 0) > 0;
}

/* A signal ends the wait for a neighbour to go; the caller answers it. A thread that does not get
 * its CPU, as beside a task of a higher real-time priority, goes on elsewhere. */
static void wait_until_done(struct prober *p)
{
	unsigned readings = atomic_load(&p->readings), now;

	for (int looks = 0;; looks++) {
		int64_t next_ns = clock_ns(CLOCK_MONOTONIC) + LOOK_NS;
		struct timespec at = {next_ns / NS_PER_S, next_ns % NS_PER_S};

		if (sem_clockwait(&p->done, CLOCK_MONOTONIC, &at) == 0)
			return;
		if (is_interrupted())
			atomic_store(&p->hurry, true);
		now = atomic_load(&p->readings);
		if (now != readings)
			looks = 0;
		readings = now;
		if (looks == MOST_LOOKS)
			place_thread(p, true);
	}
}

void prober_free(struct prober *p)
{
	if (!p)
		return;
	prober_end(p);
	place_thread(p, true); /* it needs some CPU to end */
	atomic_store(&p->quit, true);
	sem_post(&p->begin);
	pthread_join(p->thread, NULL);
	sem_destroy(&p->begin);
	sem_destroy(&p->stop);
	sem_destroy(&p->done);
	free(p);
}

void prober_begin(struct prober *p)
{
	prober_end(p); /* of a sample that failed */
	p->stopped = p->ended = false;
	atomic_store(&p->hurry, false);
	if (p->elsewhere)
		place_thread(p, false);
	sem_post(&p->begin);
	wait_until_done(p);
}

void prober_stop(struct prober *p)
{
	if (!p->stopped)
		sem_post(&p->stop);
	p->stopped = true;
}

struct probed prober_end(struct prober *p)
{
	double time_ns;

	if (p->ended)
		return PROBED_NOTHING;
	prober_stop(p);
	wait_until_done(p);
	p->ended = true;
	if (p->elsewhere)
		return PROBED_NOTHING;
	time_ns = (double)(p->last.at_ns - p->first_ns);
	return (struct probed){
		.neighbour_ppm = llround(PPM * p->with_ns / time_ns),
		.error_ppm = llround(PPM * fmin(sqrt(p->with_var) / time_ns, 1)),
		.probe_ns = p->within_ns,
		.waited_ns = p->waited_ns,
	};
}
