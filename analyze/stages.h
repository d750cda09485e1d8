/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The statistics of a run after each step of the protocol (EMP, Figure 17): all samples, after the cutoffs, and after
 * the 2-sd check; for ET and for PT. */
#pragma once

#include "analyze/analyze.h"

struct stage {
	const char *clock, *step;
	const char *member; /* of the JSON document */
};

enum { N_STAGES = 6 };
extern const struct stage stages[N_STAGES];

const struct summary *stage_summary(const struct discarding *d, size_t stage);

/* Cells for samples, min, max, mean, sd and CV; the columns that go with them. */
#define STAGE_COLUMNS                                                                                        \
	{"SAMPLES", COLUMN_NUMBER}, {"MIN", COLUMN_NUMBER}, {"MAX", COLUMN_NUMBER}, {"MEAN", COLUMN_NUMBER}, \
		{"SD", COLUMN_NUMBER},                                                                       \
	{                                                                                                    \
		"CV", COLUMN_NUMBER                                                                          \
	}
void stage_cells(struct table *table, const struct summary *s);
