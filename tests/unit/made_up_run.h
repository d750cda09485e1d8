/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs made up from a seed: noise of many kinds, daemons planted in them, speeds that wander or
 * step. */
#pragma once

#include "lib/protocol/analysis.h"

enum noise {
	NOISE_NORMAL,
	NOISE_UNIFORM,
	NOISE_EXPONENTIAL,
	NOISE_LOGNORMAL,
	NOISE_T3,
	NOISE_PARETO,
	NOISE_CAUCHY,
	N_NOISES
};

struct made_up {
	uint64_t seed;
	size_t n;
	int64_t length_ns;  /* of a sample without noise */
	int64_t spread_ns;  /* scale of the noise, about its sd */
	int64_t quantum_ns; /* all times are whole multiples of it */
	enum noise noise;
	double wander; /* how much of its noise a sample has from the one before */
	/* share of samples with a short execution of a daemon that is rare and no cause */
	double rare;
	double planted;            /* share of samples in which the planted daemon runs */
	size_t n_planted;          /* or how many exactly, anywhere */
	int64_t least_ns, most_ns; /* its PT, evenly spread on a logarithmic scale */
	/* how much longer a sample is, in PTs of the planted daemon; 0: 1 */
	double stretch;
	bool unseen;      /* no execution of the planted daemon is recorded */
	bool by_wait;     /* W is known: what the planted daemon takes */
	bool alternating; /* every other sample has the step */
	bool in_pairs;    /* where it runs, it runs in both samples of a pair */
	double drift;     /* from the first to the last sample, in units of spread */
	bool wave;        /* the drift goes up and down again */
	double step;      /* in units of spread */
	/* the samples before this are without it; 0: speeds change at random */
	size_t step_at;
};

struct made_up_run {
	struct analysis analysis;
	bool *planted; /* one a sample */
};

/* Makes the run up and reads it; a failure ends the test. */
struct made_up_run made_up_read(const struct made_up *m);
void made_up_clear(struct made_up_run *run);

/* Whether the L-samples are exactly those in which the daemon was planted. */
bool made_up_found(const struct made_up_run *run);
