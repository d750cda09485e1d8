/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures in the forms of other services: see metric_export.h. */
#include "lib/report/metric_export.h"

#include "lib/base/charset.h"
#include "lib/base/table.h"
#include "lib/base/tool.h"

#include <math.h>

static const char *const metric_formats[] = {
	[METRIC_BENCHER] = "bencher",
	[METRIC_GITHUB_ACTION_BENCHMARK] = "github-action-benchmark",
	[METRIC_OTAVA_CSV] = "otava-csv",
	NULL,
};

int metric_file_parse(const char *value, struct metric_file *ret, struct error *err)
{
	const char *file = strchr(value, '=');
	_cleanup_(freep) char *word = xstrndup(value, strcspn(value, "="));
	int format, r = option_choice(word, "--export", metric_formats, &format, err);

	if (r < 0)
		return r;
	if (!file || !file[1])
		return error_say(err, -EINVAL,
			"--export: name the file, or - for standard output, as in %s=FILE", word);
	*ret = (struct metric_file){(enum metric_format)format, file + 1};
	return 0;
}

int metric_files_check(const struct option_list *exports, bool *ret_stdout, struct error *err)
{
	_cleanup_(freep) const char **paths = xcalloc(exports->n + 1, sizeof(*paths));
	int r = 0;

	*ret_stdout = false;
	for (size_t i = 0; r == 0 && i < exports->n; i++) {
		struct metric_file file = {};

		r = metric_file_parse(exports->items[i], &file, err);
		paths[i] = file.path;
		if (r == 0)
			*ret_stdout |= output_file_is_standard(file.path);
	}
	return r < 0 ? r : output_files_apart(paths, exports->n, err);
}

/* {"COMMAND": {"cpu-time": {"value": …, "lower_value": …, "upper_value": …}}} */
static json_t *metrics_as_bencher(const struct metrics *metrics)
{
	json_t *document = json_object();

	for (const struct metric *m = metrics->items; m < metrics->items + metrics->n; m++) {
		_cleanup_(freep) char *name = text_utf8(m->benchmark);
		json_t *benchmark = json_object_get(document, name);
		bool bounded = isfinite(m->low) && isfinite(m->high);

		if (!benchmark) {
			benchmark = json_object();
			json_object_set_new(document, name, benchmark);
		}
		json_object_set_new(benchmark, m->measure,
			JSON_OBJECT({"value", json_real(m->value)},
				{"lower_value?", bounded ? json_real(m->low) : NULL},
				{"upper_value?", bounded ? json_real(m->high) : NULL}));
	}
	return document;
}

/* [{"name": "COMMAND: cpu-time", "unit": "ns", "value": …, "range": "± 1.2", "extra": …}] */
static json_t *metrics_as_github(const struct metrics *metrics)
{
	json_t *document = json_array();

	for (const struct metric *m = metrics->items; m < metrics->items + metrics->n; m++) {
		_cleanup_(freep) char *name = text_utf8(m->benchmark);
		_cleanup_(freep) char *title = text_format("%s: %s", name, m->measure);
		bool bounded = isfinite(m->low) && isfinite(m->high);
		const char *range = text_brief("± %.4g", (m->high - m->low) / 2);
		const char *extra = text_brief("95 %% CI %.6g to %.6g\n%s", m->low, m->high,
			text_count((int64_t)m->n_samples, "sample"));

		json_array_append_new(document,
			JSON_OBJECT({"name", json_text(title)}, {"unit", json_text(m->unit)},
				{"value", json_real(m->value)},
				{"range?", bounded ? json_text(range) : NULL},
				{"extra?", bounded ? json_text(extra) : NULL}));
	}
	return document;
}

/* A heading and a row: "time,commit,COMMAND: cpu-time". */
static void metrics_write_csv(const struct metrics *metrics, FILE *file)
{
	_cleanup_(freep) struct column *columns = xcalloc(metrics->n + 3, sizeof(*columns));
	_cleanup_(freep) char **titles = xcalloc(metrics->n + 1, sizeof(*titles));
	_cleanup_(table_freep) struct table *table = NULL;
	size_t n = 0;

	columns[n++] = (struct column){"time", COLUMN_TEXT, "time"};
	if (metrics->commit)
		columns[n++] = (struct column){"commit", COLUMN_TEXT, "commit"};
	for (size_t i = 0; i < metrics->n; i++) {
		titles[i] = text_format(
			"%s: %s", metrics->items[i].benchmark, metrics->items[i].measure);
		columns[n++] = (struct column){titles[i], COLUMN_NUMBER, titles[i]};
	}
	table = table_new(columns);
	table_begin_row(table);
	table_add(table, TEXT(text_rfc3339(metrics->started_ns)));
	if (metrics->commit)
		table_add(table, TEXT(metrics->commit));
	for (size_t i = 0; i < metrics->n; i++)
		table_add(table, REAL("%.9g", metrics->items[i].value));
	table_write(table, TABLE_CSV, file);
	for (size_t i = 0; i < metrics->n; i++)
		free(titles[i]);
}

int metric_export_write(
	const struct metrics *metrics, enum metric_format format, FILE *file, struct error *err)
{
	if (format == METRIC_OTAVA_CSV) {
		metrics_write_csv(metrics, file);
		return 0;
	}
	return json_print(
		format == METRIC_BENCHER ? metrics_as_bencher(metrics) : metrics_as_github(metrics),
		file, err);
}

int metric_files_write(
	const struct metrics *metrics, const struct option_list *exports, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < exports->n; i++) {
		_cleanup_(output_file_clear) struct output_file output = {};
		struct metric_file file = {};

		r = metric_file_parse(exports->items[i], &file, err);
		if (r == 0)
			r = charset_document_open(&output, file.path, err);
		if (r == 0)
			r = metric_export_write(metrics, file.format, output.file, err);
		if (r == 0)
			r = output_file_commit(&output, err);
	}
	return r;
}
