/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a study shows: see study_report.h. */
#include "lib/study/clean_room_result.h"
#include "lib/study/study_internal.h"

#include <stdarg.h>

/* What is not discarded shows what settings change; what is left, how long a program takes. */
enum study_rule study_rule_for(enum study_kind kind)
{
	return kind == STUDY_SETTINGS || kind == STUDY_VERSIONS || kind == STUDY_CLOCKS
		       ? STUDY_RULE_ALL
		       : STUDY_RULE_CAUSES;
}

struct table *study_add_table(struct study_report *report, const char *name,
	const struct column *columns, const char *format, ...)
{
	struct study_table *t = array_add(report->tables, report->n_tables);
	va_list args;

	va_start(args, format);
	*t = (struct study_table){name, text_vformat(format, args), table_new(columns)};
	va_end(args);
	return t->table;
}

void study_add_remark(struct study_report *report, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	*array_add(report->remarks, report->n_remarks) = text_vformat(format, args);
	va_end(args);
}

static void study_clear_remarks(struct study_report *report)
{
	for (size_t i = 0; i < report->n_remarks; i++)
		free(report->remarks[i]);
	free(report->remarks);
	report->remarks = NULL;
	report->n_remarks = 0;
}

struct cell study_time_cell(double ns, double step_ns)
{
	const char *text = "-";

	if (!isnan(ns))
		text = text_precise(ns, isnan(step_ns) ? 0 : step_ns);
	return VALUE(json_real_or_null(ns), text);
}

struct cell study_share_cell(double share)
{
	const char *text = "-";

	if (isfinite(share))
		text = text_brief("%s%s", share < 0 ? "-" : "", text_percent(fabs(share)));
	return VALUE(json_real_or_null(share), text);
}

void study_add_bounds(struct table *table, struct block_interval interval)
{
	table_add(table, VALUE(json_real_or_null(interval.low), NULL),
		VALUE(json_real_or_null(interval.high), NULL));
}

void study_add_interval(struct table *table, struct block_interval interval, const char *text)
{
	table_add(table, TEXT(isnan(interval.low) ? NULL : text));
	study_add_bounds(table, interval);
}

void study_add_time_interval(struct table *table, struct block_interval interval, double step_ns)
{
	study_add_interval(table, interval,
		text_interval(interval.low, interval.high, isnan(step_ns) ? 0 : step_ns, NULL));
}

void study_add_share_interval(struct table *table, struct block_interval interval)
{
	double most = 100 * fmax(fabs(interval.low), fabs(interval.high));
	int decimals = most >= 10 || most <= 0 ? 0 : (int)ceil(1 - log10(most));

	study_add_interval(table, interval,
		text_brief("%.*f … %.*f %%", decimals, 100 * interval.low, decimals,
			100 * interval.high));
}

void study_add_summary(struct table *table, const struct block_summary *b)
{
	table_add(table, study_time_cell(b->mean_ns, b->sd_ns));
	study_add_bounds(table, b->mean_interval);
	table_add(table, study_time_cell(b->sd_ns, b->sd_ns));
	study_add_time_interval(table, b->sd_interval, b->sd_ns);
	table_add(table, study_share_cell(b->cv));
	study_add_bounds(table, b->cv_interval);
	table_add(table, NUMBER(b->min_ns), NUMBER(b->max_ns));
}

const char *study_combination_name(const struct study_data *data, size_t combination)
{
	bool more = data->file.order == STUDY_ONE_AFTER_ANOTHER && combination > 1;

	if (combination == 0)
		return "as it was";
	return text_brief("%s%s", more ? "+ " : "", data->combinations[combination]);
}

/* What its machine has not cannot be shown, which is said. */
static void add_study_notes(struct study_report *report)
{
	_cleanup_(freep) char *notes = text_copy(report->data->study.notes);
	char *rest = notes;

	for (char *line; rest && (line = strsep(&rest, "\n"));)
		study_add_remark(report, "Left out: %s.", line);
}

static void add_failures(struct study_report *report)
{
	for (size_t s = 0; s < report->data->n_subjects; s++) {
		const struct study_program *p = &report->data->subjects[s];

		if (p->n_failed > 0)
			study_add_remark(report, "Warning: '%s' failed in %zu of %zu samples.",
				p->name, p->n_failed, p->n_samples);
	}
}

/* The tables of each kind of study, the main one first. */
static int add_tables(struct study_report *report, struct book *book, struct error *err)
{
	int r = 0;

	switch (report->data->study.what) {
	case STUDY_LENGTHS:
		study_add_rules(report);
		study_add_limits(report);
		break;
	case STUDY_SAMPLES:
		r = study_add_sizes(report, err);
		study_add_rules(report);
		break;
	case STUDY_SETTINGS:
	case STUDY_VERSIONS:
		study_add_times(report);
		study_add_steps(report);
		study_add_rules(report);
		break;
	case STUDY_CLOCKS:
		study_add_clocks(report);
		break;
	case STUDY_ALGORITHMS:
		study_add_times(report);
		r = study_add_fits(report, err);
		break;
	case STUDY_CLEAN_ROOM:
		r = study_add_clean_room(report, book, err);
		break;
	case STUDY_SUITE:
		study_add_suite(report);
		study_add_rules(report);
		break;
	default:
		study_add_times(report);
	}
	if (report->data->n_finished == 0 && r == 0) {
		study_clear_remarks(report); /* of numbers */
		study_add_remark(report, "No block is finished: there is nothing to show yet.");
	} else {
		study_add_papers(report);
	}
	add_failures(report);
	add_study_notes(report);
	return r;
}

int study_report_make(struct book *book, const struct study_data *data, enum study_rule rule,
	struct study_report *ret, struct error *err)
{
	_cleanup_(study_report_clear) struct study_report report = {.data = data, .rule = rule};
	int r = add_tables(&report, book, err);

	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(report);
	return 0;
}

void study_report_clear(struct study_report *report)
{
	for (size_t i = 0; i < report->n_tables; i++) {
		free(report->tables[i].title);
		table_free(report->tables[i].table);
	}
	free(report->tables);
	study_clear_remarks(report);
	*report = (struct study_report){};
}

const struct study_table *study_report_table(
	const struct study_report *report, const char *name, struct error *err)
{
	_cleanup_(freep) char *names = NULL;

	for (size_t i = 0; i < report->n_tables; i++) {
		if (!name || !strcmp(report->tables[i].name, name))
			return &report->tables[i];
		text_append(&names, ", ", "%s", report->tables[i].name);
	}
	error_say(err, -EINVAL, "study %" PRId64 " has no table '%s'; it has: %s",
		report->data->study.id, name ?: "", names ?: "none");
	return NULL;
}

static const char *state_text(const struct study_data *data)
{
	if (data->study.finished_ns > 0)
		return "";
	return text_brief("; not finished: %zu of %zu blocks ('emp-study resume %lld' goes on)",
		data->n_finished, data->n_blocks, (long long)data->study.id);
}

void study_report_print(const struct study_report *report, FILE *file)
{
	const struct study_data *data = report->data;

	terminal_say(file, 2, "Study %" PRId64 " (%s), %s%s", data->study.id,
		terminal_text(data->study.name), text_moment(data->study.started_ns),
		state_text(data));
	if (data->file.text)
		terminal_say(file, 0, "%s", terminal_text(data->file.text));
	for (size_t i = 0; i < report->n_tables; i++) {
		if (!*report->tables[i].title || table_is_empty(report->tables[i].table))
			continue;
		fputc('\n', file);
		terminal_say(file, 2, "%s", report->tables[i].title);
		table_print(report->tables[i].table, file);
	}
	for (size_t i = 0; i < report->n_remarks; i++) {
		fputc('\n', file);
		terminal_say(file, 0, "%s", report->remarks[i]);
	}
}

json_t *study_report_as_json(const struct study_report *report)
{
	const struct study_data *data = report->data;
	json_t *tables = json_object(), *remarks = json_array();

	for (size_t i = 0; i < report->n_tables; i++)
		json_object_set_new(
			tables, report->tables[i].name, table_json(report->tables[i].table));
	for (size_t i = 0; i < report->n_remarks; i++)
		json_array_append_new(remarks, json_text(report->remarks[i]));
	return JSON_OBJECT({"study", json_integer(data->study.id)},
		{"name", json_text(data->study.name)},
		{"what", json_text(study_kind_names[data->study.what])},
		{"night", json_int_if(data->study.night > 0, data->study.night)},
		{"started_ns", json_integer(data->study.started_ns)},
		{"finished_ns", json_int_if(data->study.finished_ns > 0, data->study.finished_ns)},
		{"seed", json_integer(data->study.seed)},
		{"blocks", json_integer((json_int_t)data->n_blocks)},
		{"blocks_finished", json_integer((json_int_t)data->n_finished)},
		{"rule", json_text(study_rule_names[report->rule])}, {"tables", tables},
		{"remarks", remarks});
}

void study_report_write(const struct study_report *report, const struct study_table *only,
	enum table_format format, FILE *file)
{
	const char *between = "";

	for (size_t i = 0; i < report->n_tables; i++) {
		const struct study_table *t = &report->tables[i];

		if ((only && only != t) || !*t->title || (!only && table_is_empty(t->table)))
			continue;
		fputs(between, file);
		between = "\n";
		if (format == TABLE_LATEX) {
			table_write_latex(t->table, t->title, file);
			continue;
		}
		fprintf(file, "%s\n\n", terminal_text(t->title));
		table_write(t->table, format, file);
	}
}
