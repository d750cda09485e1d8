/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a load as the book has it, on the screen and as a document: its rates of work, and
 * what its workers waited for. emp-load shows it at the end of its runs, emp-analyze at any time
 * after. */
#pragma once

#include "lib/base/tool.h"
#include "lib/load/book_load.h"
#include "lib/report/notes.h"
#include "lib/report/run_result.h"
#include "lib/stats/summary.h"
#include "lib/stats/time_series.h"
#include "lib/base/table.h"
#include "lib/protocol/comparison.h"
#include "lib/report/plot.h"

#include <jansson.h>

/* What the workers of a load did. */
struct load_work {
	enum coordination coordination;
	struct run_program *programs; /* the workers: programs[n - 1].n == n */
	size_t n_programs;
	struct sample_program *parts; /* of all samples, in their order, then of programs */
	size_t n_parts;
	const char *file; /* the text of the load */
};

/* What they did in one sample. */
struct load_parts {
	const struct sample_program *items;
	size_t n;
};

struct load_parts load_parts_of(const struct load_work *work, uint32_t sample);

/* Whether two quantities that were measured together, one pair after another, are correlated. What
 * drifts or comes in waves seems to be correlated with everything else that does, so that
 * neighbours that are alike count as fewer than they are. */
struct pearson {
	size_t n;
	/* the coefficient of correlation; NAN: n < 5, or one of the two does not vary */
	double r;
	double effective_n; /* number of independent pairs with the same information */
	/* the 95 % confidence interval of r (Fisher 1915); NAN: it could be any value */
	double low, high;
	double p; /* that they are independent; two-sided; NAN likewise */
};

/* x[n] and y[n], in the order of time. */
struct pearson pearson_of(const double *x, const double *y, size_t n);

struct load_rate {
	const char *script; /* NULL: of all; the programs' otherwise */
	int64_t workers;
	int64_t share;            /* repetitions of all its workers in a run */
	int64_t *nano;            /* by run: repetitions, or of all work shares, in 10^9 s */
	struct summary summary;   /* of them */
	struct interval interval; /* of the mean, at 95 % */
};

/* The rate of work: complete repetitions of the scripts per second, by run. With a constant load
 * the rate of a worker is the number of its repetitions over the time to the end of the last of
 * them, and that of a script the sum over its workers. Otherwise it is the number of repetitions
 * over the time to the last worker's end.
 *
 * A share is what all workers of a script have to do in a run, by the load's file. The rate of all
 * work is the geometric mean of the scripts' rates in shares, so that each script counts as much as
 * any other, however short its repetitions are. With one script it is that script's rate, in
 * repetitions. */
struct load_rates {
	struct load_rate *items; /* the first: of all work */
	size_t n, n_runs;
	struct load_rate sum; /* repetitions of all scripts */
	struct summary time;  /* to the last worker's end */
	/* the share of runs whose workers finished in another order than in the run before; NAN:
	 * one run */
	double order_changed;
};

/* samples[n_samples]: those that count. shares_of: the shares of that load, not those of the file;
 * NULL: those of the file. load_rates_clear() frees them. */
struct load_rates load_rates_of(const struct load_work *work, const struct load_rates *shares_of,
	const struct sample *samples, size_t n_samples);
void load_rates_clear(struct load_rates *rates);

/* What one worker did in a sample, in repetitions a second. */
double load_rate_of_worker(enum coordination coordination, const struct sample *sample,
	const struct sample_program *part);
/* Whether the rate of all work is in shares: there are several scripts. */
bool load_rates_in_shares(const struct load_rates *rates);
/* NULL: there is no such script. */
struct load_rate *load_rates_find(const struct load_rates *rates, const char *script);

/* The unit of time in which a rate (in 10^9 s) is not below one, if there is one. */
struct load_unit {
	const char *name, *long_name;
	double seconds;
};
const struct load_unit *load_unit_for(double nano);
/* As many decimals as give the sd of a rate two significant digits in that unit; without one, the
 * mean four. */
int load_rate_decimals(const struct load_rate *rate, const struct load_unit *unit);
/* As text_brief: the mean and the sd, "12.26 ± 0.29"; the interval, "11.90 … 12.62", NULL: one run
 * has none. */
const char *load_rate_text(const struct load_rate *rate, const struct load_unit *unit);
const char *load_rate_interval_text(const struct load_rate *rate, const struct load_unit *unit);

/* The page waits of several runs of a load together. */
struct page_wait_total {
	size_t n; /* samples in which this kind was measured */
	int64_t count, total_ns, lost;
	int64_t ready_ns;           /* -1: not known */
	struct page_wait_bin *bins; /* as they were recorded, by length; .sample is 0 */
	size_t n_bins;
};

/* Of one kind, in samples[n] that count. page_wait_total_clear() frees it. */
struct page_wait_total page_wait_total_of(const struct page_waits *waits, enum page_wait_kind kind,
	const struct sample *samples, size_t n);
void page_wait_total_clear(struct page_wait_total *total);

enum { PAGE_WAIT_ROWS = 7 }; /* that a histogram has at most */

/* The smallest width of 1, 2 or 5 in a decade, from 10 us on, with which all rows except the last,
 * which is open-ended, hold at least nine waits in ten. */
int64_t page_wait_width(const struct page_wait_total *total);

/* Rows of this width, from 0 on; the last one holds all that is longer. Returns how many are
 * needed. */
size_t page_wait_rows(const struct page_wait_total *total, int64_t width_ns,
	struct page_wait_bin ret[PAGE_WAIT_ROWS]);

/* How long `kind` made sample n wait; NULL: it was not measured. */
const struct page_wait *page_wait_find(
	const struct page_waits *waits, enum page_wait_kind kind, uint32_t n);

/* The width of the rows, as an option: the edges of the rows on the screen must be edges of bins
 * that are recorded. */
option_parser page_wait_width_parse;

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

/* At most 80 columns. page_wait_bin_ns: the width of the rows; 0: chosen by the waits. */
void load_report_print(FILE *file, const struct load_report *report, int64_t page_wait_bin_ns);
/* An emp-load document. */
json_t *load_report_as_json(const struct load_report *report);

/* For json_pack's o*: NULL, so that the member is missing, if it is below 0: not known. */
json_t *load_known_json(int64_t value);

/* A line of it: a label, and a text, which is wrapped beside it. */
void load_report_line(FILE *file, const char *label, const char *text);

/* page_wait_report.c: its page waits on the screen, and in its document: the histograms as they
 * were recorded, and their totals in each run. */
void page_wait_correlate(struct load_report *report);
void page_wait_report_print(FILE *file, const struct load_report *report, int64_t width_ns);
json_t *page_wait_report_as_json(const struct load_report *report);

/* What emp-analyze load shows besides the report: two loads compared, tables for files, and
 * pictures. */

/* A script that both loads have. */
struct load_pair {
	const struct load_rate *a, *b;
	struct run_variation variation;
	struct comparison comparison; /* of rates: above 1, b is the faster one */
	/* the same as one of times, above 1 is slower: for the functions of comparison.h */
	struct comparison times;
};

/* Two loads compared by their rates of work, as emp-analyze compare does it with the times of
 * separate runs: there is a verdict if the book knows how much the rates of such loads vary from
 * one call of emp-load to the next. */
struct load_comparison {
	const struct load_report *a, *b;
	struct load_rates rates_b; /* with the shares of a */
	struct load_pair *items;   /* that of all work first, if both have the same scripts */
	size_t n;
	bool same_scripts;
	char *environment_changes; /* from a's to b's; NULL: none, or not known */
	char *load_changes;        /* likewise of the load; NULL: none */
};

/* Both must outlive it. between: the sd of the rates of separate runs, as a share; below 0: as the
 * book knows it. -EINVAL, with a sentence: they have no script in common. */
int load_comparison_make(struct load_comparison *ret, struct book *book,
	const struct load_report *a, const struct load_report *b, double between,
	struct error *err);
void load_comparison_clear(struct load_comparison *comparison);

void load_comparison_print(FILE *file, const struct load_comparison *comparison);
/* The emp-load document of b, with the members `reference` (that of a) and `comparison`. */
json_t *load_comparison_as_json(const struct load_comparison *comparison);

/* "run 13 (office.ini)"; the caller frees it. */
char *load_report_name(const struct load_report *report);

/* "coordination was constant-load, is before; line 3 of the file was 'slaves = 4', is 'slaves =
 * 5'"; the caller frees it. NULL if they are the same. */
char *load_changes(const struct load_row *before, const struct load_row *now);

/* One load, or two that are compared. */
struct load_reports {
	const struct load_report *items[2]; /* the reference first */
	size_t n;
	const struct load_comparison *comparison; /* NULL: one */
};

/* A row for each run and worker. */
void load_write_csv(FILE *file, const struct load_reports *reports);
/* The rates as a table, to paste into a report. */
void load_write_markdown(FILE *file, const struct load_reports *reports);

enum load_picture {
	LOAD_RATES,      /* the rate of work of each run, in all and by script */
	LOAD_TIMELINE,   /* when each worker worked in one run of the load */
	LOAD_PAGE_WAITS, /* the histogram of page waits */
};

/* sample: the run of the load whose timeline is drawn; 0: the last. script: keeps the gnuplot file.
 * -ENOENT or -ENODATA, with a sentence: there is nothing to draw. */
int load_draw(const struct load_reports *reports, enum load_picture picture, int64_t sample,
	const char *path, bool script, struct error *err);
