/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One sample or warm-up of the sampling loop: observed, checked, stored. For sampling.c and together.c; a load takes its
 * samples itself. */
#pragma once

#include "lib/run/sampling.h"

/* Errors as for sampling_run. 1: this process was stopped meanwhile (^Z), so the times mean nothing; take the sample
 * again. */
int sample_take(const struct sampling_plan *plan, struct sampling *s, struct error *err);

/* After a sample that was stopped for the `tries`th time in a row. -ECANCELED with a sentence: the program does it. */
int sample_again(const struct sampling *s, int tries, struct error *err);

/* The rows of the sample n of a run, inside a transaction of the caller. */
int sample_store_rows(
	struct book *book, int64_t run, uint32_t n, const struct observation *o, struct error *err);
/* For a sample of several programs: whether the end of one lets the sample count, and storing it. */
int sample_check(const struct sampling *s, const struct spawned *spawned, struct error *err);
int sample_store(
	const struct sampling_plan *plan, struct sampling *s, const struct observation *o, struct error *err);
