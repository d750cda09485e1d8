/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gaps that no event explains: whether they occur at fixed periods, as the interrupts of a virtual
 * machine's host do. */
#pragma once

#include "lib/base/base.h"

struct unexplained_item {
	int64_t start_ns, length_ns;
	bool whole; /* a gap, not the rest of one that an event explains in part */
};

struct spacing_bin {
	int64_t count, total_ns;
};

struct unexplained_period {
	/* from an item to those after it, without the items of the periods before */
	struct spacing_bin *spacings;
	int64_t period_ns; /* 0: none found so far */
	int64_t items, total_ns;
	int64_t count; /* of the items: whole gaps */
	bool firm;     /* enough items have it; otherwise they belong to the rest */
};

enum { UNEXPLAINED_PERIODS = 4 };

struct unexplained {
	struct unexplained_period periods[UNEXPLAINED_PERIODS]; /* those found come first */
	int64_t rest, rest_ns; /* of whole gaps, and of all items, without a period */
};

/* A round's items, by start; those of less than a microsecond or two are never called periodic. */
void unexplained_add(
	struct unexplained *unexplained, const struct unexplained_item *items, size_t n);
void unexplained_clear(struct unexplained *unexplained);

/* The sums of all items that have a firm period, and of all others. */
struct unexplained_sums {
	int64_t periodic, periodic_ns, rest, rest_ns;
};
struct unexplained_sums unexplained_sums(const struct unexplained *unexplained);
