/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison as a line, a row and JSON: see comparison_report.h. */
#include "lib/report/comparison_report.h"

enum { LINE_SIZE = 256, NAME_COLUMNS = 24 };
static const double MOST_MISSING = 1e6; /* samples */

/* A name, in quotes if it would run into the colon behind it. Returns its width. */
static size_t print_subject(FILE *file, const char *name, bool colon, size_t columns)
{
	bool quoted = colon && *name && name[strlen(name) - 1] == ':';
	size_t width;

	fputs(quoted ? "'" : "", file);
	width = terminal_print_name(file, name, columns - 2 * quoted);
	fputs(quoted ? "'" : "", file);
	return width + 2 * quoted;
}

/* Two names and what stands between and after them: in one line or, if they need more, in two or
 * three. Returns the width of the last one. */
static size_t print_sentence(FILE *file, const char *name, const char *mark, const char *middle,
	const char *reference, const char *end)
{
	size_t columns = terminal_columns(file), end_width = terminal_text_width(end);
	size_t name_width = terminal_name_width(name), width = terminal_text_width(middle);
	size_t rest_width = terminal_name_width(reference) + end_width;
	bool colon = *middle == ':', together = name_width + 2 + width + rest_width <= columns;
	bool apart = false; /* the reference has a line of its own */

	name_width = print_subject(file, name, colon, columns - 1);
	if (!together) { /* "NAME:", "NAME" */
		fputs(colon ? ":\n " : "\n ", file);
		middle += colon;
		width = terminal_text_width(middle) + 1;
		apart = width + rest_width > columns;
	}
	fprintf(file, "%s%.*s%s%s", mark, (int)strlen(middle) - apart, middle,
		*mark ? terminal_mark(file, MARK_END) : "", apart ? "\n  " : "");
	if (apart)
		width = strlen("  ");
	width += terminal_print_name(file, reference, columns - width - end_width);
	fputs(end, file);
	return (together ? name_width : 0) + width + end_width;
}

static const char *p_text(double p)
{
	if (p < 0.0001)
		return "p < 0.0001";
	return p < 0.001 ? text_brief("p = %.4f", p) : text_brief("p = %.2g", p);
}

/* "; could have shown 5.1 %"; "" of constant times, which show any difference. */
static const char *could_have_shown(const struct comparison *c)
{
	if (isnan(c->smallest_difference))
		return "";
	return text_brief("; could have shown %s", text_percent(c->smallest_difference));
}

/* Why there is no interval. */
static const char *no_interval_text(const struct comparison *c)
{
	bool several = c->a.n > 1 && c->b.n > 1;

	if (several && c->design == DESIGN_SEPARATE)
		return c->lost_pairs ? "fewer than two rounds with both samples kept"
				     : "not taken in turn";
	if (c->unmeasurable)
		return unmeasurable_texts[c->unmeasurable].cause;
	return several ? "the times vary too much for an interval"
		       : "too few samples for an interval";
}

/* What is known of the ratio: its interval, and what the samples could have shown, if they show
 * nothing. */
static const char *interval_text(
	const struct comparison *c, double low, double high, int decimals, bool shown)
{
	const char *p = p_text(c->p_adjusted), *could = shown ? "" : could_have_shown(c);

	if (isnan(low))
		return no_interval_text(c);
	if (isinf(high))
		return text_brief("95 %% CI %.*f or more, %s%s", decimals, low, p, could);
	return text_brief("95 %% CI %.*f … %.*f, %s%s", decimals, low, decimals, high, p, could);
}

/* One digit of half an interval, at least two, and so many that one beside 1 does not seem to reach
 * it. */
static int ratio_decimals(double low, double high)
{
	double half = (high - low) / 2, from_1 = fmax(low - 1, 1 - high), decimals = 2;

	if (half > 0 && isfinite(half))
		decimals = fmax(decimals, -floor(log10(half)));
	if (from_1 > 0)
		decimals = fmax(decimals, ceil(-log10(2 * from_1)));
	return (int)fmin(decimals, 6);
}

const char *comparison_ratio_text(const struct comparison *c)
{
	if (isnan(c->ratio))
		return NULL;
	return text_brief("%.*f", ratio_decimals(c->ratio_low, c->ratio_high), c->ratio);
}

/* A ratio above 1, and its interval: of the slower program to the faster one, where one of them is
 * shown to be slower; else of `name` to the reference. */
struct shown_ratio {
	bool shown, faster;
	double ratio, low, high;
	int decimals;
};

static struct shown_ratio shown_ratio_of(const struct comparison *c)
{
	struct shown_ratio r = {.ratio = c->ratio, .low = c->ratio_low, .high = c->ratio_high};

	r.shown = (c->ratio_high < 1 || c->ratio_low > 1) && !c->unmeasurable && !c->work;
	r.faster = r.shown && c->ratio_high < 1;
	if (r.faster) {
		r.ratio = 1 / c->ratio;
		r.low = 1 / c->ratio_high;
		r.high = 1 / c->ratio_low;
	}
	r.decimals = ratio_decimals(r.low, r.high);
	return r;
}

/* "b: unmeasurable (held back by a quota)" */
static void print_no_ratio(FILE *file, const char *name, const struct comparison *c)
{
	const char *end = text_brief(": %s (%s)\n", comparison_verdict_text(c),
		unmeasurable_texts[c->unmeasurable].cause);

	print_subject(file, name, true, terminal_columns(file) - terminal_text_width(end));
	fputs(end, file);
}

void comparison_line(
	FILE *file, const char *reference, const char *name, const struct comparison *c)
{
	const struct shown_ratio r = shown_ratio_of(c);
	const char *of_clock = c->clock == COMPARISON_PT ? " in CPU time" : " in elapsed time";
	const char *direction = r.faster ? "faster" : "slower", *word = comparison_verdict_text(c);
	const char *middle = text_brief(": %.*f times ", r.decimals, r.ratio);
	const char *mark = "", *interval;
	char end[LINE_SIZE];
	size_t width;

	if (isnan(c->ratio)) {
		print_no_ratio(file, name, c);
		return;
	}
	if (r.shown) {
		middle = text_brief(" is %.*f times %s than ", r.decimals, r.ratio, direction);
		mark = terminal_mark(file, r.faster ? MARK_GOOD : MARK_BAD);
		if (!strcmp(word, direction)) /* it is said already */
			word = "";
	}
	width = print_sentence(file, name, mark, middle, reference, of_clock);

	interval = interval_text(
		c, r.low, r.high, r.decimals, r.shown || c->unmeasurable || c->work);
	snprintf(end, sizeof(end), "  (%s)%s%s", interval, *word ? ": " : "", word);
	if (width + terminal_text_width(end) <= terminal_columns(file)) {
		fprintf(file, "%s\n", end);
	} else {
		fputs("\n  ", file);
		terminal_wrap(file, end + 2, 2, 3);
	}
	if (c->ratio_in_turn > 0)
		terminal_say(file, 2,
			"  The runs alone say %.2f times: the ratio depends on how the programs "
			"alternate",
			r.faster ? 1 / c->ratio_in_turn : c->ratio_in_turn);
}

/* "< 0.1 s", "0.3 s", "45 s", "12 min". */
static const char *rough_time(double s)
{
	if (s < 0.1)
		return "< 0.1 s";
	if (s < 10)
		return text_brief("%.1f s", s);
	if (s < 120)
		return text_brief("%.0f s", s);
	if (s < 7200)
		return text_brief("%.0f min", s / 60);
	return text_brief("%.0f h", s / 3600);
}

/* What would help to tell; "" if nothing is known. `missing`: samples. */
static const char *help_text(const struct comparison *c, double missing)
{
	if (c->a.n < 2 || c->b.n < 2)
		return "; it takes two samples of each";
	if (c->design == DESIGN_SEPARATE)
		return c->lost_pairs ? "; it takes two rounds with both samples kept"
				     : "; it is not known how separate runs vary";
	if (c->ratio_in_turn > 0)
		return "; measure in turn";
	if (!(missing > MOST_MISSING))
		return "";
	if (c->design == DESIGN_BETWEEN)
		return text_brief("; separate runs vary by %s", text_percent(c->between));
	return "; more samples hardly help";
}

/* Why it cannot be told, and what would help; the first of the texts that fits into the line is
 * shown. */
static void explain_doubt(const struct comparison *c, const char *ret[3])
{
	double missing = comparison_samples_missing(c), s;
	const char *could = could_have_shown(c), *help = help_text(c, missing);

	if (*help || isnan(missing)) {
		ret[0] = text_brief("%s%s", could, help);
		ret[1] = help;
		ret[2] = "";
		return;
	}
	help = text_brief("; %s", text_count((int64_t)missing, "more sample"));
	if (c->of_runs_alone)
		help = text_brief("; --alone %.0f", (double)c->a.n + missing);
	s = missing * (c->a.mean_ns + c->b.mean_ns) / 1e9;
	ret[0] = text_brief("%s%s (%s) should tell", could, help, rough_time(s));
	ret[1] = text_brief("%s%s should tell", could, help);
	ret[2] = text_brief("%s should tell", help);
}

/* Of the texts the first that fits is shown. They are valid as those of text_brief. */
static void explain_different_work(
	const struct comparison *c, const struct verdict_line *line, const char *ret[3])
{
	_cleanup_(freep) char *of_a = terminal_cut(line->reference ?: "", NAME_COLUMNS);
	_cleanup_(freep) char *of_b = terminal_cut(line->name ?: "", NAME_COLUMNS);
	_cleanup_(freep) char *text = comparison_different_work(c, of_a, of_b);
	bool first = c->work == WORK_FAILED_IN_REFERENCE || c->work == WORK_VARIES_IN_REFERENCE;

	ret[0] = text_brief("; %s", text);
	if (c->work == WORK_DIFFERENT)
		ret[1] = ret[0];
	else if (c->work == WORK_FAILED || c->work == WORK_FAILED_IN_REFERENCE)
		ret[1] = first ? "; --check failed for the first" : "; --check failed for it";
	else
		ret[1] = first ? "; the output of the first varies" : "; its output varies";
	ret[2] = ret[1];
	if (line->names_program && !first) /* the line has its name already */
		ret[0] = ret[1];
}

/* What follows the word of the verdict. The first of the texts that fits into the line is shown;
 * they are valid as those of text_brief. */
static void explain_verdict(
	const struct comparison *c, const struct verdict_line *line, const char *ret[3])
{
	const struct unmeasurable_text *why = &unmeasurable_texts[c->unmeasurable];
	const char *margin = text_brief("%g %%", 100 * comparison_rules_margin(&c->rules));
	const char *text = "";

	switch (comparison_verdict(c)) {
	case COMPARISON_CANNOT_TELL:
		explain_doubt(c, ret);
		return;
	case COMPARISON_DIFFERENT_WORK:
		explain_different_work(c, line, ret);
		return;
	case COMPARISON_UNMEASURABLE:
		ret[0] = text_brief(": %s; %s", why->cause, why->remedy);
		ret[1] = ret[2] = text_brief(": %s", why->cause);
		return;

	case COMPARISON_EQUAL:
		text = text_brief(" (within %s)", margin);
		break;
	case COMPARISON_SLOWER:
		if (c->rules.fail_if_slower >= 0)
			text = text_brief(" by more than %s", margin);
		break;
	case COMPARISON_SAME_PROGRAM:
		text = "; what differs is noise";
		break;
	default:
		break;
	}
	ret[0] = ret[1] = ret[2] = text;
}

/* " (PT)", if the line says of which clock it is and the verdict is one on times. */
static const char *verdict_clock_text(const struct verdict_line *line, const struct comparison *c)
{
	enum comparison_verdict verdict = comparison_verdict(c);

	if (!line->names_clock || verdict == COMPARISON_SAME_PROGRAM ||
		verdict == COMPARISON_DIFFERENT_WORK)
		return "";
	return c->clock == COMPARISON_PT ? " (PT)" : " (ET)";
}

void comparison_verdict_print(
	FILE *file, const struct verdict_line *line, const struct comparison *c)
{
	const char *word = comparison_verdict_text(c), *texts[3];
	size_t at, used, i = 0;

	explain_verdict(c, line, texts);
	at = (size_t)fprintf(file, "Verdict");
	if (line->names_program) {
		fputs(" on '", file);
		at += terminal_text_width(" on ''") +
		      terminal_print_name(file, line->name, NAME_COLUMNS);
		fputs("'", file);
	}
	at += (size_t)fprintf(file, "%s:", verdict_clock_text(line, c));

	used = at + 1 + terminal_text_width(word);
	while (i < 2 && used + terminal_text_width(texts[i]) > terminal_columns(file))
		i++;
	terminal_wrap(file, text_brief("%s%s", word, texts[i]), at, 2);
}

void comparisons_between_line(FILE *file, const struct comparison *comparisons, size_t n)
{
	double least = INFINITY, greatest = 0;
	size_t fewest = SIZE_MAX, most = 0;
	const char *variation, *high, *runs;

	for (size_t i = 0; i < n; i++) {
		const struct comparison *c = &comparisons[i];

		if (c->design != DESIGN_BETWEEN)
			continue;
		least = fmin(least, c->between);
		greatest = fmax(greatest, c->between);
		fewest = c->n_between < fewest ? c->n_between : fewest;
		most = c->n_between > most ? c->n_between : most;
	}
	if (most == 0)
		return;

	variation = text_percent(least);
	high = text_percent(greatest);
	if (strcmp(variation, high) != 0)
		variation = text_brief("%s to %s", variation, high);
	runs = text_brief("%zu", fewest);
	if (fewest < most)
		runs = text_brief("%zu to %zu", fewest, most);
	terminal_say(file, 2, "Not taken in turn: separate runs vary by %s (sd of %s runs)",
		variation, runs);
}

const char *ratio_interval_text(double low, double high, int decimals, const char *to)
{
	if (isnan(low))
		return NULL;
	if (isinf(high))
		return text_brief("from %.*f", decimals, low);
	return text_brief("%.*f%s%.*f", decimals, low, to, decimals, high);
}

const char *comparison_verdict_text(const struct comparison *c)
{
	return comparison_verdict_words[comparison_verdict(c)];
}

const char *const comparison_clock_words[] = {"pt", "et", "both", NULL};

int comparison_clocks_option(const char *value, const char *name, void *into, struct error *err)
{
	int which, r = option_choice(value, name, comparison_clock_words, &which, err);

	if (r == 0)
		*(unsigned *)into = COMPARE_PT + (unsigned)which;
	return r;
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
	{NULL, COLUMN_TEXT, "samples_missing"},
	{NULL, COLUMN_TEXT, "unmeasurable"},
	{NULL, COLUMN_TEXT, "different_work"},
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
	_cleanup_(freep) char *work = comparison_different_work(c, reference, name);
	bool pt = c->clock == COMPARISON_PT, duet = c->design == DESIGN_DUET;
	json_t *interval, *robust = NULL;
	const char *smallest = "-";
	double missing = NAN;

	if (isinf(c->ratio_high))
		interval = json_pack("[f, n]", c->ratio_low);
	else
		interval = json_interval(c->ratio_low, c->ratio_high);
	if (!isnan(c->smallest_difference))
		smallest = text_percent(c->smallest_difference);
	if (duet)
		robust = json_interval(exp(l->robust_low), exp(l->robust_high));
	if (comparison_verdict(c) == COMPARISON_CANNOT_TELL)
		missing = comparison_samples_missing(c);

	table_row(list, comparison_columns, TEXT(reference), TEXT(name),
		VALUE(json_string(pt ? "pt" : "et"), pt ? "PT" : "ET"), REAL("%.4f", c->ratio),
		VALUE(interval, ratio_interval_text(c->ratio_low, c->ratio_high, 4, " to ") ?: "-"),
		TEXT(comparison_verdict_text(c)), TEXT(designs[c->design]),
		REAL("%.2g", c->p_adjusted), REAL("%g", c->p), REAL("%g", c->welch_p),
		REAL("%.2g", c->mann_whitney_p),
		VALUE(json_real_or_null(c->smallest_difference), smallest),
		REAL("%g", c->smallest_difference), REAL("%g", l->n > 1 ? l->sd : NAN),
		REAL("%g", duet ? exp(l->robust) : NAN), VALUE(robust, NULL),
		REAL("%g", duet ? l->neighbours_sd : NAN), REAL("%.0f", missing),
		TEXT(unmeasurable_texts[c->unmeasurable].cause), TEXT(work));
}

void comparison_list_print(struct table *list, bool several, FILE *file)
{
	_cleanup_(freep) char *key = text_format(
		"RATIO (1 = equal): of the means; of a duet, geometric mean. M-W: Mann-Whitney. "
		"MDD: minimum detectable difference.%s",
		several ? " P, the intervals and MDD are adjusted for their number (Holm)." : "");

	table_print(list, file);
	terminal_wrap(file, key, 0, 0);
}

json_t *comparison_as_json(const char *reference, const char *name, const struct comparison *c)
{
	_cleanup_(table_freep) struct table *list = table_new(comparison_columns);
	_cleanup_(json_decrefp) json_t *rows = NULL;
	json_t *object;

	comparison_list_add(list, reference, name, c);
	rows = table_json(list);
	object = json_incref(json_array_get(rows, 0));
	if (c->ratio_in_turn > 0)
		json_object_set_new(object, "ratio_in_turn", json_real(c->ratio_in_turn));
	if (c->of_runs_alone)
		json_object_set_new(object, "duet_runs_alone", json_true());
	if (c->design == DESIGN_BETWEEN) {
		json_object_set_new(object, "between_runs", json_real(c->between));
		json_object_set_new(object, "runs_known", json_integer((json_int_t)c->n_between));
	}
	return object;
}
