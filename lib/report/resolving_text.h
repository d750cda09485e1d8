/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "10 samples resolve 2.4 % interleaved, 14 % between separate runs": what a result of that many samples can show. */
#pragma once

#include "lib/protocol/sample_size.h"
#include "lib/book/book.h"

enum { RESOLVING_TEXT_SIZE = 80 };

/* By the calibrations of the environment (0: none), else by the profile (NULL: none), which is then of another
 * environment: the text says so. It is empty if neither knows it. */
int resolving_text(struct book *book, int64_t environment, const struct profile *profile, size_t n,
	char ret[RESOLVING_TEXT_SIZE], struct error *err);

/* From the rows of a profile. */
void resolving_text_of(char text[RESOLVING_TEXT_SIZE], const struct resolving rows[N_RESOLVING], size_t n);
