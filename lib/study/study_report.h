/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a study shows, as tables: on the screen, as an emp-study document, CSV, Markdown and LaTeX.
 * Pictures are in study_picture.h. */
#pragma once

#include "lib/base/table.h"
#include "lib/study/study_data.h"

struct study_table {
	const char *name; /* the member of the document, and what --table names */
	char *title; /* "": it is for programs only */
	struct table *table;
};

struct study_report {
	const struct study_data *data;
	enum study_rule rule; /* of the tables that do not compare rules */
	struct study_table *tables;
	size_t n_tables;
	char **remarks; /* sentences for people */
	size_t n_remarks;
};

/* The rule by which a study is shown unless another one is asked for. */
enum study_rule study_rule_for(enum study_kind kind);

/* The data must outlive the report. */
int study_report_make(struct book *book, const struct study_data *data, enum study_rule rule,
	struct study_report *ret, struct error *err);
void study_report_clear(struct study_report *report);

/* NULL: it has no such table, and err says which ones there are; name NULL: the first. */
const struct study_table *study_report_table(
	const struct study_report *report, const char *name, struct error *err);

void study_report_print(const struct study_report *report, FILE *file);
json_t *study_report_as_json(const struct study_report *report);
/* Markdown or LaTeX, all tables with their titles; only NULL: all. */
void study_report_write(const struct study_report *report, const struct study_table *only,
	enum table_format format, FILE *file);
