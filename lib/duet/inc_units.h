/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The PT of a run in units of INC, from the duet that both were in: how much INC would have done in
 * that time. They alternated on one CPU, so that whatever changed the speed of the machine cancels,
 * and the figure can be compared with that of another hour. */
#pragma once

#include "lib/book/book.h"
#include "lib/protocol/discard.h"

#include <jansson.h>

/* A unit is the PT in which INC makes this many increments: a fixed number, and not a second by the
 * constant of the machine, which is measured again in each environment. */
enum { INC_UNIT = 1000000 };

struct inc_units {
	double mean;        /* geometric, of the samples kept */
	double low, high;   /* its 95 % interval; NAN: fewer than two samples */
	double sd;          /* of a sample, as a share; NAN likewise */
	double error;       /* of the logarithm of the mean */
	size_t n;           /* samples */
	double hidden;      /* of the mean by the clock's steps, as a share */
	double step;        /* of the clock, as a share of both programs' means */
	int64_t run;        /* of INC */
	int64_t increments; /* that it made each time it ran */
};

/* How long INC should take beside a program of that PT: nearly as long, so that it covers the
 * program, in parts of half a second or less; but long enough that its start does not count. A
 * shorter program runs several times, and INC a little longer than all of them. */
int64_t inc_length_beside(int64_t pt_ns);

/* Samples discarded by `rules`. 1: done; 0: the run did not alternate with INC, or no sample is
 * kept. */
int inc_units_load(struct book *book, int64_t run, const struct discard_rules *rules,
	struct inc_units *ret, struct error *err);

/* "471.2 ± 1.3   CV 0.28 %   95 % CI 470.3 … 472.1". Returns `buffer`. */
enum { INC_UNITS_TEXT_SIZE = 128 };
char *inc_units_text(char buffer[INC_UNITS_TEXT_SIZE], const struct inc_units *units);

json_t *inc_units_as_json(const struct inc_units *units);
