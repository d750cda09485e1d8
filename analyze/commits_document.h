/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A document of emp-compare-commits: two commits, and the measurement of each command line. */
#pragma once

#include "analyze/compare_query.h"

/* What a command line comes to, in the order of weight. */
enum line_outcome {
	LINE_GONE,
	LINE_NEW,
	LINE_SAME_PROGRAM,
	LINE_EQUAL,
	LINE_FASTER,
	LINE_NO_TIME, /* --max-time was over */
	LINE_CANNOT_TELL,
	LINE_UNMEASURABLE,
	LINE_SLOWER,
	LINE_NOT_MEASURED,
	LINE_DIFFERENT_WORK,
	N_LINE_OUTCOMES
};

struct commit_line {
	json_t *result; /* the document's, to which the verdict is added */
	const char *command_line;
	const char *benchmark;     /* "both", "new", "gone", "broken" or "no time" */
	const char *why;           /* NULL: nothing is known */
	char *not_compared;        /* why there is no comparison of a benchmark that both have */
	const json_t *measurement; /* NULL: none */
	struct compare_query query;
	bool is_compared, again;
	int64_t status; /* that emp-measure ended with; commits_judge: of the verdict */
	enum line_outcome outcome;
};

struct commits {
	json_t *document;
	const char *base, *base_subject, *change, *change_subject;
	const char *build, *max_time; /* NULL: not known */
	const char *host, *processor, *kernel;
	const json_t *options, *notes; /* texts */
	int64_t cpus, runs;            /* 0: not known */
	double allowed_percent;
	struct commit_line *lines; /* in the order of the document */
	size_t n;
	const struct commit_line **by_weight; /* n: what matters most first */
};

/* Reads the document and judges all command lines at once. */
int commits_load(struct commits *ret, const char *path, bool strict, struct error *err);
void commits_clear(struct commits *commits);

/* Of a line that is compared, the clock whose verdict weighs most. */
const struct comparison *commit_line_comparison(const struct commit_line *line);

/* The verdict that weighs most; COMPARISON_NONE: nothing is compared. */
enum comparison_verdict commits_verdict(const struct commits *commits);

/* 1 before 2, 2 before 3, and 3 before 4. 1 also if there was no time for any line. */
enum status commits_status(const struct commits *commits);

/* Adds the verdicts and the sentence, and prints the document. */
int commits_print_json(struct commits *commits, const char *sentence, struct error *err);
