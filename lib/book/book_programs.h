/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that run at once, in the lab book: the programs of a run, what each did in each sample, and the load whose slaves
 * they are. */
#pragma once

#include "lib/book/book.h"
#include "lib/load/load.h"
#include "lib/record/programs.h"

/* Once a run, before its samples. */
int book_put_programs(
	struct book *book, int64_t run, const struct run_program *programs, size_t n, struct error *err);
/* In the order of n; run_programs_free() frees them. *ret_n is 0 for a run of single programs. */
int book_programs(struct book *book, int64_t run, struct run_program **ret, size_t *ret_n, struct error *err);

/* After book_add_sample(), in the same transaction. */
int book_add_sample_programs(
	struct book *book, int64_t run, const struct sample_program *items, size_t n, struct error *err);
/* In the order of samples, then of programs; the caller frees the array. */
int book_sample_programs(
	struct book *book, int64_t run, struct sample_program **ret, size_t *ret_n, struct error *err);

/* Once a run, before its samples. */
int book_put_load(struct book *book, int64_t run, const struct load_row *row, struct error *err);
/* 1: found, load_row_clear() frees it; 0: the run is no load, or was imported. */
int book_get_load(struct book *book, int64_t run, struct load_row *ret, struct error *err);
/* After book_add_sample(), in the same transaction. */
int book_add_load_sample(struct book *book, int64_t run, const struct load_sample *sample, struct error *err);
/* In the order of samples; the caller frees the array. */
int book_load_samples(
	struct book *book, int64_t run, struct load_sample **ret, size_t *ret_n, struct error *err);
