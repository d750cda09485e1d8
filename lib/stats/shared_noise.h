/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of the spread of programs that take their samples in turn is a machine whose speed changes: then neighbours
 * differ less than samples that are further apart, and programs that run at the same time would differ still less. */
#pragma once

#include <stddef.h>

struct shared_noise {
	double sd_in_turn; /* of the logarithm of the ratio of two neighbours; NAN: not known */
	double sd_together; /* the same if both had been taken at one time, by extrapolation; 0: all of it is the machine's */
	double p; /* the probability of so great a difference if samples are independent; one-sided */
};

/* logs[round * n_programs + program]: logarithms of times, in the order in which they were taken. With fewer than 4 rounds or 2
 * programs nothing is known, and p is 1. -ENOMEM */
int shared_noise_of(const double *logs, size_t n_rounds, size_t n_programs, struct shared_noise *ret);
