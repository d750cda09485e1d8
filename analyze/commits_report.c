/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparison of two commits for people: see commits_report.h. */
#include "analyze/commits_report.h"

#include "lib/base/argv.h"
#include "lib/base/table.h"
#include "lib/report/comparison_report.h"

enum {
	MOST_LISTED = 5,     /* differences in the sentence; beyond, from the least to the most */
	MOST_DISTURBERS = 5, /* named in the report */
	MOST_ROWS = 12,      /* of the first table; those that are equal, new or gone are folded */
	PICTURE_COLUMNS = 25,
	COMMIT_DIGITS = 10,
};

/* What the sentence says of one command line, and of several, in the order in which it does. */
static const struct {
	enum line_outcome outcome;
	const char *one, *several;
} clauses[] = {
	{LINE_DIFFERENT_WORK, "does different work", "do different work"},
	{LINE_NOT_MEASURED, "cannot be measured", "cannot be measured"},
	{LINE_SLOWER, "is slower", "are slower"},
	{LINE_FASTER, "is faster", "are faster"},
	{LINE_EQUAL, "is equal", "are equal"},
	{LINE_SAME_PROGRAM, "is the same program", "are the same program"},
	{LINE_CANNOT_TELL, "cannot be told", "cannot be told"},
	{LINE_UNMEASURABLE, "is unmeasurable", "are unmeasurable"},
	{LINE_NO_TIME, "was not measured for lack of time", "were not measured for lack of time"},
	{LINE_NEW, "is new", "are new"},
	{LINE_GONE, "is gone", "are gone"},
};

static int by_number(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

/* ", by 3.1 and 8.4 %", ", by 1.2 to 8.4 %" */
static void append_differences(char **text, double *percents, size_t n)
{
	qsort(percents, n, sizeof(*percents), by_number);
	if (n > MOST_LISTED) {
		text_append(text, "", ", by %.1f to %.1f %%", percents[0], percents[n - 1]);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const char *between = i + 1 == n ? " and " : ", ";

		text_append(text, i > 0 ? between : ", by ", "%.1f", percents[i]);
	}
	text_append(text, "", " %%");
}

char *commits_sentence(const struct commits *c)
{
	_cleanup_(freep) double *percents = xcalloc(c->n + 1, sizeof(*percents));
	char *text = NULL;

	for (size_t k = 0; k < ELEMENTS(clauses); k++) {
		enum line_outcome outcome = clauses[k].outcome;
		size_t n = 0;

		for (size_t i = 0; i < c->n; i++) {
			const struct comparison *of_line = commit_line_comparison(&c->lines[i]);

			if (c->lines[i].outcome == outcome)
				percents[n++] = of_line ? 100 * fabs(of_line->ratio - 1) : 0;
		}
		if (n == 0)
			continue;
		text_append(&text, "; ", "%s%zu", !text && n == c->n && n > 1 ? "All " : "", n);
		if (!strchr(text, ';') && n < c->n)
			text_append(&text, "", " of %zu", c->n);
		text_append(&text, " ", "%s", n == 1 ? clauses[k].one : clauses[k].several);
		if (outcome == LINE_SLOWER || outcome == LINE_FASTER)
			append_differences(&text, percents, n);
		else if (outcome == LINE_EQUAL)
			text_append(&text, "", " within %g %%", c->allowed_percent);
	}
	return text ?: xstrdup("nothing was compared");
}

/* The words of a line in tables. */
static const char *outcome_text(const struct commit_line *line)
{
	static const char *const words[N_LINE_OUTCOMES] = {
		[LINE_GONE] = "gone",
		[LINE_NEW] = "new",
		[LINE_NO_TIME] = "no time left",
		[LINE_NOT_MEASURED] = "not measured",
		[LINE_UNMEASURABLE] = "unmeasurable",
	};
	const struct comparison *c = commit_line_comparison(line);

	return c ? comparison_verdict_text(c) : words[line->outcome];
}

/* Why a line has no verdict, or which; NULL: there is nothing to say. The caller frees it. */
static char *line_remark(const struct commit_line *line)
{
	const struct comparison *c = commit_line_comparison(line);
	_cleanup_(freep) char *work = c ? comparison_different_work(c, "base", "change") : NULL;

	if (work)
		return TAKE(work);
	if (c && line->outcome == LINE_UNMEASURABLE)
		return text_format("%s; %s", unmeasurable_texts[c->unmeasurable].cause,
			unmeasurable_texts[c->unmeasurable].remedy);
	if (line->status == STATUS_TOO_FEW)
		return xstrdup("too few clean samples");
	if (line->outcome == LINE_NOT_MEASURED && !line->why && !line->not_compared)
		return text_format("emp-measure ended with %" PRId64, line->status);
	return text_copy(line->why ?: line->not_compared);
}

/* The command line as it was given to emp-measure, where it has {tree} in place of a directory. */
static const struct column screen_columns[] = {
	{"COMMAND LINE", COLUMN_WRAP, NULL},
	{"TIME", COLUMN_TEXT, NULL},
	{"RATIO", COLUMN_NUMBER, NULL},
	{"95 % CI", COLUMN_TEXT, NULL},
	{"VERDICT", COLUMN_TEXT, NULL},
	{"BEFORE", COLUMN_NUMBER, NULL},
	{"AFTER", COLUMN_NUMBER, NULL},
	{},
};

static const struct column markdown_columns[] = {
	{"Command line", COLUMN_TEXT, NULL},
	{"Time", COLUMN_TEXT, NULL},
	{"Ratio", COLUMN_NUMBER, NULL},
	{"95 % CI", COLUMN_TEXT, NULL},
	{"Verdict", COLUMN_TEXT, NULL},
	{"Before", COLUMN_NUMBER, NULL},
	{"After", COLUMN_NUMBER, NULL},
	{"", COLUMN_TEXT, NULL}, /* the picture */
	{},
};

/* One scale for all intervals of a report. */
struct picture_scale {
	double low, high;
};

static int picture_place(const struct picture_scale *scale, double ratio)
{
	double share = (ratio - scale->low) / (scale->high - scale->low);

	return (int)fmax(0, fmin(PICTURE_COLUMNS - 1, share * PICTURE_COLUMNS));
}

/* "   0 :  [--O--]   ": no change, what is allowed, the ratio with its interval. */
static const char *picture_text(
	const struct picture_scale *scale, const struct comparison *c, double allowed)
{
	char text[PICTURE_COLUMNS + 1];
	int from, to;

	if (isnan(c->ratio_low))
		return NULL;
	from = picture_place(scale, c->ratio_low);
	to = picture_place(scale, c->ratio_high);
	memset(text, ' ', PICTURE_COLUMNS);
	text[PICTURE_COLUMNS] = '\0';
	memset(text + from, '-', (size_t)(to - from) + 1);
	text[picture_place(scale, 1)] = '0';
	text[picture_place(scale, 1 + allowed)] = ':';
	text[from] = c->ratio_low < scale->low ? '<' : '[';
	text[to] = c->ratio_high > scale->high ? '>' : ']';
	text[picture_place(scale, c->ratio)] = 'O';
	return text_brief("%s", text);
}

/* Twice what is allowed, and as far as the ratios go, on both sides of 1. */
static struct picture_scale picture_scale_of(const struct commits *c)
{
	double reach = 2 * c->allowed_percent / 100;

	for (size_t i = 0; i < c->n; i++) {
		const struct comparison *of_line = commit_line_comparison(&c->lines[i]);

		if (of_line && isfinite(of_line->ratio))
			reach = fmax(reach, 1.25 * fabs(of_line->ratio - 1));
	}
	reach = reach > 0 ? reach : 0.01;
	return (struct picture_scale){fmax(0, 1 - reach), 1 + reach};
}

/* The mean PT of a line that is measured with the change alone; -1: there is none. */
static int64_t time_alone(const struct commit_line *line)
{
	const json_t *result = json_array_get(json_object_get(line->measurement, "results"), 0);
	const json_t *pt = json_object_get(json_object_get(result, "emp"), "pt");
	const json_t *mean = json_object_get(json_object_get(pt, "kept"), "mean_ns");

	return line->outcome == LINE_NEW && mean ? llround(json_number_value(mean)) : -1;
}

/* The row of a line that is not compared. */
static void add_row_without_ratio(struct table *table, const struct commit_line *line, bool picture)
{
	bool red = line->status == STATUS_ERROR;

	table_begin_row(table);
	table_add(table, CODE(line->command_line), TEXT(NULL), TEXT(NULL), TEXT(NULL),
		TEXT(outcome_text(line), .mark = red ? MARK_BAD : MARK_NONE), TEXT(NULL),
		TIME(time_alone(line)));
	if (picture)
		table_add(table, TEXT(""));
}

static enum mark verdict_mark(enum comparison_verdict verdict)
{
	if (verdict == COMPARISON_SLOWER || verdict == COMPARISON_DIFFERENT_WORK)
		return MARK_BAD;
	return verdict == COMPARISON_FASTER ? MARK_GOOD : MARK_NONE;
}

/* The rows of a line: one for each clock that is compared; `scale` NULL: without a picture. */
static void add_line_rows(
	struct table *table, const struct commit_line *line, const struct picture_scale *scale)
{
	if (!line->is_compared)
		add_row_without_ratio(table, line, scale);
	for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++) {
		const struct comparison *c = &line->query.comparisons[clock];
		enum comparison_verdict verdict;

		if (!line->is_compared || !(line->query.clocks >> clock & 1))
			continue;
		verdict = comparison_verdict(c);
		table_begin_row(table);
		table_add(table, CODE(line->command_line),
			TEXT(clock == COMPARISON_PT ? "CPU" : "elapsed"),
			TEXT(isnan(c->ratio) ? NULL : text_brief("%.3f", c->ratio)),
			TEXT(ratio_interval_text(c->ratio_low, c->ratio_high, 3, " to ")),
			TEXT(comparison_verdict_words[verdict], .mark = verdict_mark(verdict)),
			TIME(llround(c->a.mean_ns)), TIME(llround(c->b.mean_ns)));
		if (scale)
			table_add(table,
				CODE(picture_text(scale, c, comparison_rules_margin(&c->rules))));
	}
}

static void print_line_remarks(const struct commits *c)
{
	for (size_t i = 0; i < c->n; i++) {
		_cleanup_(freep) char *remark = line_remark(c->by_weight[i]);

		if (remark && c->n > 1)
			terminal_say(stdout, 2, "%s: %s",
				terminal_text(c->by_weight[i]->command_line),
				terminal_text(remark));
	}
}

void commits_print(const struct commits *c, const char *sentence)
{
	_cleanup_(table_freep) struct table *table = table_new(screen_columns);
	const struct comparison *only = c->n == 1 ? commit_line_comparison(c->lines) : NULL;

	for (size_t i = 0; i < c->n; i++)
		add_line_rows(table, c->by_weight[i], NULL);
	table_print(table, stdout);
	print_line_remarks(c);
	if (only)
		comparison_verdict_print(stdout,
			&(struct verdict_line){c->lines[0].query.sides[0].name,
				c->lines[0].query.sides[1].name, false,
				c->lines[0].query.clocks == COMPARE_BOTH},
			only);
	else
		terminal_say(stdout, 2, "Verdict: %s", sentence);
}

/* Text from elsewhere, on one line and no markup. */
static void write_code(FILE *file, const char *text)
{
	_cleanup_(freep) char *line = text_utf8(text ?: "");

	for (char *at = line; *at; at++)
		if (*at == '`')
			*at = '\'';
		else if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = ' ';
	fprintf(file, "`%s`", line);
}

static bool is_folded(const struct commits *c, const struct commit_line *line)
{
	return c->n > MOST_ROWS && line->outcome <= LINE_EQUAL;
}

static void write_rows(const struct commits *c, bool folded, FILE *file)
{
	_cleanup_(table_freep) struct table *table = table_new(markdown_columns);
	const struct picture_scale scale = picture_scale_of(c);
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		if (is_folded(c, c->by_weight[i]) == folded) {
			add_line_rows(table, c->by_weight[i], &scale);
			n++;
		}
	if (n == 0)
		return;
	if (folded)
		fprintf(file, "<details><summary>%s more, equal, new or gone</summary>\n\n",
			text_count((int64_t)n, "command line"));
	table_write(table, TABLE_MARKDOWN, file);
	fprintf(file, folded ? "\n</details>\n\n" : "\n");
}

static void write_remarks_of_lines(const struct commits *c, FILE *file)
{
	bool any = false;

	for (size_t i = 0; i < c->n; i++) {
		_cleanup_(freep) char *remark = line_remark(c->by_weight[i]);

		if (!remark)
			continue;
		any = true;
		fprintf(file, "- ");
		write_code(file, c->by_weight[i]->command_line);
		fprintf(file, ": ");
		write_code(file, remark);
		fprintf(file, "\n");
	}
	fprintf(file, any ? "\n" : "");
}

/* "could have shown differences of 0.8 to 3.1 % (median 1.2 %)" */
static void write_resolution(const struct commits *c, FILE *file)
{
	_cleanup_(freep) double *shares = xcalloc(c->n + 1, sizeof(*shares));
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct comparison *of_line = commit_line_comparison(&c->lines[i]);

		if (of_line && isfinite(of_line->smallest_difference) && !of_line->unmeasurable &&
			of_line->work == WORK_NOT_CHECKED)
			shares[n++] = of_line->smallest_difference;
	}
	if (n == 0)
		return;
	qsort(shares, n, sizeof(*shares), by_number);
	fprintf(file, "- resolution: a difference of %s could have been shown",
		text_percent(shares[n / 2]));
	if (n > 1)
		fprintf(file,
			" in half of the command lines, of %s in the best and %s in the worst",
			text_percent(shares[0]), text_percent(shares[n - 1]));
	fprintf(file, "\n");
}

/* How the samples were taken: as duets, or in turn, and why. */
static void write_design(const struct commits *c, FILE *file)
{
	size_t duets = 0, in_turn = 0, again = 0;
	const char *why = NULL;

	for (size_t i = 0; i < c->n; i++) {
		const json_t *measured = c->lines[i].measurement;

		again += c->lines[i].again;
		if (!c->lines[i].is_compared)
			continue;
		duets += c->lines[i].query.comparisons[COMPARISON_PT].design == DESIGN_DUET;
		if (commit_line_comparison(&c->lines[i])->design != DESIGN_DUET) {
			why = why
				      ?: json_string_value(
						 json_object_get(measured, "in_turn_because"));
			in_turn++;
		}
	}
	if (duets + in_turn == 0)
		return;
	fprintf(file, "- samples:");
	if (c->runs > 0)
		fprintf(file, " %" PRId64 " of each;", c->runs);
	if (duets > 0)
		fprintf(file, " %s as a duet%s", text_count((int64_t)duets, "command line"),
			in_turn > 0 ? "," : "");
	if (in_turn > 0)
		fprintf(file, " %s in turn", text_count((int64_t)in_turn, "command line"));
	if (in_turn > 0 && why)
		fprintf(file, " (%s)", why);
	if (again > 0)
		fprintf(file, "; %s measured again, with twice as many",
			text_count((int64_t)again, "command line"));
	fprintf(file, "\n");
}

struct disturber {
	const char *name;
	json_int_t ns;
};

static int disturber_by_time(const void *x, const void *y)
{
	const struct disturber *a = x, *b = y;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

/* Who took CPU time from the samples of both commits. */
static void write_disturbers(const struct commits *c, FILE *file)
{
	_cleanup_(freep) struct disturber *list = NULL;
	const json_t *result, *other;
	bool observed = false;
	size_t n = 0, i, k;

	for (size_t at = 0; at < c->n; at++) {
		json_array_foreach (
			json_object_get(c->lines[at].measurement, "results"), i, result) {
			const json_t *emp = json_object_get(result, "emp");
			const char *backend = json_string_value(json_object_get(emp, "backend"));

			observed |= backend && strcmp(backend, "none") != 0;
			json_array_foreach (json_object_get(emp, "others"), k, other) {
				const char *name = json_string_value(
					json_object_get(other, "daemon"));
				size_t d = 0;

				while (d < n && name && strcmp(list[d].name, name) != 0)
					d++;
				if (name && d == n)
					array_add(list, n)->name = name;
				if (name)
					list[d].ns += json_integer_value(
						json_object_get(other, "disturbed_ns"));
			}
		}
	}
	if (!observed) {
		fprintf(file, "- disturbed by: not known, since this needs BPF or taskstats\n");
		return;
	}
	if (n > 0)
		qsort(list, n, sizeof(*list), disturber_by_time);
	fprintf(file, "- disturbed by:");
	for (i = 0; i < n && i < MOST_DISTURBERS && list[i].ns > 0; i++) {
		fprintf(file, "%s ", i > 0 ? "," : "");
		write_code(file, list[i].name);
		fprintf(file, " %s", text_duration(list[i].ns));
	}
	fprintf(file, i > 0 ? "\n" : " nobody that was seen\n");
}

static void write_repetition(const struct commits *c, FILE *file)
{
	size_t n_options = json_array_size(c->options);
	_cleanup_(freep) char **words = xcalloc(c->n + n_options + 16, sizeof(*words));
	_cleanup_(freep) char *line = NULL, *tildes = NULL;
	size_t n = 0, fence = 4; /* longer than what is in the lines */

	words[n++] = xstrdup("emp-compare-commits");
	if (c->build)
		words[n++] = text_format("--build=%s", c->build);
	words[n++] = text_format("--percent=%g", c->allowed_percent);
	if (c->runs > 0)
		words[n++] = text_format("--runs=%" PRId64, c->runs);
	if (c->max_time && *c->max_time)
		words[n++] = text_format("--max-time=%s", c->max_time);
	for (size_t i = 0; i < n_options; i++)
		words[n++] = xstrdup(json_string_value(json_array_get(c->options, i)) ?: "?");
	words[n++] = xstrdup(c->base);
	for (size_t i = 0; i < c->n; i++)
		words[n++] = text_utf8(c->lines[i].command_line);
	line = argv_join(words);
	for (const char *at = line; *(at += strcspn(at, "~")); at += strspn(at, "~"))
		if (strspn(at, "~") >= fence)
			fence = strspn(at, "~") + 1;
	tildes = xmalloc(fence + 1);
	memset(tildes, '~', fence);
	tildes[fence] = '\0';
	fprintf(file, "To repeat it:\n\n%s\ngit checkout %s\n%s\n%s\n", tildes, c->change, line,
		tildes);
	while (n > 0)
		free(words[--n]);
}

static void write_commit(FILE *file, const char *what, const char *commit, const char *subject)
{
	fprintf(file, "- %s %.*s: ", what, COMMIT_DIGITS, commit);
	write_code(file, subject);
	fprintf(file, "\n");
}

static void write_machine(const struct commits *c, FILE *file)
{
	fprintf(file, "- machine: ");
	write_code(file, c->host);
	fprintf(file, ", ");
	write_code(file, c->processor);
	if (c->cpus > 0)
		fprintf(file, ", %s", text_count(c->cpus, "CPU"));
	fprintf(file, ", Linux ");
	write_code(file, c->kernel);
	fprintf(file, "\n");
}

void commits_write_markdown(const struct commits *c, const char *sentence, FILE *file)
{
	const json_t *note;
	size_t i;

	fprintf(file, "## Speed of a change\n\n");
	if (c->n == 0)
		fprintf(file, "Nothing to compare.\n\n");
	else
		fprintf(file, "**%s.**\n\n", sentence);
	write_commit(file, "change", c->change, c->change_subject);
	write_commit(file, "base", c->base, c->base_subject);
	json_array_foreach (c->notes, i, note) {
		fprintf(file, "- note: ");
		write_code(file, json_string_value(note));
		fprintf(file, "\n");
	}
	fprintf(file, "\n");
	if (c->n == 0)
		return;
	write_rows(c, false, file);
	write_rows(c, true, file);
	write_remarks_of_lines(c, file);
	fprintf(file, "<details><summary>Machine, resolution, disturbances, and how to repeat "
		      "it</summary>\n\n");
	write_machine(c, file);
	write_design(c, file);
	write_resolution(c, file);
	write_disturbers(c, file);
	if (c->max_time && *c->max_time)
		fprintf(file, "- time: at most %s\n", c->max_time);
	fprintf(file, "\nIn the last column, O is the ratio within its interval [--], 0 is the "
		      "base, and : is what is allowed.\n\n");
	write_repetition(c, file);
	fprintf(file, "\n</details>\n\n");
}
