/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results as documents: JSON, CSV and tables, all in hyperfine's form, with EMP's figures added. Runs
 * without samples are omitted. */
#pragma once

#include "measure/session.h"

/* Whether the files of --export-json and the other exports can be written. */
int export_try(const struct measure_options *options, struct error *err);

/* Whether a document goes to standard output; then nothing else may. */
bool export_takes_stdout(const struct measure_options *options);

/* Writes the exports: files as a whole, each time there are new results; standard output (also for --json), pipes
 * and devices once, at the end. */
int export_files(const struct session *session, struct error *err);
int export_streams(const struct session *session, struct error *err);

/* One document. */
int export_write(const struct session *session, enum export format, FILE *file, struct error *err);
