/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The infrequent daemons of a calibration, one by one: what was seen of each, who starts it, and what to do
 * about it. */
#pragma once

#include "lib/protocol/analysis.h"
#include "lib/record/book/book.h"

#include <stdio.h>

int advice_print(struct book *book, const struct profile *profile, const struct analysis *short_analysis,
	const struct analysis *long_analysis, FILE *file, struct error *err);
