/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results: for people on standard output, and as documents. */
#pragma once

#include "measure/session.h"

#include "lib/report/comparison_report.h"

#include <jansson.h>

/* Every result, then how they compare. STATUS_NOT_FIT with a sentence where --fail-if-slower is exceeded. */
int show_session(const struct session *session, struct error *err);

/* Whether both have samples that both checks leave. */
bool comparable(const struct result *a, const struct result *b);

/* PTs of what both checks leave, b beside a. */
int compare_results(
	const struct result *a, const struct result *b, struct comparison *ret, struct error *err);

/* hyperfine's results[] (seconds; wall time of all samples in mean and times, so that its users' scripts
 * work), in each an "emp" object with what hyperfine does not know. Runs without samples are left out. */
int export_json(const struct session *session, json_t **ret, struct error *err);

/* Whether the files of --export-json and its kin can be written at all. */
int export_try(const struct measure_options *options, struct error *err);

/* Writes what --export-json, --export-csv and --export-markdown ask for: each file whole or not at all, as
 * often as there is more; standard output, pipes and devices once, at the end. */
int export_files(const struct session *session, struct error *err);
int export_streams(const struct session *session, struct error *err);
