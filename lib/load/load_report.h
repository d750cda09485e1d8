/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a load as the book has it, on the screen and as a document. emp-load shows it at the end of its runs,
 * emp-analyze at any time after. */
#pragma once

#include "lib/load/load_rates.h"
#include "lib/load/page_wait_report.h"
#include "lib/report/notes.h"
#include "lib/report/run_result.h"

#include <jansson.h>

struct load_report {
	struct run_result result; /* under the cutoffs of the profile that it was run with; .discarding.run is the run */
	struct load_row load;
	struct run_program *programs; /* the slaves, by number */
	size_t n_programs;
	struct sample_program *parts; /* what each slave did in each run */
	size_t n_parts;
	struct sample *kept; /* the runs that count */
	size_t n_kept;
	struct load_sample *starts; /* of each run */
	size_t n_starts;
	int64_t release_ns, last_start_ns, driver_ns; /* the greatest of all runs */
	double idle;             /* the idle share of its CPUs' time in those that count; NAN: not known */
	struct load_rates rates; /* of those that count */
	struct page_waits *page_waits;            /* of all */
	struct page_wait_report page_wait_report; /* of those that count */
	struct notes notes;                       /* on the result, as they were stored */
	json_t *context;                          /* document_context.h */
};

/* -EINVAL, with a sentence: the run is no load, or its slaves are not in the book. */
int load_report_read(struct book *book, int64_t run, struct load_report *ret, struct error *err);
void load_report_clear(struct load_report *report);

/* The rates of these of its runs, with the shares of another load if `shares_of` is not NULL; load_rates_clear() frees them. */
int load_report_rates(const struct load_report *report, const struct sample *samples, size_t n_samples,
	const struct load_rates *shares_of, struct load_rates *ret, struct error *err);

/* The share of its CPUs' time in which they were idle; NAN: not known. */
double load_idle_share(const struct load_sample *start, const struct sample *sample);

/* At most 80 columns. page_wait_bin_ns: see page_wait_report_print(). */
int load_report_print(
	FILE *file, const struct load_report *report, int64_t page_wait_bin_ns, struct error *err);
/* An emp-load document; NULL: no memory. */
json_t *load_report_as_json(const struct load_report *report);

/* Text from elsewhere as a terminal or a picture may show it, shortened to so many columns; the caller frees it. NULL: no memory. */
char *load_short_text(const char *text, size_t columns);

/* The unit of time in which a rate (in 10^9 s) is not below one, if there is one. */
struct load_unit {
	const char *name;
	double seconds;
};
const struct load_unit *load_unit_for(double nano);
/* As many decimals as give the sd of a rate two significant digits in that unit; without one, the mean four. */
int load_rate_decimals(const struct load_rate *rate, const struct load_unit *unit);
