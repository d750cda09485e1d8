/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far long work is, on standard error: a bar with an estimate on a terminal, a plain line every
 * tenth of the way (and not more than one a second) elsewhere. Nothing is drawn while a sample runs:
 * the caller steps between samples. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *label;
	uint64_t total;
	bool terminal;
	bool drawn;
	int tenths_said;
	int64_t started_ns, said_ns;
};

/* quiet: draws nothing at all. */
void progress_begin(struct progress *p, const char *label, uint64_t total, bool quiet);
void progress_step(struct progress *p, uint64_t done);
/* Wipes the bar, so that what is printed next stands alone. */
void progress_end(struct progress *p);
