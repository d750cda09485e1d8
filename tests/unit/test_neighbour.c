/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readings of the two loops, made up and real, and the thread that takes them around samples. */
#include "lib/host/cpu/neighbour.h"
#include "lib/host/cpu/prober.h"

#include <sched.h>

#include "check.h"

enum { CYCLE_PS = 300 };

/* A reading that took so many cycles a turn, at a clock of that length. */
static struct neighbour_reading made_up(double cycles, double cycle_ps)
{
	return (struct neighbour_reading){.turn_ps = cycles * cycle_ps, .cycle_ps = cycle_ps};
}

static double alone_of(const double *cycles, size_t n)
{
	struct neighbour_reading readings[8];

	for (size_t i = 0; i < n; i++)
		readings[i] = made_up(cycles[i], CYCLE_PS);
	return neighbour_alone(readings, n);
}

TEST(what_a_turn_takes_alone_is_found_among_neighbours)
{
	/* at least one of them without a neighbour */
	assert_close(alone_of((const double[]){2.1, 1.001, 2.3, 1.4}, 4), 1.001, 1e-9);
	/* a neighbour all the time: readings differ */
	assert_close(alone_of((const double[]){2.02, 2.2, 2.3, 2.1}, 4), 1, 1e-9);
	/* a processor that needs two cycles: readings repeat */
	assert_close(alone_of((const double[]){2.001, 2.003, 2.0, 2.002}, 4), 2, 1e-9);
	/* which was disturbed once */
	assert_close(alone_of((const double[]){2.001, 2.003, 2.0, 2.3}, 4), 2, 1e-9);
	/* an emulated one: no neighbour does that, however much readings differ */
	assert_close(alone_of((const double[]){4.9, 5.0, 4.8, 5.6, 5.1}, 5), 5, 1e-9);
	/* a neighbour for a part of each reading */
	assert_close(alone_of((const double[]){1.4, 1.9, 1.6, 2.3}, 4), 1, 1e-9);
}

TEST(a_flawed_reading_is_not_what_a_turn_takes_alone)
{
	/* the chain was interrupted */
	assert_close(alone_of((const double[]){1.001, 1.0, 0.406, 1.002}, 4), 1, 1e-9);
	assert_close(alone_of((const double[]){1.001, 0.93, 1.0, 2.1}, 4), 1, 1e-9);
	assert_close(
		alone_of((const double[]){2.0, 2.0, 2.0, 2.0, 2.0, 1.3, 2.0, 2.0}, 8), 2, 1e-9);
	assert_close(alone_of((const double[]){2.2, 0.5, 2.4, 2.3}, 4), 1, 1e-9);
	/* the loop was */
	assert_close(
		alone_of((const double[]){2.0, 2.0, 2.9, 2.0, 2.0, 2.0, 2.0, 2.0}, 8), 2, 1e-9);
}

TEST(a_first_time_without_a_neighbour_is_noticed)
{
	const struct neighbour_reading nobody = made_up(1.004, CYCLE_PS);
	const struct neighbour_reading somebody = made_up(1.6, CYCLE_PS);

	assert_close(neighbour_alone_after(1.4, &nobody), 1, 1e-9);
	assert_close(neighbour_alone_after(1.4, &somebody), 1.4, 1e-9);
	/* it does not follow readings that differ a little */
	assert_close(neighbour_alone_after(1.01, &nobody), 1.01, 1e-9);
	/* of a processor that needs two cycles */
	assert_close(neighbour_alone_after(2, &somebody), 2, 1e-9);
}

TEST(a_neighbour_is_no_change_of_the_frequency)
{
	const struct neighbour_reading nobody = made_up(1.004, CYCLE_PS);
	const struct neighbour_reading half = made_up(1.5, CYCLE_PS);
	const struct neighbour_reading somebody = made_up(2.3, CYCLE_PS);
	/* half the frequency is no neighbour */
	const struct neighbour_reading slow = made_up(1.004, 2 * CYCLE_PS);

	assert_close(neighbour_share(&nobody, 1), 0, 1e-9);
	assert_close(neighbour_share(&half, 1), 0.5, 1e-9);
	assert_close(neighbour_share(&somebody, 1), 1, 1e-9);
	assert_close(neighbour_share(&slow, 1), 0, 1e-9);
	/* of a processor that needs two cycles alone */
	assert_close(neighbour_share(&somebody, 2), 0.15, 1e-9);
}

TEST(a_reading_of_this_processor_is_sound)
{
	const struct neighbour_reading reading = neighbour_read();

	/* 0.1 to 10 GHz, and whatever shares the CPU with this test */
	assert_true(reading.cycle_ps > 100 && reading.cycle_ps < 10000);
	assert_true(reading.turn_ps > reading.cycle_ps * 0.9);
	assert_true(reading.for_ns > 0);
}

static int a_cpu(void)
{
	cpu_set_t cpus;
	int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	while (!CPU_ISSET((size_t)cpu, &cpus))
		cpu++;
	return cpu;
}

static struct prober *new_prober(double share)
{
	const struct prober_options options = {.cpu = a_cpu(), .share = share, .wait = true};
	struct prober *prober = NULL;
	struct error err = {};

	assert_int_equal(prober_new(&prober, &options, &err), 0);
	return prober;
}

static void work_for(int64_t ns)
{
	int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + ns;

	while (clock_ns(CLOCK_MONOTONIC) < until_ns)
		;
}

static void check_seen(const struct probed *seen)
{
	assert_in_range(seen->neighbour_ppm, 0, PPM);
	assert_in_range(seen->error_ppm, 0, PPM);
}

TEST(a_sample_is_probed_within)
{
	struct prober *prober = new_prober(0.1);
	struct probed seen = {};

	/* until it has read within a sample: it may have to wait for the CPU */
	while (seen.probe_ns == 0) {
		prober_begin(prober);
		work_for(50 * NS_PER_MS);
		prober_stop(prober);
		seen = prober_end(prober);
		check_seen(&seen);
	}
	/* once only */
	seen = prober_end(prober);
	assert_int_equal(seen.neighbour_ppm, -1);
	prober_free(prober);
}

TEST(without_a_share_only_before_and_after)
{
	struct prober *prober = new_prober(0);
	struct probed seen;

	prober_begin(prober);
	work_for(20 * NS_PER_MS);
	seen = prober_end(prober); /* without prober_stop */
	check_seen(&seen);
	assert_int_equal(seen.probe_ns, 0);
	prober_free(prober);
}

TEST(a_sample_that_failed_is_forgotten)
{
	struct prober *prober = new_prober(PROBE_SHARE);
	struct probed seen;

	prober_begin(prober);
	prober_begin(prober); /* the first one was never ended */
	prober_stop(prober);
	prober_stop(prober);
	seen = prober_end(prober);
	check_seen(&seen);
	prober_begin(prober);
	prober_free(prober); /* in the middle of one */
}
