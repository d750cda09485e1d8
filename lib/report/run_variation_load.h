/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much separate runs of two programs vary, as far as the book shows it. */
#pragma once

#include "lib/protocol/comparison.h"
#include "lib/book/book.h"

/* ret->df 0: the book has too few runs of them. */
int run_variation_load(struct book *book, int64_t run_a, int64_t run_b, enum comparison_clock clock,
	struct run_variation *ret, struct error *err);
