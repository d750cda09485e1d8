/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two loops, timed in turn: see neighbour.h. */
#include "lib/host/cpu/neighbour.h"

#include "lib/host/cpu/increments.h"

#include <math.h>

/* Of each loop in each of the parts: some 40 and 10 us at 3 GHz. */
enum { PARTS = 4, TURNS = 1 << 17, PER_TURN = 64, CHAIN_TURNS = 512 };

/* Readings without a neighbour repeat to 0.3 %, those beside one do not repeat to 2 %. */
static const double REPEATS = 0.02;
/* So many cycles a turn are the processor's: that of an emulator, for instance. */
static const double ITS_OWN = 3;

INCREMENT_LOOP(take_branches, 1)
INCREMENT_LOOP(increment_chain, PER_TURN)

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Interruptions make parts longer, and none shorter. */
static double second_least(double parts[PARTS])
{
	qsort(parts, PARTS, sizeof(*parts), compare_doubles);
	return parts[1];
}

struct neighbour_reading neighbour_read(void)
{
	int64_t begin_ns = clock_ns(CLOCK_MONOTONIC), from_ns = begin_ns, turned_ns, end_ns = 0;
	double turns[PARTS], cycles[PARTS];

	for (size_t i = 0; i < PARTS; i++) {
		take_branches(TURNS);
		turned_ns = clock_ns(CLOCK_MONOTONIC);
		increment_chain(CHAIN_TURNS);
		end_ns = clock_ns(CLOCK_MONOTONIC);
		turns[i] = (double)(turned_ns - from_ns) * 1000 / TURNS;
		cycles[i] = (double)(end_ns - turned_ns) * 1000 / (PER_TURN * CHAIN_TURNS);
		from_ns = end_ns;
	}
	return (struct neighbour_reading){
		.at_ns = begin_ns + (end_ns - begin_ns) / 2,
		.for_ns = end_ns - begin_ns,
		.turn_ps = second_least(turns),
		.cycle_ps = second_least(cycles),
	};
}

static double cycles_a_turn(const struct neighbour_reading *reading)
{
	return reading->cycle_ps > 0 ? reading->turn_ps / reading->cycle_ps : 1;
}

int64_t neighbour_uninterrupted_ns(const struct neighbour_reading *reading)
{
	double part_ps = reading->turn_ps * TURNS + reading->cycle_ps * PER_TURN * CHAIN_TURNS;

	return (int64_t)(PARTS * part_ps / 1000);
}

bool neighbour_sound(const struct neighbour_reading *reading)
{
	return cycles_a_turn(reading) >= 1 - REPEATS &&
	       reading->for_ns <= 2 * neighbour_uninterrupted_ns(reading);
}

/* The least that is read again and again is that without a neighbour, if there was a time without.
 * A single one may be flawed. Of a processor that needs more than a cycle, most repeat; beside a
 * neighbour readings differ. Then a turn is taken to need one cycle. */
double neighbour_alone(const struct neighbour_reading *readings, size_t n)
{
	_cleanup_(freep) double *cycles = xcalloc(n + 1, sizeof(*cycles));
	size_t sound = 0;

	for (size_t i = 0; i < n; i++)
		if (neighbour_sound(&readings[i]))
			cycles[sound++] = cycles_a_turn(&readings[i]);
	qsort(cycles, sound, sizeof(*cycles), compare_doubles);
	if (sound > 0 && cycles[0] > ITS_OWN)
		return cycles[sound / 2];
	for (size_t i = 0; i < sound; i++) {
		size_t alike = 0;

		while (i + alike < sound && cycles[i + alike] <= cycles[i] * (1 + REPEATS))
			alike++;
		if (alike * 4 >= sound * 3 || (alike > 1 && cycles[i] <= 1 + REPEATS))
			return cycles[i];
	}
	return sound > 0 && cycles[0] <= 1 + REPEATS ? cycles[0] : 1;
}

double neighbour_alone_after(double alone, const struct neighbour_reading *reading)
{
	return alone > 1 + REPEATS && cycles_a_turn(reading) <= 1 + REPEATS ? 1 : alone;
}

double neighbour_share(const struct neighbour_reading *reading, double alone)
{
	double more = cycles_a_turn(reading) / alone - 1;

	return more < REPEATS ? 0 : fmin(more, 1);
}
