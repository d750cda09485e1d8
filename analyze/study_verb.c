/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze study: what a study shows, beside the papers' numbers. */
#include "analyze/options.h"

#include "lib/base/charset.h"
#include "lib/study/study_picture.h"

enum { NOT_GIVEN = -1 };

static struct {
	const char *csv, *markdown, *latex, *table, *output;
	int rule, picture;
	bool script;
} options = {.rule = NOT_GIVEN, .picture = NOT_GIVEN};

static const struct option_row study_options[] = {
	{0, "rule", "RULE", "which samples are discarded:", NULL, &options.rule,
		.choices = study_rule_names},
	{0, "profile", "NAME", "the profile of cutoffs (default: that of each run)", NULL,
		&analyze_options.profile},
	{0, "table", "NAME", "only this table; a wrong name lists them", NULL, &options.table},
	{0, "csv", "FILE", "write the first table, or that of --table; - is standard output", NULL,
		&options.csv},
	{0, "markdown", "FILE", "write the tables for a report; - is standard output", NULL,
		&options.markdown},
	{0, "latex", "FILE",
		"write them for a paper, with booktabs and siunitx; - is standard output", NULL,
		&options.latex},
	{'o', "output", "FILE", "draw the study: .png, .svg or .pdf", NULL, &options.output},
	{0, "picture", "KIND", "with -o, what is drawn:", NULL, &options.picture,
		.choices = study_picture_names},
	{0, "script", NULL, "keep the gnuplot file, with its data, as FILE.gnuplot", NULL,
		&options.script},
	{0, "last", NULL, "the latest study, in place of STUDY", .operand = "--last"},
	{},
};

/* A study with what it shows, or a night with those of its studies. */
struct shown_study {
	struct study_data data;
	struct study_report report;
};

struct shown_studies {
	struct shown_study **items; /* reports point to their data */
	size_t n;
	int64_t night; /* 0: it is one study */
};

static void shown_studies_clear(struct shown_studies *shown)
{
	for (size_t i = 0; i < shown->n; i++) {
		study_report_clear(&shown->items[i]->report);
		study_data_clear(&shown->items[i]->data);
		free(shown->items[i]);
	}
	free(shown->items);
}

static int add_shown(
	struct shown_studies *shown, struct book *book, int64_t study, struct error *err)
{
	struct shown_study *item = *array_add(shown->items, shown->n) = xcalloc(1, sizeof(*item));
	int r = study_data_read(book, study, analyze_options.profile, &item->data, err);

	if (r < 0)
		return r;
	return study_report_make(book, &item->data,
		options.rule == NOT_GIVEN ? study_rule_for(item->data.study.what)
					  : (enum study_rule)options.rule,
		&item->report, err);
}

static int read_studies(struct shown_studies *shown, const char *operand, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(study_row_clear) struct study_row study = {};
	struct study_row *parts = NULL;
	size_t n = 0;
	int64_t id = 0;
	bool last = !strcmp(operand, "last") || !strcmp(operand, "--last");
	int r = book_open(&book, analyze_options.db, BOOK_READ, err);

	if (r == 0 && !last && text_parse_int(operand, "STUDY", 1, INT64_MAX, &id, NULL) < 0)
		return error_say(err, -EINVAL,
			"STUDY must be the number of a study, not '%s'; 'emp-study list' shows the "
			"numbers",
			operand);
	if (r == 0)
		r = book_get_study(book, id, &study, err);
	if (r == 0 && study.what != STUDY_NIGHT)
		return add_shown(shown, book, study.id, err);
	if (r == 0)
		r = book_night_studies(book, study.id, &parts, &n, err);
	shown->night = study.id;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = add_shown(shown, book, parts[i].id, err);
	fields_free(&study_table, parts, n);
	return r;
}

static int print_studies_json(const struct shown_studies *shown, struct error *err)
{
	json_t *studies = json_array();

	if (!shown->night) {
		json_decref(studies);
		return json_print_document(
			"emp-study", study_report_as_json(&shown->items[0]->report), err);
	}
	for (size_t i = 0; i < shown->n; i++)
		json_array_append_new(studies, study_report_as_json(&shown->items[i]->report));
	return json_print_document("emp-study",
		JSON_OBJECT({"study", json_integer(shown->night)}, {"what", json_string("night")},
			{"studies", studies}),
		err);
}

/* The table of --table, or NULL: all; some are for programs alone. */
static int study_table_asked(
	const struct study_report *report, const struct study_table **ret, struct error *err)
{
	*ret = options.table ? study_report_table(report, options.table, err) : NULL;
	if (options.table && !*ret)
		return -EINVAL;
	if (*ret && !*(*ret)->title)
		return error_say(err, -EINVAL,
			"table '%s' is for programs: --csv FILE or --json",
			options.table);
	return 0;
}

/* Markdown or LaTeX. */
static int write_documents(
	const struct shown_studies *shown, enum table_format format, FILE *file, struct error *err)
{
	for (size_t i = 0; i < shown->n; i++) {
		const struct study_report *report = &shown->items[i]->report;
		const struct study_table *only;
		int r = study_table_asked(report, &only, err);

		if (r < 0)
			return r;
		fputs(i > 0 ? "\n" : "", file);
		study_report_write(report, only, format, file);
	}
	return 0;
}

static int write_study_csv(const struct shown_studies *shown, FILE *file, struct error *err)
{
	const struct study_table *table = study_report_table(
		&shown->items[0]->report, options.table, err);

	if (!table)
		return -EINVAL;
	table_write(table->table, TABLE_CSV, file);
	return 0;
}

static int write_study_file(const struct shown_studies *shown, struct error *err)
{
	const char *path = options.csv ?: options.markdown ?: options.latex;
	_cleanup_(output_file_clear) struct output_file output = {};
	int r = charset_document_open(&output, path, err);

	if (r == 0 && options.csv)
		r = write_study_csv(shown, output.file, err);
	else if (r == 0)
		r = write_documents(
			shown, options.latex ? TABLE_LATEX : TABLE_MARKDOWN, output.file, err);
	return r < 0 ? r : output_file_commit(&output, err);
}

static int print_studies(const struct shown_studies *shown, struct error *err)
{
	for (size_t i = 0; i < shown->n; i++) {
		const struct study_report *report = &shown->items[i]->report;
		const struct study_table *only;
		int r = study_table_asked(report, &only, err);

		if (r < 0)
			return r;
		if (i > 0)
			printf("\n");
		if (only)
			table_print(only->table, stdout);
		else
			study_report_print(report, stdout);
	}
	return 0;
}

static int analyze_study_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(shown_studies_clear) struct shown_studies shown = {};
	const struct option_rule rules[] = {
		{analyze_options.json + !!options.csv + !!options.markdown + !!options.latex +
					!!options.output >
				1,
			"--json, --csv, --markdown, --latex and -o are for one result; choose one"},
		{options.table && (analyze_options.json || options.output),
			"--table is for text, --csv, --markdown and --latex"},
		{options.script && !options.output, NEEDS_PICTURE("--script")},
		{options.picture != NOT_GIVEN && !options.output, NEEDS_PICTURE("--picture")},
	};
	int r = option_check_rules(rules, ELEMENTS(rules), err);
	enum study_picture picture;

	if (r == 0)
		r = read_studies(&shown, argv[0], err);
	if (r < 0)
		return r;
	if (shown.night && (options.csv || options.output))
		return error_say(err, -EINVAL,
			"study %" PRId64 " is a night of several studies: name one of them, which "
			"'emp-study list' shows",
			shown.night);
	if (analyze_options.json)
		return print_studies_json(&shown, err);
	if (options.csv || options.markdown || options.latex)
		return write_study_file(&shown, err);
	if (!options.output)
		return print_studies(&shown, err);
	picture = options.picture == NOT_GIVEN ? study_picture_for(shown.items[0]->data.study.what)
					       : (enum study_picture)options.picture;
	return study_draw(&shown.items[0]->report, picture, options.output, options.script, err);
}

const struct verb analyze_study = {
	.name = "study",
	.args = "STUDY",
	.summary = "show what a study shows, beside the papers' numbers",
	.min_args = 1,
	.max_args = 1,
	.options = study_options,
	.run = analyze_study_verb,
};
