/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The disturbances of a run in the book. */
#pragma once

#include "lib/protocol/disturbances.h"
#include "lib/record/book/book_counters.h"

/* Of all its samples so far; their usual length is the median ET. */
int disturbances_load(struct book *book, int64_t run, struct disturbances *ret, struct error *err);
