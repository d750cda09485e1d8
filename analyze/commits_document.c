/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A document of emp-compare-commits: see commits_document.h. */
#include "analyze/commits_document.h"

#include "analyze/compare_document.h"
#include "lib/protocol/suite.h"
#include "lib/report/comparison_report.h"

static const enum line_outcome outcomes_of_verdicts[N_COMPARISON_VERDICTS] = {
	[COMPARISON_NONE] = LINE_NOT_MEASURED,
	[COMPARISON_SAME_PROGRAM] = LINE_SAME_PROGRAM,
	[COMPARISON_EQUAL] = LINE_EQUAL,
	[COMPARISON_FASTER] = LINE_FASTER,
	[COMPARISON_CANNOT_TELL] = LINE_CANNOT_TELL,
	[COMPARISON_UNMEASURABLE] = LINE_UNMEASURABLE,
	[COMPARISON_SLOWER] = LINE_SLOWER,
	[COMPARISON_DIFFERENT_WORK] = LINE_DIFFERENT_WORK,
};

void commits_clear(struct commits *commits)
{
	for (size_t i = 0; i < commits->n; i++) {
		compare_query_clear(&commits->lines[i].query);
		free(commits->lines[i].not_compared);
	}
	free(commits->lines);
	free(commits->by_weight);
	json_decref(commits->document);
}

const struct comparison *commit_line_comparison(const struct commit_line *line)
{
	return line->is_compared ? compare_query_worst(&line->query) : NULL;
}

/* What emp-measure knew, and its samples alone do not tell. */
static enum unmeasurable_cause cause_in(const json_t *measurement)
{
	const json_t *first = json_array_get(json_object_get(measurement, "comparisons"), 0);
	const char *text = json_string_value(json_object_get(first, "unmeasurable"));
	size_t cause = N_UNMEASURABLE_CAUSES - 1;

	while (text && cause > MEASURABLE && strcmp(unmeasurable_texts[cause].cause, text) != 0)
		cause--;
	return text ? cause : MEASURABLE;
}

static void set_cause(struct compare_query *q, enum unmeasurable_cause cause)
{
	for (size_t clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
		if (q->clocks >> clock & 1 && !q->comparisons[clock].unmeasurable)
			q->comparisons[clock].unmeasurable = cause;
}

/* Compares both results of the measurement, or says why they are not. */
static void compare_line(struct commit_line *line)
{
	struct compare_document document = {};
	struct compare_query *q = &line->query;
	struct error why = {};
	int r;

	if (strcmp(line->benchmark, "both") != 0 || !line->measurement)
		return;
	r = compare_document_open(&document, line->measurement, "measurement", &why);
	if (r == 0 && document.n != 2)
		r = error_say(&why, -EINVAL, "its measurement has %s, not 2",
			text_count((int64_t)document.n, "result"));
	for (int side = 0; r == 0 && side < 2; side++)
		r = compare_document_read(&q->sides[side], &document, side + 1, &why);
	if (r == 0)
		r = compare_query_clocks(q, &why);
	if (r == 0) {
		compare_queries_finish(q, 1);
		set_cause(q, cause_in(line->measurement));
		line->is_compared = true;
	} else {
		line->not_compared = xstrdup(why.text);
	}
	compare_document_close(&document);
}

static int read_commit_line(
	struct commit_line *line, json_t *result, size_t number, struct error *err)
{
	struct json_fields f = json_fields_begin(
		result, (struct json_location){"result", (int64_t)number}, err);

	line->result = result;
	line->benchmark = "both";
	json_fields_text(&f, "command_line", &line->command_line);
	json_fields_text(&f, "benchmark", &line->benchmark);
	json_fields_text_or_empty(&f, "why?", &line->why);
	json_fields_int(&f, "status", 0, 255, &line->status);
	json_fields_flag(&f, "again?", &line->again);
	line->measurement = json_fields_object(&f, "measurement?");
	if (f.r == 0)
		compare_line(line);
	return f.r;
}

static void read_commit(
	struct json_fields *f, const char *name, const char **commit, const char **subject)
{
	struct json_fields of = json_fields_begin(
		json_fields_object(f, name), (struct json_location){name}, f->err);

	json_fields_text(&of, "commit", commit);
	json_fields_text_or_empty(&of, "subject", subject);
	f->r = f->r ?: of.r;
}

static int read_commits_head(struct commits *c, struct json_fields *f)
{
	struct json_fields machine;

	json_fields_header(f, "emp-compare-commits", 1);
	if (f->r < 0)
		return f->r;
	read_commit(f, "base", &c->base, &c->base_subject);
	read_commit(f, "change", &c->change, &c->change_subject);
	json_fields_real(f, "allowed_percent", &c->allowed_percent);
	json_fields_int(f, "runs?", 1, INT32_MAX, &c->runs);
	json_fields_text_or_empty(f, "build?", &c->build);
	json_fields_text_or_empty(f, "max_time?", &c->max_time);
	c->options = json_fields_array(f, "options?");
	c->notes = json_fields_array(f, "notes?");
	if (f->r == 0 && !(c->allowed_percent >= 0))
		json_fields_refuse(f, -EINVAL, ": 'allowed_percent' must not be below 0");
	if (f->r < 0)
		return f->r;
	machine = json_fields_begin(
		json_fields_object(f, "machine"), (struct json_location){"machine"}, f->err);
	json_fields_text_or_empty(&machine, "host?", &c->host);
	json_fields_text_or_empty(&machine, "processor?", &c->processor);
	json_fields_text_or_empty(&machine, "kernel?", &c->kernel);
	json_fields_int(&machine, "cpus?", 1, INT32_MAX, &c->cpus);
	return f->r ?: machine.r;
}

/* The outcome and the exit status of a line that is judged. */
static void conclude_line(struct commit_line *line)
{
	const struct comparison *c = commit_line_comparison(line);
	enum comparison_verdict verdict = c ? comparison_verdict(c) : COMPARISON_NONE;
	enum status status = c ? comparison_verdict_status(&c->rules, verdict) : STATUS_DONE;

	line->outcome = outcomes_of_verdicts[verdict];
	if (!strcmp(line->benchmark, "new"))
		line->outcome = LINE_NEW;
	else if (!strcmp(line->benchmark, "gone"))
		line->outcome = LINE_GONE;
	else if (!strcmp(line->benchmark, "no time"))
		line->outcome = LINE_NO_TIME;
	else if (line->not_compared)
		line->outcome = LINE_UNMEASURABLE;

	if (status != STATUS_DONE)
		line->status = status;
	else if (line->status == STATUS_NOT_FIT || line->status == STATUS_CANNOT_TELL)
		line->status = STATUS_DONE; /* by itself, which does not count here */
	if (line->outcome == LINE_NOT_MEASURED && line->status == STATUS_DONE)
		line->status = STATUS_ERROR;
}

/* A line that --strict does not let pass although it has no comparison. */
static void conclude_strictly(struct commit_line *line)
{
	if (line->status == STATUS_DONE &&
		(line->outcome == LINE_NO_TIME || line->outcome == LINE_UNMEASURABLE))
		line->status = STATUS_CANNOT_TELL;
}

static int line_by_weight(const void *x, const void *y)
{
	const struct commit_line *a = *(const struct commit_line *const *)x,
				 *b = *(const struct commit_line *const *)y;
	const struct comparison *of_a = commit_line_comparison(a),
				*of_b = commit_line_comparison(b);
	double by_a = of_a ? fabs(log(of_a->ratio)) : NAN,
	       by_b = of_b ? fabs(log(of_b->ratio)) : NAN;

	if (a->outcome != b->outcome)
		return a->outcome > b->outcome ? -1 : 1;
	if (by_a > by_b || by_b > by_a)
		return by_a > by_b ? -1 : 1;
	return (a > b) - (a < b);
}

static void judge_lines(struct commits *c, bool strict)
{
	_cleanup_(freep) struct suite_line *suite = xcalloc(c->n + 1, sizeof(*suite));

	for (size_t i = 0; i < c->n; i++) {
		struct commit_line *line = &c->lines[i];

		suite[i] = (struct suite_line){
			line->is_compared ? line->query.comparisons : NULL, line->again};
	}
	suite_judge(suite, c->n);
	c->by_weight = xcalloc(c->n + 1, sizeof(*c->by_weight));
	for (size_t i = 0; i < c->n; i++) {
		conclude_line(&c->lines[i]);
		if (strict)
			conclude_strictly(&c->lines[i]);
		c->by_weight[i] = &c->lines[i];
	}
	qsort(c->by_weight, c->n, sizeof(*c->by_weight), line_by_weight);
}

int commits_load(struct commits *ret, const char *path, bool strict, struct error *err)
{
	_cleanup_(commits_clear) struct commits c = {};
	int r = json_read(&c.document, path, err);
	struct json_fields f;
	const json_t *results;
	json_t *result;
	size_t i;

	if (r < 0)
		return r;
	f = json_fields_begin(c.document, (struct json_location){}, err);
	r = read_commits_head(&c, &f);
	results = json_fields_array(&f, "results");
	if (r == 0)
		r = f.r;
	compare_asked.rules = (struct comparison_rules){c.allowed_percent, -1, strict};
	json_array_foreach (results, i, result) {
		if (r == 0)
			r = read_commit_line(array_add(c.lines, c.n), result, i + 1, err);
	}
	if (r < 0)
		return error_prefix(err, r, "'%s'", path);
	judge_lines(&c, strict);
	*ret = TAKE_STRUCT(c);
	return 0;
}

enum comparison_verdict commits_verdict(const struct commits *commits)
{
	const struct comparison *worst = NULL;

	for (size_t i = 0; i < commits->n; i++)
		worst = comparison_worse(worst, commit_line_comparison(&commits->lines[i]));
	return worst ? comparison_verdict(worst) : COMPARISON_NONE;
}

/* Whether --max-time was over before the first line. */
static bool has_nothing(const struct commits *commits)
{
	size_t n_skipped = 0;

	for (size_t i = 0; i < commits->n; i++)
		n_skipped += commits->lines[i].outcome == LINE_NO_TIME;
	return n_skipped > 0 && n_skipped == commits->n;
}

enum status commits_status(const struct commits *commits)
{
	static const enum status order[] = {
		STATUS_ERROR, STATUS_NOT_FIT, STATUS_TOO_FEW, STATUS_CANNOT_TELL};

	if (has_nothing(commits))
		return STATUS_ERROR;
	for (size_t k = 0; k < ELEMENTS(order); k++)
		for (size_t i = 0; i < commits->n; i++)
			if (commits->lines[i].status == (int64_t)order[k])
				return order[k];
	for (size_t i = 0; i < commits->n; i++)
		if (commits->lines[i].status != STATUS_DONE)
			return STATUS_ERROR;
	return STATUS_DONE;
}

int commits_print_json(struct commits *c, const char *sentence, struct error *err)
{
	json_object_set_new(
		c->document, "verdict", json_text(comparison_verdict_words[commits_verdict(c)]));
	json_object_set_new(c->document, "summary", json_text(sentence));
	for (size_t i = 0; i < c->n; i++) {
		const struct comparison *of_line = commit_line_comparison(&c->lines[i]);

		json_object_set_new(
			c->lines[i].result, "status", json_integer((json_int_t)c->lines[i].status));
		json_object_set_new(c->lines[i].result, "verdict",
			json_text(of_line ? comparison_verdict_text(of_line) : NULL));
		json_object_set_new(c->lines[i].result, "why",
			json_text(c->lines[i].why ?: c->lines[i].not_compared));
	}
	return json_print(json_incref(c->document), stdout, err);
}
