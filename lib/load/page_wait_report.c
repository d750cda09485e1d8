/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page waits of a load's runs together, whether the runs that waited for more pages, or for
 * longer ones, were slower, and how that is shown: see load_report.h. */
#include "lib/load/load_report.h"

const struct page_wait *page_wait_find(
	const struct page_waits *waits, enum page_wait_kind kind, uint32_t n)
{
	for (size_t i = 0; i < waits->n; i++)
		if (waits->items[i].sample == n && waits->items[i].kind == kind)
			return &waits->items[i];
	return NULL;
}

/* Adds it to the bin from the same length on, which is inserted if it is new. */
static void add_wait_bin(struct page_wait_total *total, const struct page_wait_bin *bin)
{
	size_t at = total->n_bins;

	while (at > 0 && total->bins[at - 1].low_ns >= bin->low_ns)
		at--;
	if (at == total->n_bins || total->bins[at].low_ns != bin->low_ns) {
		array_add(total->bins, total->n_bins);
		memmove(&total->bins[at + 1], &total->bins[at],
			(total->n_bins - 1 - at) * sizeof(*total->bins));
		total->bins[at] = (struct page_wait_bin){
			.kind = bin->kind, .low_ns = bin->low_ns, .high_ns = bin->high_ns};
	}
	total->bins[at].count = saturate_add(total->bins[at].count, bin->count);
	total->bins[at].total_ns = saturate_add(total->bins[at].total_ns, bin->total_ns);
}

struct page_wait_total page_wait_total_of(const struct page_waits *waits, enum page_wait_kind kind,
	const struct sample *samples, size_t n)
{
	struct page_wait_total total = {};

	for (size_t i = 0; i < n; i++) {
		const struct page_wait *wait = page_wait_find(waits, kind, samples[i].n);

		if (!wait)
			continue;
		total.n++;
		total.count = saturate_add(total.count, wait->count);
		total.total_ns = saturate_add(total.total_ns, wait->total_ns);
		total.lost = saturate_add(total.lost, wait->lost);
		if (wait->ready_ns < 0 || total.ready_ns < 0)
			total.ready_ns = -1;
		else
			total.ready_ns = saturate_add(total.ready_ns, wait->ready_ns);
		for (size_t k = 0; k < waits->n_bins; k++)
			if (waits->bins[k].sample == wait->sample && waits->bins[k].kind == kind)
				add_wait_bin(&total, &waits->bins[k]);
	}
	return total;
}

void page_wait_total_clear(struct page_wait_total *total)
{
	free(total->bins);
	*total = (struct page_wait_total){};
}

int64_t page_wait_width(const struct page_wait_total *total)
{
	static const int64_t steps[] = {1, 2, 5};
	static const double MOST_SHOWN = 0.9;
	int64_t decade_ns = 10 * NS_PER_US;

	for (; decade_ns < NS_PER_S; decade_ns *= 10)
		for (size_t i = 0; i < ELEMENTS(steps); i++) {
			int64_t width_ns = steps[i] * decade_ns, below = 0;

			for (size_t k = 0; k < total->n_bins &&
					   total->bins[k].low_ns < (PAGE_WAIT_ROWS - 1) * width_ns;
				k++)
				below = saturate_add(below, total->bins[k].count);
			if ((double)below >= MOST_SHOWN * (double)total->count)
				return width_ns;
		}
	return decade_ns;
}

size_t page_wait_rows(const struct page_wait_total *total, int64_t width_ns,
	struct page_wait_bin ret[PAGE_WAIT_ROWS])
{
	size_t n = 0;

	for (size_t i = 0; i < PAGE_WAIT_ROWS; i++)
		ret[i] = (struct page_wait_bin){.low_ns = (int64_t)i * width_ns,
			.high_ns = i + 1 < PAGE_WAIT_ROWS ? (int64_t)(i + 1) * width_ns : -1};
	for (size_t i = 0; i < total->n_bins; i++) {
		int64_t row = total->bins[i].low_ns / width_ns;
		size_t at = row < PAGE_WAIT_ROWS ? (size_t)row : PAGE_WAIT_ROWS - 1;

		ret[at].count = saturate_add(ret[at].count, total->bins[i].count);
		ret[at].total_ns = saturate_add(ret[at].total_ns, total->bins[i].total_ns);
		n = at + 1 > n ? at + 1 : n;
	}
	return n;
}

int page_wait_width_parse(const char *value, const char *name, void *into, struct error *err)
{
	int64_t *width_ns = into;
	int r = text_parse_duration(value, name, width_ns, err);

	for (uint64_t i = 1; r == 0 && i < PAGE_WAIT_ROWS; i++) {
		uint64_t edge_ns = i * (uint64_t)*width_ns;

		if (*width_ns > NS_PER_S ||
			page_wait_bin_from(page_wait_bin_of(edge_ns)) != edge_ns)
			r = error_say(err, -EINVAL,
				"%s must be 10us, 20us, 50us, 100us, 200us, … 100ms, not %s", name,
				value);
	}
	return r;
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
		const struct page_wait *wait = page_wait_find(
			&p->page_waits, PAGE_WAIT_WORKER, p->kept[i].n);
		int64_t ready_ns = wait && wait->ready_ns > 0 ? wait->ready_ns : 0;
		double repetitions = 0;

		for (size_t k = 0; k < p->work.n_parts; k++)
			if (p->work.parts[k].sample == p->kept[i].n &&
				p->work.parts[k].repetitions > 0)
				repetitions += (double)p->work.parts[k].repetitions;
		if (!wait || !(repetitions > 0) || p->rates.items[0].nano[i] <= 0)
			return;
		times[i] = 1 / (double)p->rates.items[0].nano[i];
		numbers[i] = (double)wait->count / repetitions;
		lengths[i] = wait->count > 0
				     ? (double)(wait->total_ns - ready_ns) / (double)wait->count
				     : NAN;
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

/* A row is "1.500 … 2.000 ms": the edges have one unit. width_ns 0: one that suits both. */
static void print_wait_histogram(FILE *file, const struct page_wait_total *workers,
	const struct page_wait_total *reads, int64_t width_ns)
{
	struct page_wait_bin rows[2][PAGE_WAIT_ROWS];
	int64_t for_workers = page_wait_width(workers), for_reads = page_wait_width(reads), unit_ns;
	int columns = terminal_columns(file) < 67 ? 8 : 10;
	size_t n, m;

	width_ns = width_ns ?: for_workers > for_reads ? for_workers : for_reads;
	unit_ns = width_ns < NS_PER_MS ? NS_PER_US : NS_PER_MS;
	n = page_wait_rows(workers, width_ns, rows[0]);
	m = page_wait_rows(reads, width_ns, rows[1]);
	fprintf(file, "     %18s %*s %*s %*s %*s\n", "", columns, "WAITS", columns, "TIME", columns,
		"READS", columns, "TIME");
	for (size_t i = 0; i < n || i < m; i++) {
		const char *unit = width_ns < NS_PER_MS ? "us" : "ms";
		int64_t low = rows[0][i].low_ns / unit_ns, high = rows[0][i].high_ns / unit_ns;

		if (rows[0][i].high_ns < 0)
			fprintf(file, "     %18s",
				text_brief("%" PRId64 " %s and more", low, unit));
		else /* the ellipsis has three bytes */
			fprintf(file, "     %20s",
				text_brief("%" PRId64 " … %" PRId64 " %s", low, high, unit));
		for (size_t k = 0; k < 2; k++)
			fprintf(file, " %*" PRId64 " %*s", columns, rows[k][i].count, columns,
				rows[k][i].count > 0 ? text_duration(rows[k][i].total_ns) : "-");
		fputc('\n', file);
	}
}

static void print_wait_correlations(FILE *file, const struct load_report *p)
{
	const struct pearson *const all[] = {&p->wait_number, &p->wait_length};
	const char *title = "Run time, page waits";

	for (size_t i = 0; i < ELEMENTS(all); i++) {
		const struct pearson *c = all[i];

		if (isnan(c->r))
			continue;
		load_report_line(file, title,
			text_brief("%s r %.2f %s", i ? "length:" : "number:", c->r,
				isnan(c->low) ? "(runs drift: may be chance)"
					      : text_brief("(95 %% CI %.2f … %.2f), %zu runs",
							c->low, c->high, c->n)));
		title = "";
	}
}

void page_wait_report_print(FILE *file, const struct load_report *p, int64_t width_ns)
{
	const struct page_wait_total *workers = &p->page_wait_totals[PAGE_WAIT_WORKER],
				     *reads = &p->page_wait_totals[PAGE_WAIT_READ],
				     *writes = &p->page_wait_totals[PAGE_WAIT_WRITE];
	const char *for_cpu = "";

	if (workers->n == 0) {
		if (p->load.no_page_waits)
			load_report_line(file, "Page waits",
				text_brief("not measured: %s", p->load.no_page_waits));
		return;
	}
	if (reads->n > 0 && workers->count + reads->count + writes->count == 0) {
		load_report_line(
			file, "Page waits", "none, and no block device was read or written");
		return;
	}
	if (workers->ready_ns > 0 && workers->total_ns > 0)
		for_cpu = text_brief(", %s for a CPU",
			text_percent((double)workers->ready_ns / (double)workers->total_ns));
	load_report_line(file, "Page waits of slaves",
		text_brief("%s%s", wait_total_text(workers), for_cpu));
	if (workers->lost > 0)
		fprintf(file, "                          %" PRId64 " more were not timed\n",
			workers->lost);
	if (reads->n == 0)
		load_report_line(
			file, "Block reads", "not counted: this machine has no block device");
	else {
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
	return json_pack("{s:I, s:I, s:I, s:o, s:o, s:o*}", "count", (json_int_t)total->count,
		"total_ns", (json_int_t)total->total_ns, "lost", (json_int_t)total->lost, "bins",
		bins, "runs", runs, "ready_ns", load_known_json(total->ready_ns));
}

/* NULL: not known. */
static json_t *pearson_json(const struct pearson *c)
{
	return isnan(c->r) ? NULL
			   : json_pack("{s:f, s:o, s:I, s:f, s:o}", "r", c->r, "interval",
				     json_interval(c->low, c->high), "n", (json_int_t)c->n,
				     "effective_n", c->effective_n, "p", json_real_or_null(c->p));
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
