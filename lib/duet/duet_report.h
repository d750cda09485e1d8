/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A duet as the book has it, and its figures on the screen and in JSON. */
#pragma once

#include "lib/protocol/comparison.h"
#include "lib/duet/duet_cost.h"
#include "lib/report/run_result.h"

#include <jansson.h>

struct duet_report {
	struct duet_row row;
	int cpu;
	int64_t *runs;
	struct duet_program *programs; /* n, in the order of the runs */
	struct duet_cost *costs;       /* likewise */
	const struct run_result **results; /* likewise; the programs' samples are theirs */
	struct run_result *loaded;         /* likewise, if it has read them itself; else NULL */
	size_t n;
};

/* Of the duet that the run is one of; its samples discarded by `rules`. 1: done; 0: the run is of no duet. */
int duet_report_load(struct book *book, int64_t run, const struct discard_rules *rules,
	struct duet_report *ret, struct error *err);
/* The same from the results of all its runs, in their order, which must outlive it. */
int duet_report_make(struct book *book, const struct run_result *const *results, size_t n,
	struct duet_report *ret, struct error *err);
void duet_report_clear(struct duet_report *report);

/* Program b against program a, by their duet. 1: done; 0: there is nothing to compare. */
int duet_report_compare_together(const struct duet_report *report, size_t a, size_t b, struct comparison *ret,
	struct error *err);

/* Program b against program a: by their duet, or, if that is in doubt, by their runs alone. Likewise. */
int duet_report_compare(const struct duet_report *report, size_t a, size_t b, struct comparison *ret,
	enum duet_doubt *ret_doubt, struct error *err);

/* "The programs bias their duet (BIAS)" */
extern const char *const duet_doubt_sentences[N_DUET_DOUBTS];

/* names: of the programs, n. comparisons: of each with the first, .a.n 0 where there is none; may be NULL. */
int duet_report_print(FILE *file, const struct duet_report *report, const char *const *names,
	const struct comparison *comparisons, struct error *err);
json_t *duet_report_as_json(const struct duet_report *report, const char *const *names);
