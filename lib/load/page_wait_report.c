/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page waits, correlated and shown: see page_wait_report.h. */
#include "lib/load/page_wait_report.h"

#include "lib/base/terminal.h"

/* Of all workers in a run of the load. */
static double repetitions_of(const struct load_work *work, uint32_t sample)
{
	struct load_parts parts = load_parts_of(work, sample);
	double n = 0;

	for (size_t i = 0; i < parts.n; i++)
		if (parts.items[i].repetitions > 0)
			n += (double)parts.items[i].repetitions;
	return n;
}

/* The mean, without the time in which workers waited for a CPU. NAN: there were no waits. */
static double mean_wait_length(const struct page_wait *wait)
{
	int64_t ready_ns = wait->ready_ns > 0 ? wait->ready_ns : 0;

	return wait->count > 0 ? (double)(wait->total_ns - ready_ns) / (double)wait->count : NAN;
}

/* Run time is that of a repetition, the reciprocal of the rate; so it is comparable between runs
 * that did more or less work. Not known if waits were not measured in all runs, or a rate is 0. */
void page_wait_correlate(struct load_report *p)
{
	size_t n = p->n_kept;
	_cleanup_(freep) double *columns = xcalloc(3 * n + 1, sizeof(*columns));
	double *times = columns, *numbers = columns + n, *lengths = columns + 2 * n;

	p->wait_number = p->wait_length = pearson_of(NULL, NULL, 0);
	for (size_t i = 0; i < n; i++) {
		uint32_t sample = p->kept[i].n;
		const struct page_wait *wait = page_wait_find(
			&p->page_waits, PAGE_WAIT_WORKER, sample);
		double repetitions = repetitions_of(&p->work, sample);
		int64_t rate = p->rates.items[0].nano[i];

		if (!wait || !(repetitions > 0) || rate <= 0)
			return;
		times[i] = 1 / (double)rate;
		numbers[i] = (double)wait->count / repetitions;
		lengths[i] = mean_wait_length(wait);
	}
	p->wait_number = pearson_of(times, numbers, n);
	p->wait_length = pearson_of(times, lengths, n);
}

/* "1203 in 2.345 s, mean 1.949 ms" */
static const char *wait_total_text(const struct page_wait_total *total)
{
	if (total->count == 0)
		return "none";
	return text_brief("%" PRId64 " in %s, mean %s", total->count,
		text_duration(total->total_ns), text_duration(total->total_ns / total->count));
}

/* "1.500 … 2.000 ms": the edges have one unit. */
static void print_wait_row_label(FILE *file, const struct page_wait_bin *row, int64_t width_ns)
{
	bool us = width_ns < NS_PER_MS;
	const char *unit = us ? "us" : "ms";
	int64_t unit_ns = us ? NS_PER_US : NS_PER_MS;
	int64_t low = row->low_ns / unit_ns, high = row->high_ns / unit_ns;

	if (row->high_ns < 0)
		fprintf(file, "     %18s", text_brief("%" PRId64 " %s and more", low, unit));
	else /* the ellipsis has three bytes */
		fprintf(file, "     %20s",
			text_brief("%" PRId64 " … %" PRId64 " %s", low, high, unit));
}

/* width_ns 0: one that suits both. */
static void print_wait_histogram(FILE *file, const struct page_wait_total *workers,
	const struct page_wait_total *reads, int64_t width_ns)
{
	struct page_wait_bin rows[2][PAGE_WAIT_ROWS];
	int64_t for_workers = page_wait_width(workers), for_reads = page_wait_width(reads);
	int columns = terminal_columns(file) < 67 ? 8 : 10;
	size_t n, m;

	if (width_ns == 0)
		width_ns = for_workers > for_reads ? for_workers : for_reads;
	n = page_wait_rows(workers, width_ns, rows[0]);
	m = page_wait_rows(reads, width_ns, rows[1]);

	fprintf(file, "     %18s %*s %*s %*s %*s\n", "", columns, "WAITS", columns, "TIME", columns,
		"READS", columns, "TIME");
	for (size_t i = 0; i < n || i < m; i++) {
		print_wait_row_label(file, &rows[0][i], width_ns);
		for (size_t k = 0; k < 2; k++) {
			const struct page_wait_bin *row = &rows[k][i];

			fprintf(file, " %*" PRId64 " %*s", columns, row->count, columns,
				row->count > 0 ? text_duration(row->total_ns) : "-");
		}
		fputc('\n', file);
	}
}

static void print_wait_correlations(FILE *file, const struct load_report *p)
{
	const struct pearson *const all[] = {&p->wait_number, &p->wait_length};
	static const char *const names[] = {"number:", "length:"};
	const char *title = "Run time, page waits";

	for (size_t i = 0; i < ELEMENTS(all); i++) {
		const struct pearson *c = all[i];
		const char *interval = "(runs drift: may be chance)";

		if (isnan(c->r))
			continue;
		if (!isnan(c->low))
			interval = text_brief(
				"(95 %% CI %.2f … %.2f), %zu runs", c->low, c->high, c->n);
		load_report_line(file, title, text_brief("%s r %.2f %s", names[i], c->r, interval));
		title = "";
	}
}

static void print_worker_waits(FILE *file, const struct page_wait_total *workers)
{
	const char *total = wait_total_text(workers), *for_cpu = "";

	if (workers->ready_ns > 0 && workers->total_ns > 0)
		for_cpu = text_brief(", %s for a CPU",
			text_percent((double)workers->ready_ns / (double)workers->total_ns));
	load_report_line(file, "Page waits of slaves", text_brief("%s%s", total, for_cpu));
	if (workers->lost > 0)
		fprintf(file, "                          %" PRId64 " more were not timed\n",
			workers->lost);
}

void page_wait_report_print(FILE *file, const struct load_report *p, int64_t width_ns)
{
	const struct page_wait_total *workers = &p->page_wait_totals[PAGE_WAIT_WORKER];
	const struct page_wait_total *reads = &p->page_wait_totals[PAGE_WAIT_READ];
	const struct page_wait_total *writes = &p->page_wait_totals[PAGE_WAIT_WRITE];
	const char *why = p->load.no_page_waits;

	if (workers->n == 0) {
		if (why)
			load_report_line(file, "Page waits", text_brief("not measured: %s", why));
		return;
	}
	if (reads->n > 0 && workers->count + reads->count + writes->count == 0) {
		load_report_line(
			file, "Page waits", "none, and no block device was read or written");
		return;
	}

	print_worker_waits(file, workers);
	if (reads->n == 0) {
		load_report_line(
			file, "Block reads", "not counted: this machine has no block device");
	} else {
		load_report_line(file, "Block reads", wait_total_text(reads));
		load_report_line(file, "Block writes", wait_total_text(writes));
	}
	if (workers->count > 0 || reads->count > 0)
		print_wait_histogram(file, workers, reads, width_ns);
	print_wait_correlations(file, p);
}

/* One kind: its totals, in all and in each run that counts, and its histogram. */
static json_t *wait_total_json(
	const struct load_report *p, const struct page_wait_total *total, enum page_wait_kind kind)
{
	json_t *bins = json_array(), *runs = json_array();

	for (size_t i = 0; i < total->n_bins; i++) {
		const struct page_wait_bin *bin = &total->bins[i];

		json_array_append_new(
			bins, json_pack("{s:I, s:I, s:I, s:o*}", "low_ns", (json_int_t)bin->low_ns,
				      "count", (json_int_t)bin->count, "total_ns",
				      (json_int_t)bin->total_ns, "high_ns",
				      load_known_json(bin->high_ns)));
	}
	for (size_t i = 0; i < p->n_kept; i++) {
		const struct page_wait *wait = page_wait_find(&p->page_waits, kind, p->kept[i].n);

		if (wait)
			json_array_append_new(
				runs, json_pack("{s:I, s:I, s:I}", "run", (json_int_t)wait->sample,
					      "count", (json_int_t)wait->count, "total_ns",
					      (json_int_t)wait->total_ns));
	}
	return JSON_OBJECT({"count", json_integer(total->count)},
		{"total_ns", json_integer(total->total_ns)}, {"lost", json_integer(total->lost)},
		{"bins", bins}, {"runs", runs}, {"ready_ns?", load_known_json(total->ready_ns)});
}

/* NULL: not known. */
static json_t *pearson_json(const struct pearson *c)
{
	if (isnan(c->r))
		return NULL;
	return json_pack("{s:f, s:o, s:I, s:f, s:o}", "r", c->r, "interval",
		json_interval(c->low, c->high), "n", (json_int_t)c->n, "effective_n",
		c->effective_n, "p", json_real_or_null(c->p));
}

json_t *page_wait_report_as_json(const struct load_report *p)
{
	json_t *root = json_object();

	for (enum page_wait_kind kind = 0; kind < N_PAGE_WAIT_KINDS; kind++)
		if (p->page_wait_totals[kind].n > 0)
			json_object_set_new(root, page_wait_kind_names[kind],
				wait_total_json(p, &p->page_wait_totals[kind], kind));
	if (p->page_wait_totals[PAGE_WAIT_WORKER].n == 0 && p->load.no_page_waits)
		json_object_set_new(root, "missing", json_string(p->load.no_page_waits));
	json_object_set_new(root, "correlation_with_run_time",
		json_pack("{s:o*, s:o*}", "number", pearson_json(&p->wait_number), "length",
			pearson_json(&p->wait_length)));
	return root;
}
