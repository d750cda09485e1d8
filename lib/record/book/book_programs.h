/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that run at once, in the lab book: the programs of a run, and what each did in each sample. */
#pragma once

#include "lib/record/book/book.h"
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
