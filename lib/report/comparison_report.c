/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison as a line, a row and JSON: see comparison_report.h. */
#include "lib/report/comparison_report.h"

#include "lib/base/terminal.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 80, LINE_SIZE = 256 };

/* The text, shortened in the middle to fit, because two commands mostly differ at their ends. */
static void print_name(FILE *file, const char *name, size_t columns)
{
	size_t width, tail = (columns - 1) / 2;

	name = terminal_text(name);
	width = terminal_text_width(name);
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

	if (isnan(c->smallest_difference)) /* constant times */
		snprintf(rest, sizeof(rest), ": no difference shown (%s)", p_text(p, c->p_adjusted));
	else
		snprintf(rest, sizeof(rest), ": no difference shown (%s; %s would have been detectable)",
			p_text(p, c->p_adjusted), text_percent(mdd, c->smallest_difference));
	print_name(file, name, COLUMNS - terminal_text_width(rest));
	fprintf(file, "%s\n", rest);
}

static void print_unknown(FILE *file, const char *reference, const char *name, const struct comparison *c)
{
	char middle[LINE_SIZE];
	size_t left;

	bool few = c->design != DESIGN_SEPARATE || c->a.n < 2 || c->b.n < 2;
	const char *why = few ? "too few samples" : "no verdict: not taken in turn";

	snprintf(middle, sizeof(middle), ": %.2f times ", c->ratio);
	left = COLUMNS - strlen(middle) - strlen("  ()") - strlen(why);
	print_name(file, name, left / 2);
	fputs(middle, file);
	print_name(file, reference, left / 2);
	fprintf(file, "  (%s)\n", why);
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
	snprintf(before, sizeof(before), " is %s than   (%s)", number, p_text(p, c->p_adjusted));
	left = COLUMNS - terminal_text_width(before);
	shorter = width < terminal_text_width(reference) ? width : terminal_text_width(reference);
	shorter = shorter < left / 2 ? shorter
				     : left / 2; /* space that one name does not need goes to the other */
	print_name(file, name, width == shorter ? shorter : left - shorter);
	fprintf(file, " is %s%s%s than ", mark, number, terminal_mark(file, MARK_END));
	print_name(file, reference, width == shorter ? left - shorter : shorter);
	fprintf(file, "  (%s)\n", p_text(p, c->p_adjusted));
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

void comparisons_between_line(FILE *file, const struct comparison *comparisons, size_t n)
{
	double least = INFINITY, greatest = 0;
	size_t fewest = SIZE_MAX, most = 0;
	char low[TEXT_TIME_SIZE], high[TEXT_TIME_SIZE];

	for (const struct comparison *c = comparisons; c < comparisons + n; c++)
		if (c->design == DESIGN_BETWEEN) {
			least = fmin(least, c->between);
			greatest = fmax(greatest, c->between);
			fewest = c->n_between < fewest ? c->n_between : fewest;
			most = c->n_between > most ? c->n_between : most;
		}
	if (most == 0)
		return;
	text_percent(low, least);
	text_percent(high, greatest);
	fprintf(file, "Not taken in turn: separate runs vary by %s", low);
	if (strcmp(low, high) != 0)
		fprintf(file, " to %s", high);
	fprintf(file, " (sd of %zu", fewest);
	if (fewest < most)
		fprintf(file, " to %zu", most);
	fputs(")\n", file);
}

const char *comparison_verdict_text(const struct comparison *c)
{
	static const char *const texts[] = {
		[COMPARISON_UNKNOWN] = "too few samples",
		[COMPARISON_SAME] = "no difference shown",
		[COMPARISON_FASTER] = "faster",
		[COMPARISON_SLOWER] = "slower",
	};

	return c->design == DESIGN_SEPARATE ? "not known" : texts[comparison_verdict(c)];
}

static const char *test_text(const struct comparison *c)
{
	static const char *const texts[] = {
		[DESIGN_SEPARATE] = "none",
		[DESIGN_BETWEEN] = "between runs",
		[DESIGN_PAIRS] = "pairs",
		[DESIGN_INDEPENDENT] = "Welch",
		[DESIGN_DUET] = "log ratios",
	};

	return texts[c->design];
}

int comparison_list_new(struct listing **ret, bool json, struct error *err)
{
	static const struct listing_column columns[] = {
		{NULL, "reference"},
		{"COMMAND", "command", COLUMN_WRAP},
		{"RATIO", "ratio", COLUMN_NUMBER},
		{"95 % CI", "interval"},
		{"VERDICT", "verdict"},
		{"TEST", "test"},
		{"P", "p_adjusted", COLUMN_NUMBER},
		{NULL, "p"},
		{NULL, "welch_p"},
		{"M-W P", "mann_whitney_p", COLUMN_NUMBER},
		{"MDD", "minimum_detectable_difference", COLUMN_NUMBER},
		{NULL, "smallest_difference"}, /* the name of mdd in 0.1.0 */
		{NULL, "sd_log"},
		{NULL, "robust_ratio"},
		{NULL, "robust_interval"},
		{NULL, "interleaved_sd_log"},
		{},
	};

	return listing_new(ret, columns, json, err);
}

/* Of a duet; otherwise null. */
static void add_log_ratio(struct listing *list, const struct comparison *c)
{
	const struct log_ratio *l = &c->log_ratio;
	bool duet = c->design == DESIGN_DUET;

	listing_cell(list, json_real_or_null(duet ? l->sd : NAN), NULL);
	listing_cell(list, json_real_or_null(duet ? exp(l->robust) : NAN), NULL);
	listing_cell(list, duet ? json_interval(exp(l->robust_low), exp(l->robust_high)) : json_null(), NULL);
	listing_cell(list, json_real_or_null(duet ? l->neighbours_sd : NAN), NULL);
}

void comparison_list_add(
	struct listing *list, const char *reference, const char *name, const struct comparison *c)
{
	char interval[64] = "-", mdd[TEXT_TIME_SIZE] = "-";

	if (!isnan(c->ratio_low))
		snprintf(interval, sizeof(interval), "%.4f to %.4f", c->ratio_low, c->ratio_high);
	if (!isnan(c->smallest_difference))
		text_percent(mdd, c->smallest_difference);
	listing_row(list);
	listing_text(list, reference);
	listing_text(list, name);
	listing_real(list, "%.4f", c->ratio);
	listing_cell(list, json_interval(c->ratio_low, c->ratio_high), interval);
	listing_text(list, comparison_verdict_text(c));
	listing_text(list, test_text(c));
	listing_real(list, "%.2g", c->p_adjusted);
	listing_cell(list, json_real_or_null(c->p), NULL);
	listing_cell(list, json_real_or_null(c->welch_p), NULL);
	listing_real(list, "%.2g", c->mann_whitney_p);
	listing_cell(list, json_real_or_null(c->smallest_difference), mdd);
	listing_cell(list, json_real_or_null(c->smallest_difference), NULL);
	add_log_ratio(list, c);
}

int comparison_list_print(struct listing *list, bool several, FILE *file, struct error *err)
{
	int r = listing_print(list, file, err);

	if (r == 0)
		fprintf(file,
			"RATIO: of the means (1 = equal). M-W: Mann-Whitney. MDD: minimum detectable\n"
			"difference.%s\n",
			several ? " P, the intervals and MDD are adjusted for their number (Holm)." : "");
	return r;
}

json_t *comparison_as_json(const char *reference, const char *name, const struct comparison *c)
{
	_cleanup_(listing_freep) struct listing *list = NULL;
	_cleanup_(json_decrefp) json_t *rows = NULL;
	struct error err;

	if (comparison_list_new(&list, true, &err) < 0)
		return NULL;
	comparison_list_add(list, reference, name, c);
	rows = listing_take(list);
	return json_incref(json_array_get(rows, 0));
}
