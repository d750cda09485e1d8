/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results as CSV and as tables in Markdown, AsciiDoc and Org mode: see export.h. hyperfine's columns come
 * first, as in hyperfine: elapsed times of all samples. */
#include "measure/export.h"

#include "lib/base/cleanup.h"
#include "lib/base/markup.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One command. */
struct row {
	const struct result *result;
	double mean_ns, sd_ns, median_ns, user_ns, system_ns, min_ns, max_ns;
	double relative,
		relative_sd; /* to the reference, else to the fastest; sd NAN: this is the reference */
	double pt_mean_ns, pt_sd_ns, pt_samples, discarded;
};

enum kind { TIME, RATIO, COUNT, PARAMETERS };

static const struct column {
	const char *csv;   /* heading, NULL: not in CSV */
	const char *title; /* heading in tables, NULL: not in tables */
	enum kind kind;
	size_t value, sd; /* offsets into struct row; sd 0: none */
} columns[] = {
	{"mean", "Mean", TIME, offsetof(struct row, mean_ns), offsetof(struct row, sd_ns)},
	{"stddev", NULL, TIME, offsetof(struct row, sd_ns)},
	{"median", NULL, TIME, offsetof(struct row, median_ns)},
	{"user", NULL, TIME, offsetof(struct row, user_ns)},
	{"system", NULL, TIME, offsetof(struct row, system_ns)},
	{"min", "Min", TIME, offsetof(struct row, min_ns)},
	{"max", "Max", TIME, offsetof(struct row, max_ns)},
	{"parameter_", NULL, PARAMETERS},
	{NULL, "Relative", RATIO, offsetof(struct row, relative), offsetof(struct row, relative_sd)},
	{"pt_mean", "PT", TIME, offsetof(struct row, pt_mean_ns), offsetof(struct row, pt_sd_ns)},
	{"pt_stddev", NULL, TIME, offsetof(struct row, pt_sd_ns)},
	{"pt_samples", NULL, COUNT, offsetof(struct row, pt_samples)},
	{"discarded", "Discarded", COUNT, offsetof(struct row, discarded)},
};

struct rows {
	struct row *items;
	size_t n;
};

static void rows_clear(struct rows *rows)
{
	free(rows->items);
}

static double figure(const struct row *row, size_t offset)
{
	return *(const double *)((const char *)row + offset);
}

static struct row make_row(const struct result *r)
{
	const struct summary *et = &r->run.discarding.et.raw, *pt = &r->run.discarding.pt.kept;
	struct result_means means = result_means(r);

	return (struct row){
		.result = r,
		.mean_ns = et->mean_ns,
		.sd_ns = et->sd_ns,
		.median_ns = et->median_ns,
		.user_ns = means.user_ns,
		.system_ns = means.system_ns,
		.min_ns = (double)et->min_ns,
		.max_ns = (double)et->max_ns,
		.pt_mean_ns = pt->mean_ns,
		.pt_sd_ns = pt->sd_ns,
		.pt_samples = (double)pt->n,
		.discarded = (double)(r->run.n_samples - pt->n),
	};
}

static int by_mean(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	return (a->mean_ns > b->mean_ns) - (a->mean_ns < b->mean_ns);
}

/* The ratio of two means, and its sd by propagation of their sds, as in hyperfine. */
static void relate(struct row *row, const struct row *base)
{
	double of_row = row->sd_ns / row->mean_ns, of_base = base->sd_ns / base->mean_ns;

	row->relative = row->mean_ns / base->mean_ns;
	row->relative_sd = row->result == base->result
				   ? NAN
				   : row->relative * sqrt(of_row * of_row + of_base * of_base);
}

static int make_rows(const struct session *s, struct rows *rows, struct error *err)
{
	struct row base;

	rows->items = calloc(s->n + 1, sizeof(*rows->items));
	if (!rows->items)
		return error_oom(err);
	for (size_t i = 0; i < session_n_shown(s); i++)
		if (s->tasks[i].result.run.n_samples > 0)
			rows->items[rows->n++] = make_row(&s->tasks[i].result);
	base = rows->items[0];
	for (size_t i = 1; !s->options->reference && i < rows->n; i++)
		base = rows->items[i].mean_ns < base.mean_ns ? rows->items[i] : base;
	for (size_t i = 0; i < rows->n; i++)
		relate(&rows->items[i], &base);
	return 0;
}

/* A heading for each parameter, or the values of a row. The reference has none. */
static void csv_parameters(FILE *file, const struct parameters *p, const char *heading, const struct row *row)
{
	for (size_t i = 0; i < p->n; i++) {
		const char *value = row && row->result->command->values ? row->result->command->values[i]
									: "";
		_cleanup_(freep) char *name = text_format("%s%s", heading, p->items[i].name);

		fputc(',', file);
		markup_csv(file, row ? value : name ?: "");
	}
}

/* row NULL: the headings. */
static void csv_line(FILE *file, const struct parameters *p, const struct row *row)
{
	markup_csv(file, row ? row->result->name : "command");
	for (size_t i = 0; i < ELEMENTS(columns); i++) {
		const struct column *c = &columns[i];

		if (!c->csv)
			continue;
		if (c->kind == PARAMETERS)
			csv_parameters(file, p, c->csv, row);
		else if (!row)
			fprintf(file, ",%s", c->csv);
		else
			fprintf(file, c->kind == TIME ? ",%.9f" : ",%.0f",
				figure(row, c->value) / (c->kind == TIME ? 1e9 : 1));
	}
	fputc('\n', file);
}

int export_write_csv(const struct session *s, FILE *file, struct error *err)
{
	_cleanup_(rows_clear) struct rows rows = {};
	int r = make_rows(s, &rows, err);

	if (r < 0)
		return r;
	csv_line(file, &s->options->parameters, NULL);
	for (size_t i = 0; i < rows.n; i++)
		csv_line(file, &s->options->parameters, &rows.items[i]);
	return 0;
}

/* The text around the cells of a table: a frame has a part for the command's column, one for each other column, and
 * an end. */
struct frame {
	const char *first, *each, *end;
};

struct markup {
	struct frame top, divider; /* before and after the headings */
	const char *bottom;
	const char *row, *second, *next, *end; /* before the first cell, the second, others; after the last */
	void (*command)(FILE *file, const char *command);
};

/* What has a meaning there, even in `monospace`, as a number (&#96;). */
static void asciidoc_command(FILE *file, const char *command)
{
	fputc('`', file);
	for (; *command; command++)
		if (*command == '|')
			fputs("\\|", file);
		else if (strchr("`{[<&+", *command))
			fprintf(file, "&#%d;", *command);
		else
			fputc(*command, file);
	fputc('`', file);
}

/* Verbatim, or code if it has a = in it. */
static void orgmode_command(FILE *file, const char *command)
{
	char quote = strchr(command, '=') && !strchr(command, '~') ? '~' : '=';

	fputc(quote, file);
	markup_without_bars(file, command, "\\vert{}");
	fputc(quote, file);
}

static const struct markup markdown = {
	.top = {"", "", ""},
	.divider = {"|:---|", "---:|", "\n"},
	.bottom = "",
	.row = "| ",
	.second = " | ",
	.next = " | ",
	.end = " |\n",
	.command = markup_markdown,
};

static const struct markup asciidoc = {
	.top = {"[cols=\"<", ",>", "\"]\n|==="},
	.divider = {"", "", ""},
	.bottom = "|===\n",
	.row = "\n| ",
	.second = " \n| ",
	.next = " \n| ",
	.end = " \n",
	.command = asciidoc_command,
};

static const struct markup orgmode = {
	.top = {"", "", ""},
	.divider = {"|--", "+--", "|\n"},
	.bottom = "",
	.row = "| ",
	.second = "  |  ",
	.next = " |  ",
	.end = " |\n",
	.command = orgmode_command,
};

static void table_frame(FILE *file, const struct frame *frame)
{
	fputs(frame->first, file);
	for (size_t i = 0; i < ELEMENTS(columns); i++)
		if (columns[i].title)
			fputs(frame->each, file);
	fputs(frame->end, file);
}

/* The decimals that give the sd two significant digits; without an sd, those of hyperfine. */
static int decimals(double sd, double unit_ns)
{
	int n = unit_ns >= 1e9 ? 3 : 1;

	if (sd > 0)
		for (double x = sd / unit_ns * pow(10, n); x < 10 && n < 6; x *= 10)
			n++;
	return n;
}

static void table_cell(FILE *file, const struct column *c, const struct row *row, double unit_ns)
{
	double size = c->kind == TIME ? unit_ns : 1, sd = c->sd ? figure(row, c->sd) / size : NAN;
	int n = c->kind == TIME
			? decimals(c->value == offsetof(struct row, pt_mean_ns) ? row->pt_sd_ns : row->sd_ns,
				  unit_ns)
		: c->kind == RATIO ? 2
				   : 0;

	fprintf(file, "%.*f", n, figure(row, c->value) / size);
	if (!isnan(sd) && row->result->run.n_samples > 1)
		fprintf(file, " ± %.*f", n, sd);
}

/* row NULL: the headings. */
static void table_row_of(
	FILE *file, const struct markup *m, const struct row *row, const char *unit, double unit_ns)
{
	const char *between = m->second;

	fputs(m->row, file);
	row ? m->command(file, terminal_text(row->result->name)) : (void)fputs("Command", file);
	for (size_t i = 0; i < ELEMENTS(columns); i++) {
		const struct column *c = &columns[i];

		if (!c->title)
			continue;
		fputs(between, file);
		between = m->next;
		if (row)
			table_cell(file, c, row, unit_ns);
		else
			fprintf(file, c->kind == TIME ? "%s [%s]" : "%s", c->title, unit);
	}
	fputs(m->end, file);
}

static int write_table(const struct session *s, const struct markup *m, FILE *file, struct error *err)
{
	_cleanup_(rows_clear) struct rows rows = {};
	int r = make_rows(s, &rows, err);
	double first, unit_ns;
	const char *unit;

	if (r < 0)
		return r;
	first = rows.items[0].mean_ns;
	unit = s->options->unit ?: first >= 1e9 ? "s" : first >= 1e6 ? "ms" : "us";
	unit_ns = !strcmp(unit, "s") ? 1e9 : !strcmp(unit, "ms") ? 1e6 : 1e3;
	if (s->options->sort == SORT_MEAN_TIME)
		qsort(rows.items, rows.n, sizeof(*rows.items), by_mean);
	table_frame(file, &m->top);
	table_row_of(file, m, NULL, unit, unit_ns);
	table_frame(file, &m->divider);
	for (size_t i = 0; i < rows.n; i++)
		table_row_of(file, m, &rows.items[i], unit, unit_ns);
	fputs(m->bottom, file);
	return 0;
}

int export_write_markdown(const struct session *s, FILE *file, struct error *err)
{
	return write_table(s, &markdown, file, err);
}

int export_write_asciidoc(const struct session *s, FILE *file, struct error *err)
{
	return write_table(s, &asciidoc, file, err);
}

int export_write_orgmode(const struct session *s, FILE *file, struct error *err)
{
	return write_table(s, &orgmode, file, err);
}
