/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze: what its verbs share. */
#pragma once

#include "lib/base/table.h"
#include "lib/base/tool.h"
#include "lib/protocol/make.h"
#include "lib/record/book.h"

struct analyze_options {
	const char *db;
	bool json;
};

extern struct analyze_options analyze_options;
extern const struct option_row cutoffs_options[], discard_options[], scatter_options[];

/* The book that --db names. */
int analyze_open_book(enum book_mode mode, struct book **ret, struct error *err);

option_parser option_run; /* into int64_t: the id of a run */

/* An operand or option that names a run; `what` is how the sentence calls it. */
int analyze_parse_run(const char *text, const char *what, int64_t *ret, struct error *err);

/* A cell with a time; "-" for none (below 0). */
void cell_time(struct table *table, int64_t ns);

/* One line a discarded sample and cause, for people: what the daemon took and its cutoff. */
void print_over(const struct over_cutoff *over);

/* The zooms, the central cluster and the verdict, for people. */
void print_reading(const struct reading *reading);

int verb_list(int argc, char **argv, struct error *err);
int verb_show(int argc, char **argv, struct error *err);
int verb_import(int argc, char **argv, struct error *err);
int verb_export(int argc, char **argv, struct error *err);
int verb_cutoffs(int argc, char **argv, struct error *err);
int verb_discard(int argc, char **argv, struct error *err);
int verb_scatter(int argc, char **argv, struct error *err);
