/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results as text. */
#pragma once

#include "lib/duet/duet_report.h"
#include "lib/protocol/comparison.h"
#include "lib/report/comparison_report.h"
#include "measure/session.h"

/* Prints every result, then the comparisons. STATUS_NOT_FIT with a sentence if --fail-if-slower is exceeded. */
int show_session(const struct session *session, struct error *err);

/* The comparisons of a session: each command with the first. */

/* Of each clock that is compared, by the index of the command; .a.n is 0 where there is none. Those of PT come first, and those
 * of ET follow: all[2 * n]. */
struct comparisons {
	struct comparison *all;
	size_t n, n_made;
};

static inline const struct comparison *comparisons_of(
	const struct comparisons *c, enum comparison_clock clock, size_t command)
{
	return &c->all[clock * c->n + command];
}

/* Of the clocks that --compare asks for, adjusted for their number. Commands without a sample that is kept are not compared. */
int comparisons_make(const struct session *session, struct comparisons *ret, struct error *err);
void comparisons_clear(struct comparisons *comparisons);

/* Whether a duet would show more: never where one cannot be had, here or with these options, or where it was one. */
struct duet_advice advice_of(const struct session *session);
