/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparisons of a session: each command with the first. */
#pragma once

#include "measure/session.h"

#include "lib/protocol/comparison.h"

struct comparisons {
	struct comparison *items; /* by the index of the command; .a.n is 0 where there is none */
	size_t n;
	bool any;
};

/* Of PT, adjusted for their number. Commands without a sample that is kept are not compared. */
int comparisons_make(const struct session *session, struct comparisons *ret, struct error *err);
void comparisons_clear(struct comparisons *comparisons);
