/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What readings of the neighbour on one CPU say: how much of the time there was one, the episodes,
 * how long it stays away, and whether the frequency changed. Pure arithmetic. */
#pragma once

#include "lib/host/cpu/neighbour_watch.h"

/* With its 95 % interval. */
struct neighbour_estimate {
	double value, low, high;
};

/* From the first reading with a neighbour to the next without one, each begin and end half-way
 * between two readings. */
struct neighbour_episode {
	int64_t at_ns; /* CLOCK_MONOTONIC */
	int64_t length_ns;
	bool whole; /* it neither began before the readings nor ended after them */
};

/* The classes of the lengths of episodes: from the edge before to this one. */
enum { N_NEIGHBOUR_LENGTHS = 6 };
struct neighbour_length {
	int64_t from_ns, to_ns; /* to_ns: INT64_MAX in the last */
	size_t n;
	int64_t total_ns;
};

/* A time of this length that begins without a neighbour stays without one. */
enum { N_NEIGHBOUR_STAYS = 3 };
struct neighbour_stay {
	int64_t for_ns;
	struct neighbour_estimate share; /* NAN: there was no such time */
};

/* A part of the time, all of one length. */
struct neighbour_part {
	int64_t at_ns; /* CLOCK_MONOTONIC */
	size_t readings;
	double share; /* NAN: no reading */
};

struct neighbour_account {
	int cpu;
	size_t n_readings;
	size_t n_unclear; /* of these, not sound: see neighbour_sound() */
	/* of those without a neighbour, in which the processor was slower by more than 5 % than in
	 * their median */
	size_t n_slower;
	size_t n_with;       /* a neighbour */
	int64_t read_ns;     /* that the readings took */
	int64_t every_ns;    /* the median from one to the next; 0: fewer than two */
	int64_t observed_ns; /* between readings, without the gaps */
	/* Of the time; NAN: nothing was observed. Without an episode, `high` holds for episodes of
	 * a second. */
	struct neighbour_estimate share;
	struct neighbour_episode *episodes; /* in the order of time */
	size_t n_episodes;
	struct neighbour_length lengths[N_NEIGHBOUR_LENGTHS];
	double median_ns, longest_ns; /* of the episodes; NAN: none */
	/* As many episodes begin in a second at most, at 95 %. NAN: nothing was observed. */
	double most_a_second;
	struct neighbour_stay stays[N_NEIGHBOUR_STAYS];
	/* A cycle without a neighbour, or if there was always one, with one: the median, and 98 %
	 * of the readings. NAN: no reading. */
	double cycle_ps, cycle_low_ps, cycle_high_ps;
	int64_t part_ns;
	struct neighbour_part *parts;
	size_t n_parts;
};

/* from_ns, to_ns: CLOCK_MONOTONIC, between which all readings are; it is divided into parts. */
void neighbour_account_make(struct neighbour_account *ret, const struct neighbour_series *series,
	int64_t from_ns, int64_t to_ns);
void neighbour_account_clear(struct neighbour_account *account);
