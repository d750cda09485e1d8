/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The constant of INC: iterations per second, measured once for a machine and environment and stored in the book (and in
 * a text file, for inc itself). From then on it stays the same, so that INC1 is the same work next month. */
#pragma once

#include "lib/run/observer.h"
#include "lib/book/book.h"

struct constant {
	double per_second;
	bool found_now; /* false: it was in the book */
};

/* `inc_path` is the program, `cpu` where it is measured (-1: anywhere). */
struct constant_request {
	struct book *book;
	int64_t environment;
	const char *environment_digest;
	const char *inc_path;
	const struct observer *observer;
	int cpu;
};

/* From the book, else by measuring (about three seconds), which stores it. */
int constant_get(const struct constant_request *request, struct constant *ret, struct error *err);
