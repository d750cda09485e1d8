/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results in files and on standard output, as documents: JSON, CSV and tables, all in
 * hyperfine's form, with EMP's figures added. Runs without samples are omitted. Here is which
 * documents are written where and when; export_json.c, export_table.c and export_picture.c make
 * them. */
#pragma once

#include "measure/session.h"

/* Whether the files of --export-json and the other exports can be written, and each has one of its
 * own. */
int export_try(const struct measure_options *options, struct error *err);

/* Whether a document goes to standard output; then nothing else may. */
bool export_takes_stdout(const struct measure_options *options);

/* Writes the exports: files as a whole, each time there are new results; streams, that is, standard
 * output (also for --json), pipes and devices, once, at the end. The first failure is reported; the
 * rest are still written. */
int export_results(const struct session *session, bool streams, struct error *err);

/* One document. */
int export_write(const struct session *session, enum export format, FILE *file, struct error *err);
