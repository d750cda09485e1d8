/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples in the lab book, and the executions of other processes in them. */
#pragma once

#include "lib/record/run.h"

struct book;

/* Adds one sample and its executions, in one transaction or as a part of the caller's. -EEXIST: the
 * run has a sample of that number. */
int book_add_sample(struct book *book, int64_t run, const struct sample *sample,
	const struct execution *executions, size_t n_executions, struct error *err);

/* Calls `each` for every execution of a run in the order of samples, in bounded memory; a value
 * other than 0 from it ends the walk and is returned. Sources may have been added since
 * book_sources(), unless both are inside one book_begin(). `each` may read the book, not write to
 * it. */
typedef int book_each(void *data, const struct execution *execution, struct error *err);
int book_each_execution(
	struct book *book, int64_t run, book_each *each, void *data, struct error *err);
/* The same with sample, source, pid, pt_ns and same_cpu_ns only (the others are unknown), in less
 * time. */
int book_each_time(struct book *book, int64_t run, book_each *each, void *data, struct error *err);
/* The executions of one sample; the caller frees the array. */
int book_executions(struct book *book, int64_t run, uint32_t sample, struct execution **ret,
	size_t *ret_n, struct error *err);

/* For the modules of the book: registers the SQL function that calls `each`, for a new
 * connection. */
int book_walk_register(struct book *book, struct error *err);
