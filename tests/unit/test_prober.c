/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that looks for a neighbour, beside one that is made up: how long it waits for him. */
#include "lib/host/cpu/neighbour.h"
#include "lib/host/cpu/prober.h"
#include "lib/host/process/signals.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#include "check.h"

/* Instead of the real ones. */
static atomic_bool is_beside;

struct neighbour_reading neighbour_read(void)
{
	return (struct neighbour_reading){clock_ns(CLOCK_MONOTONIC), NS_PER_MS / 5, 1, 1};
}

double neighbour_alone(const struct neighbour_reading *readings, size_t n)
{
	return 1;
}

double neighbour_alone_after(double alone, const struct neighbour_reading *reading)
{
	return alone;
}

double neighbour_share(const struct neighbour_reading *reading, double alone)
{
	return is_beside ? 1 : 0;
}

bool neighbour_sound(const struct neighbour_reading *reading)
{
	return true;
}

int64_t neighbour_uninterrupted_ns(const struct neighbour_reading *reading)
{
	return reading->for_ns;
}

static struct prober *new_prober(bool wait)
{
	struct prober_options options = {.share = PROBE_SHARE, .wait = wait};
	struct prober *prober = NULL;
	struct error err = {};
	cpu_set_t cpus;

	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	while (!CPU_ISSET((size_t)options.cpu, &cpus))
		options.cpu++;
	assert_int_equal(prober_new(&prober, &options, &err), 0);
	return prober;
}

TEST(a_neighbour_is_waited_for)
{
	struct prober *prober = new_prober(true);
	struct probed seen;

	is_beside = true;
	prober_begin(prober);
	seen = prober_end(prober);
	assert_in_range(seen.waited_ns, NS_PER_S / 5, NS_PER_S * 60);
	assert_int_equal(seen.neighbour_ppm, PPM);
	is_beside = false;
	prober_begin(prober);
	seen = prober_end(prober);
	assert_int_equal(seen.waited_ns, 0);
	assert_int_equal(seen.neighbour_ppm, 0);
	prober_free(prober);
}

/* A sample that took so long may be waited for as long. */
static void earn_a_wait(struct prober *prober, int64_t ns)
{
	int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + ns;

	is_beside = false;
	prober_begin(prober);
	while (clock_ns(CLOCK_MONOTONIC) < until_ns)
		sched_yield();
	prober_end(prober);
}

static void *interrupt_soon(void *unused)
{
	const struct timespec soon = {.tv_nsec = 100 * NS_PER_MS};

	nanosleep(&soon, NULL);
	kill(getpid(), SIGINT);
	return NULL;
}

TEST(a_signal_ends_the_wait)
{
	struct prober *prober;
	struct probed seen;
	pthread_t thread;

	assert_int_equal(interrupt_init(), 0);
	prober = new_prober(true);
	earn_a_wait(prober, 3 * NS_PER_S);
	is_beside = true;
	assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, NULL), 0);
	prober_begin(prober);
	seen = prober_end(prober);
	assert_in_range(seen.waited_ns, 1, 2 * NS_PER_S);
	pthread_join(thread, NULL);
	prober_free(prober);
}
