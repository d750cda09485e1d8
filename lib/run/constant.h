/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INC as a program that is run, and its constant: increments per second, measured once for a
 * machine, an environment and an INC, and stored in the book (and in a text file, for inc itself).
 * From then on it stays the same, so that INC1 is the same work next month. */
#pragma once

#include "lib/run/session.h"

struct inc {
	char *path;        /* of the program; the caller frees it */
	int cpu;           /* that it runs on; -1: any */
	bool quiet;        /* no progress while it is measured */
	double per_second; /* the constant */
	bool found_now;    /* false: it was in the book */
};

/* The constant for an environment, from the book, else by measuring (about three seconds), which
 * stores it. */
int inc_find_constant(
	struct inc *inc, const struct run_session *session, int64_t environment, struct error *err);

/* INC as it is started. Contains pointers into itself: do not copy it. */
struct inc_program {
	char iterations[32];
	char *argv[4];
	struct command_spec spec;
};

void inc_program_make(struct inc_program *ret, const struct inc *inc,
	const struct run_session *session, double iterations);
