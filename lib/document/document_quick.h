/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples as EMP writes them, read in a tenth of the time that json_fields.h takes: a run may have ten million executions. */
#pragma once

#include "lib/book/book_counters.h"

#include <stdbool.h>

struct quick_sample {
	struct sample sample;
	int64_t counters[N_COUNTER_VALUES];
	bool has_counters;
};

/* An execution, whose texts are valid during the call; a value other than 0 ends the sample. */
typedef int quick_execution(const struct execution *execution, const struct source *source, void *data);

/* 1: it is read; 0: it is wrong, or unusual (texts with escapes, null, members of which EMP knows nothing): read it
 * with json_fields.h, which says what is wrong. Otherwise what `each` returned. */
int document_quick_execution(const char *text, size_t size, quick_execution *each, void *data);
int document_quick_sample(
	const char *text, size_t size, struct quick_sample *ret, quick_execution *each, void *data);
