/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze load: shared by its files. */
#pragma once

#include "lib/base/table.h"
#include "lib/report/plot.h"
#include "lib/load/load_comparison.h"

/* One load, or two that are compared. */
struct load_reports {
	const struct load_report *items[2]; /* the reference first */
	size_t n;
	const struct load_comparison *comparison; /* NULL: one */
	uint32_t sample;                          /* the run of the load whose timeline is drawn */
};

/* A row for each run and slave. */
void load_write_csv(FILE *file, const struct load_reports *reports);
/* The rates as a table, to paste into a report. */
void load_write_markdown(FILE *file, const struct load_reports *reports);

/* Pictures. The rate of work of each run, in all and by script. */
struct drawing load_figure_rates(const struct load_reports *reports);
/* When each slave worked in one run. */
struct drawing load_figure_timeline(const struct load_reports *reports);
/* The histogram of page waits, if there are any. */
struct drawing load_figure_page_waits(const struct load_reports *reports);
bool load_has_page_waits(const struct load_report *report);
