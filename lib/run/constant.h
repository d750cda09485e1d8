/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The constant of INC: iterations per second, measured once for a machine and environment and stored in the book (and in
 * a text file, for inc itself). From then on it stays the same, so that INC1 is the same work next month. */
#pragma once

#include "lib/run/sampling.h"

struct constant {
	double per_second;
	bool found_now; /* false: it was in the book */
};

struct constant_request {
	const struct run_session *session;
	int64_t environment;  /* that it is for */
	const char *inc_path; /* the program */
	int cpu;              /* where it is measured; -1: anywhere */
};

/* From the book, else by measuring (about three seconds), which stores it. */
int constant_get(const struct constant_request *request, struct constant *ret, struct error *err);
