/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How accurate a load is: it is run under known handicaps, in turn, and what it says of them is compared with what they
 * took. */
#pragma once

#include "lib/load/session.h"

#include "lib/stats/compare.h"

#include <stdio.h>

enum { N_HANDICAPS = 4 };

/* Shares of the CPUs: 0, 2, 5 and 10 %. */
extern const double handicaps[N_HANDICAPS];

struct verified {
	struct load_rates rates[N_HANDICAPS];
	double taken[N_HANDICAPS];               /* shares, means over the rounds */
	struct comparison compared[N_HANDICAPS]; /* the rates with those without a handicap, in pairs */
	int rounds;
};

/* `session` is open, and stores nothing. Failures as drive_once(). */
int verify_load(struct verified *ret, struct load_session *session, int rounds, struct error *err);
void verified_clear(struct verified *verified);

int verified_print(FILE *file, const struct verified *verified, const struct load *load, struct error *err);
