/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two loads compared, on the screen and as a document: see load_comparison.h. */
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/report/comparison_report.h"
#include "lib/load/load_comparison.h"

#include <inttypes.h>
#include <math.h>

enum { NAME = 40, SCRIPT = 20 };

/* "run 13 (office.ini), constant-load, 5 runs". */
static char *side_text(const struct load_report *p)
{
	const struct run *run = &p->result.discarding.run;
	_cleanup_(freep) char *name = load_short_text(run->program, NAME);

	return name ? text_format("run %" PRId64 " (%s), %s, %zu run%s", run->id, name,
			      coordination_names[p->load.coordination], p->n_kept, p->n_kept == 1 ? "" : "s")
		    : NULL;
}

static int print_sides(FILE *file, const struct load_comparison *c, struct error *err)
{
	_cleanup_(freep) char *a = side_text(c->a), *b = side_text(c->b);

	if (!a || !b)
		return error_oom(err);
	terminal_wrap(file, b, (size_t)fprintf(file, "Rate of work of  "), 17);
	terminal_wrap(file, a, (size_t)fprintf(file, "compared with    "), 17);
	return 0;
}

static void print_design(FILE *file, const struct load_comparison *c)
{
	const struct load_pair *first = &c->items[0];
	char sd[TEXT_TIME_SIZE];

	switch (first->comparison.design) {
	case DESIGN_PAIRS:
		fprintf(file, "Taken in turn: compared in %zu pairs.\n", first->comparison.a.n);
		break;
	case DESIGN_BETWEEN:
		fprintf(file, "Not taken in turn: the rates of separate loads vary by %s ",
			text_percent(sd, first->variation.sd));
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
}

/* Of one of them only. */
static void print_missing(FILE *file, const struct load_report *p, const struct load_report *other)
{
	for (size_t i = 1; i < p->rates.n; i++) {
		const char *script = p->rates.items[i].script;
		_cleanup_(freep) char *name = load_short_text(script, NAME);

		if (!load_rates_find(&other->rates, script))
			fprintf(file, "Only run %" PRId64 " has the script '%s'.\n", p->result.discarding.run.id,
				name ?: "");
	}
}

static void print_changes(FILE *file, const struct load_comparison *c)
{
	if (c->environment_changes)
		terminal_wrap(file, c->environment_changes,
			(size_t)fprintf(file, "Environments differ:"), 2);
	if (c->load_changes)
		terminal_wrap(file, c->load_changes, (size_t)fprintf(file, "Loads differ:"), 2);
	print_missing(file, c->a, c->b);
	print_missing(file, c->b, c->a);
}

static void add_rate(struct table *table, const struct load_rate *rate, const struct load_unit *unit, int decimals)
{
	table_cell(table, "%.*f /%s", decimals, rate->summary.mean_ns * unit->seconds / 1e9, unit->name);
}

/* NAN: not known. */
static void add_number(struct table *table, const char *format, double value)
{
	char text[32];

	snprintf(text, sizeof(text), format, value);
	table_cell_text(table, isnan(value) ? "-" : text);
}

static void add_row(struct table *table, const struct load_pair *pair)
{
	const struct comparison *c = &pair->comparison, times = load_pair_as_times(pair);
	const struct load_unit *unit = load_unit_for(pair->a->summary.mean_ns);
	_cleanup_(freep) char *script = load_short_text(pair->a->script ?: "all", SCRIPT);
	int of_a = load_rate_decimals(pair->a, unit), of_b = load_rate_decimals(pair->b, unit);
	int decimals = of_a < of_b ? of_a : of_b;
	char interval[64] = "-", mdd[TEXT_TIME_SIZE] = "-";

	if (!isnan(c->ratio_low))
		snprintf(interval, sizeof(interval), "%.3f to %.3f", c->ratio_low, c->ratio_high);
	if (!isnan(c->smallest_difference))
		text_percent(mdd, c->smallest_difference);
	table_row(table);
	table_cell_text(table, script ?: "");
	add_rate(table, pair->a, unit, decimals);
	add_rate(table, pair->b, unit, decimals);
	add_number(table, "%.3f", c->ratio);
	table_cell_text(table, interval);
	table_cell_text(table, comparison_verdict_text(&times));
	add_number(table, "%.2g", c->p_adjusted);
	table_cell_text(table, mdd);
}

static int print_table(FILE *file, const struct load_comparison *c, struct error *err)
{
	_cleanup_(freep) char *a = text_format("RUN %" PRId64, c->a->result.discarding.run.id);
	_cleanup_(freep) char *b = text_format("RUN %" PRId64, c->b->result.discarding.run.id);
	const struct column columns[] = {{"SCRIPT", COLUMN_WRAP}, {a, COLUMN_NUMBER},
		{b, COLUMN_NUMBER}, {"RATIO", COLUMN_NUMBER}, {"95 % CI", COLUMN_TEXT},
		{"VERDICT", COLUMN_TEXT}, {"P", COLUMN_NUMBER}, {"MDD", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < c->n; i++)
		add_row(table, &c->items[i]);
	table_print(table, file);
	fprintf(file, "%sRATIO: of the mean rates (1 = equal). MDD: minimum detectable difference.\n%s",
			c->same_scripts && load_rates_in_shares(&c->rates_b)
				? "all: the geometric mean of the scripts, in shares of each one's work.\n"
				: "",
			c->n - c->same_scripts > 1
				? "P, the intervals and MDD of the scripts are adjusted for their number (Holm).\n"
				: "");
	return 0;
}

int load_comparison_print(FILE *file, const struct load_comparison *c, struct error *err)
{
	int r = print_sides(file, c, err);

	if (r < 0)
		return r;
	print_design(file, c);
	print_changes(file, c);
	return print_table(file, c, err);
}

/* As emp-comparison has it. The rates are in the documents of the loads. */
static json_t *pair_json(const struct load_comparison *c, const struct load_pair *pair)
{
	_cleanup_(freep) char *a = load_report_name(c->a), *b = load_report_name(c->b);
	struct comparison times = load_pair_as_times(pair);
	json_t *object = a && b ? comparison_as_json(a, b, &pair->comparison) : NULL;

	json_object_set_new(object, "verdict", json_string(comparison_verdict_text(&times)));
	if (pair->a->script)
		json_object_set_new(object, "script", json_string(pair->a->script));
	json_object_del(object, "smallest_difference"); /* a former name, which loads never had */
	return object;
}

json_t *load_comparison_as_json(const struct load_comparison *c)
{
	_cleanup_(json_decrefp) json_t *document = load_report_as_json(c->b);
	json_t *comparison = c->same_scripts ? pair_json(c, &c->items[0]) : json_object(), *scripts = json_array();
	int r = 0;

	for (size_t i = c->same_scripts; i < c->n; i++)
		r |= json_array_append_new(scripts, pair_json(c, &c->items[i]));
	r |= json_object_set_new(comparison, "scripts", scripts);
	if (c->environment_changes)
		r |= json_object_set_new(comparison, "environment_changes", json_string(c->environment_changes));
	if (c->load_changes)
		r |= json_object_set_new(comparison, "load_changes", json_string(c->load_changes));
	r |= json_object_set_new(document, "reference", load_report_as_json(c->a));
	r |= json_object_set_new(document, "comparison", comparison);
	return r == 0 ? TAKE(document) : NULL;
}
