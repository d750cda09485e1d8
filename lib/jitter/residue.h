/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What no event explains: whether it comes at a fixed period, as the interrupts of a virtual machine's host do. */
#pragma once

#include "lib/stats/histogram.h"

#include <stdbool.h>

struct residue_item {
	int64_t start_ns, length_ns;
	bool whole; /* a gap, not the rest of one that an event explains in part */
};

struct residue {
	struct histogram spacings; /* between an item and the next few after it */
	int64_t period_ns;         /* 0: none found so far */
	int64_t periodic, periodic_ns;
	int64_t unexplained, unexplained_ns;
	struct histogram lengths; /* of the unexplained that are whole gaps */
};

/* A round's items, by start; those of less than a microsecond or two are never called periodic. -ENOMEM. */
int residue_add(struct residue *residue, const struct residue_item *items, size_t n);
/* The whole gaps among the unexplained that are shorter than `below_ns`. */
void residue_shorter(const struct residue *residue, int64_t below_ns, int64_t *ret_count, int64_t *ret_ns);
void residue_clear(struct residue *residue);

/* The period that the spacings show; 0: none that chance would not. */
int64_t residue_period(const struct histogram *spacings);
