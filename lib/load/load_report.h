/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a load as the book has it, on the screen and as a document: its rates of work, and
 * what its workers waited for. emp-load shows it at the end of its runs, emp-analyze at any time
 * after. */
#pragma once

#include "lib/load/load_rates.h"
#include "lib/load/page_wait_total.h"
#include "lib/load/pearson.h"
#include "lib/report/notes.h"
#include "lib/report/run_result.h"

#include <jansson.h>

struct load_report {
	/* under the cutoffs of the profile that it was run with; .discarding.run is the run */
	struct run_result result;
	struct load_row load;
	struct load_work work; /* in all runs */
	struct sample *kept;   /* the runs that count */
	size_t n_kept;
	struct load_sample *starts; /* of each run */
	size_t n_starts;
	int64_t release_ns, last_start_ns, driver_ns; /* the greatest of all runs */
	/* the idle share of its CPUs' time in those that count; NAN: not known */
	double idle;

	struct load_rates rates;      /* of those that count */
	struct page_waits page_waits; /* of all */
	/* of those that count; .n 0: it was not measured */
	struct page_wait_total page_wait_totals[N_PAGE_WAIT_KINDS];
	/* of the time of a repetition with the waits of workers in it; .n 0: not known */
	struct pearson wait_number;
	/* with their mean length, without the time in which they waited for a CPU */
	struct pearson wait_length;

	struct notes notes; /* on the result, as they were stored */
	json_t *context;    /* of its document */
	char *machine;      /* the digest of its fingerprint; NULL: not known */
};

/* -EINVAL, with a sentence: the run is no load, or its workers are not in the book. */
int load_report_read(struct book *book, int64_t run, struct load_report *ret, struct error *err);
void load_report_clear(struct load_report *report);

/* "run 13 (office.ini)"; the caller frees it. */
char *load_report_name(const struct load_report *report);

/* At most 80 columns. page_wait_bin_ns: the width of the rows; 0: chosen by the waits. */
void load_report_print(FILE *file, const struct load_report *report, int64_t page_wait_bin_ns);
/* An emp-load document. */
json_t *load_report_as_json(const struct load_report *report);

/* NULL, which leaves "name?" out of a JSON_OBJECT, if it is below 0: not known. */
json_t *load_known_json(int64_t value);

/* A line of it: a label, and a text, which is wrapped beside it. */
void load_report_line(FILE *file, const char *label, const char *text);
