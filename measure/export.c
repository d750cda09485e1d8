/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing the exports, and a session's results as CSV and as tables in Markdown, AsciiDoc and Org mode: see session.h.
 * hyperfine's columns come first, as in hyperfine: elapsed times of all samples. */
#include "measure/session.h"

#include "lib/base/json.h"
#include "lib/base/paths.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/document/document.h"
#include "lib/duet/duet_report.h"
#include "lib/record/run.h"
#include "lib/report/results.h"
#include "lib/report/run_result.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static struct result_means result_means(const struct result *result);

/* Means of the samples kept. */
struct result_means {
	double user_ns, system_ns;
};

static int export_write_json(const struct session *session, FILE *file, struct error *err);

/* One command. */
struct export_row {
	const struct result *result;
	double mean_ns, sd_ns, median_ns, user_ns, system_ns, min_ns, max_ns;
	double relative,
		relative_sd; /* to the reference, else to the fastest; sd NAN: this is the reference */
	double pt_mean_ns, pt_sd_ns, pt_samples, discarded;
	double memory_bytes;                          /* peak, the mean of the samples kept; NAN: not known */
	double pt_ratio, pt_ratio_low, pt_ratio_high; /* of a duet, to the first command; NAN: none */
};

struct export_rows {
	struct export_row *items;
	size_t n;
};

static void export_rows_clear(struct export_rows *rows)
{
	free(rows->items);
}

static struct result_means result_means(const struct result *result)
{
	const struct run_result *run = &result->run;
	double n = (double)run->discarding.pt.kept.n;
	struct result_means m = {};

	for (size_t i = 0; i < run->n_samples; i++) {
		if (run->discarding.out[i])
			continue;
		m.user_ns += (double)run->samples[i].user_ns / n;
		m.system_ns += (double)run->samples[i].system_ns / n;
	}
	return m;
}

static struct export_row export_row(const struct result *r)
{
	const struct summary *et = &r->run.discarding.et.raw, *pt = &r->run.discarding.pt.kept;
	struct result_means means = result_means(r);
	struct peak_memory memory = peak_memory_of(r->run.samples, r->run.discarding.out, r->run.n_samples);

	return (struct export_row){
		.result = r,
		.mean_ns = et->mean_ns,
		.sd_ns = et->sd_ns,
		.median_ns = et->median_ns,
		.user_ns = means.user_ns,
		.system_ns = means.system_ns,
		.min_ns = (double)et->min_ns,
		.max_ns = (double)et->max_ns,
		.pt_mean_ns = pt->mean_ns,
		.pt_sd_ns = pt->sd_ns,
		.pt_samples = (double)pt->n,
		.discarded = (double)(r->run.n_samples - pt->n),
		.memory_bytes = memory.n > 0 ? memory.mean_bytes : NAN,
		.pt_ratio = NAN,
	};
}

/* The ratios of a duet, as on the screen. */
static int export_add_ratios(const struct session *s, struct export_rows *rows, struct error *err)
{
	_cleanup_(comparisons_clear) struct comparisons comparisons = {};
	int r = comparisons_make(s, &comparisons, err);

	for (size_t i = 0; r == 0 && i < rows->n; i++) {
		struct export_row *row = &rows->items[i];

		for (size_t k = 1; k < s->n; k++) {
			const struct comparison *c = comparisons_of(&comparisons, COMPARISON_PT, k);

			if (row->result != &s->tasks[k].result || c->a.n == 0)
				continue;
			row->pt_ratio = c->ratio;
			row->pt_ratio_low = c->ratio_low;
			row->pt_ratio_high = c->ratio_high;
		}
	}
	return r;
}

/* Of the commands that have samples, in their order. */
static int export_rows_make(const struct session *of, struct export_rows *ret, struct error *err)
{
	const struct session *s = session_judged(of);
	_cleanup_(export_rows_clear) struct export_rows rows = {
		.items = xcalloc(s->n + 1, sizeof(*rows.items))};
	bool duet = of->options->order == ORDER_DUET;
	int r;

	for (size_t i = 0; i < session_n_shown(s); i++)
		if (s->tasks[i].result.run.n_samples > 0)
			rows.items[rows.n++] = export_row(&s->tasks[i].result);

	/* The ratios of the means to the first or the least one, with sds by propagation as in hyperfine.
	 * In a duet, the elapsed time of each program is that of all: its process times are compared. */
	bool to_first = s->options->reference;
	struct export_row base = rows.items[0];

	for (size_t i = 1; !to_first && i < rows.n; i++)
		if (duet ? rows.items[i].pt_mean_ns < base.pt_mean_ns : rows.items[i].mean_ns < base.mean_ns)
			base = rows.items[i];
	for (struct export_row *row = rows.items; row < rows.items + rows.n; row++) {
		double mean = duet ? row->pt_mean_ns : row->mean_ns;
		double base_mean = duet ? base.pt_mean_ns : base.mean_ns;
		double of_row = (duet ? row->pt_sd_ns : row->sd_ns) / mean;
		double of_base = (duet ? base.pt_sd_ns : base.sd_ns) / base_mean;

		row->relative = mean / base_mean;
		row->relative_sd = row->result == base.result
					   ? NAN
					   : row->relative * sqrt(of_row * of_row + of_base * of_base);
	}
	r = duet ? export_add_ratios(s, &rows, err) : 0;
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(rows);
	return 0;
}

static int by_mean(const void *x, const void *y)
{
	const struct export_row *a = x, *b = y;

	return (a->mean_ns > b->mean_ns) - (a->mean_ns < b->mean_ns);
}

enum figure_kind {
	FIGURE_TIME,
	FIGURE_RATIO,
	FIGURE_COUNT,
	FIGURE_INTERVAL,
	FIGURE_PARAMETERS,
	FIGURE_COMMAND
};

/* The columns after the command's name. */
static const struct figure {
	const char *csv;   /* heading, NULL: not in CSV */
	const char *title; /* heading in tables, NULL: not in tables */
	enum figure_kind kind;
	size_t value, sd; /* offsets into struct export_row; sd 0: none */
} figures[] = {
	{"mean", "Mean", FIGURE_TIME, offsetof(struct export_row, mean_ns),
		offsetof(struct export_row, sd_ns)},
	{"stddev", NULL, FIGURE_TIME, offsetof(struct export_row, sd_ns)},
	{"median", NULL, FIGURE_TIME, offsetof(struct export_row, median_ns)},
	{"user", NULL, FIGURE_TIME, offsetof(struct export_row, user_ns)},
	{"system", NULL, FIGURE_TIME, offsetof(struct export_row, system_ns)},
	{"min", "Min", FIGURE_TIME, offsetof(struct export_row, min_ns)},
	{"max", "Max", FIGURE_TIME, offsetof(struct export_row, max_ns)},
	{"parameter_", NULL, FIGURE_PARAMETERS},
	{NULL, "Relative", FIGURE_RATIO, offsetof(struct export_row, relative),
		offsetof(struct export_row, relative_sd)},
	{"pt_mean", "PT", FIGURE_TIME, offsetof(struct export_row, pt_mean_ns),
		offsetof(struct export_row, pt_sd_ns)},
	{"pt_stddev", NULL, FIGURE_TIME, offsetof(struct export_row, pt_sd_ns)},
	{"pt_samples", NULL, FIGURE_COUNT, offsetof(struct export_row, pt_samples)},
	{"discarded", "Discarded", FIGURE_COUNT, offsetof(struct export_row, discarded)},
	{"peak_memory", NULL, FIGURE_COUNT, offsetof(struct export_row, memory_bytes)},
	{"command_line", NULL, FIGURE_COMMAND},
	{NULL, "PT ratio (95 % CI)", FIGURE_INTERVAL, offsetof(struct export_row, pt_ratio)},
};

static double figure_of(const struct export_row *row, size_t offset)
{
	return *(const double *)((const char *)row + offset);
}

/* The rows as a table, and what its headings are made of. */
struct export_table {
	const struct parameters *parameters;
	bool duet;                     /* has the ratios */
	const struct discarding *mark; /* of the profile, which is the same for all; NULL: none */
	const char *unit;
	double unit_ns;
	struct column *columns;
	size_t n_columns;
	char **headings;
	size_t n_headings;
	struct table *table;
};

static void export_table_clear(struct export_table *t)
{
	table_free(t->table);
	for (size_t i = 0; i < t->n_headings; i++)
		free(t->headings[i]);
	free(t->headings);
	free(t->columns);
}

static void add_export_column(
	struct export_table *t, enum column_kind kind, const char *title, const char *csv)
{
	struct column *column = array_add(t->columns, t->n_columns);

	*column = (struct column){title, kind, csv};
}

static const char *keep_heading(struct export_table *t, char *heading)
{
	char **kept = array_add(t->headings, t->n_headings);

	return *kept = heading;
}

/* The decimals that give the sd two significant digits; without an sd, those of hyperfine. */
static int export_decimals(double sd, double unit_ns)
{
	int n = unit_ns >= 1e9 ? 3 : 1;

	if (sd > 0)
		for (double x = sd / unit_ns * pow(10, n); x < 10 && n < 6; x *= 10)
			n++;
	return n;
}

static void add_export_row(struct export_table *t, const struct export_row *row)
{
	const struct command *command = row->result->command;

	table_row(t->table);
	table_cell_code(t->table, row->result->name);
	for (const struct figure *f = figures; f < figures + ELEMENTS(figures); f++) {
		if (f->kind == FIGURE_PARAMETERS)
			for (size_t i = 0; i < t->parameters->n; i++) /* the reference has none */
				table_cell_text(t->table, command->values ? command->values[i] : "");
		else if (f->kind == FIGURE_COMMAND)
			table_cell_text(t->table, command->text ?: "");
		else if (f->kind != FIGURE_INTERVAL) {
			bool is_time = f->kind == FIGURE_TIME,
			     is_pt = f->value == offsetof(struct export_row, pt_mean_ns);
			double size = is_time ? t->unit_ns : 1, value = figure_of(row, f->value);
			double sd = f->sd ? figure_of(row, f->sd) / size : NAN;
			int n = is_time ? export_decimals(is_pt ? row->pt_sd_ns : row->sd_ns, t->unit_ns)
				: f->kind == FIGURE_RATIO ? 2
							  : 0;
			json_t *number = isnan(value) ? NULL
					 : is_time    ? json_real(value / 1e9)
						      : json_integer(llrint(value));
			char text[768];

			/* CSV has seconds; tables have the unit, and the sd if there is one. */
			if (!isnan(sd) && row->result->run.n_samples > 1)
				snprintf(text, sizeof(text), "%.*f ± %.*f", n, value / size, n, sd);
			else
				snprintf(text, sizeof(text), "%.*f", n, value / size);
			table_cell_value(t->table, number, text);
		} else if (t->duet) {
			double half = (row->pt_ratio_high - row->pt_ratio_low) / 2;
			int n = half > 0 ? 1 - (int)floor(log10(half)) : 3;

			n = n < 2 ? 2 : n > 6 ? 6 : n;
			if (isnan(row->pt_ratio))
				table_cell(t->table, "-");
			else if (isnan(half))
				table_cell(t->table, "%.3f", row->pt_ratio);
			else
				table_cell(t->table, "%.*f (%.*f to %.*f)", n, row->pt_ratio, n,
					row->pt_ratio_low, n, row->pt_ratio_high);
		}
	}
	if (t->mark) {
		table_cell_value(t->table,
			t->mark->blind_ns > 0 ? json_real((double)t->mark->blind_ns / 1e9) : NULL, NULL);
		table_cell_text(t->table, t->mark->noise ?: "");
	}
}

static int write_table(const struct session *s, enum table_format format, FILE *file, struct error *err)
{
	_cleanup_(export_rows_clear) struct export_rows rows = {};
	_cleanup_(export_table_clear) struct export_table t = {
		.parameters = &s->options->parameters,
		.duet = s->options->order == ORDER_DUET && session_n_shown(s) > 1,
	};
	int r = export_rows_make(s, &rows, err);
	double first;

	if (r < 0)
		return r;
	first = rows.items[0].mean_ns;
	t.unit = s->options->unit ?: first >= 1e9 ? "s" : first >= 1e6 ? "ms" : "us";
	t.unit_ns = !strcmp(t.unit, "s") ? 1e9 : !strcmp(t.unit, "ms") ? 1e6 : 1e3;
	if (rows.n > 0) {
		const struct discarding *d = &rows.items[0].result->run.discarding;

		t.mark = noise_marked(d->blind_ns, d->noise) ? d : NULL;
	}
	if (format != TABLE_CSV && s->options->sort == SORT_MEAN_TIME)
		qsort(rows.items, rows.n, sizeof(*rows.items), by_mean);
	add_export_column(&t, COLUMN_TEXT, "Command", "command");
	for (const struct figure *f = figures; f < figures + ELEMENTS(figures); f++) {
		if (f->kind == FIGURE_PARAMETERS)
			for (size_t i = 0; i < t.parameters->n; i++)
				add_export_column(&t, COLUMN_TEXT, NULL,
					keep_heading(&t,
						text_format("%s%s", f->csv, t.parameters->items[i].name)));
		else if (f->kind == FIGURE_TIME && f->title)
			add_export_column(&t, COLUMN_NUMBER,
				keep_heading(&t, text_format("%s [%s]", f->title, t.unit)), f->csv);
		else if (f->kind != FIGURE_INTERVAL || t.duet)
			add_export_column(&t, COLUMN_NUMBER, f->title, f->csv);
	}
	if (t.mark) {
		add_export_column(&t, COLUMN_NUMBER, NULL, "profile_blind");
		add_export_column(&t, COLUMN_TEXT, NULL, "profile_noise");
	}
	array_add(t.columns, t.n_columns); /* {} */
	t.table = table_new(t.columns);
	for (size_t i = 0; i < rows.n; i++)
		add_export_row(&t, &rows.items[i]);
	table_write(t.table, format, file);
	if (format != TABLE_CSV) {
		/* Under the table: the mark of the profile, and why the table does not show the duet. */
		if (t.mark) {
			_cleanup_(freep) char *noise = noise_text(
				s->options->profile, t.mark->blind_ns, t.mark->noise);

			table_write_code(format, file, noise);
		}
		if (session_judged(s) != s) {
			_cleanup_(freep) char *doubt = text_format(
				"%s, so they were taken in turn.", duet_doubt_sentences[s->doubt]);

			table_write_code(format, file, doubt);
		}
	}
	return 0;
}

int export_write(const struct session *s, enum export format, FILE *file, struct error *err)
{
	static const enum table_format formats[N_EXPORTS] = {
		[EXPORT_CSV] = TABLE_CSV,
		[EXPORT_MARKDOWN] = TABLE_MARKDOWN,
		[EXPORT_ASCIIDOC] = TABLE_ASCIIDOC,
		[EXPORT_ORGMODE] = TABLE_ORG,
	};

	return format == EXPORT_JSON ? export_write_json(s, file, err)
				     : write_table(s, formats[format], file, err);
}

int export_try(const struct measure_options *o, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < N_EXPORTS; i++) {
		_cleanup_(output_file_clear) struct output_file output = {};
		const char *path = o->exports[i];

		if (!path || output_file_is_stream(path))
			continue;
		for (size_t j = 0; j < i; j++)
			if (o->exports[j] && !strcmp(o->exports[j], path))
				return error_say(
					err, -EINVAL, "two exports cannot share the file '%s'", path);
		r = output_file_open(&output, path, err);
	}
	return r;
}

bool export_takes_stdout(const struct measure_options *o)
{
	bool takes = o->json;

	for (size_t i = 0; i < N_EXPORTS; i++)
		takes |= o->exports[i] &&
			 (!strcmp(o->exports[i], "-") || !strcmp(o->exports[i], "/dev/stdout"));
	return takes;
}

/* Either the streams or the files. The first failure is reported; the rest are still written. */
static int export_those(const struct session *s, bool streams, struct error *err)
{
	int outcome = 0;

	for (size_t i = 0; i < N_EXPORTS; i++) {
		_cleanup_(output_file_clear) struct output_file output = {};
		const char *path = s->options->exports[i];
		struct error err2 = {};
		int r;

		if (!path || output_file_is_stream(path) != streams)
			continue;
		r = output_file_open(&output, path, outcome ? &err2 : err);
		if (r == 0)
			r = export_write(s, i, output.file, outcome ? &err2 : err);
		if (r == 0)
			r = output_file_commit(&output, outcome ? &err2 : err);
		outcome = outcome ?: r;
	}
	return outcome;
}

int export_files(const struct session *s, struct error *err)
{
	return export_those(s, false, err);
}

int export_streams(const struct session *s, struct error *err)
{
	int r = export_those(s, true, err);

	return r == 0 && s->options->json ? export_write_json(s, stdout, err) : r;
}

/* A session's results as a JSON document. */

enum { VERSION = 1 };

static json_t *clock_json(const struct result *r, size_t offset)
{
	json_t *array = json_array();

	for (size_t i = 0; i < r->run.n_samples; i++)
		json_array_append_new(
			array, json_integer(*(const int64_t *)((const char *)&r->run.samples[i] + offset)));
	return array;
}

/* The starts as text, for people and for programs that read numbers as doubles. */
static json_t *starts_json(const struct result *r)
{
	json_t *array = json_array();
	char start[TEXT_TIME_SIZE];

	for (size_t i = 0; i < r->run.n_samples; i++)
		json_array_append_new(array, json_string(text_rfc3339(start, r->run.samples[i].start_ns)));
	return array;
}

/* Share of ET that the program was not on a CPU, in all samples; below 0 where it ran on several. */
static double off_cpu(const struct result *result)
{
	const struct run_result *run = &result->run;
	double et = 0, pt = 0;

	for (size_t i = 0; i < run->n_samples; i++) {
		et += (double)run->samples[i].et_ns;
		pt += (double)run->samples[i].pt_ns;
	}
	return et > 0 ? 1 - pt / et : 0;
}

static json_t *warnings_json(const struct session *s, const struct result *r)
{
	_cleanup_(notes_clear) struct notes all = {};

	notes_add_all(&all, &r->notes);
	notes_add_all(&all, &s->notes);
	return notes_as_json(&all);
}

/* The members of discarding_as_json (run, by_cutoff, by_two_sd, incomplete, pt, et), and more. */
static json_t *emp_json(const struct session *s, const struct task *t)
{
	const struct result *r = &t->result;
	const struct peak_memory memory = peak_memory_of(
		r->run.samples, r->run.discarding.out, r->run.n_samples);
	_cleanup_(freep) char *typed = text_utf8(r->command->text);
	json_t *emp = discarding_as_json(&r->run.discarding);
	const struct observer *o = &s->base.observer;

	json_object_set_new(
		emp, "profile", s->options->profile ? json_string(s->options->profile) : json_null());
	json_object_set_new(emp, "environment", json_string(s->base.environment_digest));
	json_object_set_new(emp, "profile_environment",
		s->profile.environment_digest ? json_string(s->profile.environment_digest) : json_null());
	json_object_set_new(emp, "environment_changes",
		s->environment_changes ? json_string(s->environment_changes) : json_null());
	json_object_set_new(emp, "backend", json_string(observer_backend_name(o)));
	json_object_set_new(emp, "pt_source", json_string(observer_pt_source(o)));
	json_object_set_new(emp, "wait_source", json_string(observer_wait_source(o)));
	json_object_set_new(emp, "pt_partial", json_boolean(!o->cgroup));
	json_object_set_new(emp, "start_ns", clock_json(r, offsetof(struct sample, start_ns)));
	json_object_set_new(emp, "start", starts_json(r));
	json_object_set_new(emp, "pt_ns", clock_json(r, offsetof(struct sample, pt_ns)));
	json_object_set_new(emp, "et_ns", clock_json(r, offsetof(struct sample, et_ns)));
	json_object_set_new(emp, "user_ns", clock_json(r, offsetof(struct sample, user_ns)));
	json_object_set_new(emp, "system_ns", clock_json(r, offsetof(struct sample, system_ns)));
	json_object_set(emp, "pt_interval_ns",
		json_object_get(json_object_get(json_object_get(emp, "pt"), "kept"), "interval_ns"));
	json_object_set_new(emp, "peak_memory", peak_memory_as_json(&memory));
	json_object_set_new(emp, "command", json_string(typed ?: ""));
	json_object_set_new(emp, "off_cpu", json_real(off_cpu(r)));
	json_object_set_new(emp, "others", others_as_json(&r->run.discarding.others, false));
	json_object_set_new(emp, "unprofiled",
		s->options->profile ? others_as_json(&r->run.discarding.others, true) : json_array());
	json_object_set(emp, "not_in_profile", json_object_get(emp, "unprofiled"));

	/* One object per sample, null if nothing is known. */
	json_t *array = json_array();

	for (size_t i = 0; i < r->run.n_counters; i++)
		json_array_append_new(array, r->run.counters[i].changes.known
						     ? document_make_counters(&r->run.counters[i].changes)
						     : json_null());
	json_object_set_new(emp, "disturbance_counters", array);
	json_object_set_new(emp, "warnings", warnings_json(s, r));
	json_object_set_new(emp, "observer_ns", json_integer(r->observer_ns));
	json_object_set_new(emp, "before_exec_ns", json_integer(r->before_ns));
	json_object_set_new(emp, "left_behind", json_integer(r->left_behind));
	json_object_set_new(emp, "escaped", json_integer(r->escaped));
	if (s->perf)
		json_object_set_new(emp, "perf", perf_json(s, t));
	if (s->trace)
		json_object_set_new(emp, "trace", trace_json(s, t));
	if (r->inc.increments > 0)
		json_object_set_new(emp, "inc_units", inc_units_as_json(&r->inc));
	return emp;
}

/* hyperfine's members: the elapsed times of all samples in seconds. */
static json_t *result_json(const struct session *s, const struct task *t)
{
	const struct result *r = &t->result;
	const struct summary *et = &r->run.discarding.et.raw;
	json_t *times = json_array(), *exit_codes = json_array(), *memory = json_array(), *result;
	struct result_means means = result_means(r);

	for (size_t i = 0; i < r->run.n_samples; i++) {
		json_array_append_new(times, json_real((double)r->run.samples[i].et_ns / 1e9));
		json_array_append_new(exit_codes, json_integer(r->run.samples[i].exit_status));
		json_array_append_new(memory, json_integer(r->run.samples[i].max_rss_bytes));
	}
	result = json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o}", "command", r->name,
		"mean", et->mean_ns / 1e9, "stddev", et->sd_ns / 1e9, "median", et->median_ns / 1e9, "user",
		means.user_ns / 1e9, "system", means.system_ns / 1e9, "min", (double)et->min_ns / 1e9, "max",
		(double)et->max_ns / 1e9, "times", times, "memory_usage_byte", memory, "exit_codes",
		exit_codes);
	if (r->command->values && *r->command->values) {
		json_t *object = json_object();

		for (size_t i = 0; i < s->options->parameters.n; i++) {
			_cleanup_(freep) char *name = text_utf8(s->options->parameters.items[i].name);
			_cleanup_(freep) char *value = text_utf8(r->command->values[i]);

			if (name && value)
				json_object_set_new(object, name, json_string(value));
		}
		json_object_set_new(result, "parameters", object);
	}
	if (json_object_set_new(result, "emp", emp_json(s, t)) == 0)
		return result;
	json_decref(result);
	return NULL;
}

/* One for each command: of PT, with that of ET as a member where that is compared as well, or of ET. */
static int comparisons_json(const struct session *s, json_t *array, struct error *err)
{
	_cleanup_(comparisons_clear) struct comparisons comparisons = {};
	int r = comparisons_make(s, &comparisons, err);

	for (size_t i = 1; r == 0 && i < session_n_shown(s); i++) {
		const struct comparison *pt = comparisons_of(&comparisons, COMPARISON_PT, i),
					*et = comparisons_of(&comparisons, COMPARISON_ET, i);
		const char *a = s->tasks[0].name, *b = s->tasks[i].name;
		json_t *of_pt = pt->a.n > 0 ? comparison_as_json(a, b, pt) : NULL,
		       *of_et = et->a.n > 0 ? comparison_as_json(a, b, et) : NULL;

		if (of_pt && of_et)
			json_object_set_new(of_pt, "et", of_et);
		if (of_pt || of_et)
			json_array_append_new(array, of_pt ?: of_et);
	}
	return r;
}

static int export_json(const struct session *s, json_t **ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *results = json_array(), *comparisons = json_array(), *context = NULL;
	int r;

	for (size_t i = 0; i < session_n_shown(s); i++)
		if (s->tasks[i].result.run.n_samples > 0 &&
			json_array_append_new(results, result_json(s, &s->tasks[i])) < 0)
			return error_oom(err);
	r = comparisons_json(s, comparisons, err);
	if (r < 0)
		return r;
	if (s->base.book)
		r = document_make_context(
			s->base.book, s->base.environment, s->tasks[0].run.started_ns, &context, err);
	if (r < 0)
		return r;
	*ret = json_pack("{s:s, s:i, s:O*, s:O, s:O}", "format", "emp-measure", "version", VERSION, "context",
		context, "results", results, "comparisons", comparisons);
	if (*ret && s->options->order == ORDER_DUET) {
		_cleanup_(duet_report_clear) struct duet_report report = {};
		_cleanup_(freep) const char **names = session_names(s);
		json_t *duet, *in_turn;

		r = session_duet(s, &report, err);
		if (r <= 0)
			return r;
		in_turn = json_array();
		for (size_t i = 0; session_judged(s) != s && i < s->in_turn->n; i++)
			json_array_append_new(in_turn, json_integer(s->in_turn->tasks[i].run.id));
		duet = duet_report_as_json(&report, names);
		json_object_set_new(
			duet, "doubt", s->doubt ? json_string(duet_doubt_names[s->doubt]) : json_null());
		json_object_set_new(duet, "verdict_from",
			json_string(s->doubt == DUET_SOUND   ? "duet"
				    : session_judged(s) != s ? "in turn"
							     : "alone"));
		json_object_set_new(duet, "runs_in_turn", in_turn);
		return json_object_set_new(*ret, "duet", duet) < 0 ? error_oom(err) : 0;
	}
	if (*ret && s->n > 1) {
		struct duet_advice advice = advice_of(s);
		json_t *object;

		/* "duet" where a duet would show more, else null; and what that was decided by. */
		object = json_pack("{s:s?, s:o, s:o}", "order", advice.better ? "duet" : NULL,
			"times_as_narrow", json_real_or_null(advice.narrower), "p",
			json_real_or_null(advice.p));
		return json_object_set_new(*ret, "advice", object) < 0 ? error_oom(err) : 0;
	}
	return 0;
}

static int export_write_json(const struct session *s, FILE *file, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	int r = export_json(s, &document, err);

	return r < 0 ? r : json_print(document, file, err);
}
