/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze list: the runs in the book, as the user named them. */
#include "analyze/analyze.h"
#include "lib/document/document.h"
#include "lib/report/comparison_report.h"

static struct {
	const char *name; /* NULL: any */
	int kind;         /* N_RUN_KINDS: any */
	int64_t since_ns; /* 0: any */
	int last;         /* 0: not given */
	bool all, same_program;
} wanted = {.kind = N_RUN_KINDS};

enum { LAST = 20 }; /* are shown by default */

int option_since(const char *value, const char *name, void *into, struct error *err)
{
	static const char *const formats[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
		"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"};
	int64_t *ns = into, ago;

	for (size_t i = 0; i < ELEMENTS(formats); i++) {
		struct tm tm = {.tm_isdst = -1};
		const char *end = strptime(value, formats[i], &tm);
		int day = tm.tm_mday;
		int year = tm.tm_year + 1900;
		time_t at = mktime(&tm);

		if (!end || *end || tm.tm_mday != day) /* February has no 30th */
			continue;
		if (year < 1970 || at > JSON_MOMENT_MAX / NS_PER_S)
			return error_say(err, -EINVAL,
				"%s must be in the years from 1970 to 2260, not '%s'", name, value);
		*ns = at > 0 ? (int64_t)at * NS_PER_S : 0; /* 1970 began earlier in the east */
		return 0;
	}
	/* 3 may be meant as a run, and 20261120 as a day */
	if (!value[strspn(value, "0123456789.")] || option_duration(value, name, &ago, NULL) < 0)
		return error_say(err, -EINVAL,
			"%s must be a day (2026-11-20), a time (2026-11-20 14:30) or how long ago (12h), not '%s'",
			name, value);
	*ns = clock_ns(CLOCK_REALTIME) - ago;
	return 0;
}

const struct option_row list_options[] = {
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
	{NULL, COLUMN_TEXT, "id"},      /* of 0.1.0: run */
	{NULL, COLUMN_TEXT, "purpose"}, /* of 0.1.0: kind */
	{},
};

static int add_run(struct table *list, struct book *book, const struct run *run, struct error *err)
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
		TEXT(run->notes), TEXT(run->uid), NUMBER(run->id), TEXT(run_kind_names[run->kind]));
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
	_cleanup_(compare_input_clear) struct compare_input of_a = {}, of_b = {};
	_cleanup_(freep) char *command = run_command_line(b);
	struct comparison c;
	int r = compare_read_run(book, text_brief("%" PRId64, a->id), &of_a, err);

	if (r == 0)
		r = compare_read_run(book, text_brief("%" PRId64, b->id), &of_b, err);
	if (r < 0 || of_a.sides[COMPARISON_PT].n == 0 || of_b.sides[COMPARISON_PT].n == 0)
		return r;
	if (comparison_make(&of_a.sides[COMPARISON_PT], &of_b.sides[COMPARISON_PT], NULL, &c, err) <
		0)
		return 0; /* PT is 0 */
	table_row(list, same_columns, NUMBER(b->id), NUMBER(a->id), TEXT(b->name ?: command),
		NUMBER(c.b.n), REAL("%.4f", c.ratio),
		VALUE(json_interval(c.ratio_low, c.ratio_high),
			ratio_interval_text(c.ratio_low, c.ratio_high, 4, " … ")),
		VALUE(json_integer(b->started_ns),
			text_brief("%.16s", text_moment(b->started_ns))));
	return 1;
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
		size_t k = 0;

		i--;
		while (k < i && comparison_work(&runs[k], &runs[i]) != WORK_SAME_PROGRAM)
			k++;
		first[i] = runs[i].state == RUN_OPEN ? i : k;
		found += first[i] < i;
	}
	for (; i < n; i++) {
		int r = first[i] < i ? add_same_program(list, book, &runs[first[i]], &runs[i], err)
				     : 0;

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

int verb_list(int argc, char **argv, struct error *err)
{
	size_t most = wanted.last > 0 ? (size_t)wanted.last
		      : wanted.all || wanted.same_program || analyze_options.json ? SIZE_MAX
										  : LAST;
	_cleanup_(table_freep) struct table *list = table_new(columns);
	_cleanup_(book_freep) struct book *book = NULL;
	const struct option_rule rules[] = {
		{wanted.all && wanted.last > 0, "--all and --last exclude each other"}};
	size_t n_all = 0, n = 0, before;
	struct run *runs = NULL;
	int r = option_check_rules(rules, ELEMENTS(rules), err);

	if (r == 0)
		r = book_open(&book, analyze_options.db, BOOK_READ, err);
	if (r == 0)
		r = book_runs(book, &runs, &n_all, err);
	for (size_t i = 0; i < n_all; i++) { /* those that are wanted move to the front */
		struct run *run = &runs[i];
		_cleanup_(freep) char *command = run_command_line(run);

		if ((wanted.kind == N_RUN_KINDS || wanted.kind == (int)run->kind) &&
			run->started_ns >= wanted.since_ns &&
			(!wanted.name || strstr(run->program, wanted.name) ||
				strstr(command, wanted.name) ||
				(run->name && strstr(run->name, wanted.name))))
			runs[n++] = TAKE_STRUCT(*run);
		else
			run_clear(run);
	}
	before = n > most ? n - most : 0;
	if (r == 0 && wanted.same_program)
		r = list_same_programs(book, runs, n, most, err);
	for (size_t i = 0; i < n; i++) {
		if (r == 0 && i >= before && !wanted.same_program)
			r = add_run(list, book, &runs[i], err);
		run_clear(&runs[i]);
	}
	free(runs);
	if (r < 0 || wanted.same_program)
		return r;
	if (analyze_options.json)
		return json_print_document("emp-runs",
			json_pack("{s:o, s:I}", "runs", table_json(list), "runs_before",
				(json_int_t)before),
			err);
	if (n == 0) {
		printf("The lab book has no %sruns.\n",
			wanted.name || wanted.kind < N_RUN_KINDS || wanted.since_ns ? "such " : "");
		return 0;
	}
	table_print(list, stdout);
	if (before > 0 && wanted.last == 0)
		printf("and %zu before them (--all)\n", before);
	return 0;
}

/* emp-analyze remove: deletes runs from the book, all of them or none. */

static bool force;

const struct option_row remove_options[] = {
	{0, "force", NULL, "delete a run even if a profile or a calibration needs it", NULL,
		&force},
	LAST_RUN_OPTION,
	{},
};

int verb_remove(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	int r = book_open(&book, analyze_options.db, BOOK_WRITE, err);

	if (r == 0)
		r = book_begin(book, err);
	if (r < 0)
		return r;
	for (int i = 0; i < argc; i++) {
		int64_t id;

		r = analyze_find_run(book, argv[i], &id, err);
		if (r > 1)
			return error_say(err, -EINVAL,
				"'%s' is the name of %d runs: remove them by their numbers "
				"('emp-analyze list --name %s')",
				argv[i], r, argv[i]);
		if (r > 0)
			r = book_remove_run(book, id, force, err);
		if (r == -EBUSY) {
			struct error busy = *err;

			return error_say(err, r, "%s; --force deletes it anyway", busy.text);
		}
		if (r < 0)
			return r;
	}
	return book_commit(book, err);
}

/* emp-analyze import and export: runs between books, as emp-run documents. */

/* A document without the profile that its run names leaves open whether it is the book's of that
 * name. */
static int say_profile(struct book *book, int64_t id, struct error *err)
{
	_cleanup_(profile_clear) struct profile profile = {};
	_cleanup_(run_clear) struct run run = {};
	int r = book_get_run(book, id, &run, err);

	if (r == 0 && run.profile_id)
		r = book_get_profile(book, run.profile_id, NULL, &profile, err);
	if (r < 0)
		return r;
	fprintf(stderr,
		"%s: run %" PRId64 ": its document names the profile '%s' and does not have it; ",
		program_invocation_short_name, id, terminal_text(run.profile));
	if (!run.profile_id)
		fputs("this book has none of that name, so no samples are discarded by it\n",
			stderr);
	else if (profile.made_ns)
		fprintf(stderr, "that of this book is used, made %s\n",
			text_moment(profile.made_ns));
	else
		fputs("that of this book is used\n", stderr);
	return 0;
}

/* All or none. The transaction begins when the first document was opened, which reads all of a
 * pipe: it may come from a process that uses the book. */
int verb_import(int argc, char **argv, struct error *err)
{
	_cleanup_(json_decrefp) json_t *runs = json_array();
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(freep) int64_t *named = NULL; /* runs whose profile the documents do not have */
	size_t k, n_named = 0;
	json_t *run;
	int r = book_open(&book, analyze_options.db, BOOK_WRITE, err);

	if (r < 0)
		return r;
	for (int i = 0; i < argc; i++) {
		_cleanup_(document_stream_freep) struct document_stream *document = NULL;
		int64_t id;

		r = document_stream_open(&document, argv[i], err);
		if (r == 0 && i == 0)
			r = book_begin(book, err);
		if (r < 0)
			return r;
		r = document_import(book, document, &id, err);
		if (r < 0)
			return error_prefix(err, r,
				argc == 1 ? "'%s' was not imported" : "nothing was imported: '%s'",
				argv[i]);
		json_array_append_new(runs, json_integer(id));
		if (document_names_profile(document))
			*array_add(named, n_named) = id;
	}
	r = book_commit(book, err);
	for (size_t i = 0; r >= 0 && i < n_named; i++)
		r = say_profile(book, named[i], err);
	if (r < 0)
		return r;
	if (analyze_options.json)
		return json_print_document("emp-import", json_pack("{s:O}", "runs", runs), err);
	json_array_foreach (runs, k, run)
		printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(run));
	return 0;
}

static struct document_parts parts;

const struct option_row export_options[] = {
	{0, "no-profile", NULL, "leave out the profile that the run was measured with", NULL,
		&parts.no_profile},
	{0, "no-environment", NULL, "leave out the machine and its fingerprint", NULL,
		&parts.no_environment},
	LAST_RUN_OPTION,
	{},
};

int verb_export(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	int64_t run;
	int r = analyze_open(argv[0], &book, &run, err);

	return r < 0 ? r : document_export_run(book, run, &parts, stdout, err);
}
