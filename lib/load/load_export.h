/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A load, or two that are compared, as tables for files. */
#pragma once

#include "lib/load/load_comparison.h"

/* A row for each run and worker. */
void load_write_csv(FILE *file, const struct load_reports *reports);
/* The rates as a table, to paste into a report. */
void load_write_markdown(FILE *file, const struct load_reports *reports);
