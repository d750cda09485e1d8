/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page waits in the report of a load: whether the runs that waited for more pages, or for
 * longer ones, were slower; and how page waits are shown. */
#pragma once

#include "lib/load/load_report.h"

/* Sets .wait_number and .wait_length. */
void page_wait_correlate(struct load_report *report);
/* Below the other lines of the report. width_ns: that of the rows; 0: chosen by the waits. */
void page_wait_report_print(FILE *file, const struct load_report *report, int64_t width_ns);
/* The histograms as they were recorded, and their totals in each run. */
json_t *page_wait_report_as_json(const struct load_report *report);
