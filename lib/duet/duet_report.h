/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A duet as the book has it, and its figures on the screen and in JSON. */
#pragma once

#include "lib/duet/duet_cost.h"
#include "lib/protocol/comparison.h"
#include "lib/record/run.h"
#include "lib/report/run_result.h"

#include <jansson.h>
#include <stdbool.h>

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

/* Program b against program a: by their duet, or, if that is in doubt, by their runs alone. Likewise. */
int duet_report_compare(const struct duet_report *report, size_t a, size_t b, struct comparison *ret,
	enum duet_doubt *ret_doubt, struct error *err);

/* "The programs bias their duet (BIAS)" */
extern const char *const duet_doubt_sentences[N_DUET_DOUBTS];

/* names: of the programs, n. comparisons: of each with the first, .a.n 0 where there is none; may be NULL. */
int duet_report_print(FILE *file, const struct duet_report *report, const char *const *names,
	const struct comparison *comparisons, struct error *err);
json_t *duet_report_as_json(const struct duet_report *report, const char *const *names);

/* Whether a duet would show smaller differences between programs than the samples in turn that were taken. */

/* A program whose samples were taken in turn with others'. */
struct duet_candidate {
	const struct sample *samples;
	const bool *out; /* by index into the samples: discarded */
	size_t n;
};

struct duet_advice {
	bool better;
	double narrower; /* factor by which the interval of the ratio is narrower, at least; INFINITY: to nothing; NAN: not known */
	double p; /* that the machine's speed does not change from sample to sample; NAN: not known */
};

/* A duet is better if that is beyond doubt, matters, and the programs are fit for a duet: each runs for several slices, computes
 * on one CPU, and they take about as long. */
struct duet_advice duet_advise(const struct duet_candidate *programs, size_t n, int64_t slice_ns);

/* The PT of a run in units of INC, from the duet that both were in: how much INC would have done in that time. They alternated on one CPU
 * (lib/host/process/duet.h), so that whatever changed the speed of the machine cancels, and the figure can be compared with that of
 * another hour. */

/* A unit is the PT in which INC makes this many increments: a fixed number, and not a second by the constant of the machine, which is
 * measured again in each environment. */
enum { INC_UNIT = 1000000 };

struct inc_units {
	double mean;        /* geometric, of the samples kept */
	double low, high;   /* its 95 % interval; NAN: fewer than two samples */
	double sd;          /* of a sample, as a share; NAN likewise */
	size_t n;           /* samples */
	int64_t run;        /* of INC */
	int64_t increments; /* that it made each time it ran */
};

/* Samples discarded by `rules`. 1: done; 0: the run did not alternate with INC, or no sample is kept. */
int inc_units_load(struct book *book, int64_t run, const struct discard_rules *rules, struct inc_units *ret,
	struct error *err);

/* "471.2 ± 1.3   CV 0.28 %   95 % CI 470.3 … 472.1". Returns `buffer`. */
enum { INC_UNITS_TEXT_SIZE = 128 };
char *inc_units_text(char buffer[INC_UNITS_TEXT_SIZE], const struct inc_units *units);

/* NULL: no memory. */
json_t *inc_units_as_json(const struct inc_units *units);
