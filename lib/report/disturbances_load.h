/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The disturbances of a run in the book. */
#pragma once

#include "lib/protocol/disturbances.h"
#include "lib/book/book.h"

/* Of all its samples so far; their usual length is the median ET. */
int disturbances_load(struct book *book, int64_t run, struct disturbances *ret, struct error *err);

/* Whether PT contains interrupts, by the kernel's configuration in an environment (0: none). */
int interrupts_in_pt_load(
	struct book *book, int64_t environment, enum interrupts_in_pt *ret, struct error *err);
