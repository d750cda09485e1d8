/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results as CSV and as tables in Markdown, AsciiDoc and Org mode: see export.h. hyperfine's columns come
 * first, as in hyperfine: elapsed times of all samples. */
#include "measure/export.h"

#include "measure/export_rows.h"

#include "lib/base/cleanup.h"
#include "lib/base/markup.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/report/noise_load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind { TIME, RATIO, COUNT, PARAMETERS, INTERVAL, COMMAND };

static const struct column {
	const char *csv;   /* heading, NULL: not in CSV */
	const char *title; /* heading in tables, NULL: not in tables */
	enum kind kind;
	size_t value, sd; /* offsets into struct export_row; sd 0: none */
} columns[] = {
	{"mean", "Mean", TIME, offsetof(struct export_row, mean_ns), offsetof(struct export_row, sd_ns)},
	{"stddev", NULL, TIME, offsetof(struct export_row, sd_ns)},
	{"median", NULL, TIME, offsetof(struct export_row, median_ns)},
	{"user", NULL, TIME, offsetof(struct export_row, user_ns)},
	{"system", NULL, TIME, offsetof(struct export_row, system_ns)},
	{"min", "Min", TIME, offsetof(struct export_row, min_ns)},
	{"max", "Max", TIME, offsetof(struct export_row, max_ns)},
	{"parameter_", NULL, PARAMETERS},
	{NULL, "Relative", RATIO, offsetof(struct export_row, relative),
		offsetof(struct export_row, relative_sd)},
	{"pt_mean", "PT", TIME, offsetof(struct export_row, pt_mean_ns),
		offsetof(struct export_row, pt_sd_ns)},
	{"pt_stddev", NULL, TIME, offsetof(struct export_row, pt_sd_ns)},
	{"pt_samples", NULL, COUNT, offsetof(struct export_row, pt_samples)},
	{"discarded", "Discarded", COUNT, offsetof(struct export_row, discarded)},
	{"peak_memory", NULL, COUNT, offsetof(struct export_row, memory_bytes)},
	{"command_line", NULL, COMMAND},
	{NULL, "PT ratio (95 % CI)", INTERVAL, offsetof(struct export_row, pt_ratio)},
};

static double figure(const struct export_row *row, size_t offset)
{
	return *(const double *)((const char *)row + offset);
}

/* A heading for each parameter, or the values of a row. The reference has none. */
static void csv_parameters(
	FILE *file, const struct parameters *p, const char *heading, const struct export_row *row)
{
	for (size_t i = 0; i < p->n; i++) {
		const char *value = row && row->result->command->values ? row->result->command->values[i]
									: "";
		_cleanup_(freep) char *name = text_format("%s%s", heading, p->items[i].name);

		fputc(',', file);
		markup_csv(file, row ? value : name ?: "");
	}
}

/* The mark of the profile, which is the same for all; NULL: none. */
static const struct discarding *mark_of(const struct export_rows *rows)
{
	const struct discarding *d = rows->n > 0 ? &rows->items[0].result->run.discarding : NULL;

	return d && noise_marked(d->blind_ns, d->noise) ? d : NULL;
}

/* Below what the profile is blind, in seconds, and why. */
static void csv_mark(FILE *file, const struct discarding *mark)
{
	if (mark->blind_ns > 0)
		fprintf(file, ",%.9f,", (double)mark->blind_ns / 1e9);
	else
		fputs(",,", file);
	markup_csv(file, mark->noise ?: "");
}

/* row NULL: the headings; mark NULL: without its columns. */
static void csv_line(FILE *file, const struct parameters *p, const struct export_row *row,
	const struct discarding *mark)
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
		else if (c->kind == COMMAND || isnan(figure(row, c->value))) {
			fputc(',', file);
			markup_csv(file, c->kind == COMMAND ? row->result->command->text ?: "" : "");
		}
		else
			fprintf(file, c->kind == TIME ? ",%.9f" : ",%.0f",
				figure(row, c->value) / (c->kind == TIME ? 1e9 : 1));
	}
	if (mark && row)
		csv_mark(file, mark);
	else if (mark)
		fputs(",profile_blind,profile_noise", file);
	fputc('\n', file);
}

int export_write_csv(const struct session *s, FILE *file, struct error *err)
{
	_cleanup_(export_rows_clear) struct export_rows rows = {};
	int r = export_rows_make(s, &rows, err);

	if (r < 0)
		return r;
	csv_line(file, &s->options->parameters, NULL, mark_of(&rows));
	for (size_t i = 0; i < rows.n; i++)
		csv_line(file, &s->options->parameters, &rows.items[i], mark_of(&rows));
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

/* A column of tables. Intervals are of duets. */
static bool is_shown(const struct column *c, bool duet)
{
	return c->title && (c->kind != INTERVAL || duet);
}

static void table_frame(FILE *file, const struct frame *frame, bool duet)
{
	fputs(frame->first, file);
	for (size_t i = 0; i < ELEMENTS(columns); i++)
		if (is_shown(&columns[i], duet))
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

static void interval_cell(FILE *file, const struct export_row *row)
{
	double half = (row->pt_ratio_high - row->pt_ratio_low) / 2;
	int n = half > 0 ? 1 - (int)floor(log10(half)) : 3;

	n = n < 2 ? 2 : n > 6 ? 6 : n;
	if (isnan(row->pt_ratio))
		fputs("-", file);
	else if (isnan(half))
		fprintf(file, "%.3f", row->pt_ratio);
	else
		fprintf(file, "%.*f (%.*f to %.*f)", n, row->pt_ratio, n, row->pt_ratio_low, n,
			row->pt_ratio_high);
}

static void table_cell(FILE *file, const struct column *c, const struct export_row *row, double unit_ns)
{
	double size = c->kind == TIME ? unit_ns : 1, sd = c->sd ? figure(row, c->sd) / size : NAN;
	int n = c->kind == TIME ? decimals(c->value == offsetof(struct export_row, pt_mean_ns) ? row->pt_sd_ns
											       : row->sd_ns,
					  unit_ns)
		: c->kind == RATIO ? 2
				   : 0;

	fprintf(file, "%.*f", n, figure(row, c->value) / size);
	if (!isnan(sd) && row->result->run.n_samples > 1)
		fprintf(file, " ± %.*f", n, sd);
}

/* row NULL: the headings. */
static void table_row_of(FILE *file, const struct markup *m, const struct export_row *row, const char *unit,
	double unit_ns, bool duet)
{
	const char *between = m->second;

	fputs(m->row, file);
	row ? m->command(file, terminal_text(row->result->name)) : (void)fputs("Command", file);
	for (size_t i = 0; i < ELEMENTS(columns); i++) {
		const struct column *c = &columns[i];

		if (!is_shown(c, duet))
			continue;
		fputs(between, file);
		between = m->next;
		if (row && c->kind == INTERVAL)
			interval_cell(file, row);
		else if (row)
			table_cell(file, c, row, unit_ns);
		else
			fprintf(file, c->kind == TIME ? "%s [%s]" : "%s", c->title, unit);
	}
	fputs(m->end, file);
}

/* After the table, as code, so that nothing in it has a meaning. */
static void write_paragraph(FILE *file, const struct markup *m, const char *text)
{
	fputc('\n', file);
	m->command(file, terminal_text(text));
	fputc('\n', file);
}

static int write_mark(FILE *file, const struct markup *m, const char *profile,
	const struct discarding *mark, struct error *err)
{
	_cleanup_(freep) char *text = mark ? noise_text(profile, mark->blind_ns, mark->noise) : NULL;

	if (text)
		write_paragraph(file, m, text);
	return mark && !text ? error_oom(err) : 0;
}

/* Why the table does not show the duet. */
static int write_doubt(FILE *file, const struct markup *m, const struct session *s, struct error *err)
{
	_cleanup_(freep) char *text = text_format(
		"%s, so they were taken in turn.", duet_doubt_sentences[s->doubt]);

	if (text && session_judged(s) != s)
		write_paragraph(file, m, text);
	return 0;
}

static int write_table(const struct session *s, const struct markup *m, FILE *file, struct error *err)
{
	_cleanup_(export_rows_clear) struct export_rows rows = {};
	bool duet = s->options->order == ORDER_DUET && session_n_shown(s) > 1;
	int r = export_rows_make(s, &rows, err);
	double first, unit_ns;
	const char *unit;

	if (r < 0)
		return r;
	first = rows.items[0].mean_ns;
	unit = s->options->unit ?: first >= 1e9 ? "s" : first >= 1e6 ? "ms" : "us";
	unit_ns = !strcmp(unit, "s") ? 1e9 : !strcmp(unit, "ms") ? 1e6 : 1e3;
	if (s->options->sort == SORT_MEAN_TIME)
		export_rows_sort(&rows);
	table_frame(file, &m->top, duet);
	table_row_of(file, m, NULL, unit, unit_ns, duet);
	table_frame(file, &m->divider, duet);
	for (size_t i = 0; i < rows.n; i++)
		table_row_of(file, m, &rows.items[i], unit, unit_ns, duet);
	fputs(m->bottom, file);
	r = write_mark(file, m, s->options->profile, mark_of(&rows), err);
	return r < 0 ? r : write_doubt(file, m, s, err);
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
