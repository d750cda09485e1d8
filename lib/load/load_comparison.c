/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two loads compared, on the screen and as a document: see load_report.h. */
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/book/book.h"
#include "lib/load/load_report.h"
#include "lib/report/results.h"
#include "lib/report/notes.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static int64_t run_of(const struct load_report *p)
{
	return p->result.discarding.run.id;
}

char *load_report_name(const struct load_report *p)
{
	return text_format("run %" PRId64 " (%s)", run_of(p), p->result.discarding.run.program);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_load(const struct load_row *a, const struct load_row *b)
{
	return a->coordination == b->coordination && same_text(a->cpus, b->cpus) && !strcmp(a->file, b->file);
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

/* "'slaves = 4'", shortened; "nothing" at the end of the file. The caller frees it. */
static char *quoted_line(const char *line)
{
	enum { MOST_COLUMNS = 40 };
	size_t n = strcspn(line, "\n");
	_cleanup_(freep) char *copy = xstrndup(line, n);
	size_t fit = terminal_text_fit(copy, MOST_COLUMNS);

	return *line ? text_format("'%.*s%s'", (int)fit, line, fit < n ? "…" : "") : xstrdup("nothing");
}

char *load_changes(const struct load_row *before, const struct load_row *now)
{
	char *changes = NULL;
	size_t size;
	FILE *text;

	if (same_load(before, now))
		return NULL;
	text = xopen_memstream(&changes, &size);
	if (before->coordination != now->coordination)
		fprintf(text, "coordination was %s, is %s", coordination_names[before->coordination],
			coordination_names[now->coordination]);
	if (!same_text(before->cpus, now->cpus))
		fprintf(text, "%scpus was %s, is %s", ftell(text) > 0 ? "; " : "", before->cpus ?: "all",
			now->cpus ?: "all");
	if (strcmp(before->file, now->file) != 0) {
		const char *a = before->file;
		const char *b = now->file;
		_cleanup_(freep) char *change_before = NULL, *change_now = NULL;
		size_t line = 1;

		/* The first line that differs. */
		while (*a && *b && strcspn(a, "\n") == strcspn(b, "\n") && !strncmp(a, b, strcspn(a, "\n"))) {
			a = next_line(a);
			b = next_line(b);
			line++;
		}
		change_before = quoted_line(a);
		change_now = quoted_line(b);
		fprintf(text, "%sline %zu of the file was %s, is %s", ftell(text) > 0 ? "; " : "", line,
			change_before, change_now);
		if (strcmp(next_line(a), next_line(b)) != 0)
			fprintf(text, "; lines after it differ too");
	}
	return text_stream_close(text, &changes);
}

/* Other runs of a load, to see how much their rates vary. */
struct same_loads {
	struct run_mean *means; /* of them: when they were, and how many samples count */
	struct load_report *reports;
	size_t n;
};

static void same_loads_clear(struct same_loads *o)
{
	for (size_t i = 0; i < o->n; i++)
		load_report_clear(&o->reports[i]);
	free(o->means);
	free(o->reports);
}

/* Those with a result, and with that load itself. */
static int read_same_loads(
	struct book *book, const struct load_report *as, struct same_loads *ret, struct error *err)
{
	struct run_means all = {};
	int r = book_run_means(book, run_of(as), true, &all, err);

	ret->means = xcalloc(all.n + 1, sizeof(*ret->means));
	ret->reports = xcalloc(all.n + 1, sizeof(*ret->reports));
	for (size_t i = 0; r >= 0 && i < all.n; i++) {
		_cleanup_(load_row_clear) struct load_row row = {};
		struct load_report *report = &ret->reports[ret->n];
		bool same;

		r = book_get_load(book, all.items[i].run, &row, err);
		if (r <= 0 || !same_load(&row, &as->load))
			continue;
		r = load_report_read(book, all.items[i].run, report, err);
		if (r < 0)
			continue;
		same = report->n_programs == as->n_programs;
		for (size_t k = 0; same && k < report->n_programs; k++)
			same = !strcmp(report->programs[k].name, as->programs[k].name);
		if (!same) {
			load_report_clear(report);
			continue;
		}
		ret->means[ret->n] = all.items[i];
		ret->means[ret->n].n_samples = (int64_t)report->n_kept;
		ret->n++;
	}
	free(all.items);
	return r < 0 ? r : 0;
}

/* script NULL: of all. */
static struct load_rate *rate_of(const struct load_rates *rates, const char *script)
{
	return script ? load_rates_find(rates, script) : &rates->items[0];
}

static struct run_means means_of(const struct same_loads *o, const char *script)
{
	for (size_t i = 0; i < o->n; i++)
		o->means[i].mean_ns = rate_of(&o->reports[i].rates, script)->summary.mean_ns;
	return (struct run_means){o->means, o->n};
}

static const struct run_mean *find_run_mean(const struct run_means *means, int64_t run)
{
	for (size_t i = 0; i < means->n; i++)
		if (means->items[i].run == run)
			return &means->items[i];
	return NULL;
}

/* How much the rates of scripts vary from run to run, without these two. */
static int find_load_variations(struct load_comparison *c, struct book *book, struct error *err)
{
	_cleanup_(same_loads_clear) struct same_loads of_a = {}, of_b = {};
	int r = read_same_loads(book, c->a, &of_a, err);

	if (r == 0)
		r = read_same_loads(book, c->b, &of_b, err);
	for (size_t i = 0; r == 0 && i < c->n; i++) {
		struct run_means a = means_of(&of_a, c->items[i].a->script);
		struct run_means b = means_of(&of_b, c->items[i].a->script);
		const struct run_mean *mean_a = find_run_mean(&a, run_of(c->a)),
				      *mean_b = find_run_mean(&b, run_of(c->b));

		if (mean_a && mean_b) /* not from an unknown environment */
			c->items[i].variation = run_variation_find(&a,
				find_run_mean(&a, run_of(c->b)) ? NULL : &b,
				(struct run_mean[]){*mean_a, *mean_b}, 2);
	}
	return r;
}

static int list_pairs(struct load_comparison *c, struct error *err)
{
	const struct load_rates *a = &c->a->rates, *b = &c->rates_b;
	size_t common = 0;

	for (size_t i = 1; i < a->n; i++)
		common += load_rates_find(b, a->items[i].script) != NULL;
	if (common == 0)
		return error_say(err, -EINVAL,
			"run %" PRId64 " (%s) and run %" PRId64 " (%s) have no script in common",
			run_of(c->a), c->a->result.discarding.run.program, run_of(c->b),
			c->b->result.discarding.run.program);
	c->same_scripts = common == a->n - 1 && common == b->n - 1;
	for (size_t i = 0; i < a->n; i++) {
		const char *script = a->items[i].script;
		bool wanted = i == 0 ? c->same_scripts
				     : load_rates_find(b, script) && (a->n > 2 || !c->same_scripts);

		if (wanted)
			*array_add(c->items, c->n) = (struct load_pair){&a->items[i], rate_of(b, script)};
	}
	return 0;
}

static struct comparison_side load_side(const struct load_report *p, const struct load_rate *rate)
{
	struct comparison_side side = {.n = p->n_kept, .clock = COMPARISON_ET};

	side.items = xcalloc(p->n_kept + 1, sizeof(*side.items));
	for (size_t i = 0; i < p->n_kept; i++)
		side.items[i] = (struct comparison_time){p->kept[i].n, p->kept[i].start_ns, rate->nano[i]};
	return side;
}

int load_comparison_make(struct load_comparison *ret, struct book *book, const struct load_report *a,
	const struct load_report *b, double between, struct error *err)
{
	static const double KNOWN = 1e6; /* degrees of freedom of what the user says */
	_cleanup_(load_comparison_clear) struct load_comparison c = {.a = a, .b = b};
	_cleanup_(differences_clear) struct differences differences = {};
	_cleanup_(freep) struct comparison **scripts = NULL;
	int64_t before = a->result.discarding.run.environment, now = b->result.discarding.run.environment;
	size_t n_scripts = 0;
	int r;

	if (a->n_kept == 0 || b->n_kept == 0) {
		const struct load_report *p = a->n_kept == 0 ? a : b;

		return error_say(err, -ENODATA, "no run of the load in run %" PRId64 " (%s) counts",
			run_of(p), p->result.discarding.run.program);
	}
	c.rates_b = load_report_rates(b, b->kept, b->n_kept, &a->rates);
	r = list_pairs(&c, err);
	for (size_t i = 0; i < c.n; i++)
		if (between >= 0)
			c.items[i].variation = (struct run_variation){between, KNOWN, 0};
	if (r == 0 && between < 0)
		r = find_load_variations(&c, book, err);
	/* The scripts are adjusted among themselves: the rate of all work is the answer to a question of its own. */
	scripts = xcalloc(c.n + 1, sizeof(*scripts));
	for (size_t i = 0; r == 0 && i < c.n; i++) {
		struct load_pair *pair = &c.items[i];
		_cleanup_(comparison_side_clear) struct comparison_side of_a = load_side(a, pair->a);
		_cleanup_(comparison_side_clear) struct comparison_side of_b = load_side(b, pair->b);

		r = comparison_make(&of_a, &of_b, &pair->variation, &pair->comparison, err);
		if (i >= c.same_scripts)
			scripts[n_scripts++] = &pair->comparison;
	}
	if (r == 0)
		comparisons_adjust(scripts, n_scripts);
	if (r == 0 && before && now && before != now)
		r = environment_differences(book, before, now, &differences, err);
	if (r < 0)
		return r;
	if (differences.n > 0)
		c.environment_changes = differences_description(&differences, 3);
	c.load_changes = load_changes(&a->load, &b->load);
	*ret = TAKE_STRUCT(c);
	return 0;
}

void load_comparison_clear(struct load_comparison *c)
{
	load_rates_clear(&c->rates_b);
	free(c->items);
	free(c->environment_changes);
	free(c->load_changes);
	*c = (struct load_comparison){};
}

struct comparison load_pair_as_times(const struct load_pair *pair)
{
	struct comparison c = pair->comparison;

	c.ratio = 1 / pair->comparison.ratio;
	c.ratio_low = 1 / pair->comparison.ratio_high;
	c.ratio_high = 1 / pair->comparison.ratio_low;
	return c;
}

enum { COMPARED_NAME = 40, COMPARED_SCRIPT = 20 }; /* columns */

/* "run 13 (office.ini), constant-load, 5 runs". */
static void print_load_side(FILE *file, const char *label, const struct load_report *p)
{
	_cleanup_(freep) char *name = load_short_text(p->result.discarding.run.program, COMPARED_NAME);
	_cleanup_(freep) char *text = text_format("run %" PRId64 " (%s), %s, %zu run%s", run_of(p), name,
		coordination_names[p->load.coordination], p->n_kept, p->n_kept == 1 ? "" : "s");

	terminal_wrap(file, text, (size_t)fprintf(file, "%-17s", label), 17);
}

/* The scripts that only `p` has. */
static void print_missing_scripts(FILE *file, const struct load_report *p, const struct load_report *other)
{
	for (size_t i = 1; i < p->rates.n; i++) {
		const char *script = p->rates.items[i].script;
		_cleanup_(freep) char *name = load_short_text(script, COMPARED_NAME);

		if (!load_rates_find(&other->rates, script))
			fprintf(file, "Only run %" PRId64 " has the script '%s'.\n", run_of(p), name);
	}
}

static void add_pair_row(struct table *table, const struct load_pair *pair)
{
	const struct comparison *c = &pair->comparison, times = load_pair_as_times(pair);
	const struct load_unit *unit = load_unit_for(pair->a->summary.mean_ns);
	_cleanup_(freep) char *script = load_short_text(pair->a->script ?: "all", COMPARED_SCRIPT);
	int of_a = load_rate_decimals(pair->a, unit), of_b = load_rate_decimals(pair->b, unit);
	int decimals = of_a < of_b ? of_a : of_b;

	table_row(table);
	table_cell_text(table, script);
	table_cell(table, "%.*f /%s", decimals, pair->a->summary.mean_ns * unit->seconds / 1e9, unit->name);
	table_cell(table, "%.*f /%s", decimals, pair->b->summary.mean_ns * unit->seconds / 1e9, unit->name);
	table_cell_real(table, "%.3f", c->ratio);
	table_cell_text(
		table, isnan(c->ratio_low) ? "-" : text_brief("%.3f to %.3f", c->ratio_low, c->ratio_high));
	table_cell_text(table, comparison_verdict_text(&times));
	table_cell_real(table, "%.2g", c->p_adjusted);
	table_cell_text(table, isnan(c->smallest_difference) ? "-" : text_percent(c->smallest_difference));
}

void load_comparison_print(FILE *file, const struct load_comparison *c)
{
	_cleanup_(freep) char *a = text_format("RUN %" PRId64, run_of(c->a));
	_cleanup_(freep) char *b = text_format("RUN %" PRId64, run_of(c->b));
	const struct column columns[] = {{"SCRIPT", COLUMN_WRAP}, {a, COLUMN_NUMBER}, {b, COLUMN_NUMBER},
		{"RATIO", COLUMN_NUMBER}, {"95 % CI", COLUMN_TEXT}, {"VERDICT", COLUMN_TEXT},
		{"P", COLUMN_NUMBER}, {"MDD", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	print_load_side(file, "Rate of work of", c->b);
	print_load_side(file, "compared with", c->a);

	const struct load_pair *first = &c->items[0];

	switch (first->comparison.design) {
	case DESIGN_PAIRS:
		fprintf(file, "Taken in turn: compared in %zu pairs.\n", first->comparison.a.n);
		break;
	case DESIGN_BETWEEN:
		fprintf(file, "Not taken in turn: the rates of separate loads vary by %s ",
			text_percent(first->variation.sd));
		if (first->variation.n_runs > 0)
			fprintf(file, "(sd of %zu).\n", first->variation.n_runs);
		else
			fprintf(file, "(--between-runs).\n");
		break;
	default:
		fprintf(file,
			"No verdict: it is not known how much the rate varies from one call of emp-load\n"
			"to the next. Three more calls of either load show it; or give --between-runs.\n");
	}
	if (c->environment_changes)
		terminal_wrap(file, c->environment_changes, (size_t)fprintf(file, "Environments differ:"), 2);
	if (c->load_changes)
		terminal_wrap(file, c->load_changes, (size_t)fprintf(file, "Loads differ:"), 2);
	print_missing_scripts(file, c->a, c->b);
	print_missing_scripts(file, c->b, c->a);
	for (size_t i = 0; i < c->n; i++)
		add_pair_row(table, &c->items[i]);
	table_print(table, file);
	if (c->same_scripts && load_rates_in_shares(&c->rates_b))
		fprintf(file, "all: the geometric mean of the scripts, in shares of each one's work.\n");
	fprintf(file, "RATIO: of the mean rates (1 = equal). MDD: minimum detectable difference.\n");
	if (c->n - c->same_scripts > 1)
		fprintf(file,
			"P, the intervals and MDD of the scripts are adjusted for their number (Holm).\n");
}

/* As emp-comparison has it. The rates are in the documents of the loads. */
static json_t *pair_json(const struct load_comparison *c, const struct load_pair *pair)
{
	_cleanup_(freep) char *a = load_report_name(c->a), *b = load_report_name(c->b);
	struct comparison times = load_pair_as_times(pair);
	json_t *object = comparison_as_json(a, b, &pair->comparison);

	json_object_set_new(object, "verdict", json_string(comparison_verdict_text(&times)));
	if (pair->a->script)
		json_object_set_new(object, "script", json_string(pair->a->script));
	json_object_del(object, "smallest_difference"); /* a former name, which loads never had */
	return object;
}

json_t *load_comparison_as_json(const struct load_comparison *c)
{
	json_t *document = load_report_as_json(c->b), *scripts = json_array();
	json_t *comparison = c->same_scripts ? pair_json(c, &c->items[0]) : json_object();

	for (size_t i = c->same_scripts; i < c->n; i++)
		json_array_append_new(scripts, pair_json(c, &c->items[i]));
	json_object_set_new(comparison, "scripts", scripts);
	if (c->environment_changes)
		json_object_set_new(comparison, "environment_changes", json_string(c->environment_changes));
	if (c->load_changes)
		json_object_set_new(comparison, "load_changes", json_string(c->load_changes));
	json_object_set_new(document, "reference", load_report_as_json(c->a));
	json_object_set_new(document, "comparison", comparison);
	return document;
}

/* A load as CSV and as a table in Markdown. */

/* Seconds, as in the CSV of emp-measure; below 0: not known. */
static void csv_time(struct table *table, int64_t ns)
{
	table_cell_value(table, ns < 0 ? NULL : json_real((double)ns / 1e9), NULL);
}

static void csv_number(struct table *table, int64_t value)
{
	table_cell_value(table, value < 0 ? NULL : json_integer(value), NULL);
}

void load_write_csv(FILE *file, const struct load_reports *reports)
{
	static const struct column columns[] = {{.member = "run"}, {.member = "load"},
		{.member = "coordination"}, {.member = "sample"}, {.member = "kept"},
		{.member = "time_to_last"}, {.member = "slave"}, {.member = "script"},
		{.member = "repetitions"}, {.member = "rate"}, {.member = "started"}, {.member = "finished"},
		{.member = "last"}, {.member = "pt"}, {.member = "user"}, {.member = "system"},
		{.member = "wait"}, {.member = "io_wait"}, {.member = "major_faults"},
		{.member = "max_rss_bytes"}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t at = 0; at < reports->n; at++) {
		const struct load_report *p = reports->items[at];
		const struct run_result *r = &p->result;

		for (size_t i = 0, k = 0; i < p->n_parts; i++) {
			while (k < r->n_samples && r->samples[k].n < p->parts[i].sample)
				k++;
			if (k < r->n_samples && r->samples[k].n == p->parts[i].sample) {
				const struct sample_program *part = &p->parts[i];
				const struct run *run = &p->result.discarding.run;

				table_row(table);
				table_cell_int(table, run->id);
				table_cell_text(table, terminal_text(run->program));
				table_cell_text(table, coordination_names[p->load.coordination]);
				table_cell_int(table, r->samples[k].n);
				table_cell_int(table, !r->discarding.out[k]);
				csv_time(table, r->samples[k].et_ns);
				table_cell_int(table, part->program);
				table_cell_text(table, terminal_text(p->programs[part->program - 1].name));
				csv_number(table, part->repetitions);
				table_cell(table, "%.9f",
					load_rate_of_slave(p->load.coordination, &r->samples[k], part));
				csv_time(table, part->start_ns - r->samples[k].start_ns);
				csv_time(table, part->finished_ns);
				csv_time(table, part->et_ns);
				csv_time(table, part->pt_ns);
				csv_time(table, part->user_ns);
				csv_time(table, part->system_ns);
				csv_time(table, part->wait_ns);
				csv_time(table, part->io_wait_ns);
				csv_number(table, part->major_faults);
				csv_number(table, part->max_rss_bytes);
			}
		}
	}
	table_write(table, TABLE_CSV, file);
}

static void markdown_script(struct table *table, const struct load_rate *rate)
{
	table_row(table);
	if (rate->script)
		table_cell_code(table, rate->script);
	else
		table_cell_text(table, "all");
	table_cell_int(table, rate->slaves);
}

/* "12.26 ± 0.29" */
static void markdown_rate(struct table *table, const struct load_rate *rate, const struct load_unit *unit)
{
	double scale = unit->seconds / 1e9;
	int decimals = load_rate_decimals(rate, unit);

	if (rate->summary.n > 1)
		table_cell(table, "%.*f ± %.*f", decimals, rate->summary.mean_ns * scale, decimals,
			rate->summary.sd_ns * scale);
	else
		table_cell(table, "%.*f", decimals, rate->summary.mean_ns * scale);
}

void load_write_markdown(FILE *file, const struct load_reports *reports)
{
	if (reports->comparison) {
		const struct load_comparison *c = reports->comparison;
		const struct load_unit *unit = load_unit_for(c->items[0].a->summary.mean_ns);
		_cleanup_(freep) char *a = text_format(
			"Run %" PRId64 " [/%s]", c->a->result.discarding.run.id, unit->name);
		_cleanup_(freep) char *b = text_format(
			"Run %" PRId64 " [/%s]", c->b->result.discarding.run.id, unit->name);
		const struct column columns[] = {
			{load_rates_in_shares(&c->rates_b) ? "Script (all: in shares)" : "Script"},
			{"Slaves", COLUMN_NUMBER}, {a, COLUMN_NUMBER}, {b, COLUMN_NUMBER},
			{"Ratio", COLUMN_NUMBER}, {"95 % CI", COLUMN_NUMBER}, {"Verdict"}, {}};
		_cleanup_(table_freep) struct table *table = table_new(columns);

		for (size_t i = 0; i < c->n; i++) {
			const struct comparison *pair = &c->items[i].comparison,
						times = load_pair_as_times(&c->items[i]);

			markdown_script(table, c->items[i].b);
			markdown_rate(table, c->items[i].a, unit);
			markdown_rate(table, c->items[i].b, unit);
			table_cell(table, "%.3f", pair->ratio);
			if (isnan(pair->ratio_low))
				table_cell_text(table, NULL);
			else
				table_cell(table, "%.3f … %.3f", pair->ratio_low, pair->ratio_high);
			table_cell_text(table, comparison_verdict_text(&times));
		}
		table_write(table, TABLE_MARKDOWN, file);
	} else {
		const struct load_unit *unit = load_unit_for(
			reports->items[0]->rates.items[0].summary.mean_ns);
		bool in_shares = load_rates_in_shares(&reports->items[0]->rates);
		_cleanup_(freep) char *heading = text_format(
			"Rate of work [/%s%s]", unit->name, in_shares ? ", all: in shares" : "");
		const struct column columns[] = {{"Script"}, {"Slaves", COLUMN_NUMBER},
			{heading, COLUMN_NUMBER}, {"CV", COLUMN_NUMBER}, {"95 % CI", COLUMN_NUMBER}, {}};
		_cleanup_(table_freep) struct table *table = table_new(columns);

		for (size_t i = 0; i < (in_shares ? reports->items[0]->rates.n : 1); i++) {
			const struct load_rate *rate = &reports->items[0]->rates.items[i];
			double scale = unit->seconds / 1e9, mean = rate->summary.mean_ns;
			bool known = rate->summary.n > 1 && mean > 0;
			int decimals = load_rate_decimals(rate, unit);

			markdown_script(table, rate);
			markdown_rate(table, rate, unit);
			table_cell_text(table, known ? text_percent(rate->summary.sd_ns / mean) : NULL);
			if (known)
				table_cell(table, "%.*f … %.*f", decimals, rate->interval.low_ns * scale,
					decimals, rate->interval.high_ns * scale);
			else
				table_cell_text(table, NULL);
		}
		table_write(table, TABLE_MARKDOWN, file);
	}
}
