/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that make the tables of a study share. */
#pragma once

#include "lib/stats/complexity.h"
#include "lib/study/study_report.h"

#include <math.h>

/* Adds a table; columns as for table_new. */
struct table *study_add_table(struct study_report *report, const char *name,
	const struct column *columns, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void study_add_remark(struct study_report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The bounds of an interval, for programs; and the same with a column for people before it. */
#define BOUND_COLUMNS(of, unit)                      \
	{NULL, COLUMN_NUMBER, of "_low" unit},       \
	{                                            \
		NULL, COLUMN_NUMBER, of "_high" unit \
	}
#define INTERVAL_COLUMNS(of, unit) {"95 % CI", COLUMN_NUMBER}, BOUND_COLUMNS(of, unit)

/* What blocks of times show; study_add_summary() adds the cells. */
#define SUMMARY_COLUMNS                                                        \
	{"MEAN", COLUMN_NUMBER, "mean_ns"}, BOUND_COLUMNS("mean", "_ns"),      \
		{"SD", COLUMN_NUMBER, "sd_ns"}, INTERVAL_COLUMNS("sd", "_ns"), \
		{"CV", COLUMN_NUMBER, "cv"}, BOUND_COLUMNS("cv", ""),          \
		{NULL, COLUMN_NUMBER, "min_ns"},                               \
	{                                                                      \
		NULL, COLUMN_NUMBER, "max_ns"                                  \
	}
void study_add_summary(struct table *table, const struct block_summary *b);

/* A time with its error; a share. NAN: not known. */
struct cell study_time_cell(double ns, double step_ns);
struct cell study_share_cell(double share);
/* The cells of BOUND_COLUMNS, and of INTERVAL_COLUMNS. */
void study_add_bounds(struct table *table, struct block_interval interval);
void study_add_interval(struct table *table, struct block_interval interval, const char *text);
void study_add_time_interval(struct table *table, struct block_interval interval, double step_ns);
void study_add_share_interval(struct table *table, struct block_interval interval);

/* "INC0.1", and the settings: "as it was", "daemons", "+ ntp". */
const char *study_combination_name(const struct study_data *data, size_t combination);

/* The times of a cell under the report's rule. */
static inline const struct time_blocks *study_times(const struct study_report *report,
	size_t combination, size_t subject, enum study_clock clock)
{
	return &study_cell_of(report->data, combination, subject)->times[report->rule][clock];
}

struct sample_sizes;
/* What the first samples of a program show; ret->n 0: it has none. */
int study_sizes(const struct study_report *report, size_t subject, enum study_clock clock,
	struct sample_sizes *ret, struct error *err);

/* The clocks of a study of clocks, EMP's own included; some may have no times. What is returned
 * belongs to the data. */
size_t study_n_clocks(const struct study_data *data);
struct study_clock_times study_clock(const struct study_report *report, size_t i);

/* How PT grows with the size of a program, whose first subject is *at; then *at is behind its last
 * one. *ret_n: how many sizes have times; 0: *ret is not written. */
int study_fit(const struct study_report *report, size_t *at, struct complexity *ret, size_t *ret_n,
	struct error *err);

/* Each adds its tables. */
void study_add_times(struct study_report *report);
void study_add_rules(struct study_report *report);
void study_add_papers(struct study_report *report);
void study_add_steps(struct study_report *report);
int study_add_sizes(struct study_report *report, struct error *err);
void study_add_limits(struct study_report *report);
void study_add_clocks(struct study_report *report);
int study_add_fits(struct study_report *report, struct error *err);
void study_add_suite(struct study_report *report);
