/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The disturbance counters of each sample in the lab book. They are not in struct sample, because few readers of samples
 * need them. */
#pragma once

#include "lib/book/book.h"
#include "lib/record/counters.h"

/* Their fields: an array of values by enum counter (INT64_MIN: not known), followed by the sample's n. */
enum { N_COUNTER_VALUES = N_COUNTERS + 1 };
extern const struct field_table counters_table;
void counters_values(const struct counters *counters, int64_t ret[N_COUNTER_VALUES]);
struct counters counters_of_values(const int64_t values[N_COUNTER_VALUES]);

/* Call it in the transaction of the sample. */
int book_add_counters(
	struct book *book, int64_t run, uint32_t sample, const struct counters *changes, struct error *err);

/* In order of samples; samples without counters are missing. The caller frees the array. */
int book_counters(
	struct book *book, int64_t run, struct sample_counters **ret, size_t *ret_n, struct error *err);
