/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Storing the result of a run in the book, for other programs: what the tools show, so that nobody
 * else has to know the rules. */
#pragma once

#include "lib/report/run_result.h"

/* Stores a result by the rules that the run was measured with. */
int result_store(struct book *book, const struct run_result *result, struct error *err);

/* Of all runs after this number that have ended, have samples, and have no results in the book.
 * Adds their numbers to an array, unless it is NULL. Runs that cannot be judged are left out, such
 * as one whose patterns of names are wrong: emp-analyze show says why. */
int results_store_missing(struct book *book, int64_t after, json_t *array, struct error *err);

/* Reads it first. A run without samples has none. */
int result_store_run(struct book *book, int64_t run, struct error *err);
