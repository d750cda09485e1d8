/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison as a line, a row and JSON: see comparison_report.h. */
#include "lib/report/comparison_report.h"

#include "lib/base/text.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 80, LINE_SIZE = 256 };

/* The text, cut in the middle to fit: the ends are where two commands differ. */
static void print_name(FILE *file, const char *name, size_t columns)
{
	size_t width = terminal_text_width(name), tail = (columns - 1) / 2;

	fputs(terminal_mark(file, MARK_STRONG), file);
	if (width <= columns)
		fputs(name, file);
	else
		fprintf(file, "%.*s…%s", (int)terminal_text_fit(name, columns - 1 - tail), name,
			name + terminal_text_fit(name, width - tail));
	fputs(terminal_mark(file, MARK_END), file);
}

static const char *p_text(char buffer[32], double p)
{
	if (p < 0.0001)
		return "p < 0.0001";
	snprintf(buffer, 32, p < 0.001 ? "p = %.4f" : "p = %.2g", p);
	return buffer;
}

/* Decimals that show one digit of the ±, at least two. */
static int decimals_for(double half)
{
	int decimals = half > 0 ? -(int)floor(log10(half)) : 2;

	return decimals < 2 ? 2 : decimals > 6 ? 6 : decimals;
}

static void print_same(FILE *file, const char *name, const struct comparison *c)
{
	char p[32], mdd[TEXT_TIME_SIZE], rest[LINE_SIZE];

	snprintf(rest, sizeof(rest), ": no difference shown (%s; %s would have been detectable)",
		p_text(p, c->welch_p), text_percent(mdd, c->smallest_difference));
	print_name(file, name, COLUMNS - terminal_text_width(rest));
	fprintf(file, "%s\n", rest);
}

static void print_unknown(FILE *file, const char *reference, const char *name, const struct comparison *c)
{
	char middle[LINE_SIZE];
	size_t left;

	snprintf(middle, sizeof(middle), ": %.2f times the PT of ", c->ratio);
	left = COLUMNS - strlen(middle) - strlen("  (too few samples)");
	print_name(file, name, left / 2);
	fputs(middle, file);
	print_name(file, reference, left / 2);
	fprintf(file, "  (too few samples)\n");
}

static void print_different(FILE *file, const char *reference, const char *name, const struct comparison *c)
{
	bool faster = comparison_verdict(c) == COMPARISON_FASTER;
	double ratio = faster ? 1 / c->ratio : c->ratio;
	double half = (faster ? 1 / c->ratio_low - 1 / c->ratio_high : c->ratio_high - c->ratio_low) / 2;
	const char *mark = terminal_mark(file, faster ? MARK_GOOD : MARK_BAD);
	char number[64], p[32], before[LINE_SIZE];
	size_t left, shorter, width = terminal_text_width(name);

	snprintf(number, sizeof(number), "%.*f ± %.*f times %s", decimals_for(half), ratio,
		decimals_for(half), half, faster ? "faster" : "slower");
	snprintf(before, sizeof(before), " is %s than   (%s)", number, p_text(p, c->welch_p));
	left = COLUMNS - terminal_text_width(before);
	shorter = width < terminal_text_width(reference) ? width : terminal_text_width(reference);
	shorter = shorter < left / 2 ? shorter : left / 2; /* what one does not need, the other may have */
	print_name(file, name, width == shorter ? shorter : left - shorter);
	fprintf(file, " is %s%s%s than ", mark, number, terminal_mark(file, MARK_END));
	print_name(file, reference, width == shorter ? left - shorter : shorter);
	fprintf(file, "  (%s)\n", p_text(p, c->welch_p));
}

void comparison_line(FILE *file, const char *reference, const char *name, const struct comparison *c)
{
	switch (comparison_verdict(c)) {
	case COMPARISON_UNKNOWN:
		print_unknown(file, reference, name, c);
		break;
	case COMPARISON_SAME:
		print_same(file, name, c);
		break;
	case COMPARISON_FASTER:
	case COMPARISON_SLOWER:
		print_different(file, reference, name, c);
		break;
	}
}

static const char *verdict_text(const struct comparison *c)
{
	static const char *const texts[] = {
		[COMPARISON_UNKNOWN] = "too few samples",
		[COMPARISON_SAME] = "no difference shown",
		[COMPARISON_FASTER] = "faster",
		[COMPARISON_SLOWER] = "slower",
	};

	return texts[comparison_verdict(c)];
}

int comparison_table_new(struct table **ret, struct error *err)
{
	static const struct column columns[] = {
		{"COMMAND", COLUMN_WRAP},
		{"RATIO", COLUMN_NUMBER},
		{"95 % CI"},
		{"VERDICT"},
		{"WELCH P", COLUMN_NUMBER},
		{"M-W P", COLUMN_NUMBER},
		{"MDD", COLUMN_NUMBER},
		{},
	};

	return table_new(ret, columns, err);
}

int comparison_table_print(struct table *table, struct error *err)
{
	int r = table_print(table, stdout, err);

	if (r == 0)
		printf("RATIO: of the means (1 = equal). M-W: Mann-Whitney. MDD: minimum detectable difference.\n");
	return r;
}

static void cell_number(struct table *table, const char *format, double value)
{
	char text[32] = "-";

	if (!isnan(value))
		snprintf(text, sizeof(text), format, value);
	table_cell_text(table, text);
}

void comparison_row(struct table *table, const char *name, const struct comparison *c)
{
	char mdd[TEXT_TIME_SIZE];

	table_row(table);
	table_cell_text(table, name);
	cell_number(table, "%.4f", c->ratio);
	if (isnan(c->ratio_low))
		table_cell_text(table, "-");
	else
		table_cell(table, "%.4f to %.4f", c->ratio_low, c->ratio_high);
	table_cell_text(table, verdict_text(c));
	cell_number(table, "%.2g", c->welch_p);
	cell_number(table, "%.2g", c->mann_whitney_p);
	table_cell_text(
		table, isnan(c->smallest_difference) ? "-" : text_percent(mdd, c->smallest_difference));
}

static json_t *number(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

json_t *comparison_as_json(const char *reference, const char *name, const struct comparison *c)
{
	return json_pack("{s:s, s:s, s:f, s:[o, o], s:s, s:o, s:o, s:o, s:o}", "reference", reference,
		"command", name, "ratio", c->ratio, "interval", number(c->ratio_low), number(c->ratio_high),
		"verdict", verdict_text(c), "welch_p", number(c->welch_p), "mann_whitney_p",
		number(c->mann_whitney_p), "minimum_detectable_difference", number(c->smallest_difference),
		"smallest_difference", number(c->smallest_difference));
}
