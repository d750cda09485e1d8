/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results as a table: see export_table.h. */
#include "measure/export_table.h"

#include "measure/session_compare.h"
#include "lib/base/argv.h"
#include "lib/duet/duet_report.h"
#include "lib/record/peak_memory.h"
#include "lib/record/profile.h"
#include "lib/report/comparison_report.h"
#include "lib/report/results.h"
#include "lib/report/screen.h"

#include <math.h>

/* The time that the column Relative is of. In a duet it is PT, because the ET of each program is
 * that of all. */
static const struct summary *related_time(const struct task *t, bool duet)
{
	return duet ? &t->result.discarding.pt.kept : &t->result.discarding.et.raw;
}

static int by_related_time(const void *x, const void *y)
{
	const struct task *a = *(const struct task *const *)x, *b = *(const struct task *const *)y;
	bool duet = a->result.discarding.run.kind == RUN_DUET;
	double of_a = related_time(a, duet)->mean_ns, of_b = related_time(b, duet)->mean_ns;

	return (of_a > of_b) - (of_a < of_b);
}

struct export_column;

struct export_table {
	const struct session *session;
	bool duet;
	bool compared[N_COMPARISON_CLOCKS]; /* of any command with the first */
	/* that means are related to: the reference, else the fastest */
	const struct task *base;
	const struct profile_mark *mark; /* of the profile, which is the same for all; NULL: none */
	const char *unit;
	double unit_ns;
	struct export_column *columns;
	size_t n;
	struct column *headings; /* of the columns, and {} */
	char **texts;            /* that the headings have */
};

/* A row: the result of a program, and its comparisons with the first, by enum comparison_clock. */
struct export_row {
	const struct export_table *table;
	const struct task *task;
	const struct run_result *run;
	const struct summary *et; /* of all samples */
	const struct summary *pt; /* of the samples kept */
	const struct comparison *comparisons[N_COMPARISON_CLOCKS];
};

/* A column and its cells. `which` is passed to both functions. */
struct export_column {
	struct column column;
	struct cell (*cell)(const struct export_row *row, size_t which);
	size_t which;
	bool (*is_shown)(const struct export_table *table, size_t which); /* NULL: always */
	bool has_unit; /* the heading names the unit of the table */
};

/* NAN: not known. CSV has seconds. Tables have the unit, with two significant digits of the sd
 * (without an sd, the decimals of hyperfine), and the sd if it is `shown`. */
static struct cell time_cell(const struct export_row *row, double ns, double sd_ns, bool shown)
{
	double unit_ns = row->table->unit_ns;
	int n = unit_ns >= 1e9 ? 3 : 1;
	const char *text = "-";

	if (sd_ns > 0)
		for (double x = sd_ns / unit_ns * pow(10, n); x < 10 && n < 6; x *= 10)
			n++;
	if (shown && !isnan(ns) && !isnan(sd_ns))
		text = text_brief("%.*f ± %.*f", n, ns / unit_ns, n, sd_ns / unit_ns);
	else if (!isnan(ns))
		text = text_brief("%.*f", n, ns / unit_ns);
	return VALUE(json_real_or_null(ns / 1e9), text);
}

static struct cell name_cell(const struct export_row *row, size_t which)
{
	return CODE(row->task->name);
}

static struct cell et_mean_cell(const struct export_row *row, size_t which)
{
	return time_cell(row, row->et->mean_ns, summary_sd(row->et), true);
}

static struct cell sd_cell(const struct export_row *row, size_t which)
{
	return time_cell(row, summary_sd(row->et), summary_sd(row->et), false);
}

static struct cell median_cell(const struct export_row *row, size_t which)
{
	return time_cell(row, row->et->median_ns, row->et->sd_ns, false);
}

/* The mean of the samples kept, by its offset in struct sample. */
static struct cell kept_mean_cell(const struct export_row *row, size_t offset)
{
	return time_cell(row, mean_of_kept(row->run, offset), row->et->sd_ns, false);
}

static struct cell min_cell(const struct export_row *row, size_t which)
{
	return time_cell(row, (double)row->et->min_ns, row->et->sd_ns, false);
}

static struct cell max_cell(const struct export_row *row, size_t which)
{
	return time_cell(row, (double)row->et->max_ns, row->et->sd_ns, false);
}

/* The reference has no values. */
static struct cell parameter_cell(const struct export_row *row, size_t i)
{
	char *const *values = row->task->command->values;

	return TEXT(values ? values[i] : "");
}

/* The sd of a relation is propagated as in hyperfine. */
static struct cell relative_cell(const struct export_row *row, size_t which)
{
	const struct export_table *t = row->table;
	const struct summary *time = related_time(row->task, t->duet);
	const struct summary *to = related_time(t->base, t->duet);
	double cv = summary_sd(time) / time->mean_ns, cv_to = summary_sd(to) / to->mean_ns;
	double relative = summary_mean(time) / summary_mean(to);
	double relative_sd = relative * sqrt(cv * cv + cv_to * cv_to);

	if (row->task != t->base && !isnan(relative_sd))
		return TEXT(text_brief("%.2f ± %.2f", relative, relative_sd));
	return TEXT(isnan(relative) ? NULL : text_brief("%.2f", relative));
}

static struct cell pt_mean_cell(const struct export_row *row, size_t which)
{
	return time_cell(row, summary_mean(row->pt), summary_sd(row->pt), true);
}

static struct cell pt_sd_cell(const struct export_row *row, size_t which)
{
	return time_cell(row, summary_sd(row->pt), summary_sd(row->pt), false);
}

static struct cell pt_samples_cell(const struct export_row *row, size_t which)
{
	return NUMBER(row->pt->n);
}

static struct cell discarded_cell(const struct export_row *row, size_t which)
{
	return NUMBER(row->run->n_samples - row->pt->n);
}

static struct cell peak_memory_cell(const struct export_row *row, size_t which)
{
	const struct run_result *run = row->run;
	const struct peak_memory memory = peak_memory_of(
		run->samples, run->discarding.out, run->n_samples);
	bool known = memory.n > 0 && !memory.at_most;

	return VALUE(known ? json_integer(llrint(memory.mean_bytes)) : NULL, NULL);
}

static struct cell command_line_cell(const struct export_row *row, size_t which)
{
	return TEXT(row->task->command->text ?: "");
}

static bool has_mark(const struct export_table *t, size_t which)
{
	return t->mark != NULL;
}

static bool was_probed(const struct export_table *t, size_t which)
{
	const struct session *s = t->session;
	size_t n_probed = 0;

	for (size_t i = 0; i < session_n_shown(s); i++)
		n_probed += run_neighbour_time(&s->tasks[i].result).n_probed;
	return n_probed > 0;
}

static bool is_adjusted(const struct export_table *t, size_t which)
{
	const struct session *s = t->session;

	for (size_t i = 0; i < session_n_shown(s); i++)
		if (s->tasks[i].result.discarding.pt.adjusted.times_ns)
			return true;
	return false;
}

/* The mean with the neighbour. */
static struct cell pt_as_measured_cell(const struct export_row *row, size_t which)
{
	const struct clock_discarding *pt = &row->run->discarding.pt;
	const struct summary *measured = pt->adjusted.times_ns ? &pt->adjusted.before : &pt->kept;

	return time_cell(row, summary_mean(measured), summary_sd(measured), true);
}

static struct cell neighbour_share_cell(const struct export_row *row, size_t which)
{
	return REAL("%.4f", run_neighbour_time(row->run).share);
}

static bool is_known_between(const struct export_table *t, size_t which)
{
	const struct session *s = t->session;

	for (size_t i = 0; i < session_n_shown(s); i++)
		if (s->tasks[i].result.discarding.pt.between.variation.df > 0)
			return true;
	return false;
}

enum { BETWEEN_LOW, BETWEEN_HIGH };

static struct cell between_cell(const struct export_row *row, size_t which)
{
	const struct run_interval *between = &row->run->discarding.pt.between;
	double ns = which == BETWEEN_LOW ? between->low_ns : between->high_ns;

	return time_cell(row, between->variation.df > 0 ? ns : NAN, 0, false);
}

static struct cell detection_limit_cell(const struct export_row *row, size_t which)
{
	int64_t ns = row->table->mark->blind_ns;

	return VALUE(ns > 0 ? json_real((double)ns / 1e9) : NULL, NULL);
}

static struct cell noise_cell(const struct export_row *row, size_t which)
{
	return TEXT(row->table->mark->noise ?: "");
}

static bool is_compared(const struct export_table *t, size_t clock)
{
	return t->compared[clock];
}

/* NULL: there is no ratio, as of the first command. */
static const struct comparison *known_ratio(const struct export_row *row, size_t clock)
{
	const struct comparison *c = row->comparisons[clock];

	return comparison_is_made(c) && !isnan(c->ratio) ? c : NULL;
}

/* The ratio and its interval, with two significant digits of half the interval: from 2 to 6
 * decimals. */
static struct cell ratio_text_cell(const struct export_row *row, size_t clock)
{
	const struct comparison *c = known_ratio(row, clock);
	double half;
	int n = 3;

	if (!c)
		return TEXT("-");
	half = (c->ratio_high - c->ratio_low) / 2;
	if (isnan(half))
		return TEXT(text_brief("%.3f", c->ratio));
	if (half > 0 && isfinite(half))
		n = 1 - (int)floor(log10(half));
	if (n < 2)
		n = 2;
	if (n > 6)
		n = 6;
	return TEXT(text_brief("%.*f (%s)", n, c->ratio,
		ratio_interval_text(c->ratio_low, c->ratio_high, n, " to ")));
}

static struct cell ratio_cell(const struct export_row *row, size_t clock)
{
	const struct comparison *c = known_ratio(row, clock);

	return REAL("%.4f", c ? c->ratio : NAN);
}

static struct cell ratio_low_cell(const struct export_row *row, size_t clock)
{
	const struct comparison *c = known_ratio(row, clock);

	return REAL("%.4f", c ? c->ratio_low : NAN);
}

static struct cell ratio_high_cell(const struct export_row *row, size_t clock)
{
	const struct comparison *c = known_ratio(row, clock);

	return REAL("%.4f", c ? c->ratio_high : NAN);
}

static struct cell ratio_verdict_cell(const struct export_row *row, size_t clock)
{
	const struct comparison *c = row->comparisons[clock];

	return TEXT(comparison_is_made(c) ? comparison_verdict_text(c) : NULL);
}

/* hyperfine's columns; those of the parameters come after them. */
static const struct export_column hyperfines_columns[] = {
	{{"Command", COLUMN_TEXT, "command"}, name_cell},
	{{"Mean", COLUMN_NUMBER, "mean"}, et_mean_cell, .has_unit = true},
	{{NULL, COLUMN_NUMBER, "stddev"}, sd_cell},
	{{NULL, COLUMN_NUMBER, "median"}, median_cell},
	{{NULL, COLUMN_NUMBER, "user"}, kept_mean_cell, offsetof(struct sample, user_ns)},
	{{NULL, COLUMN_NUMBER, "system"}, kept_mean_cell, offsetof(struct sample, system_ns)},
	{{"Min", COLUMN_NUMBER, "min"}, min_cell, .has_unit = true},
	{{"Max", COLUMN_NUMBER, "max"}, max_cell, .has_unit = true},
};

/* EMP's columns. */
static const struct export_column emps_columns[] = {
	{{"Relative", COLUMN_NUMBER}, relative_cell},
	{{"PT", COLUMN_NUMBER, "pt_mean"}, pt_mean_cell, .has_unit = true},
	{{NULL, COLUMN_NUMBER, "pt_stddev"}, pt_sd_cell},
	{{NULL, COLUMN_NUMBER, "pt_samples"}, pt_samples_cell},
	{{"Discarded", COLUMN_NUMBER, "discarded"}, discarded_cell},
	{{NULL, COLUMN_NUMBER, "peak_memory"}, peak_memory_cell},
	{{NULL, COLUMN_NUMBER, "command_line"}, command_line_cell},
	{{NULL, COLUMN_NUMBER, "neighbour_share"}, neighbour_share_cell, 0, was_probed},
	{{"PT as measured", COLUMN_NUMBER, "pt_as_measured"}, pt_as_measured_cell, 0, is_adjusted,
		.has_unit = true},
	{{NULL, COLUMN_NUMBER, "pt_between_runs_low"}, between_cell, BETWEEN_LOW, is_known_between},
	{{NULL, COLUMN_NUMBER, "pt_between_runs_high"}, between_cell, BETWEEN_HIGH,
		is_known_between},
	{{NULL, COLUMN_NUMBER, "profile_blind"}, detection_limit_cell, 0, has_mark},
	{{NULL, COLUMN_TEXT, "profile_noise"}, noise_cell, 0, has_mark},
	{{"PT ratio (95 % CI)", COLUMN_NUMBER}, ratio_text_cell, COMPARISON_PT, is_compared},
	{{NULL, COLUMN_NUMBER, "pt_ratio"}, ratio_cell, COMPARISON_PT, is_compared},
	{{NULL, COLUMN_NUMBER, "pt_ratio_low"}, ratio_low_cell, COMPARISON_PT, is_compared},
	{{NULL, COLUMN_NUMBER, "pt_ratio_high"}, ratio_high_cell, COMPARISON_PT, is_compared},
	{{"PT verdict", COLUMN_TEXT, "pt_verdict"}, ratio_verdict_cell, COMPARISON_PT, is_compared},
	{{"ET ratio (95 % CI)", COLUMN_NUMBER}, ratio_text_cell, COMPARISON_ET, is_compared},
	{{NULL, COLUMN_NUMBER, "et_ratio"}, ratio_cell, COMPARISON_ET, is_compared},
	{{NULL, COLUMN_NUMBER, "et_ratio_low"}, ratio_low_cell, COMPARISON_ET, is_compared},
	{{NULL, COLUMN_NUMBER, "et_ratio_high"}, ratio_high_cell, COMPARISON_ET, is_compared},
	{{"ET verdict", COLUMN_TEXT, "et_verdict"}, ratio_verdict_cell, COMPARISON_ET, is_compared},
};

static void add_column(struct export_table *t, const struct export_column *column)
{
	size_t n_headings = t->n, n_texts = t->n;
	char *text = NULL;

	if (column->is_shown && !column->is_shown(t, column->which))
		return;
	if (column->has_unit)
		text = text_format("%s [%s]", column->column.name, t->unit);
	*array_add(t->columns, t->n) = *column;
	*array_add(t->texts, n_texts) = text;
	*array_add(t->headings, n_headings) = column->column;
	if (text)
		t->headings[t->n - 1].name = text;
}

static void make_columns(struct export_table *t)
{
	const struct parameters *p = &t->session->options->parameters;

	for (size_t i = 0; i < ELEMENTS(hyperfines_columns); i++)
		add_column(t, &hyperfines_columns[i]);
	for (size_t i = 0; i < p->n; i++) {
		_cleanup_(freep) char *name = text_utf8(p->items[i].name);
		char *member = text_format("parameter_%s", name);

		add_column(t, &(struct export_column){
				      {NULL, COLUMN_TEXT, member}, parameter_cell, .which = i});
		t->texts[t->n - 1] = member;
	}
	for (size_t i = 0; i < ELEMENTS(emps_columns); i++)
		add_column(t, &emps_columns[i]);
}

static void export_table_clear(struct export_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->texts[i]);
	free(t->texts);
	free(t->headings);
	free(t->columns);
}

static void add_row(const struct export_table *t, const struct task *task, struct table *table)
{
	const struct session *s = t->session;
	size_t command = (size_t)(task - s->tasks);
	struct export_row row = {.table = t,
		.task = task,
		.run = &task->result,
		.et = &task->result.discarding.et.raw,
		.pt = &task->result.discarding.pt.kept};

	for (size_t clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
		row.comparisons[clock] = &s->comparisons[clock * s->n + command];
	table_begin_row(table);
	for (size_t i = 0; i < t->n; i++) {
		const struct export_column *column = &t->columns[i];

		table_add(table, column->cell(&row, column->which));
	}
}

static const char *which_et(const struct export_table *t)
{
	if (!t->duet)
		return "as in hyperfine";
	return t->session->options->cpu < 0 ? "without the turns of the other programs"
					    : "in which the other programs had turns, too";
}

/* Under the table: which times its columns have, that ratios are not of the duet, and the mark of
 * the profile. */
static void write_remarks(const struct export_table *t, enum table_format format, FILE *file)
{
	const struct session *s = t->session;

	if (t->compared[COMPARISON_PT] || t->compared[COMPARISON_ET]) {
		bool alone = session_compared_alone(s);
		_cleanup_(freep) char *ratios = text_format(
			" and the ratios to '%s' are", s->tasks[0].name);
		_cleanup_(freep) char *key = text_format(
			"Mean, Min and Max are elapsed times (ET) of all samples, %s; Relative is "
			"of %s to '%s'. PT%s of the samples kept.",
			which_et(t), t->duet ? "PT" : "Mean", t->base->name,
			alone ? " is" : ratios);

		table_write_code(format, file, key);
		if (alone)
			table_write_code(format, file, DUET_COMPARED_ALONE);
	} else if (t->base) {
		table_write_code(format, file,
			"Mean, Min and Max are elapsed times (ET) of all samples, as in hyperfine. "
			"PT is of the samples kept.");
	}
	if (is_adjusted(t, 0))
		table_write_code(format, file,
			"PT and its ratios are without the neighbour on the core, where PT as "
			"measured differs.");
	if (t->mark) {
		_cleanup_(freep) char *noise = noise_text(s->options->profile, t->mark);

		table_write_code(format, file, noise);
	}
	if (s->in_turn_because) {
		_cleanup_(freep) char *why = text_format("Taken in turn: %s.", s->in_turn_because);

		table_write_code(format, file, why);
	}
}

/* Whether means are better related to the task than to the present base: it is faster, and no
 * reference is given. */
static bool is_better_base(const struct export_table *t, const struct task *task)
{
	const struct summary *time = related_time(task, t->duet);

	if (!t->base)
		return true;
	if (t->session->options->reference || time->n == 0)
		return false;
	return !(summary_mean(time) >= summary_mean(related_time(t->base, t->duet)));
}

/* Unless a unit is given, the one that fits the first mean. */
static void choose_export_unit(struct export_table *t, double first_ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}};
	const char *given = t->session->options->unit;

	for (size_t i = 0; i < ELEMENTS(units); i++) {
		bool fits = given ? !strcmp(given, units[i].unit) : first_ns >= units[i].ns;

		t->unit = units[i].unit;
		t->unit_ns = units[i].ns;
		if (fits)
			break;
	}
}

int export_table_write(
	const struct session *s, enum table_format format, FILE *file, struct error *err)
{
	_cleanup_(export_table_clear) struct export_table t = {
		.session = s, .duet = s->order == ORDER_DUET};
	_cleanup_(table_freep) struct table *table = NULL;
	_cleanup_(freep) const struct task **rows = xcalloc(s->n, sizeof(struct task *));
	const struct profile_mark *mark;
	size_t n = 0, n_headings;
	int r = session_compare(s, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < session_n_shown(s); i++) {
		const struct task *task = &s->tasks[i];

		if (task->result.n_samples == 0)
			continue;
		rows[n++] = task;
		if (is_better_base(&t, task))
			t.base = task;
	}
	for (size_t i = 0; i < N_COMPARISON_CLOCKS * s->n; i++)
		t.compared[i / s->n] |= comparison_is_made(&s->comparisons[i]);
	mark = n > 0 ? &rows[0]->result.discarding.mark : NULL;
	if (mark && (mark->blind_ns > 0 || mark->noise))
		t.mark = mark;
	choose_export_unit(&t, n > 0 ? rows[0]->result.discarding.et.raw.mean_ns : 0);
	if (format != TABLE_CSV && s->options->sort == SORT_MEAN_TIME)
		qsort(rows, n, sizeof(*rows), by_related_time);

	make_columns(&t);
	n_headings = t.n;
	array_add(t.headings, n_headings); /* {} */
	table = table_new(t.headings);
	for (size_t i = 0; i < n; i++)
		add_row(&t, rows[i], table);
	table_write(table, format, file);
	if (format != TABLE_CSV)
		write_remarks(&t, format, file);
	return 0;
}
