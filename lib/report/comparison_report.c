/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison as a line, a row and JSON: see results.h. */
#include "lib/report/results.h"

enum { LINE_SIZE = 256 };

/* Two names and what stands between and after them, in one line; what one name does not need goes to the other. Returns its width. */
static size_t print_sentence(FILE *file, const char *name, const char *mark, const char *middle,
	const char *reference, const char *end)
{
	size_t left = terminal_columns(file) - terminal_text_width(middle) - terminal_text_width(end);
	size_t of_name = terminal_text_width(terminal_text(name));
	size_t of_reference = terminal_text_width(terminal_text(reference));
	size_t *shorter = of_name <= of_reference ? &of_name : &of_reference;

	if (of_name + of_reference > left) {
		*shorter = *shorter < left / 2 ? *shorter : left / 2;
		*(shorter == &of_name ? &of_reference : &of_name) = left - *shorter;
	}
	terminal_print_name(file, name, of_name);
	fprintf(file, "%s%s%s", mark, middle, *mark ? terminal_mark(file, MARK_END) : "");
	terminal_print_name(file, reference, of_reference);
	fputs(end, file);
	return terminal_columns(file) - left + of_name + of_reference;
}

/* The interval follows in the same line if it fits, else in a line of its own. */
static void print_different(FILE *file, const char *reference, const char *name, const struct comparison *c,
	const char *in_clock, const char *p)
{
	bool faster = comparison_verdict(c) == COMPARISON_FASTER;
	double low = faster ? 1 / c->ratio_high : c->ratio_low,
	       high = faster ? 1 / c->ratio_low : c->ratio_high;
	double half = (high - low) / 2;
	char middle[64], interval[LINE_SIZE];
	int decimals = 2; /* one digit of half an interval, at least two */
	size_t width;

	if (half > 0 && isfinite(half))
		decimals = (int)fmin(fmax(-floor(log10(half)), 2), 6);
	snprintf(middle, sizeof(middle), " is %.*f times %s than ", decimals,
		faster ? 1 / c->ratio : c->ratio, faster ? "faster" : "slower");
	snprintf(
		interval, sizeof(interval), "  (95 %% CI %.*f … %.*f, %s)", decimals, low, decimals, high, p);
	width = print_sentence(
		file, name, terminal_mark(file, faster ? MARK_GOOD : MARK_BAD), middle, reference, in_clock);
	fprintf(file, "%s%s\n", width + terminal_text_width(interval) > terminal_columns(file) ? "\n" : "",
		interval);
}

void comparison_line(FILE *file, const char *reference, const char *name, const struct comparison *c)
{
	const char *in_clock = c->clock == COMPARISON_PT ? " in CPU time" : " in elapsed time";
	bool few = c->design != DESIGN_SEPARATE || c->a.n < 2 || c->b.n < 2;
	const char *p = c->p_adjusted < 0.0001  ? "p < 0.0001"
			: c->p_adjusted < 0.001 ? text_brief("p = %.4f", c->p_adjusted)
						: text_brief("p = %.2g", c->p_adjusted);
	const char *detectable = isnan(c->smallest_difference) /* the times are constant */
					 ? ""
					 : text_brief(
						   "; %s detectable", text_percent(c->smallest_difference));
	char middle[LINE_SIZE], end[LINE_SIZE];

	switch (comparison_verdict(c)) {
	case COMPARISON_UNKNOWN:
		snprintf(middle, sizeof(middle), ": %.2f times ", c->ratio);
		snprintf(end, sizeof(end), "%s  (%s)\n", in_clock,
			c->unmeasurable ? "unmeasurable: held back"
			: few           ? "too few samples"
					: "no verdict: not taken in turn");
		print_sentence(file, name, "", middle, reference, end);
		break;
	case COMPARISON_SAME:
		snprintf(end, sizeof(end), ": no difference shown%s (%s%s)", in_clock, p, detectable);
		terminal_print_name(file, name, terminal_columns(file) - terminal_text_width(end));
		fprintf(file, "%s\n", end);
		break;
	case COMPARISON_FASTER:
	case COMPARISON_SLOWER:
		print_different(file, reference, name, c, in_clock, p);
		break;
	}
}

void comparisons_between_line(FILE *file, const struct comparison *comparisons, size_t n)
{
	double least = INFINITY, greatest = 0;
	size_t fewest = SIZE_MAX, most = 0;
	const char *low, *high;

	for (size_t i = 0; i < n; i++) {
		const struct comparison *c = &comparisons[i];

		if (c->design == DESIGN_BETWEEN) {
			least = fmin(least, c->between);
			greatest = fmax(greatest, c->between);
			fewest = c->n_between < fewest ? c->n_between : fewest;
			most = c->n_between > most ? c->n_between : most;
		}
	}
	if (most == 0)
		return;
	low = text_percent(least);
	high = text_percent(greatest);
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

	if (c->unmeasurable)
		return "unmeasurable";
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

const struct column comparison_columns[] = {
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
	{NULL, COLUMN_TEXT, "sd_log"}, /* of a duet, and of samples in turn; the others of a duet */
	{NULL, COLUMN_TEXT, "robust_ratio"},
	{NULL, COLUMN_TEXT, "robust_interval"},
	{NULL, COLUMN_TEXT, "interleaved_sd_log"},
	{},
};

void comparison_list_add(
	struct table *list, const char *reference, const char *name, const struct comparison *c)
{
	static const char *const designs[] = {
		[DESIGN_SEPARATE] = "none",
		[DESIGN_BETWEEN] = "between runs",
		[DESIGN_PAIRS] = "pairs",
		[DESIGN_INDEPENDENT] = "Welch",
		[DESIGN_DUET] = "log ratios",
	};
	const struct log_ratio *l = &c->log_ratio;
	bool pt = c->clock == COMPARISON_PT, duet = c->design == DESIGN_DUET;

	table_row(list, TEXT(reference), TEXT(name), VALUE(json_string(pt ? "pt" : "et"), pt ? "PT" : "ET"),
		REAL("%.4f", c->ratio),
		VALUE(json_interval(c->ratio_low, c->ratio_high),
			isnan(c->ratio_low) ? "-" : text_brief("%.4f to %.4f", c->ratio_low, c->ratio_high)),
		TEXT(comparison_verdict_text(c)), TEXT(designs[c->design]), REAL("%.2g", c->p_adjusted),
		REAL("%g", c->p), REAL("%g", c->welch_p), REAL("%.2g", c->mann_whitney_p),
		VALUE(json_real_or_null(c->smallest_difference),
			isnan(c->smallest_difference) ? "-" : text_percent(c->smallest_difference)),
		REAL("%g", c->smallest_difference), REAL("%g", l->n > 1 ? l->sd : NAN),
		REAL("%g", duet ? exp(l->robust) : NAN),
		VALUE(duet ? json_interval(exp(l->robust_low), exp(l->robust_high)) : NULL, NULL),
		REAL("%g", duet ? l->neighbours_sd : NAN));
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
	_cleanup_(table_freep) struct table *list = table_new(comparison_columns);
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
