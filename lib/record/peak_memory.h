/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The peak memory of a program: the mean over the samples that were kept. */
#pragma once

#include "lib/base/json.h"
#include "lib/record/run.h"

struct peak_memory {
	double mean_bytes, sd_bytes;
	size_t n;     /* samples; 0: it is not known of all */
	bool at_most; /* it may be less: see struct sample */
};

/* out[i]: sample i was discarded. */
struct peak_memory peak_memory_of(const struct sample *samples, const bool *out, size_t n);

enum { PEAK_MEMORY_TEXT_SIZE = 64 };
/* "12.3 MB, σ 0.1 MB"; "at most 12.3 MB"; "": not known. */
char *peak_memory_text(char buffer[PEAK_MEMORY_TEXT_SIZE], const struct peak_memory *memory);
/* "mean_bytes", "sd_bytes" and "at_most"; null: not known. */
json_t *peak_memory_as_json(const struct peak_memory *memory);
