/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison of emp-analyze compare: both sides, what is known of them, and what follows.
 * compare.c asks for one, compare_suite.c for one of each pair of results in two documents. */
#pragma once

#include "analyze/compare_input.h"
#include "lib/duet/duet_report.h"
#include "lib/report/comparison_picture.h"
#include "lib/report/notes.h"

/* What the options ask for. */
struct compare_asked {
	double between_percent; /* below 0: not given */
	struct comparison_rules rules;
	unsigned clocks;     /* as for comparison_clocks */
	const char *picture; /* NULL: none */
	bool keep_script;
};

extern struct compare_asked compare_asked;

/* Both sides, and what is known of them. */
struct compare_query {
	struct book *book;             /* NULL: both are from files */
	struct compare_input sides[2]; /* A and B */
	unsigned clocks;               /* that are compared, as bits; the results by clock: */
	enum comparison_clock main;    /* the clock that is compared, or the first of both */
	struct comparison comparisons[N_COMPARISON_CLOCKS];
	char mdd[MDD_TEXT_SIZE];
	char *changes; /* of the environment, from A's to B's; NULL: none, or not known */
};

void compare_query_clear(struct compare_query *query);

/* Makes the comparisons of the clocks that are asked for, by the duet of both, if they are of
 * one. */
int compare_query_clocks(struct compare_query *query, struct error *err);

/* The comparisons of two runs of the book by the duet of both, if they are of one; else they
 * stay. */
int compare_query_duet(struct compare_query *query, struct book *book, struct error *err);

/* Adjusts the comparisons of all pairs for their number, and sets the rules of their verdicts. */
void compare_queries_finish(struct compare_query *pairs, size_t n_pairs);

/* How the environment changed from A to B. Of a document no more than the digest is known. */
int compare_query_changes(struct compare_query *query, struct error *err);

/* Of the clocks that are compared, the one whose verdict weighs most. */
const struct comparison *compare_query_worst(const struct compare_query *query);

/* A side for a picture, with the comparisons of `compared` unless that is NULL. */
struct pictured_program compare_query_pictured(
	const struct compare_input *input, const struct compare_query *compared);

/* Nothing without -o. */
int compare_query_draw(const struct compare_query *query, struct error *err);

void compare_print_design(const struct comparison *comparison);

void compare_query_print(const struct compare_query *query);

/* The members of the document of this comparison. */
json_t *compare_query_as_json(const struct compare_query *query);
