/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run of the book as one side of a comparison. */
#pragma once

#include "analyze/compare_input.h"

/* `text` is the operand RUN. Its samples are discarded by the profile that it was measured with, or
 * by --profile. */
int compare_read_run(
	struct book *book, const char *text, struct compare_input *side, struct error *err);
