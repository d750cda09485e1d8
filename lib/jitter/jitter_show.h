/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A jitter run on the screen, as the documents of emp-documents(5), and in pictures. */
#pragma once

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/jitter/jitter_run.h"
#include "lib/report/plot.h"

struct jitter_screen {
	bool all;          /* every source, however little it took */
	bool combinations; /* of the time domain, in place of Table I */
};

/* Table I, where the sources come from, and what the run says of its own limits. */
void jitter_print(const struct jitter_run *run, const struct jitter_screen *screen);
void jitter_print_peak(const struct jitter_run *run, const struct jitter_peak *peak);
/* What emp-calibrate prints: the largest sources, or all of them. kept: the file with the trace; NULL: none. */
void jitter_print_summary(const struct jitter_run *run, const char *kept, bool all);

/* A run and its baseline, with what differs. */
struct jitter_pair {
	const struct jitter_run *run, *baseline;
	struct jitter_changes changes;
};

/* all: every source, also those that took little and did not change. */
void jitter_print_changes(const struct jitter_pair *pair, bool all);

const struct source *jitter_change_source(const struct jitter_change *change);
/* "0.034", "0.21", "4.90", "16". */
const char *jitter_ratio_text(char text[TEXT_TIME_SIZE], double ratio);
/* "0.21 … 0.35"; without one of the bounds "< 0.35" or "> 4.90". */
const char *jitter_ratio_interval(char text[TEXT_TIME_SIZE], const struct jitter_change *change);

/* The documents of --json. */
json_t *jitter_as_json(const struct jitter_run *run);
json_t *jitter_peak_as_json(const struct jitter_run *run, const struct jitter_peak *peak);
json_t *jitter_changes_as_json(const struct jitter_pair *pair);

/* Pictures. The densities print the bandwidth; without a baseline they are the user-level and the master distribution of the run. */
struct drawing jitter_densities(const struct jitter_pair *pair);
/* What each source took of the time before and after, with the interval of the ratio. */
struct drawing jitter_shares(const struct jitter_pair *pair);
struct drawing jitter_timeline(const struct jitter_run *run);
