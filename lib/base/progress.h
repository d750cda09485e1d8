/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress on standard error: on a terminal a bar as wide as fits; elsewhere a plain line for every tenth of the
 * total, at most one per second. Nothing is drawn while a sample runs: the caller steps between samples. */
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

/* quiet: draws nothing at all. The label must outlive the work. */
void progress_begin(struct progress *p, const char *label, uint64_t total, bool quiet);

/* Whether a step would be shown now; if not, no estimate need be made for it. */
bool progress_is_due(const struct progress *p, uint64_t done);

/* `estimate`: the result so far, "127.9 ms"; NULL: none. */
void progress_step(struct progress *p, uint64_t done, const char *estimate);

/* Clears the bar, so that the next line takes its place. */
void progress_end(struct progress *p);
