/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze compare: whether B takes another time than A, for two runs of the book or two results
 * in files. */
#include "analyze/analyze.h"

#include "lib/duet/duet_report.h"
#include "lib/report/comparison_picture.h"
#include "lib/report/plot.h"
#include "lib/report/comparison_report.h"
#include "lib/report/results.h"
#include "lib/report/notes.h"

/* One side of a comparison is a run of the book, or a result in a file that hyperfine, pyperf or
 * emp-measure wrote. */

/* The call that took a run, as text: the process that did, or the duet, which imported runs know
 * too. NULL: not known. */
static int read_call(struct book *book, const struct run *run, char **ret, struct error *err)
{
	_cleanup_(freep) struct duet_row *rows = NULL;
	size_t n = 0;
	int r = run->kind == RUN_DUET ? book_duet(book, run->id, &rows, &n, err) : 0;

	if (r < 0)
		return r;
	*ret = n > 0 ? text_format("the duet of run %" PRId64, rows[0].reference)
		     : text_copy(run->owner);
	return 0;
}

int compare_read_run(
	struct book *book, const char *text, struct compare_input *side, struct error *err)
{
	_cleanup_(run_rules_clear) struct run_rules rules = {};
	_cleanup_(run_result_clear) struct run_result result = {};
	_cleanup_(run_clear) struct run run = {};
	_cleanup_(freep) char *command = NULL;
	struct discarding *d = &side->discarding;
	int64_t id;
	int r = analyze_find_run(book, text, &id, err);

	if (r > 0)
		r = book_get_run(book, id, &run, err);
	if (r == 0 && run.kind == RUN_LOAD)
		return error_say(err, -EINVAL,
			"run %" PRId64 " is a load: 'emp-analyze load RUN RUN' compares two", id);
	if (r == 0)
		r = run_rules_load(book, &run, analyze_options.profile, analyze_options.recompute,
			&rules, err);
	if (r == 0)
		r = run_result_read(book, id, &rules.rules, RESULT_COUNTERS, &result, err);
	if (r == 0)
		r = book_get_environment(book, run.environment, &side->digest, NULL, NULL, err);
	if (r == 0)
		r = read_call(book, &run, &side->call, err);
	if (r < 0)
		return r;
	if (analyze_options.recompute && !analyze_options.json) {
		printf("Recomputed: run %" PRId64 "\n", id);
		run_rules_print_changes(stdout, &run, &rules);
	}
	if (!analyze_options.json)
		run_state_print(stdout, &run);
	command = run_command_line(&run);
	side->name = text_format("run %" PRId64 " (%s)", id, run.name ?: command ?: run.program);
	side->profile = text_copy(analyze_options.profile ?: run.profile);
	side->profile_missing = rules.missing;
	*d = TAKE_STRUCT(result.discarding);
	side->memory = peak_memory_of(result.samples, d->out, result.n_samples);
	for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++) {
		side->sides[clock] = comparison_side_make(
			d, result.samples, result.n_samples, clock);
		side->sides[clock].origin.call = side->call;
		side->sides[clock].origin.machine = side->digest;
	}
	return 0;
}

/* An operand that is no run: "FILE", or "FILE:N" for the N-th result in it; a colon without a
 * number after it is a part of the name. What emp-measure discarded by name stays discarded. */
struct compare_file {
	char *path;
	int64_t number; /* 0: none is named */
	json_t *json;
	struct compare_document document;
};

static void compare_file_clear(struct compare_file *file)
{
	compare_document_close(&file->document);
	json_decref(file->json);
	free(file->path);
}

static int open_file(const char *text, struct compare_file *ret, struct error *err)
{
	char *colon;
	int r = 0;

	ret->path = xstrdup(text);
	colon = strrchr(ret->path, ':');
	if (colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")]) {
		*colon = '\0';
		r = text_parse_int(
			colon + 1, "the number after the colon", 1, INT32_MAX, &ret->number, err);
	}
	if (r == 0)
		r = json_read(&ret->json, ret->path, err);
	return r < 0 ? r : compare_document_open(&ret->document, ret->json, ret->path, err);
}

static double between_percent = -1;
static struct comparison_rules rules_of_verdict = COMPARISON_RULES;
static unsigned asked_clocks;
static const char *picture_path;
static bool keep_script;

const struct option_row compare_options[] = {
	{0, "profile", "NAME", "discard from stored runs by this profile, not by their own", NULL,
		&analyze_options.profile},
	{0, "between-runs", "PERCENT", "sd of the means of separate runs, if the book has too few",
		option_percent, &between_percent},
	{0, "compare", "WHAT",
		"compare pt, et or both (default: pt; both if programs wait or have threads)",
		comparison_clocks_option, &asked_clocks},
	RECOMPUTE_OPTION,
	{0, "fail-if-slower", "PERCENT", "exit status 2 if B is slower than A by more than this",
		option_percent, &rules_of_verdict.fail_if_slower},
	VERDICT_OPTIONS(rules_of_verdict),
	{'o', "output", "FILE", "also draw the samples and the ratio: .png, .svg or .pdf", NULL,
		&picture_path},
	{0, "script", NULL, "keep the gnuplot file, with its data, as FILE.gnuplot", NULL,
		&keep_script},
	LAST_RUN_OPTION,
	{},
};

/* Both sides, and what is known of them. */
struct compare_query {
	struct book *book;             /* NULL: both are from files */
	struct compare_input sides[2]; /* A and B */
	unsigned clocks;               /* that are compared, as bits; the results by clock: */
	enum comparison_clock main;    /* the clock that is compared, or the first of both */
	struct comparison comparisons[N_COMPARISON_CLOCKS];
	enum duet_doubt doubt; /* why two programs of a duet are compared by their runs alone */
	char mdd[MDD_TEXT_SIZE];
	char *changes; /* of the environment, from A's to B's; NULL: none, or not known */
};

static void question_clear(struct compare_query *q)
{
	compare_input_clear(&q->sides[0]);
	compare_input_clear(&q->sides[1]);
	book_free(q->book);
	free(q->changes);
}

/* By the duet of both, if they are of one; by their runs alone, if that is in doubt. */
static int compare_duet(struct compare_query *q, struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report report = {};
	_cleanup_(run_rules_clear) struct run_rules rules = {};
	const struct run *run_a = &q->sides[0].discarding.run, *run_b = &q->sides[1].discarding.run;
	size_t a = 0, b = 0;
	int r = run_rules_load(
		q->book, run_a, analyze_options.profile, analyze_options.recompute, &rules, err);

	if (r == 0)
		r = duet_report_load(q->book, run_a->id, &rules.rules, NULL, &report, err);
	if (r <= 0)
		return r;
	while (a < report.n && report.rows[a].run != run_a->id)
		a++;
	while (b < report.n && report.rows[b].run != run_b->id)
		b++;
	if (a == report.n || b == report.n)
		return 0;
	r = duet_report_compare(&report, a, b, &q->comparisons[COMPARISON_PT], &q->doubt, err);
	if (r == 0 && q->doubt != DUET_SOUND)
		return error_say(err, -ENODATA,
			"the duet of these runs is %s, and they have no runs alone: measure both in turn",
			duet_doubt_names[q->doubt]);
	return r < 0 ? r : 0;
}

/* Of a document of others: emp-measure's samples have both times, unless all are discarded. */
static bool lacks_pt(const struct compare_input *input)
{
	return input->sides[COMPARISON_PT].n == 0 && input->sides[COMPARISON_ET].n > 0;
}

static int compare_clocks(struct compare_query *q, struct error *err)
{
	const double KNOWN = 1e6; /* degrees of freedom of what the user says */
	int64_t run_a = q->sides[0].discarding.run.id, run_b = q->sides[1].discarding.run.id;
	struct run_variation variation = {};
	int r = 0;

	q->clocks = comparison_clocks(asked_clocks, q->sides[0].sides, q->sides[1].sides);
	q->main = q->clocks & COMPARE_PT ? COMPARISON_PT : COMPARISON_ET;
	for (enum comparison_clock clock = 0; r == 0 && clock < N_COMPARISON_CLOCKS; clock++) {
		const struct comparison_side *a = &q->sides[0].sides[clock],
					     *b = &q->sides[1].sides[clock];

		if (!(q->clocks >> clock & 1))
			continue;
		if (clock == COMPARISON_PT && (lacks_pt(&q->sides[0]) || lacks_pt(&q->sides[1])))
			return error_say(err, -ENODATA,
				"--compare: not both of them have process times; compare et");
		if (between_percent >= 0)
			variation = (struct run_variation){between_percent / 100, KNOWN, 0};
		else if (run_a && run_b)
			r = run_variation_load(
				q->book, run_a, run_b, clock == COMPARISON_ET, &variation, err);
		if (r == 0)
			r = comparison_make(a, b, &variation, &q->comparisons[clock], err);
	}
	if (r == 0 && q->comparisons[COMPARISON_PT].design == DESIGN_DUET && run_a && run_b)
		r = compare_duet(q, err);
	else if (r == 0 && q->comparisons[COMPARISON_PT].design == DESIGN_DUET &&
		 q->sides[1].duet_doubt)
		return error_say(err, -ENODATA,
			"the duet of '%s' and '%s' is %s, and the document has no results in turn: measure both in turn",
			q->sides[0].name, q->sides[1].name, q->sides[1].duet_doubt);
	return r;
}

/* What the comparisons of all pairs have in common: they are adjusted for their number, and judged
 * by the same rules. */
static void finish_comparisons(struct compare_query *pairs, size_t n_pairs)
{
	_cleanup_(freep) struct comparison **made = xcalloc(
		n_pairs * N_COMPARISON_CLOCKS + 1, sizeof(*made));
	size_t n = 0;

	for (struct compare_query *q = pairs; q < pairs + n_pairs; q++)
		for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
			if (q->clocks >> clock & 1) {
				made[n++] = &q->comparisons[clock];
				made[n - 1]->rules = rules_of_verdict;
				made[n - 1]->work = comparison_work(
					&q->sides[0].discarding.run, &q->sides[1].discarding.run);
			}
	comparisons_adjust(made, n);
}

/* Of a document no more than the digest is known. */
static int find_changes(struct compare_query *q, struct error *err)
{
	_cleanup_(differences_clear) struct differences differences = {};
	int64_t env_a = q->sides[0].discarding.run.environment,
		env_b = q->sides[1].discarding.run.environment;
	const char *before = q->sides[0].digest, *now = q->sides[1].digest;
	int r = 0;

	if (env_a && env_b) {
		if (env_a != env_b)
			r = environment_differences(q->book, env_a, env_b, &differences, err);
		if (differences.n > 0)
			q->changes = differences_description(&differences, 3, false);
	} else if (before && now && strcmp(before, now) != 0) {
		q->changes = text_format("fingerprint was %.*s, is %.*s",
			(int)terminal_text_fit(before, 16), before, (int)terminal_text_fit(now, 16),
			now);
	}
	return r < 0 ? r : 0;
}

static void print_design(const struct comparison *c)
{
	switch (c->design) {
	case DESIGN_DUET:
		printf("A duet: compared in %zu pairs.\n", c->a.n);
		break;
	case DESIGN_PAIRS:
		printf("Taken in turn: compared in %zu pairs.\n", c->a.n);
		break;
	case DESIGN_BETWEEN:
		terminal_say(stdout, 2,
			"Not taken in turn: the mean %ss of separate runs vary by %s (%s).",
			c->clock == COMPARISON_PT ? "PT" : "ET", text_percent(c->between),
			c->n_between > 0 ? text_brief("sd of %zu runs", c->n_between)
					 : "--between-runs");
		break;
	default:
		terminal_say(stdout, 2,
			"Not taken in turn, and it is not known how separate runs vary.");
		terminal_say(stdout, 2,
			"Measure both in one call of emp-measure, or give --between-runs.");
	}
}

/* By what stored runs were judged, and the marks of the profiles; that of both sides is said
 * once. */
static void print_profiles(const struct compare_input sides[2])
{
	const struct compare_input *a = &sides[0], *b = &sides[1];
	const struct discarding *of_a = &a->discarding, *of_b = &b->discarding;
	bool any = a->profile || b->profile || *run_rules_options(&of_a->run) ||
		   *run_rules_options(&of_b->run);
	bool same = a->profile && b->profile && !strcmp(a->profile, b->profile) &&
		    of_a->mark.blind_ns == of_b->mark.blind_ns;

	for (size_t i = 0; any && i < 2; i++) {
		const struct discarding *d = &sides[i].discarding;
		const char *profile = sides[i].profile, *options = run_rules_options(&d->run);
		size_t n = d->pt.raw.n;

		if (!d->run.id)
			continue;
		terminal_say(stdout, 2, "Run %" PRId64 ": %s%s%s%s%s%s; %zu of %s discarded",
			d->run.id, profile ? "profile '" : "no profile", profile ?: "",
			profile ? "'" : "",
			profile && sides[i].profile_missing ? " is no longer in the book" : "",
			*options ? ", " : "", options, n - d->pt.kept.n, text_count(n, "sample"));
	}
	noise_print(stdout, a->profile, &of_a->mark);
	if (!same)
		noise_print(stdout, b->profile, &of_b->mark);
}

/* Of the clocks that are compared, the one whose verdict weighs most. */
static const struct comparison *compare_worst(const struct compare_query *q)
{
	return comparison_worse(&q->comparisons[COMPARISON_PT], &q->comparisons[COMPARISON_ET]);
}

static struct pictured_program pictured_side(
	const struct compare_input *input, const struct compare_query *compared)
{
	const bool stored = input->discarding.run.id > 0;
	struct pictured_program program = {input->name, input->sides,
		{stored ? &input->discarding.pt : NULL, stored ? &input->discarding.et : NULL}, {}};

	for (enum comparison_clock clock = 0; compared && clock < N_COMPARISON_CLOCKS; clock++)
		if (compared->clocks >> clock & 1)
			program.comparisons[clock] = &compared->comparisons[clock];
	return program;
}

/* Nothing without -o. */
static int draw_compared(const struct compare_query *q, struct error *err)
{
	struct pictured_program programs[] = {
		pictured_side(&q->sides[0], NULL), pictured_side(&q->sides[1], q)};
	const struct comparison_picture picture = {
		.programs = programs, .n = ELEMENTS(programs), .clocks = q->clocks};

	return picture_path ? comparison_picture_draw(&picture, picture_path, keep_script, err) : 0;
}

static void compare_print(const struct compare_query *q)
{
	_cleanup_(table_freep) struct table *list = table_new(comparison_columns);
	const struct compare_input *a = &q->sides[0], *b = &q->sides[1];

	for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++) {
		const struct comparison *c = &q->comparisons[clock];

		if (!(q->clocks >> clock & 1))
			continue;
		terminal_say(stdout, 2, "%s: '%s' %s in %s, '%s' %s in %zu",
			clock == COMPARISON_PT ? "Process times" : "Elapsed times",
			terminal_text(a->name), text_duration(llround(c->a.mean_ns)),
			text_count(c->a.n, "sample"), terminal_text(b->name),
			text_duration(llround(c->b.mean_ns)), c->b.n);
		if (a->sides[clock].n_late > 0 || b->sides[clock].n_late > 0)
			terminal_say(stdout, 2,
				"Left out, since the end was seen late: %zu of '%s', %zu of '%s'",
				a->sides[clock].n_late, terminal_text(a->name),
				b->sides[clock].n_late, terminal_text(b->name));
		comparison_list_add(list, a->name, b->name, c);
	}
	if (*peak_memory_text(&a->memory) && *peak_memory_text(&b->memory))
		terminal_say(stdout, 2, "Peak memory: '%s' %s; '%s' %s", terminal_text(a->name),
			peak_memory_text(&a->memory), terminal_text(b->name),
			peak_memory_text(&b->memory));
	if (asked_clocks == COMPARE_DEFAULT && q->clocks == COMPARE_ET &&
		(a->sides[COMPARISON_PT].n > 0 || b->sides[COMPARISON_PT].n > 0))
		terminal_say(stdout, 2,
			"Only one of them has process times, so elapsed times are compared.");
	print_profiles(q->sides);
	if (q->doubt != DUET_SOUND)
		terminal_say(stdout, 2,
			"The duet is %s, so the runs of both programs alone are compared.",
			duet_doubt_names[q->doubt]);
	for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
		if (!isnan(q->comparisons[clock].ratio) &&
			(clock == q->main ||
				(q->clocks == COMPARE_BOTH &&
					q->comparisons[clock].design == DESIGN_BETWEEN)))
			print_design(&q->comparisons[clock]);
	if (*q->mdd)
		terminal_say(stdout, 2, "%s", q->mdd);
	if (q->changes)
		terminal_say(stdout, 2, "Environments differ: %s", q->changes);
	comparison_list_print(list, q->clocks == COMPARE_BOTH, stdout);
	comparison_verdict_print(stdout,
		&(struct verdict_line){a->name, b->name, .names_clock = q->clocks == COMPARE_BOTH},
		compare_worst(q));
}

/* The runs, or the results in files: of their profiles only the marks are known. */
static json_t *sides_as_json(const struct compare_query *q, bool of_files)
{
	json_t *array = json_array();

	for (size_t i = 0; i < 2; i++) {
		const struct compare_input *s = &q->sides[i];
		const struct discarding *d = &s->discarding;
		const struct run *run = &d->run;
		json_t *row;

		if (of_files != !run->id)
			continue;
		if (of_files)
			row = json_pack("{s:s, s:s*}", "command", s->name, "profile", s->profile);
		else
			row = json_pack("{s:I, s:s?, s:b, s:b, s:o?, s:I, s:I, s:s, s:o}", "run",
				(json_int_t)run->id, "profile", s->profile, "profile_missing",
				s->profile_missing, "other_cpus", run->other_cpus,
				"unprofiled_share_ppm",
				run->unprofiled_share_ppm > 0
					? json_integer(run->unprofiled_share_ppm)
					: NULL,
				"samples", (json_int_t)d->pt.raw.n, "discarded",
				(json_int_t)(d->pt.raw.n - d->pt.kept.n), "state",
				run_state_word(run->state), "peak_memory",
				peak_memory_as_json(&s->memory));
		if (q->clocks & COMPARE_ET)
			json_object_set_new(row, "ended_late",
				json_integer((json_int_t)s->sides[COMPARISON_ET].n_late));
		noise_add_json(row, &d->mark);
		json_array_append_new(array, row);
	}
	return array;
}

/* Whether an operand is a file: 1; or a run, by its number or name: 0. What is both is refused. */
static int compare_names_file(const char *operand, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	const char *colon = strrchr(operand, ':');
	bool numbered = colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")];
	_cleanup_(freep) char *path = xstrndup(
		operand, numbered ? (size_t)(colon - operand) : strlen(operand));
	struct stat st;
	bool exists = !strcmp(path, "-") || (stat(path, &st) == 0 && !S_ISDIR(st.st_mode));
	int64_t run = 0;
	int named = 0;

	if (!operand[strspn(operand, "0123456789")] || !strcmp(operand, "--last"))
		return 0;
	if (exists && (strchr(path, '/') || !strcmp(path, "-")))
		return 1;
	if (book_open(&book, analyze_options.db, BOOK_READ, NULL) == 0)
		named = book_find_run(book, operand, &run, NULL);
	if (exists && named > 0)
		return error_say(err, -EINVAL,
			"'%s' is a file and the name of run %" PRId64 ": for the file, type ./%s",
			operand, run, operand);
	return exists || (named <= 0 && strpbrk(operand, "/.:"));
}

/* The document of a pair, without what is said of all. */
static json_t *compare_as_json(const struct compare_query *q)
{
	const struct compare_input *a = &q->sides[0], *b = &q->sides[1];
	json_t *document = comparison_as_json(a->name, b->name, &q->comparisons[q->main]);
	json_t *et = q->clocks == COMPARE_BOTH
			     ? comparison_as_json(a->name, b->name, &q->comparisons[COMPARISON_ET])
			     : NULL;

	json_object_set_new(
		document, "verdict_of_all", json_string(comparison_verdict_text(compare_worst(q))));
	json_object_update_new(
		document, json_pack("{s:o*, s:s*, s:o, s:o, s:s*}", "et", et, "duet_doubt",
				  q->doubt == DUET_SOUND ? NULL : duet_doubt_names[q->doubt],
				  "runs", sides_as_json(q, false), "files", sides_as_json(q, true),
				  "environment_changes", q->changes));
	return document;
}

/* The results of two files, in pairs of the same name. */
struct compare_suite {
	const struct compare_file *files;
	struct compare_query *pairs;
	size_t n;
	size_t worst;                         /* the pair with the verdict that weighs most */
	size_t counts[N_COMPARISON_VERDICTS]; /* of the pairs */
	double geometric_mean;                /* of the ratios; NAN: there is none */
};

static void compare_suite_clear(struct compare_suite *suite)
{
	for (size_t i = 0; i < suite->n; i++)
		question_clear(&suite->pairs[i]);
	free(suite->pairs);
}

static int compare_pairs(struct compare_suite *suite, struct error *err)
{
	const struct compare_document *a = &suite->files[0].document,
				      *b = &suite->files[1].document;
	double sum = 0;
	size_t n_ratios = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < a->n; i++) {
		const struct compare_result *of_a = &a->results[i];
		struct compare_query *q;

		if (!of_a->match || of_a->unit || b->results[of_a->match - 1].unit)
			continue;
		q = array_add(suite->pairs, suite->n);
		r = compare_document_read(&q->sides[0], a, (int64_t)i + 1, err);
		if (r == 0)
			r = compare_document_read(&q->sides[1], b, (int64_t)of_a->match, err);
		if (r == 0)
			r = compare_clocks(q, err);
		if (r == 0)
			r = find_changes(q, err);
		if (r < 0)
			return error_prefix(err, r, "'%s'", of_a->name);
	}
	if (suite->n == 0)
		return error_say(err, -EINVAL, "'%s' and '%s': no result of both is a time",
			a->path, b->path);
	finish_comparisons(suite->pairs, suite->n);
	for (size_t i = 0; i < suite->n; i++) {
		const struct compare_query *q = &suite->pairs[i];
		const struct comparison *of_pair = compare_worst(q);
		double ratio = q->comparisons[q->main].ratio;

		suite->counts[comparison_verdict(of_pair)]++;
		if (comparison_worse(compare_worst(&suite->pairs[suite->worst]), of_pair) ==
			of_pair)
			suite->worst = i;
		if (!(ratio > 0 && isfinite(ratio)))
			continue;
		sum += log(ratio);
		n_ratios++;
	}
	suite->geometric_mean = n_ratios > 0 ? exp(sum / (double)n_ratios) : NAN;
	return 0;
}

/* Which results of file i have no partner, or are no times. The caller frees it; NULL: none. */
static char *results_left_out(const struct compare_suite *suite, size_t i, bool no_times)
{
	const struct compare_document *d = &suite->files[i].document;
	char *list = NULL;

	for (const struct compare_result *result = d->results; result < d->results + d->n; result++)
		if (no_times && result->match && result->unit)
			text_append(&list, ", ", "'%s' (%s)", result->name, result->unit);
		else if (!no_times && !result->match)
			text_append(&list, ", ", "'%s'", result->name);
	return list;
}

static void print_left_out(const char *words, const char *path, char *list)
{
	_cleanup_(freep) char *line = list ? text_format("%s '%s': %s", words, path, list) : NULL;

	free(list);
	if (line)
		terminal_wrap(stdout, line, 0, 2);
}

static void suite_print(const struct compare_suite *suite)
{
	_cleanup_(table_freep) struct table *list = table_new(comparison_columns);
	const struct compare_query *worst = &suite->pairs[suite->worst];
	const char *between = "";
	bool both = false;

	for (const struct compare_query *q = suite->pairs; q < suite->pairs + suite->n; q++)
		for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
			if (q->clocks >> clock & 1) {
				comparison_list_add(list, q->sides[0].name, q->sides[1].name,
					&q->comparisons[clock]);
				both |= q->clocks == COMPARE_BOTH;
			}
	for (size_t i = 0; i < 2; i++) {
		print_left_out("Only in", suite->files[i].path, results_left_out(suite, i, false));
		print_left_out("Not compared, because these are no times, in", suite->files[i].path,
			results_left_out(suite, i, true));
	}
	print_design(&worst->comparisons[worst->main]);
	comparison_list_print(list, suite->n > 1 || both, stdout);
	printf("%s: ", text_count((int64_t)suite->n, "pair"));
	for (size_t verdict = 0; verdict < N_COMPARISON_VERDICTS; verdict++)
		if (suite->counts[verdict] > 0) {
			printf("%s%zu %s", between, suite->counts[verdict],
				comparison_verdict_words[verdict] ?: "not compared");
			between = ", ";
		}
	if (!isnan(suite->geometric_mean))
		printf("; geometric mean of the ratios %.4g", suite->geometric_mean);
	printf("\n");
	comparison_verdict_print(stdout,
		&(struct verdict_line){worst->sides[0].name, worst->sides[1].name, true,
			worst->clocks == COMPARE_BOTH},
		compare_worst(worst));
}

static json_t *suite_as_json(const struct compare_suite *suite)
{
	const struct compare_query *worst = &suite->pairs[suite->worst];
	json_t *pairs = json_array(), *files = json_array(), *counts = json_object();

	for (size_t i = 0; i < suite->n; i++)
		json_array_append_new(pairs, compare_as_json(&suite->pairs[i]));
	for (size_t verdict = 0; verdict < N_COMPARISON_VERDICTS; verdict++)
		if (comparison_verdict_words[verdict])
			json_object_set_new(counts, comparison_verdict_words[verdict],
				json_integer((json_int_t)suite->counts[verdict]));
	for (size_t i = 0; i < 2; i++) {
		const struct compare_document *d = &suite->files[i].document;
		json_t *only = json_array(), *no_times = json_array();

		for (const struct compare_result *result = d->results; result < d->results + d->n;
			result++)
			if (!result->match || result->unit)
				json_array_append_new(
					result->match ? no_times : only, json_string(result->name));
		json_array_append_new(
			files, json_pack("{s:s, s:I, s:o, s:o}", "file", d->path, "results",
				       (json_int_t)d->n, "only_here", only, "no_times", no_times));
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:s, s:s}", "comparisons", pairs, "files", files,
		"verdicts", counts, "geometric_mean", json_real_or_null(suite->geometric_mean),
		"verdict", comparison_verdict_text(compare_worst(worst)), "worst",
		worst->sides[1].name);
}

/* The ratios of all pairs. Nothing without -o. */
static int draw_suite(const struct compare_suite *suite, struct error *err)
{
	_cleanup_(freep) struct pictured_program *programs = xcalloc(suite->n, sizeof(*programs));
	_cleanup_(freep) char *title = text_format(
		"%s against %s", suite->files[1].path, suite->files[0].path);
	struct comparison_picture picture = {.title = title, .programs = programs, .n = suite->n};

	for (size_t i = 0; i < suite->n; i++) {
		programs[i] = pictured_side(&suite->pairs[i].sides[1], &suite->pairs[i]);
		picture.clocks |= suite->pairs[i].clocks;
	}
	return picture_path ? comparison_picture_draw(&picture, picture_path, keep_script, err) : 0;
}

static int compare_suites(const struct compare_file files[2], struct error *err)
{
	_cleanup_(compare_suite_clear) struct compare_suite suite = {.files = files};
	const struct compare_query *worst;
	int r = compare_pairs(&suite, err);

	if (r == 0 && analyze_options.json)
		r = json_print_document("emp-comparisons", suite_as_json(&suite), err);
	else if (r == 0)
		suite_print(&suite);
	if (r == 0)
		r = draw_suite(&suite, err);
	if (r < 0)
		return r;
	worst = &suite.pairs[suite.worst];
	return (int)comparison_judge(
		compare_worst(worst), worst->sides[0].name, worst->sides[1].name, err);
}

static int compare_two(char **operands, struct compare_file files[2], struct error *err)
{
	_cleanup_(question_clear) struct compare_query q = {};
	const struct compare_input *a = &q.sides[0], *b = &q.sides[1];
	int r = 0;

	for (size_t i = 0; r == 0 && i < 2; i++) {
		bool stored = !files[i].path;

		if (stored && !q.book)
			r = book_open(&q.book, analyze_options.db, BOOK_READ, err);
		if (r == 0)
			r = stored ? compare_read_run(q.book, operands[i], &q.sides[i], err)
				   : compare_document_read(
					     &q.sides[i], &files[i].document, files[i].number, err);
	}
	if (!files[0].path != !files[1].path) /* a document names the process, also of a duet */
		for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++) {
			struct compare_input *stored = &q.sides[files[0].path != NULL];

			stored->sides[clock].origin.call = stored->discarding.run.owner;
		}
	if (r == 0)
		r = compare_clocks(&q, err);
	if (r == 0)
		finish_comparisons(&q, 1);
	if (r == 0 && b->discarding.run.id) {
		size_t of_a = a->sides[q.main].n, of_b = b->sides[q.main].n;

		r = mdd_text(
			q.book, &b->discarding.run, NULL, of_a < of_b ? of_a : of_b, q.mdd, err);
	}
	if (r == 0)
		r = find_changes(&q, err);
	if (r == 0 && analyze_options.json)
		r = json_print_document("emp-comparison", compare_as_json(&q), err);
	else if (r == 0)
		compare_print(&q);
	if (r == 0) /* the result is shown whether or not it can be drawn */
		r = draw_compared(&q, err);
	return r < 0 ? r : (int)comparison_judge(compare_worst(&q), a->name, b->name, err);
}

int verb_compare(int argc, char **argv, struct error *err)
{
	struct compare_file files[2] = {};
	const int is_file[] = {compare_names_file(argv[0], err), compare_names_file(argv[1], err)};
	const bool of_files = is_file[0] > 0 && is_file[1] > 0;
	const struct option_rule rules[] = {
		{rules_of_verdict.fail_if_slower >= 0 && rules_of_verdict.equal_within >= 0,
			EQUAL_WITHIN_NO_GATE},
		{of_files && (analyze_options.profile || analyze_options.recompute),
			"--profile and --recompute are for stored runs, and both sides are documents"},
		{keep_script && !picture_path, NEEDS_PICTURE("--script")},
	};
	bool both = is_file[0] < 0 || is_file[1] < 0; /* a file and a run */
	int r = both ? -EINVAL : option_check_rules(rules, ELEMENTS(rules), err);

	for (size_t i = 0; r == 0 && i < 2; i++)
		if (is_file[i])
			r = open_file(argv[i], &files[i], err);
	if (r == 0) {
		struct compare_document *a = &files[0].document, *b = &files[1].document;
		bool suites = of_files && !files[0].number && !files[1].number && a->n + b->n > 2;

		r = suites && compare_document_match(a, b) > 0 ? compare_suites(files, err)
							       : compare_two(argv, files, err);
	}
	compare_file_clear(&files[0]);
	compare_file_clear(&files[1]);
	return r;
}
