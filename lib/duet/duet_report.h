/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A duet as the book has it, and its figures on the screen and in JSON. */
#pragma once

#include "lib/duet/book_duet.h"
#include "lib/duet/duet_cost.h"
#include "lib/protocol/comparison.h"
#include "lib/report/run_result.h"

#include <jansson.h>

struct duet_report {
	int cpu;                           /* -1: several */
	struct duet_row *rows;             /* n: its runs, in their order */
	struct duet_program *programs;     /* likewise */
	struct duet_cost *costs;           /* likewise */
	const struct run_result **results; /* likewise; the programs' samples are theirs */
	struct run_result *loaded;         /* likewise, where it has read them itself; else empty */
	size_t n;
};

/* Loads the duet that the run belongs to. 1: done; 0: the run is of no duet. results: those of all
 * its runs in their order, then NULL, which must outlive it; NULL: it reads them, and discards
 * their samples by `rules`. */
int duet_report_load(struct book *book, int64_t run, const struct discard_rules *rules,
	const struct run_result *const *results, struct duet_report *ret, struct error *err);
void duet_report_clear(struct duet_report *report);

/* Which clocks are compared: PT; on several CPUs ET, too, unless `asked` (as for
 * comparison_clocks) says otherwise. */
unsigned duet_report_clocks(const struct duet_report *report, unsigned asked);

/* Program b against program a, by the samples kept, as if sharing the CPU cost nothing. 1: done; 0:
 * one of them has none. */
int duet_report_compare_pairs(const struct duet_report *report, size_t a, size_t b,
	enum comparison_clock clock, struct comparison *ret, struct error *err);

/* The same, with what sharing costs, and checked by their runs alone, if there are three of each or
 * more. Where these disagree beyond doubt and beyond what sharing the CPU explains, the programs do
 * not do the same beside each other as alone, and the interval has both ratios in it. Where it is
 * not known what sharing costs, the runs alone are compared. */
int duet_report_compare(const struct duet_report *report, size_t a, size_t b,
	enum comparison_clock clock, struct comparison *ret, struct error *err);
/* For the latter, of_runs_alone. */
#define DUET_COMPARED_ALONE                                                                      \
	"What sharing the CPU cost in the duet is not known, so the runs of the programs alone " \
	"are compared."

/* names: of the programs, n. comparisons: of each with the first, .a.n 0 where there is none; may
 * be NULL. */
void duet_report_print(FILE *file, const struct duet_report *report, const char *const *names,
	const struct comparison *comparisons);
json_t *duet_report_as_json(const struct duet_report *report, const char *const *names);
