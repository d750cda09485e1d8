/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far long work is, on standard error: on a terminal a bar, as wide as there is room for; elsewhere a plain
 * line every tenth of the way, at most one a second. Nothing is drawn while a sample runs: the caller steps
 * between samples. */
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

/* `estimate`: the result so far, "127.9 ms"; NULL: none. */
void progress_step(struct progress *p, uint64_t done, const char *estimate);

/* Wipes the bar, so that the next line begins where it was. */
void progress_end(struct progress *p);
