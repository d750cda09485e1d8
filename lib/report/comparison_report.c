/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison as a line, a row and JSON: see results.h. */
#include "lib/report/results.h"

#include "lib/base/terminal.h"
#include "lib/base/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { LINE_SIZE = 256 };

static const char *p_text(char buffer[32], double p)
{
	if (p < 0.0001)
		return "p < 0.0001";
	snprintf(buffer, 32, p < 0.001 ? "p = %.4f" : "p = %.2g", p);
	return buffer;
}

static const char *clock_text(const struct comparison *c)
{
	return c->clock == COMPARISON_PT ? "CPU time" : "elapsed time";
}

static void print_same(FILE *file, const char *name, const struct comparison *c)
{
	char p[32], mdd[TEXT_TIME_SIZE], rest[LINE_SIZE];

	if (isnan(c->smallest_difference)) /* constant times */
		snprintf(rest, sizeof(rest), ": no difference shown in %s (%s)", clock_text(c),
			p_text(p, c->p_adjusted));
	else
		snprintf(rest, sizeof(rest), ": no difference shown in %s (%s; %s detectable)", clock_text(c),
			p_text(p, c->p_adjusted), text_percent(mdd, c->smallest_difference));
	terminal_print_name(file, name, terminal_columns(file) - terminal_text_width(rest));
	fprintf(file, "%s\n", rest);
}

/* Two names and what stands between and after them, in one line; what one name does not need goes to the other. Returns its width. */
static size_t print_sentence(FILE *file, const char *name, const char *mark, const char *middle,
	const char *reference, const char *end)
{
	size_t left = terminal_columns(file) - terminal_text_width(middle) - terminal_text_width(end);
	size_t of_name = terminal_text_width(terminal_text(name)), of_reference;

	of_reference = terminal_text_width(terminal_text(reference));
	if (of_name + of_reference > left && of_name <= of_reference)
		of_reference = left - (of_name = of_name < left / 2 ? of_name : left / 2);
	else if (of_name + of_reference > left)
		of_name = left - (of_reference = of_reference < left / 2 ? of_reference : left / 2);
	terminal_print_name(file, name, of_name);
	fprintf(file, "%s%s%s", mark, middle, *mark ? terminal_mark(file, MARK_END) : "");
	terminal_print_name(file, reference, of_reference);
	fputs(end, file);
	return terminal_columns(file) - left + of_name + of_reference;
}

static void print_unknown(FILE *file, const char *reference, const char *name, const struct comparison *c)
{
	bool few = c->design != DESIGN_SEPARATE || c->a.n < 2 || c->b.n < 2;
	char middle[LINE_SIZE], end[LINE_SIZE];

	snprintf(middle, sizeof(middle), ": %.2f times ", c->ratio);
	snprintf(end, sizeof(end), " in %s  (%s)\n", clock_text(c),
		few ? "too few samples" : "no verdict: not taken in turn");
	print_sentence(file, name, "", middle, reference, end);
}

/* The interval follows in the same line if it fits, else in a line of its own. */
static void print_different(FILE *file, const char *reference, const char *name, const struct comparison *c)
{
	bool faster = comparison_verdict(c) == COMPARISON_FASTER;
	double ratio = faster ? 1 / c->ratio : c->ratio;
	double low = faster ? 1 / c->ratio_high : c->ratio_low,
	       high = faster ? 1 / c->ratio_low : c->ratio_high;
	int decimals;
	char p[32], middle[64], end[32], interval[LINE_SIZE];
	size_t width;
	double half = (high - low) / 2;
	int half_decimals = half > 0 && isfinite(half) ? -(int)floor(log10(half)) : 2;

	/* Decimals that show one digit of half an interval, at least two. */
	decimals = half_decimals < 2 ? 2 : half_decimals > 6 ? 6 : half_decimals;

	snprintf(middle, sizeof(middle), " is %.*f times %s than ", decimals, ratio,
		faster ? "faster" : "slower");
	snprintf(end, sizeof(end), " in %s", clock_text(c));
	snprintf(interval, sizeof(interval), "  (95 %% CI %.*f … %.*f, %s)", decimals, low, decimals, high,
		p_text(p, c->p_adjusted));
	width = print_sentence(
		file, name, terminal_mark(file, faster ? MARK_GOOD : MARK_BAD), middle, reference, end);
	fprintf(file, "%s%s\n", width + terminal_text_width(interval) > terminal_columns(file) ? "\n" : "",
		interval);
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

int comparison_clocks_option(const char *value, const char *name, void *into, struct error *err)
{
	static const char *const choices[] = {
		[COMPARE_PT] = "pt", [COMPARE_ET] = "et", [COMPARE_BOTH] = "both"};

	for (unsigned i = COMPARE_PT; i <= COMPARE_BOTH; i++)
		if (!strcmp(value, choices[i])) {
			*(unsigned *)into = i;
			return 0;
		}
	return error_say(err, -EINVAL, "%s must be one of pt, et, both, not '%s'", name, value);
}

struct table *comparison_list_new(void)
{
	static const struct column columns[] = {
		{NULL, COLUMN_TEXT, "reference"},
		{"COMMAND", COLUMN_WRAP, "command"},
		{"TIME", COLUMN_TEXT, "clock"},
		{"RATIO", COLUMN_NUMBER, "ratio"},
		{"95 % CI", COLUMN_TEXT, "interval"},
		{"VERDICT", COLUMN_TEXT, "verdict"},
		{"TEST", COLUMN_TEXT, "test"},
		{"P", COLUMN_NUMBER, "p_adjusted"},
		{NULL, COLUMN_TEXT, "p"},
		{NULL, COLUMN_TEXT, "welch_p"},
		{"M-W P", COLUMN_NUMBER, "mann_whitney_p"},
		{"MDD", COLUMN_NUMBER, "minimum_detectable_difference"},
		{NULL, COLUMN_TEXT, "smallest_difference"}, /* the name of mdd in 0.1.0 */
		{NULL, COLUMN_TEXT, "sd_log"},
		{NULL, COLUMN_TEXT, "robust_ratio"},
		{NULL, COLUMN_TEXT, "robust_interval"},
		{NULL, COLUMN_TEXT, "interleaved_sd_log"},
		{},
	};

	return table_new(columns);
}

void comparison_list_add(
	struct table *list, const char *reference, const char *name, const struct comparison *c)
{
	char interval[64] = "-", mdd[TEXT_TIME_SIZE] = "-";
	const struct log_ratio *l = &c->log_ratio;
	static const char *const texts[] = {
		[DESIGN_SEPARATE] = "none",
		[DESIGN_BETWEEN] = "between runs",
		[DESIGN_PAIRS] = "pairs",
		[DESIGN_INDEPENDENT] = "Welch",
		[DESIGN_DUET] = "log ratios",
	};

	if (!isnan(c->ratio_low))
		snprintf(interval, sizeof(interval), "%.4f to %.4f", c->ratio_low, c->ratio_high);
	if (!isnan(c->smallest_difference))
		text_percent(mdd, c->smallest_difference);
	table_row(list);
	table_cell_text(list, reference);
	table_cell_text(list, name);
	table_cell_value(list, json_string(c->clock == COMPARISON_PT ? "pt" : "et"),
		c->clock == COMPARISON_PT ? "PT" : "ET");
	table_cell_real(list, "%.4f", c->ratio);
	table_cell_value(list, json_interval(c->ratio_low, c->ratio_high), interval);
	table_cell_text(list, comparison_verdict_text(c));

	table_cell_text(list, texts[c->design]);
	table_cell_real(list, "%.2g", c->p_adjusted);
	table_cell_value(list, json_real_or_null(c->p), NULL);
	table_cell_value(list, json_real_or_null(c->welch_p), NULL);
	table_cell_real(list, "%.2g", c->mann_whitney_p);
	table_cell_value(list, json_real_or_null(c->smallest_difference), mdd);
	table_cell_value(list, json_real_or_null(c->smallest_difference), NULL);

	/* Of a duet; of samples in turn only the sd; otherwise null. */
	bool duet = c->design == DESIGN_DUET;

	table_cell_value(list, json_real_or_null(l->n > 1 ? l->sd : NAN), NULL);
	table_cell_value(list, json_real_or_null(duet ? exp(l->robust) : NAN), NULL);
	table_cell_value(
		list, duet ? json_interval(exp(l->robust_low), exp(l->robust_high)) : json_null(), NULL);
	table_cell_value(list, json_real_or_null(duet ? l->neighbours_sd : NAN), NULL);
}

void comparison_list_print(struct table *list, bool several, FILE *file)
{
	table_print(list, file);
	fprintf(file,
		"RATIO: of the means (1 = equal). M-W: Mann-Whitney. MDD: minimum detectable\n"
		"difference.%s\n",
		several ? " P, the intervals and MDD are adjusted for their number (Holm)." : "");
}

json_t *comparison_as_json(const char *reference, const char *name, const struct comparison *c)
{
	_cleanup_(table_freep) struct table *list = comparison_list_new();
	_cleanup_(json_decrefp) json_t *rows = NULL;
	json_t *object;

	comparison_list_add(list, reference, name, c);
	rows = table_json(list);
	object = json_incref(json_array_get(rows, 0));
	if (c->design == DESIGN_BETWEEN) {
		json_object_set_new(object, "between_runs", json_real(c->between));
		json_object_set_new(object, "runs_known", json_integer((json_int_t)c->n_between));
	}
	return object;
}
