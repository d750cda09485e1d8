/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How accurate a load is: it is run under known slowdowns, in turn, and what it says of them is
 * compared with what they took. */
#pragma once

#include "lib/load/session.h"
#include "lib/stats/compare.h"

enum { N_SLOWDOWNS = 4 };

struct load_verification {
	double taken[N_SLOWDOWNS]; /* shares, means over the rounds */
	/* the rates with those without a slowdown, in pairs */
	struct comparison compared[N_SLOWDOWNS];
	int rounds;
};

/* `session` is open, and stores nothing. Failures as load_run_once(). */
int load_verify(struct load_verification *ret, const struct load_session *session, int rounds,
	struct error *err);
void load_verification_print(
	FILE *file, const struct load_verification *verification, const struct load *load);
