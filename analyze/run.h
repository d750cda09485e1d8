/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The run that an operand names: found, opened, and analysed or judged by the options. */
#pragma once

#include "lib/report/run_result.h"

/* The run that an operand names: by its number; or the latest that was given this name; or "last"
 * or --last. Returns how many runs it may mean. */
int analyze_find_run(struct book *book, const char *operand, int64_t *ret, struct error *err);

/* Opens the book to read the run that the operand RUN names. */
int analyze_open(const char *run, struct book **ret_book, int64_t *ret_run, struct error *err);

/* The same, and analyses the run by the options. */
int analyze_load_run(
	const char *run, struct book **ret_book, struct analysis *ret, struct error *err);

/* A run against the profile of --profile; without one no sample is discarded by a cutoff. */
int analyze_discard_run(struct book *book, int64_t run, struct run_result *ret, struct error *err);
