/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A duet as the book has it, and its figures on the screen and in JSON. */
#pragma once

#include "lib/duet/book_duet.h"
#include "lib/record/run.h"
#include "lib/stats/compare.h"
#include "lib/protocol/comparison.h"
#include "lib/report/run_result.h"

#include <jansson.h>

/* What a duet costs: programs that share a CPU share its caches, so that each takes longer than
 * alone; and how far their ratio may be biased by that. */

/* One program of a duet, as the book has it; of one in turn, only its samples. */
struct duet_program {
	const struct sample *samples;
	const bool *out; /* by index into the samples: discarded */
	size_t n_samples;
	struct duet_sample *together; /* of each sample */
	size_t n_together;
	struct duet_alone *alone;
	size_t n_alone;
	int64_t switches; /* away from the CPU, in all samples; -1: not known */
};

/* A logarithm and half its 95 % interval; NAN: not known. */
struct duet_estimate {
	double log, half;
};

struct duet_cost {
	double alone_ns, together_ns; /* mean PT; NAN: not known */
	/* log (PT in the duet / PT alone), each run alone against its neighbours */
	struct duet_estimate price;
	/* share of its ET without another program, 0 to 1; NAN: it has no samples */
	double last;
	double slice_ns; /* mean time between two switches; NAN: not known */
};

struct duet_cost duet_cost_of(const struct duet_program *program);

/* Of the ratio b / a: by how much its logarithm in the duet is above that alone. */
struct duet_estimate duet_bias(const struct duet_cost *a, const struct duet_cost *b);

/* Why two programs are not to be compared by their duet. */
enum duet_doubt {
	DUET_SOUND,
	DUET_BIASED, /* the interval of the bias leaves out 0 */
	/* the interval of the duet's ratio leaves out 1, and the runs alone leave a chance of more
	 * than one in three that the ratio alone lies on the other side */
	DUET_CONTRADICTED,
	DUET_TOO_SHORT, /* one of them runs for less than four slices */
	N_DUET_DOUBTS
};
extern const char *const duet_doubt_names[N_DUET_DOUBTS];

/* ratio: of b / a in the duet. */
enum duet_doubt duet_doubt_of(const struct duet_cost *a, const struct duet_cost *b,
	int64_t slice_ns, const struct log_ratio *ratio);

/* For a program whose PT is that long: 10 ms, or 3 ms below 100 ms. */
int64_t duet_slice_for(int64_t pt_ns);

/* A longer slice if a price is above 1 % beyond doubt: 3, 10, 30 or 100 ms, of which the shortest
 * program has four, and which makes the price 5 % or less; 0: none. The price of a switch is
 * refilling the caches, so that it falls with the number of switches. */
int64_t duet_suggest_slice(int64_t slice_ns, const struct duet_cost *costs, size_t n);

struct duet_report {
	int cpu;
	struct duet_row *rows;             /* n: its runs, in their order */
	struct duet_program *programs;     /* likewise */
	struct duet_cost *costs;           /* likewise */
	const struct run_result **results; /* likewise; the programs' samples are theirs */
	struct run_result *loaded;         /* likewise, where it has read them itself; else empty */
	size_t n;
};

/* Of the duet that the run is one of. 1: done; 0: the run is of no duet. results: those of all its
 * runs in their order, then NULL, which must outlive it; NULL: it reads them, and discards their
 * samples by `rules`. */
int duet_report_load(struct book *book, int64_t run, const struct discard_rules *rules,
	const struct run_result *const *results, struct duet_report *ret, struct error *err);
void duet_report_clear(struct duet_report *report);

/* Program b against program a: by their duet, or, if that is in doubt, by their runs alone.
 * Likewise. */
int duet_report_compare(const struct duet_report *report, size_t a, size_t b,
	struct comparison *ret, enum duet_doubt *ret_doubt, struct error *err);

/* "The programs bias their duet (BIAS)" */
extern const char *const duet_doubt_sentences[N_DUET_DOUBTS];

/* names: of the programs, n. comparisons: of each with the first, .a.n 0 where there is none; may
 * be NULL. */
void duet_report_print(FILE *file, const struct duet_report *report, const char *const *names,
	const struct comparison *comparisons);
json_t *duet_report_as_json(const struct duet_report *report, const char *const *names);

/* Whether a duet would show smaller differences between programs than the samples in turn that were
 * taken. */

struct duet_advice {
	bool better;
	/* factor by which the interval of the ratio is narrower, at least; INFINITY: to nothing;
	 * NAN: not known */
	double narrower;
	/* that the machine's speed does not change from sample to sample; NAN: not known */
	double p;
};

/* Of programs whose samples were taken in turn. A duet is better if that is beyond doubt, matters,
 * and the programs are fit for a duet: each runs for several slices, computes on one CPU, and they
 * take about as long. */
struct duet_advice duet_advise(const struct duet_program *programs, size_t n, int64_t slice_ns);

/* The PT of a run in units of INC, from the duet that both were in: how much INC would have done in
 * that time. They alternated on one CPU (lib/host/process/duet.h), so that whatever changed the
 * speed of the machine cancels, and the figure can be compared with that of another hour. */

/* A unit is the PT in which INC makes this many increments: a fixed number, and not a second by the
 * constant of the machine, which is measured again in each environment. */
enum { INC_UNIT = 1000000 };

struct inc_units {
	double mean;        /* geometric, of the samples kept */
	double low, high;   /* its 95 % interval; NAN: fewer than two samples */
	double sd;          /* of a sample, as a share; NAN likewise */
	size_t n;           /* samples */
	double hidden;      /* of the mean by the clock's steps, as a share */
	double step;        /* of the clock, as a share of both programs' means */
	int64_t run;        /* of INC */
	int64_t increments; /* that it made each time it ran */
};

/* How long INC should take beside a program of that PT: nearly as long, so that it covers the
 * program, in parts of half a second or less; but long enough that its start does not count. A
 * shorter program runs several times, and INC a little longer than all of them. */
int64_t inc_length_beside(int64_t pt_ns);

/* Samples discarded by `rules`. 1: done; 0: the run did not alternate with INC, or no sample is
 * kept. */
int inc_units_load(struct book *book, int64_t run, const struct discard_rules *rules,
	struct inc_units *ret, struct error *err);

/* "471.2 ± 1.3   CV 0.28 %   95 % CI 470.3 … 472.1". Returns `buffer`. */
enum { INC_UNITS_TEXT_SIZE = 128 };
char *inc_units_text(char buffer[INC_UNITS_TEXT_SIZE], const struct inc_units *units);

json_t *inc_units_as_json(const struct inc_units *units);
