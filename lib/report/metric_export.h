/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures in the forms of services that keep them and draw their history. */
#pragma once

#include "lib/base/tool.h"

enum metric_format {
	METRIC_BENCHER,
	METRIC_GITHUB_ACTION_BENCHMARK,
	METRIC_OTAVA_CSV,
	N_METRIC_FORMATS
};

/* One figure of a benchmark, of which less is better. */
struct metric {
	const char *benchmark;   /* the command */
	const char *measure;     /* "cpu-time" */
	const char *unit;        /* "ns" */
	double value, low, high; /* NAN: there is no interval */
	size_t n_samples;
};

struct metrics {
	struct metric *items;
	size_t n;
	int64_t started_ns; /* since 1970; 0: not known */
	const char *commit; /* NULL: not known */
};

/* What --export FORMAT=FILE asks for: "bencher=FILE" and so on; "-" is standard output. */
struct metric_file {
	enum metric_format format;
	const char *path;
};

/* Of each value of the option. */
int metric_file_parse(const char *value, struct metric_file *ret, struct error *err);

/* Whether all can be written, and whether one is standard output. */
int metric_files_check(const struct option_list *exports, bool *ret_stdout, struct error *err);

/* One document: the Bencher Metric Format; the array that github-action-benchmark calls
 * customSmallerIsBetter; or a heading and a row of CSV for Apache Otava, with a column for each
 * figure. */
int metric_export_write(
	const struct metrics *metrics, enum metric_format format, FILE *file, struct error *err);

/* All of them. */
int metric_files_write(
	const struct metrics *metrics, const struct option_list *exports, struct error *err);

/* The row of --export, into a struct option_list. */
#define EXPORT_METRICS_OPTION(exports)                                                  \
	{                                                                               \
		0, "export", "FORMAT=FILE",                                             \
			"write times as bencher, github-action-benchmark or otava-csv", \
			option_append, &(exports)                                       \
	}
