/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runs of one program in the lab book, in the order of time, each by its mean PT. */
#pragma once

#include "lib/book/book.h"

enum series_unit {
	SERIES_SECONDS,
	SERIES_INC, /* units of INC: of runs that alternated with it */
};

struct series_run {
	struct run run;
	size_t n_samples; /* kept */
	double log;       /* of the mean PT, in the unit of the series */
};

struct series {
	char *name; /* that the user gave the command, else the command line */
	enum series_unit unit;
	struct series_run *items;
	size_t n;
	/* What is left out: runs that do not have that unit, of other machines than the last run's, of too few samples, and at the same time as the
	 * one before. */
	size_t n_other_unit, n_other_machine, n_few, n_at_once;
};

enum { SERIES_LEAST_SAMPLES = 3 };

/* `name` is that of a command (--command-name), else a command line, else the name of a program's file. Runs that were given a name
 * belong together if it is the same, others if their command lines are. -ENOENT: no runs, or those of several programs, are meant; the
 * sentence lists some. `seconds`: PT in seconds, also of those that alternated with INC. */
int series_load(struct book *book, const char *name, bool seconds, struct series *ret, struct error *err);
void series_clear(struct series *series);
