/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze load: the rate of work of a load, or of two that are compared. */
#include "analyze/analyze.h"
#include "lib/load/load_report.h"

#include "lib/base/paths.h"
#include "lib/base/text.h"

#include <errno.h>
#include <inttypes.h>

enum { LAST = 0 }; /* run of a load */

static struct {
	const char *csv, *markdown, *picture;
	double between, fail_if_slower; /* percent; below 0: not given */
	int64_t timeline;               /* below 0: not given */
	int64_t page_wait_bin_ns;       /* 0: chosen by the waits */
	bool page_waits, script;
} options = {.between = -1, .fail_if_slower = -1, .timeline = -1};

static int parse_timeline(const char *value, const char *name, void *into, struct error *err)
{
	*(int64_t *)into = LAST;
	return value ? text_parse_int(value, name, 1, UINT32_MAX, into, err) : 0;
}

const struct option_row load_options[] = {
	{0, "csv", "FILE", "write a row for each run and slave; - is standard output", NULL, &options.csv},
	{0, "markdown", "FILE", "write the table of rates for a report; - is standard output", NULL,
		&options.markdown},
	{'o', "output", "FILE", "draw the rates of the runs: .png, .svg or .pdf", NULL, &options.picture},
	{0, "timeline", "K", "with -o: draw when each slave worked in run K of the load (default: last)",
		parse_timeline, &options.timeline, .optional = true},
	{0, "page-waits", NULL, "with -o: draw how long the slaves waited for pages", NULL,
		&options.page_waits},
	{0, "page-wait-bin", "TIME", "width of the bins in which page waits are shown", page_wait_width_parse,
		&options.page_wait_bin_ns},
	{0, "script", NULL, "keep the gnuplot file, with its data, as FILE.gnuplot", NULL, &options.script},
	{0, "between-runs", "PERCENT", "sd of the rates of separate loads, if the book has too few",
		option_percent, &options.between},
	{0, "fail-if-slower", "PERCENT",
		"exit status 2 if the second is slower than the first by more than this", option_percent,
		&options.fail_if_slower},
	{},
};

typedef void writer(FILE *file, const struct load_reports *reports);

static int load_write_to(
	const char *path, writer *write_it, const struct load_reports *reports, struct error *err)
{
	_cleanup_(output_file_clear) struct output_file output = {};
	int r = output_file_open(&output, path, err);

	if (r < 0)
		return r;
	write_it(output.file, reports);
	return output_file_commit(&output, err);
}

static bool has_run(const struct load_report *p, int64_t sample)
{
	for (size_t i = 0; i < p->result.n_samples; i++)
		if (p->result.samples[i].n == sample)
			return true;
	return false;
}

static int check_counted(const struct load_report *p, struct error *err)
{
	return p->n_kept > 0 || options.timeline >= 0
		       ? 0
		       : error_say(err, -ENODATA,
				 "run %" PRId64 " has nothing to draw: no run of the load counts",
				 p->result.discarding.run.id);
}

static int load_show_reports(const struct load_reports *reports, struct error *err)
{
	if (analyze_options.json) {
		_cleanup_(json_decrefp)
			json_t *document = reports->comparison ? load_comparison_as_json(reports->comparison)
							       : load_report_as_json(reports->items[0]);

		return json_print(document, stdout, err);
	}
	if (options.csv)
		return load_write_to(options.csv, load_write_csv, reports, err);
	if (options.markdown)
		return load_write_to(options.markdown, load_write_markdown, reports, err);
	if (options.picture) {
		struct load_reports drawn = *reports;
		struct drawing d = options.timeline >= 0 ? load_figure_timeline(&drawn)
				   : options.page_waits  ? load_figure_page_waits(&drawn)
							 : load_figure_rates(&drawn);
		int r;
		const struct load_report *p = reports->items[0];

		/* The run of the load that --timeline names. */
		if (options.timeline > 0 && !has_run(p, options.timeline)) {
			r = error_say(err, -ENOENT,
				"run %" PRId64 " has no run %" PRId64 " of the load; it has %zu",
				p->result.discarding.run.id, options.timeline, p->result.n_samples);
		} else {
			drawn.sample = options.timeline > 0 ? (uint32_t)options.timeline
							    : p->result.samples[p->result.n_samples - 1].n;
			r = 0;
		}

		if (r == 0)
			r = check_counted(reports->items[0], err);
		if (r == 0) {
			if (!options.page_waits || load_has_page_waits(reports->items[0]))
				r = 0;
			else
				r = error_say(err, -ENODATA, "run %" PRId64 " has no page waits%s%s",
					reports->items[0]->result.discarding.run.id,
					reports->items[0]->load.no_page_waits ? ": " : "",
					reports->items[0]->load.no_page_waits ?: "");
		}
		return r < 0 ? r : plot_drawing(d, options.picture, options.script, err);
	}
	if (reports->comparison)
		load_comparison_print(stdout, reports->comparison);
	else
		load_report_print(stdout, reports->items[0], options.page_wait_bin_ns);
	return 0;
}

/* By the rate of all work. */
static int load_judge(const struct load_comparison *c, struct error *err)
{
	_cleanup_(freep) char *a = load_report_name(c->a), *b = load_report_name(c->b);
	const struct comparison_limit limit = {options.fail_if_slower, a ?: "", b ?: ""};
	struct comparison times = load_pair_as_times(&c->items[0]);
	int r;

	if (options.fail_if_slower >= 0 && !c->same_scripts)
		return error_say(err, -ENODATA, "'%s' and '%s' cannot be judged: their scripts differ",
			limit.name, limit.reference);
	r = comparison_judge(&times, &limit, err);
	return r == COMPARISON_OVER_LIMIT ? STATUS_NOT_FIT : r;
}

static int compare_two(
	struct book *book, const struct load_report *a, const struct load_report *b, struct error *err)
{
	_cleanup_(load_comparison_clear) struct load_comparison comparison = {};
	double between = options.between < 0 ? -1 : options.between / 100;
	int r = load_comparison_make(&comparison, book, a, b, between, err);

	if (r == 0)
		r = load_show_reports(&(struct load_reports){{a, b}, 2, &comparison}, err);
	return r < 0 ? r : load_judge(&comparison, err);
}

int verb_load(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(load_report_clear) struct load_report a = {}, b = {};
	int64_t run_a, run_b = 0;
	int r;
	bool timeline = options.timeline >= 0;

	if (analyze_options.json + !!options.csv + !!options.markdown + !!options.picture > 1) {
		r = error_say(
			err, -EINVAL, "--json, --csv, --markdown and -o are for one result; choose one");
	} else if ((timeline || options.page_waits || options.script) && !options.picture) {
		r = error_say(err, -EINVAL, "%s needs a picture: -o FILE.png (or .svg, .pdf)",
			timeline             ? "--timeline"
			: options.page_waits ? "--page-waits"
					     : "--script");
	} else if (timeline && options.page_waits) {
		r = error_say(err, -EINVAL, "--timeline and --page-waits are two pictures; choose one");
	} else if ((timeline || options.page_waits) && argc > 1) {
		r = error_say(err, -EINVAL, "%s draws one load; name one run",
			timeline ? "--timeline" : "--page-waits");
	} else if ((options.between >= 0 || options.fail_if_slower >= 0) && argc < 2)
		r = error_say(err, -EINVAL, "%s needs two loads to compare: RUN RUN",
			options.between >= 0 ? "--between-runs" : "--fail-if-slower");
	else
		r = 0;

	if (r == 0 && argc > 1)
		r = analyze_parse_run(argv[1], "RUN", &run_b, err);
	if (r == 0)
		r = analyze_open(argv[0], &book, &run_a, err);
	if (r == 0)
		r = load_report_read(book, run_a, &a, err);
	if (r == 0 && run_b)
		r = load_report_read(book, run_b, &b, err);
	if (r < 0)
		return r;
	return run_b ? compare_two(book, &a, &b, err)
		     : load_show_reports(&(struct load_reports){{&a}, 1, NULL}, err);
}
