/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze list: the runs in the book, as the user named them. */
#include "analyze/compare_query.h"
#include "analyze/compare_run.h"
#include "analyze/options.h"

#include "lib/document/document.h"
#include "lib/report/comparison_report.h"
#include "lib/study/book_study.h"

static struct {
	const char *name; /* NULL: any */
	int kind;         /* N_RUN_KINDS: any */
	int64_t since_ns; /* 0: any */
	int last;         /* 0: not given */
	bool all, same_program;
	struct run_study *studies; /* of the book */
	size_t n_studies;
} wanted = {.kind = N_RUN_KINDS};

enum { LAST = 20 }; /* are shown by default */

static const struct option_row list_options[] = {
	{0, "name", "TEXT", "only runs with this in their name or command", NULL, &wanted.name},
	{0, "kind", "KIND", "only these:", NULL, &wanted.kind, .choices = run_kind_names},
	{0, "since", "TIME", "only runs since a day (2026-11-20), or so long ago (12h)",
		option_since, &wanted.since_ns},
	{0, "last", "N", "only the last N runs (on the screen: the last 20)", option_count,
		&wanted.last},
	{0, "all", NULL, "all runs on the screen", NULL, &wanted.all},
	{0, "same-program", NULL, "runs of one program in one call, and what noise made of them",
		NULL, &wanted.same_program},
	{},
};

static const struct column columns[] = {
	{"RUN", COLUMN_NUMBER, "run"},
	{"COMMAND", COLUMN_WRAP},
	{NULL, COLUMN_TEXT, "program"},
	{"KIND", COLUMN_TEXT, "kind"},
	{"N", COLUMN_NUMBER, "samples"},
	{"PT", COLUMN_NUMBER, "pt_mean_ns"},
	{"STATE", COLUMN_TEXT, "state"},
	{"STARTED", COLUMN_TEXT, "started_ns"},
	{"CPU", COLUMN_NUMBER, "cpu"},
	{"PROFILE", COLUMN_WRAP, "profile"},
	{"MACHINE", COLUMN_WRAP, "machine"},
	{NULL, COLUMN_TEXT, "name"},
	{NULL, COLUMN_TEXT, "command"},
	{NULL, COLUMN_TEXT, "started"},
	{NULL, COLUMN_TEXT, "task_length_ns"},
	{NULL, COLUMN_TEXT, "notes"},
	{NULL, COLUMN_TEXT, "uid"},
	{NULL, COLUMN_NUMBER, "study"}, /* of emp-study */
	{NULL, COLUMN_TEXT, "id"},      /* of 0.1.0: run */
	{NULL, COLUMN_TEXT, "purpose"}, /* of 0.1.0: kind */
	{},
};

static int add_run(struct table *list, struct book *book, const struct run *run, int64_t study,
	struct error *err)
{
	_cleanup_(freep) char *command = run_command_line(run), *machine = NULL;
	_cleanup_(json_decrefp) json_t *context = NULL;
	const char *host = NULL;            /* else the machine, of an imported run */
	bool started = run->started_ns > 0; /* otherwise it is not known */
	double pt_ns = NAN;
	int r = book_mean_pt(book, run->id, &pt_ns, err);

	if (r >= 0)
		r = document_make_context(book, run->environment, 0, &context, err);
	if (r >= 0)
		host = json_string_value(json_object_get(context, "host_name"));
	if (r >= 0 && !host)
		r = book_get_environment(book, run->environment, NULL, &machine, NULL, err);
	if (r < 0)
		return r;
	table_row(list, columns, NUMBER(run->id), TEXT(run->name ?: command), TEXT(run->program),
		TEXT(run_kind_names[run->kind]), NUMBER(run->n_samples),
		VALUE(json_real_or_null(pt_ns), isnan(pt_ns) ? "-" : text_duration(llround(pt_ns))),
		TEXT(run_state_word(run->state)),
		VALUE(json_int_if(started, run->started_ns),
			started ? text_brief("%.16s", text_moment(run->started_ns)) : "-"),
		run->cpu < 0 ? TEXT(NULL) : NUMBER(run->cpu), TEXT(run->profile),
		TEXT(host ?: machine), TEXT(run->name), TEXT(command),
		TEXT(started ? text_rfc3339(run->started_ns) : NULL),
		VALUE(json_int_if(run->task_length_ns > 0, run->task_length_ns), NULL),
		TEXT(run->notes), TEXT(run->uid), study ? NUMBER(study) : TEXT(NULL),
		NUMBER(run->id), TEXT(run_kind_names[run->kind]));
	return 0;
}

static const struct column same_columns[] = {
	{"RUN", COLUMN_NUMBER, "run"},
	{"AGAINST", COLUMN_NUMBER, "against"},
	{"COMMAND", COLUMN_WRAP, "command"},
	{"N", COLUMN_NUMBER, "samples"},
	{"RATIO", COLUMN_NUMBER, "ratio"},
	{"95 % CI", COLUMN_TEXT, "interval"},
	{"STARTED", COLUMN_TEXT, "started_ns"},
	{},
};

/* PT of b against a. 1: it is added; 0: no PT is known of one of them. */
static int add_same_program(struct table *list, struct book *book, const struct run *a,
	const struct run *b, struct error *err)
{
	_cleanup_(compare_query_clear) struct compare_query q = {};
	_cleanup_(freep) char *command = run_command_line(b);
	const struct comparison_side *of_a = &q.sides[0].sides[COMPARISON_PT],
				     *of_b = &q.sides[1].sides[COMPARISON_PT];
	struct comparison *c = &q.comparisons[COMPARISON_PT];
	int r = compare_read_run(book, text_brief("%" PRId64, a->id), &q.sides[0], err);

	if (r == 0)
		r = compare_read_run(book, text_brief("%" PRId64, b->id), &q.sides[1], err);
	if (r < 0 || of_a->n == 0 || of_b->n == 0)
		return r;
	if (comparison_make(of_a, of_b, NULL, c, err) < 0)
		return 0; /* PT is 0 */
	if (c->design == DESIGN_DUET)
		r = compare_query_duet(&q, book, err);
	if (r < 0)
		return r;
	table_row(list, same_columns, NUMBER(b->id), NUMBER(a->id), TEXT(b->name ?: command),
		NUMBER(c->b.n), REAL("%.4f", c->ratio),
		VALUE(json_interval(c->ratio_low, c->ratio_high),
			ratio_interval_text(c->ratio_low, c->ratio_high, 4, " … ")),
		VALUE(json_integer(b->started_ns),
			text_brief("%.16s", text_moment(b->started_ns))));
	return 1;
}

/* The first of the runs up to runs[i] that is the same program as this, in one call; i: none, or it
 * is open. */
static size_t find_same_program(const struct run *runs, size_t i)
{
	size_t k = 0;

	if (runs[i].state == RUN_OPEN)
		return i;
	while (k < i && comparison_work(&runs[k], &runs[i]) != WORK_SAME_PROGRAM)
		k++;
	return k;
}

/* The last `most` of runs[n] that are the same program as another one of their call, each against
 * the first of these. */
static int list_same_programs(
	struct book *book, const struct run *runs, size_t n, size_t most, struct error *err)
{
	_cleanup_(table_freep) struct table *list = table_new(same_columns);
	_cleanup_(freep) size_t *first = xcalloc(n + 1, sizeof(*first));
	size_t found = 0, shown = 0, i = n;

	while (i > 0 && found < most) {
		i--;
		first[i] = find_same_program(runs, i);
		found += first[i] < i;
	}
	for (; i < n; i++) {
		int r = 0;

		if (first[i] < i)
			r = add_same_program(list, book, &runs[first[i]], &runs[i], err);
		if (r < 0)
			return r;
		shown += r > 0;
	}

	if (analyze_options.json)
		return json_print_document(
			"emp-runs", json_pack("{s:o}", "same_program", table_json(list)), err);
	if (shown > 0)
		table_print(list, stdout);
	else
		printf("The lab book has no such runs of one program in one call%s.\n",
			found > 0 ? " with a PT" : "");
	return 0;
}

static size_t most_listed(void)
{
	if (wanted.last > 0)
		return (size_t)wanted.last;
	if (wanted.all || wanted.same_program || analyze_options.json)
		return SIZE_MAX;
	return LAST;
}

static int64_t study_of(const struct run *run)
{
	return run_study_find(wanted.studies, wanted.n_studies, run->id);
}

/* A study has hundreds of runs. */
static bool hides_studies(void)
{
	return !wanted.all && !wanted.last && !wanted.name && !wanted.since_ns &&
	       !wanted.same_program && !analyze_options.json;
}

static bool is_wanted(const struct run *run)
{
	_cleanup_(freep) char *command = run_command_line(run);

	if (wanted.kind != N_RUN_KINDS && wanted.kind != (int)run->kind)
		return false;
	if (run->started_ns < wanted.since_ns)
		return false;
	return !wanted.name || strstr(run->program, wanted.name) || strstr(command, wanted.name) ||
	       (run->name && strstr(run->name, wanted.name));
}

static int analyze_list_verb(int argc, char **argv, struct error *err)
{
	size_t most = most_listed();
	_cleanup_(table_freep) struct table *list = table_new(columns);
	_cleanup_(book_freep) struct book *book = NULL;
	const struct option_rule rules[] = {
		{wanted.all && wanted.last > 0, "--all and --last exclude each other"}};
	size_t n_all = 0, n = 0, n_of_studies = 0, before;
	struct run *runs = NULL;
	int r = option_check_rules(rules, ELEMENTS(rules), err);

	if (r == 0)
		r = book_open(&book, analyze_options.db, BOOK_READ, err);
	if (r == 0)
		r = book_runs(book, &runs, &n_all, err);
	if (r >= 0)
		r = book_run_studies(book, &wanted.studies, &wanted.n_studies, err);
	for (size_t i = 0; i < n_all; i++) { /* those that are wanted move to the front */
		bool hidden = hides_studies() && study_of(&runs[i]);

		n_of_studies += hidden && is_wanted(&runs[i]);
		if (!hidden && is_wanted(&runs[i]))
			runs[n++] = TAKE_STRUCT(runs[i]);
		else
			run_clear(&runs[i]);
	}

	before = n > most ? n - most : 0;
	if (r == 0 && wanted.same_program)
		r = list_same_programs(book, runs, n, most, err);
	for (size_t i = 0; i < n; i++) {
		if (r == 0 && i >= before && !wanted.same_program)
			r = add_run(list, book, &runs[i], study_of(&runs[i]), err);
		run_clear(&runs[i]);
	}
	free(runs);
	free(TAKE(wanted.studies));

	if (r < 0 || wanted.same_program)
		return r;
	if (analyze_options.json)
		return json_print_document("emp-runs",
			json_pack("{s:o, s:I}", "runs", table_json(list), "runs_before",
				(json_int_t)before),
			err);
	if (n == 0 && n_of_studies == 0) {
		printf("The lab book has no %sruns.\n",
			wanted.name || wanted.kind < N_RUN_KINDS || wanted.since_ns ? "such " : "");
		return 0;
	}
	table_print(list, stdout);
	if (before > 0 && wanted.last == 0)
		printf("and %zu before them (--all)\n", before);
	if (n_of_studies > 0)
		printf("and %zu of studies (--all; 'emp-study list' lists the studies)\n",
			n_of_studies);
	return 0;
}

const struct verb analyze_list = {
	.name = "list",
	.summary = "list the runs in the book",
	.options = list_options,
	.run = analyze_list_verb,
};
