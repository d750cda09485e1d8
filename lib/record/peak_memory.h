/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The peak memory of a program: the mean over the samples that were kept. */
#pragma once

#include "lib/record/run.h"

struct peak_memory {
	double mean_bytes, sd_bytes;
	size_t n;     /* samples; 0: it is not known of all */
	bool at_most; /* it may be less: see struct sample */
};

/* out[i]: sample i was discarded. */
struct peak_memory peak_memory_of(const struct sample *samples, const bool *out, size_t n);

/* "12.3 MB, σ 0.1 MB"; "": not known. */
const char *peak_memory_text(const struct peak_memory *memory);
/* "mean_bytes", "sd_bytes" and "at_most"; null: not known. */
json_t *peak_memory_as_json(const struct peak_memory *memory);
