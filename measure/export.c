/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results as documents: CSV, tables in Markdown, AsciiDoc and Org mode, and JSON.
 * hyperfine's columns and members come first, as in hyperfine: elapsed times of all samples. What
 * --perf counted also as text. See session.h. */
#include "measure/session.h"

#include "lib/base/argv.h"
#include "lib/base/charset.h"
#include "lib/record/peak_memory.h"
#include "lib/report/comparison_picture.h"
#include "lib/report/plot.h"
#include "lib/report/screen.h"

/* What a table relates: in a duet, the elapsed time of each program is that of all, so that process
 * times are. */
static const struct summary *related_time(const struct task *t, bool duet)
{
	return duet ? &t->result.discarding.pt.kept : &t->result.discarding.et.raw;
}

static int by_mean_et(const void *x, const void *y)
{
	const struct task *a = *(const struct task *const *)x, *b = *(const struct task *const *)y;
	double of_a = a->result.discarding.et.raw.mean_ns,
	       of_b = b->result.discarding.et.raw.mean_ns;

	return (of_a > of_b) - (of_a < of_b);
}

struct export_table {
	const struct session *session;
	bool duet;
	bool compared[N_COMPARISON_CLOCKS]; /* of any command with the first */
	/* that means are related to: the reference, else the fastest */
	const struct task *base;
	const struct profile_mark *mark; /* of the profile, which is the same for all; NULL: none */
	const char *unit;
	double unit_ns;
	struct column *columns;
	char headings[4][32], **parameters; /* of columns */
	struct table *table;
};

static void make_columns(struct export_table *t)
{
	static const char *const titles[] = {"Mean", "Min", "Max", "PT"};
	const struct parameters *p = &t->session->options->parameters;
	const struct column before[] = {
		{"Command", COLUMN_TEXT, "command"},
		{t->headings[0], COLUMN_NUMBER, "mean"},
		{NULL, COLUMN_NUMBER, "stddev"},
		{NULL, COLUMN_NUMBER, "median"},
		{NULL, COLUMN_NUMBER, "user"},
		{NULL, COLUMN_NUMBER, "system"},
		{t->headings[1], COLUMN_NUMBER, "min"},
		{t->headings[2], COLUMN_NUMBER, "max"},
	};
	const struct column after[] = {
		{"Relative", COLUMN_NUMBER},
		{t->headings[3], COLUMN_NUMBER, "pt_mean"},
		{NULL, COLUMN_NUMBER, "pt_stddev"},
		{NULL, COLUMN_NUMBER, "pt_samples"},
		{"Discarded", COLUMN_NUMBER, "discarded"},
		{NULL, COLUMN_NUMBER, "peak_memory"},
		{NULL, COLUMN_NUMBER, "command_line"},
	};
	enum { N_RATIO_COLUMNS = 5 }; /* of each clock */
	const struct column ratios[N_COMPARISON_CLOCKS * N_RATIO_COLUMNS] = {
		{"PT ratio (95 % CI)", COLUMN_NUMBER},
		{NULL, COLUMN_NUMBER, "pt_ratio"},
		{NULL, COLUMN_NUMBER, "pt_ratio_low"},
		{NULL, COLUMN_NUMBER, "pt_ratio_high"},
		{"PT verdict", COLUMN_TEXT, "pt_verdict"},
		{"ET ratio (95 % CI)", COLUMN_NUMBER},
		{NULL, COLUMN_NUMBER, "et_ratio"},
		{NULL, COLUMN_NUMBER, "et_ratio_low"},
		{NULL, COLUMN_NUMBER, "et_ratio_high"},
		{"ET verdict", COLUMN_TEXT, "et_verdict"},
	};
	size_t n = 0;

	for (size_t i = 0; i < ELEMENTS(titles); i++)
		snprintf(t->headings[i], sizeof(t->headings[i]), "%s [%s]", titles[i], t->unit);
	t->parameters = xcalloc(p->n + 1, sizeof(char *));
	for (size_t i = 0; i < ELEMENTS(before); i++)
		*array_add(t->columns, n) = before[i];
	for (size_t i = 0; i < p->n; i++) {
		_cleanup_(freep) char *name = text_utf8(p->items[i].name);

		t->parameters[i] = text_format("parameter_%s", name);
		*array_add(t->columns, n) = (struct column){NULL, COLUMN_TEXT, t->parameters[i]};
	}
	for (size_t i = 0; i < ELEMENTS(after); i++)
		*array_add(t->columns, n) = after[i];
	if (t->mark) {
		*array_add(t->columns, n) = (struct column){NULL, COLUMN_NUMBER, "profile_blind"};
		*array_add(t->columns, n) = (struct column){NULL, COLUMN_TEXT, "profile_noise"};
	}
	for (size_t i = 0; i < ELEMENTS(ratios); i++)
		if (t->compared[i / N_RATIO_COLUMNS])
			*array_add(t->columns, n) = ratios[i];
	array_add(t->columns, n); /* {} */
}

/* NAN: not known. CSV has seconds. Tables have the unit, with two significant digits of the sd
 * (without an sd, the decimals of hyperfine), and the sd if it is `shown`. */
static struct cell time_cell(const struct export_table *t, double ns, double sd_ns, bool shown)
{
	int n = t->unit_ns >= 1e9 ? 3 : 1;
	const char *text = "-";

	if (sd_ns > 0)
		for (double x = sd_ns / t->unit_ns * pow(10, n); x < 10 && n < 6; x *= 10)
			n++;
	if (shown && !isnan(ns) && !isnan(sd_ns))
		text = text_brief("%.*f ± %.*f", n, ns / t->unit_ns, n, sd_ns / t->unit_ns);
	else if (!isnan(ns))
		text = text_brief("%.*f", n, ns / t->unit_ns);
	return VALUE(json_real_or_null(ns / 1e9), text);
}

/* The comparison that the screen shows: the cells of one clock. c->a.n 0: there is none, as of the
 * first command. */
static void add_ratio(struct table *table, const struct comparison *c)
{
	bool known = comparison_is_made(c) && !isnan(c->ratio);
	double half = (c->ratio_high - c->ratio_low) / 2;
	int n = half > 0 && isfinite(half) ? 1 - (int)floor(log10(half)) : 3;
	const char *text = "-";

	n = n < 2 ? 2 : n > 6 ? 6 : n;
	if (known && isnan(half))
		text = text_brief("%.3f", c->ratio);
	else if (known)
		text = text_brief("%.*f (%s)", n, c->ratio,
			ratio_interval_text(c->ratio_low, c->ratio_high, n, " to "));
	table_add(table, TEXT(text), REAL("%.4f", known ? c->ratio : NAN),
		REAL("%.4f", known ? c->ratio_low : NAN), REAL("%.4f", known ? c->ratio_high : NAN),
		TEXT(comparison_is_made(c) ? comparison_verdict_text(c) : NULL));
}

/* The cells of the columns that make_columns makes. c: with the first command, by PT, and
 * session->n after that by ET. The sd of a relation is propagated as in hyperfine. */
static void add_row(
	const struct export_table *t, const struct task *task, const struct comparison *c)
{
	const struct command *command = task->command;
	const struct run_result *run = &task->result;
	const struct summary *time = related_time(task, t->duet),
			     *to = related_time(t->base, t->duet);
	double cv = summary_sd(time) / time->mean_ns, cv_to = summary_sd(to) / to->mean_ns;
	double relative = summary_mean(time) / summary_mean(to),
	       relative_sd = relative * sqrt(cv * cv + cv_to * cv_to);
	const struct summary *et = &run->discarding.et.raw, *pt = &run->discarding.pt.kept;
	double et_sd_ns = summary_sd(et), pt_sd_ns = summary_sd(pt);
	const char *relative_text = NULL;
	const struct peak_memory memory = peak_memory_of(
		run->samples, run->discarding.out, run->n_samples);
	struct table *table = t->table;

	if (task != t->base && !isnan(relative_sd))
		relative_text = text_brief("%.2f ± %.2f", relative, relative_sd);
	else if (!isnan(relative))
		relative_text = text_brief("%.2f", relative);
	table_row(table, CODE(task->name), time_cell(t, et->mean_ns, et_sd_ns, true),
		time_cell(t, et_sd_ns, et_sd_ns, false),
		time_cell(t, et->median_ns, et->sd_ns, false),
		time_cell(t, mean_of_kept(run, offsetof(struct sample, user_ns)), et->sd_ns, false),
		time_cell(
			t, mean_of_kept(run, offsetof(struct sample, system_ns)), et->sd_ns, false),
		time_cell(t, (double)et->min_ns, et->sd_ns, false),
		time_cell(t, (double)et->max_ns, et->sd_ns, false));
	for (size_t i = 0; t->parameters[i]; i++) /* the reference has none */
		table_add(table, TEXT(command->values ? command->values[i] : ""));
	table_add(table, TEXT(relative_text), time_cell(t, summary_mean(pt), pt_sd_ns, true),
		time_cell(t, pt_sd_ns, pt_sd_ns, false), NUMBER(pt->n),
		NUMBER(run->n_samples - pt->n),
		VALUE(memory.n > 0 && !memory.at_most ? json_integer(llrint(memory.mean_bytes))
						      : NULL,
			NULL),
		TEXT(command->text ?: ""));
	if (t->mark)
		table_add(table,
			VALUE(t->mark->blind_ns > 0 ? json_real((double)t->mark->blind_ns / 1e9)
						    : NULL,
				NULL),
			TEXT(t->mark->noise ?: ""));
	for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
		if (t->compared[clock])
			add_ratio(table, &c[clock * t->session->n]);
}

/* Under the table: what its columns are of, the mark of the profile, and why the table does not
 * show the duet. */
static void write_remarks(const struct export_table *t, enum table_format format, FILE *file)
{
	const struct session *s = t->session;

	if (t->compared[COMPARISON_PT] || t->compared[COMPARISON_ET]) {
		_cleanup_(freep) char *key = text_format(
			"Mean, Min and Max are elapsed times (ET) of all samples%s, as in hyperfine; Relative is of %s to '%s'. PT and the ratios to '%s' are of the samples kept.",
			t->duet ? " of all programs together" : "", t->duet ? "PT" : "Mean",
			t->base->name, s->tasks[0].name);

		table_write_code(format, file, key);
	} else if (t->base) {
		table_write_code(format, file,
			"Mean, Min and Max are elapsed times (ET) of all samples, as in hyperfine. "
			"PT is of the samples kept.");
	}
	if (t->mark) {
		_cleanup_(freep) char *noise = noise_text(s->options->profile, t->mark);

		table_write_code(format, file, noise);
	}
	if (session_judged(s) != s) {
		_cleanup_(freep) char *doubt = text_format(
			"%s, so they were taken in turn.", duet_doubt_sentences[s->doubt]);

		table_write_code(format, file, doubt);
	}
}

static int write_table(
	const struct session *s, enum table_format format, FILE *file, struct error *err)
{
	const struct session *judged = session_judged(s);
	bool duet = judged->order == ORDER_DUET;
	struct export_table t = {.session = s, .duet = duet};
	_cleanup_(table_freep) struct table *table = NULL;
	_cleanup_(argv_freep) char **parameters = NULL;
	_cleanup_(freep) struct column *columns = NULL;
	_cleanup_(freep) const struct task **rows = xcalloc(s->n, sizeof(struct task *));
	const struct profile_mark *mark;
	double first_ns;
	size_t n = 0;
	int r = session_compare(s, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < session_n_shown(judged); i++) {
		const struct task *task = &judged->tasks[i];

		if (task->result.n_samples == 0)
			continue;
		rows[n++] = task;
		if (!t.base || (!s->options->reference &&
				       !(summary_mean(related_time(task, duet)) >=
					       summary_mean(related_time(t.base, duet))) &&
				       related_time(task, duet)->n > 0))
			t.base = task;
	}
	for (size_t i = 0; i < N_COMPARISON_CLOCKS * s->n; i++)
		t.compared[i / s->n] |= comparison_is_made(&s->comparisons[i]);
	mark = n > 0 ? &rows[0]->result.discarding.mark : NULL;
	if (mark && (mark->blind_ns > 0 || mark->noise))
		t.mark = mark;
	first_ns = n > 0 ? rows[0]->result.discarding.et.raw.mean_ns : 0;
	t.unit = s->options->unit ?: first_ns >= 1e9 ? "s" : first_ns >= 1e6 ? "ms" : "us";
	t.unit_ns = !strcmp(t.unit, "s") ? 1e9 : !strcmp(t.unit, "ms") ? 1e6 : 1e3;
	if (format != TABLE_CSV && s->options->sort == SORT_MEAN_TIME)
		qsort(rows, n, sizeof(*rows), by_mean_et);
	make_columns(&t);
	columns = t.columns;
	parameters = t.parameters;
	t.table = table = table_new(columns);
	for (size_t i = 0; i < n; i++)
		add_row(&t, rows[i], &s->comparisons[rows[i] - judged->tasks]);
	table_write(table, format, file);
	if (format != TABLE_CSV)
		write_remarks(&t, format, file);
	return 0;
}

/* Of the clean samples; a count below 0 was not made. .mean_ns: NAN if none was. */
static struct running perf_counted(const struct session *s, const struct task *t, size_t event)
{
	const struct run_result *run = &t->result;
	struct running counted = RUNNING_NONE;

	for (size_t i = 0; i < run->n_samples && (i + 1) * s->perf.n <= t->n_perf; i++) {
		int64_t count = t->perf[i * s->perf.n + event];

		if (count >= 0 && !run->discarding.out[i])
			running_add(&counted, count);
	}
	if (counted.n == 0)
		counted.mean_ns = NAN;
	return counted;
}

/* {"cycles": {"mean", "sd", "values": [of each sample, null where it was not counted]}}. */
static json_t *perf_json(const struct session *s, const struct task *t)
{
	size_t n_events = s->perf.n;
	json_t *object = json_object();

	for (size_t k = 0; k < n_events; k++) {
		struct running counted = perf_counted(s, t, k);
		json_t *values = json_array();

		for (size_t i = k; i < t->n_perf; i += n_events)
			json_array_append_new(
				values, t->perf[i] < 0 ? json_null() : json_integer(t->perf[i]));
		json_object_set_new(object, s->perf.items[k].name,
			json_pack("{s:o, s:o, s:o}", "mean", json_real_or_null(counted.mean_ns),
				"sd", json_real_or_null(counted.n > 1 ? running_sd(&counted) : NAN),
				"values", values));
	}
	return object;
}

/* "1.234 G", "87.5", and a time for the clocks. */
static const char *count_text(const char *name, double count)
{
	static const char prefixes[] = " kMGTP";
	size_t i = 0;

	if (strstr(name, "-clock"))
		return text_duration((int64_t)count);
	for (; count >= 99999.5 || (i > 0 && count >= 999.95); i++)
		count /= 1000;
	return text_brief(i ? "%.4g %c" : "%.5g", count, prefixes[i]);
}

char *perf_text(const struct session *s, const struct task *t)
{
	char *text = NULL;
	double cycles = NAN;

	if (t->n_perf == 0)
		return NULL;
	for (size_t i = s->perf.n; i-- > 0;) {
		const char *name = s->perf.items[i].name;

		if (!strncmp(name, "cycles", 6) || !strncmp(name, "cpu-cycles", 10))
			/* at last, of the first such event */
			cycles = perf_counted(s, t, i).mean_ns;
	}
	for (size_t i = 0; i < s->perf.n; i++) {
		const char *name = s->perf.items[i].name;
		double mean = perf_counted(s, t, i).mean_ns, ratio = mean / cycles;

		text_append(&text, ", ", "%s %s", name,
			isnan(mean) ? "not counted" : count_text(name, mean));
		if (!strncmp(name, "instructions", 12) && !isnan(ratio))
			text_append(&text, " ", "(%.2f per cycle)", ratio);
	}
	return text;
}

/* What --same-output and --check compared, of each sample. */
static void add_output_json(json_t *emp, const struct session *s, const struct program_output *o)
{
	json_t *digests = json_array(), *statuses = json_array();

	for (size_t i = 0; i < o->n; i++) {
		json_array_append_new(digests, json_string(o->items[i].digest));
		json_array_append_new(statuses, json_integer(o->items[i].status));
	}
	if (o->n > 0)
		json_object_set(emp, "output_digests", digests);
	if (o->n > 0 && s->options->check)
		json_object_set(emp, "check_exit_codes", statuses);
	json_decref(digests);
	json_decref(statuses);
}

/* EMP's figures: the members of discarding_as_json (run, by_cutoff, by_two_sd, incomplete, pt, et),
 * and more. */
static json_t *emp_json(const struct session *s, const struct task *t)
{
	const struct run_result *run = &t->result;
	const struct run *of = &run->discarding.run;
	const struct observer *o = &s->base.observer;
	const struct peak_memory memory = peak_memory_of(
		run->samples, run->discarding.out, run->n_samples);
	_cleanup_(freep) char *typed = text_utf8(t->command->text),
			      *profile = text_utf8(s->options->profile),
			      *changes = text_utf8(s->environment_changes);
	_cleanup_(notes_clear) struct notes notes = {};
	json_t *start_ns = json_array(), *start = json_array(), *pt_ns = json_array(),
	       *et_ns = json_array(), *user_ns = json_array(), *system_ns = json_array(),
	       *counters = json_array(), *late = json_array();
	json_t *emp = discarding_as_json(&run->discarding);
	json_t *unprofiled = profile ? others_as_json(&run->discarding.others, true) : json_array();
	double sum_et_ns = 0, sum_pt_ns = 0;

	for (size_t i = 0; i < run->n_samples; i++) {
		const struct sample *k = &run->samples[i];

		/* as text, too, for people and for programs that read numbers as doubles */
		json_array_append_new(start_ns, json_integer(k->start_ns));
		json_array_append_new(start, json_string(text_rfc3339(k->start_ns)));
		json_array_append_new(pt_ns, json_integer(k->pt_ns));
		json_array_append_new(et_ns, json_integer(k->et_ns));
		json_array_append_new(user_ns, json_integer(k->user_ns));
		json_array_append_new(system_ns, json_integer(k->system_ns));
		if (sample_is_late(k))
			json_array_append_new(late, json_integer(k->n));
		if (!sample_is_whole(k))
			continue;
		sum_et_ns += (double)k->et_ns;
		sum_pt_ns += (double)k->pt_ns;
	}
	for (size_t i = 0; i < run->n_counters; i++) /* null if nothing is known */
		json_array_append_new(
			counters, counters_know_any(&run->counters[i])
					  ? document_new(&counters_table, &run->counters[i])
					  : json_null());
	notes_add_all(&notes, &t->notes);
	notes_add_all(&notes, &s->notes);
	json_object_update_new(
		emp, json_pack("{s:s?, s:s*, s:s?, s:s?, s:s, s:s, s:s, s:b}", "profile", profile,
			     "environment", s->base.environment_digest, "profile_environment",
			     s->profile.environment_digest, "environment_changes", changes,
			     "backend", o->backend, "pt_source", o->pt_source, "wait_source",
			     t->run.wait_source, "pt_partial", !o->cgroup));
	json_object_update_new(emp, json_pack("{s:s?, s:o}", "call", of->owner, "cpu",
					    of->cpu < 0 ? json_null() : json_integer(of->cpu)));
	json_object_update_new(
		emp, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:O*}", "start_ns", start_ns,
			     "start", start, "pt_ns", pt_ns, "et_ns", et_ns, "user_ns", user_ns,
			     "system_ns", system_ns, "ended_late", late, "pt_interval_ns",
			     json_object_get(json_object_get(json_object_get(emp, "pt"), "kept"),
				     "interval_ns")));
	/* off_cpu: the share of ET that the program was not on a CPU, in all samples that are
	 * whole; below 0 where it ran on several */
	json_object_update_new(
		emp, json_pack("{s:o, s:s, s:o, s:o, s:O, s:o, s:o, s:o}", "peak_memory",
			     peak_memory_as_json(&memory), "command", typed ?: "", "off_cpu",
			     json_real_or_null(1 - sum_pt_ns / sum_et_ns), "others",
			     others_as_json(&run->discarding.others, false), "unprofiled",
			     unprofiled, "not_in_profile", unprofiled, "disturbance_counters",
			     counters, "warnings", notes_as_json(&notes)));
	json_object_update_new(emp,
		json_pack("{s:o, s:I, s:I, s:i, s:i, s:o*, s:o*, s:o*}", "held_back",
			held_back_as_json(run), "observer_ns",
			(json_int_t)t->sampling->observer_ns / (json_int_t)run->n_samples,
			"before_exec_ns",
			(json_int_t)t->sampling->before_ns / (json_int_t)run->n_samples,
			"left_behind", t->sampling->left_behind, "escaped", t->sampling->escaped,
			"perf", s->perf.n > 0 ? perf_json(s, t) : NULL, "trace",
			s->trace ? program_trace_json(s->trace, t->preemptions, t->n_preemptions)
				 : NULL,
			"inc_units", t->inc.increments > 0 ? inc_units_as_json(&t->inc) : NULL));
	json_object_update_new(
		emp, json_pack("{s:s*, s:s*}", "program_digest", t->run.program_digest,
			     "output_digest", t->run.output_digest));
	add_output_json(emp, s, &t->output);
	return emp;
}

/* hyperfine's members: the elapsed times of all samples in seconds. */
static json_t *result_json(const struct session *s, const struct task *t)
{
	const struct run_result *run = &t->result;
	const struct summary *et = &run->discarding.et.raw;
	const struct parameters *p = &s->options->parameters;
	json_t *times = json_array(), *exit_codes = json_array(), *memory = json_array(),
	       *parameters = NULL;
	bool knows_memory = true;

	for (size_t i = 0; i < run->n_samples; i++) {
		json_array_append_new(times, json_real((double)run->samples[i].et_ns / 1e9));
		json_array_append_new(exit_codes, json_integer(run->samples[i].exit_status));
		json_array_append_new(memory, json_integer(run->samples[i].max_rss_bytes));
		knows_memory &= run->samples[i].max_rss_bytes >= 0 &&
				!run->samples[i].max_rss_at_most;
	}
	if (!knows_memory) { /* hyperfine leaves it out where it cannot read it */
		json_decref(memory);
		memory = NULL;
	}
	if (t->command->values && *t->command->values)
		parameters = json_object();
	for (size_t i = 0; parameters && i < p->n; i++) {
		_cleanup_(freep) char *name = text_utf8(p->items[i].name);
		_cleanup_(freep) char *value = text_utf8(t->command->values[i]);

		json_object_set_new(parameters, name, json_string(value));
	}
	return json_pack("{s:s, s:f, s:o, s:f, s:o, s:o, s:f, s:f, s:o, s:o*, s:o, s:o*, s:o}",
		"command", t->name, "mean", et->mean_ns / 1e9, "stddev",
		json_real_or_null(summary_sd(et) / 1e9), "median", et->median_ns / 1e9, "user",
		json_real_or_null(mean_of_kept(run, offsetof(struct sample, user_ns)) / 1e9),
		"system",
		json_real_or_null(mean_of_kept(run, offsetof(struct sample, system_ns)) / 1e9),
		"min", (double)et->min_ns / 1e9, "max", (double)et->max_ns / 1e9, "times", times,
		"memory_usage_byte", memory, "exit_codes", exit_codes, "parameters", parameters,
		"emp", emp_json(s, t));
}

/* One for each command: of PT, with that of ET as a member where that is compared as well, or of
 * ET. */
static int comparisons_json(const struct session *s, json_t *array, struct error *err)
{
	int r = session_compare(s, err);

	for (size_t i = 1; r >= 0 && i < session_n_shown(s); i++) {
		const struct comparison *pt = &s->comparisons[i], *et = &s->comparisons[s->n + i];
		const char *a = s->tasks[0].name, *b = s->tasks[i].name;
		json_t *of_pt = comparison_is_made(pt) ? comparison_as_json(a, b, pt) : NULL,
		       *of_et = comparison_is_made(et) ? comparison_as_json(a, b, et) : NULL;

		if (of_pt && of_et)
			json_object_set_new(of_pt, "et", of_et);
		if (of_pt || of_et)
			json_array_append_new(array, of_pt ?: of_et);
	}
	return r < 0 ? r : 0;
}

static int results_json(const struct session *s, json_t **ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *results = json_array();

	for (size_t i = 0; i < session_n_shown(s); i++)
		if (s->tasks[i].result.n_samples > 0 &&
			json_array_append_new(results, result_json(s, &s->tasks[i])) < 0)
			return error_say(err, -EINVAL,
				"cannot write the results of '%s': they have text that is not UTF-8",
				s->tasks[i].name);
	*ret = json_incref(results);
	return 0;
}

/* NULL: the book does not have the duet. Its results are a member of it where those of the document
 * are of what was taken in turn. */
static int duet_json(const struct session *s, json_t **ret, struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report report = {};
	bool in_turn = session_judged(s) != s;
	json_t *runs, *results;
	int r = session_duet(s, &report, err);

	if (r <= 0)
		return r;
	runs = json_array();
	for (size_t i = 0; in_turn && i < s->in_turn->n; i++)
		json_array_append_new(runs, json_integer(s->in_turn->tasks[i].run.id));
	r = in_turn ? results_json(s, &results, err) : 0;
	if (r < 0) {
		json_decref(runs);
		return r;
	}
	*ret = duet_report_as_json(&report, s->names);
	json_object_update_new(
		*ret, json_pack("{s:s?, s:s, s:o, s:o*}", "doubt",
			      s->doubt ? duet_doubt_names[s->doubt] : NULL, "verdict_from",
			      !s->doubt ? "duet"
			      : in_turn ? "in turn"
					: "alone",
			      "runs_in_turn", runs, "results", in_turn ? results : NULL));
	return 0;
}

static int write_json(const struct session *s, FILE *file, struct error *err)
{
	_cleanup_(json_decrefp) json_t *results = NULL, *comparisons = json_array(),
				       *context = NULL, *duet = NULL, *advised = NULL;
	const struct comparison *worst = NULL;
	int r = results_json(session_judged(s), &results, err);

	if (r == 0)
		r = comparisons_json(s, comparisons, err);
	if (r == 0 && s->base.book)
		r = document_make_context(s->base.book, s->base.environment,
			s->tasks[0].run.started_ns, &context, err);
	if (r == 0 && s->order == ORDER_DUET) {
		r = duet_json(s, &duet, err);
	} else if (r == 0 && s->n > 1) {
		const struct duet_advice advice = session_advice(s);

		/* "duet" where a duet would show more, else null; and what that was decided by. */
		advised = json_pack("{s:s?, s:o, s:o}", "order", advice.better ? "duet" : NULL,
			"times_as_narrow", json_real_or_null(advice.narrower), "p",
			json_real_or_null(advice.p));
	}
	if (r < 0)
		return r;
	for (size_t i = 0; i < N_COMPARISON_CLOCKS * s->n; i++)
		if (comparison_is_made(&s->comparisons[i]) &&
			comparison_outweighs(&s->comparisons[i], worst))
			worst = &s->comparisons[i];
	return json_print(
		json_pack("{s:s, s:i, s:O*, s:O, s:O, s:s*, s:O*, s:O*}", "format", "emp-measure",
			"version", 1, "context", context, "results", results, "comparisons",
			comparisons, "verdict", worst ? comparison_verdict_text(worst) : NULL,
			"duet", duet, "advice", advised),
		file, err);
}

int export_write(const struct session *s, enum export format, FILE *file, struct error *err)
{
	static const enum table_format formats[N_EXPORTS] = {
		[EXPORT_CSV] = TABLE_CSV,
		[EXPORT_MARKDOWN] = TABLE_MARKDOWN,
		[EXPORT_ASCIIDOC] = TABLE_ASCIIDOC,
		[EXPORT_ORGMODE] = TABLE_ORG,
	};

	return format == EXPORT_JSON ? write_json(s, file, err)
				     : write_table(s, formats[format], file, err);
}

/* What a program writes must not replace its input or a document (an export or a picture), nor a
 * document what it wrote or reads. */
static int outputs_apart(
	const struct measure_options *o, const char *const *documents, size_t n, struct error *err)
{
	for (size_t i = 0; o->input && i < n; i++)
		if (documents[i] && !output_file_is_standard(documents[i]) &&
			output_is_shared(documents[i], o->input))
			return error_say(err, -EINVAL,
				"'%s' would replace what --input reads: name another file",
				documents[i]);
	for (size_t i = 0; i < o->output.n; i++) {
		const char *path = o->output.items[i];

		/* while a document is on standard output, others go elsewhere */
		if (!strcmp(path, "null") || !strcmp(path, "pipe") || !strcmp(path, "inherit") ||
			output_file_is_stream(path))
			continue;
		if (o->input && output_is_shared(path, o->input))
			return error_say(err, -EINVAL,
				"--output would empty '%s', which --input reads: name another file",
				path);
		for (size_t k = 0; k < n; k++)
			if (documents[k] && output_is_shared(path, documents[k]))
				return error_say(err, -EINVAL,
					"--output and %s cannot share the file '%s'",
					documents[k] == o->plot ? "--plot" : "an export", path);
	}
	return 0;
}

int export_try(const struct measure_options *o, struct error *err)
{
	const char *paths[N_EXPORTS + 2] = {o->json ? "-" : NULL, o->plot};
	_cleanup_(freep) char *book = NULL;
	int r = paths_book(o->db, &book, err);

	memcpy(paths + 2, o->exports, sizeof(o->exports));
	if (r == 0) {
		paths_keep_apart(book);
		r = output_files_apart(paths, ELEMENTS(paths), err)
			    ?: outputs_apart(o, paths, ELEMENTS(paths), err);
		if (r == 0 && o->input) /* closing it would drop the locks of this process */
			r = paths_check_apart(o->input, -1, err);
	}
	if (r == 0 && o->plot)
		r = plot_check(o->plot, err);
	for (size_t i = 0; r == 0 && i < N_EXPORTS; i++) {
		_cleanup_(output_file_clear) struct output_file output = {};
		const char *path = o->exports[i];

		if (!path || output_file_is_stream(path))
			continue;
		r = output_file_open(&output, path, err);
	}
	return r;
}

bool export_takes_stdout(const struct measure_options *o)
{
	bool takes = o->json;

	for (size_t i = 0; i < N_EXPORTS; i++)
		takes |= o->exports[i] && output_file_is_standard(o->exports[i]);
	return takes;
}

static int export_to(
	const struct session *s, enum export format, const char *path, struct error *err)
{
	_cleanup_(output_file_clear) struct output_file output = {};
	int r = charset_document_open(&output, path, err);

	if (r == 0)
		r = export_write(s, format, output.file, err);
	return r == 0 ? output_file_commit(&output, err) : r;
}

int export_picture(const struct session *s, struct error *err)
{
	const struct session *judged = session_judged(s);
	size_t n = session_n_shown(judged), n_sides = N_COMPARISON_CLOCKS * n;
	_cleanup_(freep) struct pictured_program *programs = xcalloc(n, sizeof(*programs));
	_cleanup_(freep) struct comparison_side *sides = xcalloc(n_sides, sizeof(*sides));
	struct comparison_picture picture = {.programs = programs};
	int r = s->options->plot ? session_compare(s, err) : 0;

	if (r < 0 || !s->options->plot)
		return r;
	for (size_t i = 0; i < n; i++) {
		const struct task *t = &judged->tasks[i];
		const struct run_result *run = &t->result;
		struct pictured_program *program = &programs[picture.n];

		if (run->n_samples == 0)
			continue;
		program->name = t->name;
		program->sides = &sides[N_COMPARISON_CLOCKS * picture.n++];
		program->means[COMPARISON_PT] = &run->discarding.pt;
		program->means[COMPARISON_ET] = &run->discarding.et;
		for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++) {
			const struct comparison *c = &s->comparisons[clock * s->n + i];

			sides[program->sides - sides + clock] = comparison_side_make(
				&run->discarding, run->samples, run->n_samples, clock);
			if (i > 0 && comparison_is_made(c)) {
				program->comparisons[clock] = c;
				picture.clocks |= 1u << clock;
			}
		}
	}
	if (!picture.clocks) /* of one program as of two of the same */
		picture.clocks = s->options->compare
					 ?: comparison_clocks(COMPARE_DEFAULT, sides, sides);
	r = picture.n > 0 ? comparison_picture_draw(&picture, s->options->plot, false, err) : 0;
	for (size_t i = 0; i < n_sides; i++)
		comparison_side_clear(&sides[i]);
	return r;
}

int export_results(const struct session *s, bool streams, struct error *err)
{
	int outcome = 0;

	for (size_t i = 0; i < N_EXPORTS; i++) {
		const char *path = s->options->exports[i];
		int r;

		if (!path || output_file_is_stream(path) != streams)
			continue;
		r = export_to(s, i, path, outcome ? NULL : err);
		outcome = outcome ?: r;
	}
	return outcome == 0 && streams && s->options->json ? export_to(s, EXPORT_JSON, "-", err)
							   : outcome;
}
