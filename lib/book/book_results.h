/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the rules of a run made of its samples, stored for readers that have no rules: the tables
 * behind the views `results` and `discards`. The tools themselves judge a run anew each time, and
 * never read these. */
#pragma once

#include "lib/base/base.h"

struct book;

enum stored_clock { STORED_NO_CLOCK, STORED_PT, STORED_ET, N_STORED_CLOCKS };

/* One clock of a run. Real numbers that are not known are NAN. */
struct stored_result {
	int clock;
	int64_t samples, kept;
	bool adjusted;
	int64_t min_ns, max_ns; /* -1: not known */
	double mean_ns, median_ns, sd_ns, low_ns, high_ns, lag1, effective_n;
	int64_t clean_samples;
	double clean_mean_ns, clean_sd_ns;
};

/* In the order of a sample's reasons. */
enum stored_rule {
	STORED_BY_CUTOFF,
	STORED_BY_UNPROFILED,
	STORED_BY_INCOMPLETE,
	STORED_BY_NEIGHBOUR,
	STORED_BY_DUET,
	STORED_BY_TWO_SD,
	N_STORED_RULES
};

/* Why a sample was discarded. */
struct stored_discard {
	uint32_t sample;
	int rule, clock;         /* clock: of STORED_BY_TWO_SD only */
	char *daemon, *unit;     /* not owned */
	int64_t pt_ns, limit_ns; /* -1: none */
};

/* Replaces those of the run. */
int book_put_results(struct book *book, int64_t run, const struct stored_result results[2],
	const struct stored_discard *discards, size_t n, struct error *err);

/* 1: the book has results of the run; 0: it has none, or the rules give other ones since. */
int book_has_results(struct book *book, int64_t run, struct error *err);

/* For the book's own changes: the rules now give other results for the run; for the other runs of
 * its duet; for runs of which the book has only the profile's name. Without a row in `result`, the
 * views show nothing of a run. */
int results_forget(struct book *book, int64_t run, struct error *err);
int results_forget_duet(struct book *book, int64_t run, struct error *err);
int results_forget_profile(struct book *book, const char *profile, struct error *err);
