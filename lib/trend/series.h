/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runs of one program in the lab book, in the order of time, each by its mean PT; their levels;
 * what changed where a level begins; and the verdict on the last run. trend_show.h shows them. */
#pragma once

#include "lib/book/book.h"
#include "lib/trend/change_points.h"
#include "lib/trend/trend_verdict.h"

enum series_unit {
	SERIES_SECONDS,
	SERIES_INC, /* units of INC: of runs that alternated with it */
};

struct series_run {
	struct run run;
	size_t n_samples; /* kept */
	double log;       /* of the mean PT, in the unit of the series */
	double error;     /* of that, as far as its own samples show it */
	double hidden; /* the bias that the steps of its clock may give it: lib/stats/rounding.h */
	/* The step of the clock, as its own samples show it, as a share of the mean; in units of
	 * INC, of the means of both programs. */
	double step;
};

struct series {
	char *name; /* that the user gave the command, else the command line */
	enum series_unit unit;
	struct series_run *items;
	size_t n;
	/* How many runs are left out: those without that unit, in units of another INC, of
	 * another machine than the last run's, of too few samples, with a mean PT of 0, and at the
	 * same time as the run before. */
	size_t n_other_unit, n_other_inc, n_other_machine, n_few, n_without_pt, n_at_once;
};

enum { SERIES_LEAST_SAMPLES = 3 };

/* What is different from a level on. */
struct trend_cause {
	char *text; /* "kernel.release was '6.1', is '6.12'; …"; NULL: nothing that is recorded */
	int later;  /* so many runs after the first one of the level; below 0: before it */
};

struct trend_view {
	struct series series;
	struct levels levels;       /* of the logarithms */
	struct trend_cause *causes; /* of each level but the first, which has none */
	size_t reference;           /* index of the run that the last one is compared with */
	struct comparison_rules rules;
	struct trend_judgement judgement;
};

/* The run that the last one is compared with: one of the series, or its first one since a moment;
 * {}: its first one. */
struct trend_reference {
	int64_t run, since_ns; /* 0: not given */
};

/* `name` is that of a command (--command-name), else a command line, else the name of a program's
 * file. Runs that were given a name belong together if it is the same, others if their command
 * lines are. -ENOENT: no runs, or those of several programs, are meant; the sentence lists some.
 * `seconds`: PT in seconds, also of those that alternated with INC. `ret` is {}; it is cleared also
 * after a failure. */
int trend_load(struct book *book, const char *name, bool seconds, struct trend_view *ret,
	struct error *err);
/* Judges the last run against the reference. -ENOENT: there is no such run. -EINVAL: it is the last
 * one itself. */
int trend_refer(struct trend_view *view, const struct trend_reference *since,
	const struct comparison_rules *rules, struct error *err);
void trend_clear(struct trend_view *view);
