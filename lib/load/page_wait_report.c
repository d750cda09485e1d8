/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How page waits are shown: see page_wait_report.h. */
#include "lib/load/page_wait_report.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"
#include "lib/host/disk/page_wait_bins.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

int page_wait_report_of(struct page_wait_report *ret, const struct page_wait_runs *runs, struct error *err)
{
	_cleanup_(page_wait_report_clear) struct page_wait_report report = {.runs = *runs};
	int r = page_wait_correlation_of(&report.correlation, runs, err);

	for (enum page_wait_kind kind = 0; r == 0 && kind < N_PAGE_WAIT_KINDS; kind++)
		r = page_wait_total_of(&report.total[kind], runs->waits, kind, runs->samples, runs->n, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(report);
	return 0;
}

void page_wait_report_clear(struct page_wait_report *report)
{
	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++)
		page_wait_total_clear(&report->total[kind]);
	*report = (struct page_wait_report){};
}

int page_wait_width_parse(const char *value, const char *name, void *into, struct error *err)
{
	int64_t *width_ns = into;
	int r = text_parse_duration(value, name, width_ns, err);

	for (uint64_t i = 1; r == 0 && i < PAGE_WAIT_ROWS; i++) {
		uint64_t edge_ns = i * (uint64_t)*width_ns;

		if (*width_ns > NS_PER_S || page_wait_bin_from(page_wait_bin_of(edge_ns)) != edge_ns)
			r = error_say(err, -EINVAL,
				"%s must be 10us, 20us, 50us, 100us, 200us, … 100ms, not %s", name, value);
	}
	return r;
}

/* "1203 in 2.345 s, mean 1.949 ms" */
static void print_total(FILE *file, const struct page_wait_total *total)
{
	char all[TEXT_TIME_SIZE], mean[TEXT_TIME_SIZE];

	if (total->count == 0)
		fputs("none", file);
	else
		fprintf(file, "%" PRId64 " in %s, mean %s", total->count, text_duration(all, total->total_ns),
			text_duration(mean, total->total_ns / total->count));
}

static void print_slaves(FILE *file, const struct page_wait_total *total)
{
	char share[TEXT_TIME_SIZE];

	fprintf(file, "  Page waits of slaves    ");
	print_total(file, total);
	if (total->ready_ns > 0 && total->total_ns > 0)
		fprintf(file, ", %s for a CPU",
			text_percent(share, (double)total->ready_ns / (double)total->total_ns));
	fputc('\n', file);
	if (total->lost > 0)
		fprintf(file, "                          %" PRId64 " more were not timed\n", total->lost);
}

static void print_devices(FILE *file, const struct page_wait_total total[N_PAGE_WAIT_KINDS])
{
	static const char *const names[] = {
		[PAGE_WAIT_READ] = "Block reads", [PAGE_WAIT_WRITE] = "Block writes"};

	if (total[PAGE_WAIT_READ].n == 0) {
		fprintf(file, "  Block reads             not counted: this machine has no block device\n");
		return;
	}
	for (enum page_wait_kind kind = PAGE_WAIT_READ; kind <= PAGE_WAIT_WRITE; kind++) {
		fprintf(file, "  %-23s ", names[kind]);
		print_total(file, &total[kind]);
		fputc('\n', file);
	}
}

static void print_cell(FILE *file, const struct page_wait_bin *row)
{
	char time[TEXT_TIME_SIZE] = "-";

	if (row->count > 0)
		text_duration(time, row->total_ns);
	fprintf(file, " %10" PRId64 " %10s", row->count, time);
}

/* "1.500 … 2.000 ms": the edges have one unit. */
static void print_edges(FILE *file, const struct page_wait_bin *row, int64_t width_ns)
{
	bool in_us = width_ns < NS_PER_MS;
	int64_t unit = in_us ? NS_PER_US : NS_PER_MS;
	char text[TEXT_PAIR_SIZE];

	if (row->high_ns < 0)
		snprintf(text, sizeof(text), "%" PRId64 " %s and more", row->low_ns / unit,
			in_us ? "us" : "ms");
	else
		snprintf(text, sizeof(text), "%" PRId64 " … %" PRId64 " %s", row->low_ns / unit,
			row->high_ns / unit, in_us ? "us" : "ms");
	fprintf(file, "     %*s", row->high_ns < 0 ? 18 : 20, text); /* the ellipsis has three bytes */
}

static void print_histogram(FILE *file, const struct page_wait_total *slaves,
	const struct page_wait_total *reads, int64_t width_ns)
{
	struct page_wait_bin of_slaves[PAGE_WAIT_ROWS], of_reads[PAGE_WAIT_ROWS];
	size_t n = page_wait_rows(slaves, width_ns, of_slaves), m = page_wait_rows(reads, width_ns, of_reads);

	fprintf(file, "     %18s %10s %10s %10s %10s\n", "", "WAITS", "TIME", "READS", "TIME");
	for (size_t i = 0; i < n || i < m; i++) {
		print_edges(file, &of_slaves[i], width_ns);
		print_cell(file, &of_slaves[i]);
		print_cell(file, &of_reads[i]);
		fputc('\n', file);
	}
}

static void print_one(FILE *file, const char *name, const char *with, const struct pearson *c)
{
	if (isnan(c->r))
		return;
	fprintf(file, "  %-23s %s r %.2f ", name, with, c->r);
	if (isnan(c->low))
		fprintf(file, "(runs drift: may be chance)\n");
	else
		fprintf(file, "(95 %% CI %.2f … %.2f), %zu runs\n", c->low, c->high, c->n);
}

static void print_correlation(FILE *file, const struct page_wait_correlation *c)
{
	print_one(file, "Run time and page waits", "number:", &c->number);
	print_one(file, isnan(c->number.r) ? "Run time and page waits" : "", "length:", &c->length);
}

/* That suits both. */
static int64_t choose_width(const struct page_wait_total *slaves, const struct page_wait_total *reads)
{
	int64_t of_slaves = page_wait_width(slaves), of_reads = page_wait_width(reads);

	return of_slaves > of_reads ? of_slaves : of_reads;
}

void page_wait_report_print(
	FILE *file, const struct page_wait_report *report, int64_t width_ns, const char *missing)
{
	const struct page_wait_total *slaves = &report->total[PAGE_WAIT_SLAVE],
				     *reads = &report->total[PAGE_WAIT_READ];

	if (slaves->n == 0) {
		if (missing)
			fprintf(file, "  Page waits              not measured: %s\n", missing);
		return;
	}
	if (reads->n > 0 && slaves->count + reads->count + report->total[PAGE_WAIT_WRITE].count == 0) {
		fprintf(file, "  Page waits              none, and no block device was read or written\n");
		return;
	}
	print_slaves(file, slaves);
	print_devices(file, report->total);
	if (slaves->count > 0 || reads->count > 0)
		print_histogram(file, slaves, reads, width_ns ?: choose_width(slaves, reads));
	print_correlation(file, &report->correlation);
}

static json_t *bins_json(const struct page_wait_total *total)
{
	json_t *bins = json_array();

	for (size_t i = 0; i < total->n_bins; i++) {
		const struct page_wait_bin *bin = &total->bins[i];
		json_t *object = json_pack("{s:I, s:I, s:I}", "low_ns", (json_int_t)bin->low_ns, "count",
			(json_int_t)bin->count, "total_ns", (json_int_t)bin->total_ns);

		if (bin->high_ns > 0)
			json_object_set_new(object, "high_ns", json_integer(bin->high_ns));
		json_array_append_new(bins, object);
	}
	return bins;
}

static json_t *runs_json(const struct page_wait_runs *runs, enum page_wait_kind kind)
{
	json_t *array = json_array();

	for (size_t i = 0; i < runs->n; i++) {
		const struct page_wait *wait = page_wait_find(runs->waits, kind, runs->samples[i].n);

		if (wait)
			json_array_append_new(array,
				json_pack("{s:I, s:I, s:I}", "run", (json_int_t)wait->sample, "count",
					(json_int_t)wait->count, "total_ns", (json_int_t)wait->total_ns));
	}
	return array;
}

static json_t *kind_json(const struct page_wait_report *report, enum page_wait_kind kind)
{
	const struct page_wait_total *total = &report->total[kind];
	json_t *object = json_pack("{s:I, s:I, s:I, s:o, s:o}", "count", (json_int_t)total->count, "total_ns",
		(json_int_t)total->total_ns, "lost", (json_int_t)total->lost, "bins", bins_json(total),
		"runs", runs_json(&report->runs, kind));

	if (total->ready_ns >= 0)
		json_object_set_new(object, "ready_ns", json_integer(total->ready_ns));
	return object;
}

static void set_correlation(json_t *object, const char *name, const struct pearson *c)
{
	if (isnan(c->r))
		return;
	json_object_set_new(object, name,
		json_pack("{s:f, s:o, s:I, s:f, s:o}", "r", c->r, "interval", json_interval(c->low, c->high),
			"n", (json_int_t)c->n, "effective_n", c->effective_n, "p", json_real_or_null(c->p)));
}

json_t *page_wait_report_as_json(const struct page_wait_report *report, const char *missing)
{
	json_t *root = json_object(), *correlation = json_object();

	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++)
		if (report->total[kind].n > 0)
			json_object_set_new(root, page_wait_kind_names[kind], kind_json(report, kind));
	if (report->total[PAGE_WAIT_SLAVE].n == 0 && missing)
		json_object_set_new(root, "missing", json_string(missing));
	set_correlation(correlation, "number", &report->correlation.number);
	set_correlation(correlation, "length", &report->correlation.length);
	json_object_set_new(root, "correlation_with_run_time", correlation);
	return root;
}
