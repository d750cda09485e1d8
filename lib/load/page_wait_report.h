/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page waits of a load, on the screen and in its document. */
#pragma once

#include "lib/base/json.h"
#include "lib/base/tool.h"
#include "lib/load/page_wait_correlation.h"
#include "lib/load/page_wait_total.h"

#include <stdio.h>

struct page_wait_report {
	struct page_wait_total total[N_PAGE_WAIT_KINDS]; /* .n 0: it was not measured */
	struct page_wait_correlation correlation;
	struct page_wait_runs runs;
};

/* What `runs` points to must outlive the report. -ENOMEM. */
int page_wait_report_of(struct page_wait_report *ret, const struct page_wait_runs *runs, struct error *err);
void page_wait_report_clear(struct page_wait_report *report);

/* For an option: the width of a bin, all of whose multiples on the screen must be edges of bins that are recorded. */
option_parser page_wait_width_parse;

/* width_ns: of a bin; 0: chosen by the waits. missing: why they were not measured; NULL: not known, and nothing is printed. */
void page_wait_report_print(
	FILE *file, const struct page_wait_report *report, int64_t width_ns, const char *missing);

/* The histograms as they were recorded, and their totals in each run. */
json_t *page_wait_report_as_json(const struct page_wait_report *report, const char *missing);
