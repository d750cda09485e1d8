/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPU time that other sources took in one sample of a program, by source. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct taken {
	uint32_t source; /* of the jitter_sources */
	int64_t slices, total_ns, longest_ns;
};

/* What was taken in one sample. */
struct taken_sample {
	struct taken *items; /* the largest total first */
	size_t n;
	int64_t total_ns;
	int64_t events, lost, broken; /* as in struct jitter_cpu */
};

void taken_sample_clear(struct taken_sample *sample);
/* Adds what one source took. -ENOMEM. */
int taken_sample_add(struct taken_sample *sample, const struct taken *taken);
void taken_sample_sort(struct taken_sample *sample);
