/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze compare: whether B takes another time than A, for two runs of the book or two results in files. */
#include "analyze/analyze.h"
#include "analyze/compare_document.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/duet/duet_report.h"
#include "lib/protocol/comparison.h"
#include "lib/report/results.h"
#include "lib/report/notes.h"
#include "lib/report/run_result.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* One side of a comparison: a run of the book, or a result in a file that hyperfine, pyperf or emp-measure
 * wrote. */

static int read_stored(struct book *book, const char *text, struct compare_input *side, struct error *err)
{
	_cleanup_(discarding_clear) struct discarding d = {};
	_cleanup_(freep) struct sample *samples = NULL;
	_cleanup_(freep) char *command = NULL;
	int64_t id;
	size_t n;
	int r;

	r = analyze_parse_run(text, "the run", &id, err);
	if (r == 0) {
		_cleanup_(run_rules_clear) struct run_rules rules = {};
		_cleanup_(run_clear) struct run run = {};
		const char *profile;

		r = book_get_run(book, id, &run, err);
		if (r == 0)
			r = run_rules_load(
				book, &run, analyze_options.profile, analyze_options.recompute, &rules, err);
		if (r == 0)
			r = discard_run(book, id, &rules.rules, &d, err);
		if (r >= 0) {
			if (analyze_options.recompute && !analyze_options.json) {
				printf("Recomputed: run %" PRId64 "\n", id);
				run_rules_print_changes(stdout, &run, &rules);
			}
			profile = analyze_options.profile ?: run.profile;
			side->profile = text_copy(profile);
			side->profile_missing = rules.missing;
			side->blind_ns = d.blind_ns;
			side->noise = TAKE(d.noise);
			side->other_cpus = run.other_cpus;
			side->unprofiled_share_ppm = run.unprofiled_share_ppm;
			run_rules_options(side->options, &run);
			side->state = run.state;
			if (!analyze_options.json)
				run_state_print(stdout, &run);
			side->n_samples = d.pt.raw.n;
			side->n_discarded = d.pt.raw.n - d.pt.kept.n;
			r = 0;
		}
	}
	if (r == 0 && d.run.kind == RUN_LOAD)
		return error_say(
			err, -EINVAL, "run %s is a load: 'emp-analyze load RUN RUN' compares two", text);
	if (r == 0)
		r = book_samples(book, id, &samples, &n, err);
	if (r < 0)
		return r;
	command = run_command_line(&d.run);
	side->name = text_format("run %s (%s)", text, d.run.name ?: command ?: d.run.program);
	side->memory = peak_memory_of(samples, d.out, n);
	side->run = id;
	side->environment = d.run.environment;
	if (side->environment > 0)
		r = book_get_environment(book, side->environment, &side->digest, NULL, err);
	if (r < 0)
		return r;
	for (int clock = COMPARISON_PT; clock <= COMPARISON_ET; clock++)
		side->sides[clock] = comparison_side_make(&d, samples, n, (enum comparison_clock)clock);
	return 0;
}

static int read_file(const char *text, struct compare_input *side, struct error *err)
{
	_cleanup_(freep) char *path = xstrdup(text);
	_cleanup_(json_decrefp) json_t *document = NULL;
	int64_t number = 0;
	char *colon = strrchr(path, ':');
	int r = 0;

	/* Splits "FILE:N"; a colon without a number after it is a part of the name. */
	if (colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")]) {
		*colon = '\0';
		r = text_parse_int(colon + 1, "the number after the colon", 1, INT32_MAX, &number, err);
	}
	if (r == 0)
		r = json_read(&document, path, err);
	return r < 0 ? r : compare_document_read(side, document, path, number, err);
}

/* Whether it is the number of a run in the book. */
static bool compare_input_is_run(const char *text)
{
	return !text[strspn(text, "0123456789")];
}

/* `text` is the number of a run in the book, or FILE, or FILE:N for the N-th result in it. Samples of a run of the
 * book are discarded by the profile that it was measured with, or by --profile; what emp-measure discarded by name stays
 * discarded. -EINVAL: FILE holds several
 * results and N is missing; the sentence lists them. */
static int compare_input_read(
	struct compare_input *ret, struct book *book, const char *text, struct error *err)
{
	return compare_input_is_run(text) ? read_stored(book, text, ret, err) : read_file(text, ret, err);
}

static double fail_if_slower = -1, between_percent = -1;
static unsigned asked_clocks;

const struct option_row compare_options[] = {
	{0, "profile", "NAME", "discard from stored runs by this profile, not by their own", NULL,
		&analyze_options.profile},
	{0, "between-runs", "PERCENT", "sd of the means of separate runs, if the book has too few",
		option_percent, &between_percent},
	{0, "compare", "WHAT", "compare pt, et or both (default: pt; both if programs wait or have threads)",
		comparison_clocks_option, &asked_clocks},
	RECOMPUTE_OPTION,
	{0, "fail-if-slower", "PERCENT", "exit status 2 if B is slower than A by more than this",
		option_percent, &fail_if_slower},
	{},
};

/* Both sides, and what is known of them. */
struct question {
	struct book *book; /* NULL: both are from files */
	struct compare_input a, b;
	unsigned clocks; /* that are compared, as bits; the results by clock: */
	struct comparison comparisons[N_COMPARISON_CLOCKS];
	enum duet_doubt doubt; /* why two programs of a duet are compared by their runs alone */
	char resolving[RESOLVING_TEXT_SIZE];
	char *changes; /* of the environment, from A's to B's; NULL: none, or not known */
};

static void question_clear(struct question *q)
{
	compare_input_clear(&q->a);
	compare_input_clear(&q->b);
	book_free(q->book);
	free(q->changes);
}

/* The clock that is compared, or the first of both. */
static enum comparison_clock first_clock(const struct question *q)
{
	return q->clocks & COMPARE_PT ? COMPARISON_PT : COMPARISON_ET;
}

/* By the duet of both, if they are of one; by their runs alone, if that is in doubt. */
static int compare_duet(struct question *q, struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report report = {};
	_cleanup_(run_rules_clear) struct run_rules rules = {};
	_cleanup_(run_clear) struct run run = {};
	size_t a = 0, b = 0;
	int r = book_get_run(q->book, q->a.run, &run, err);

	if (r == 0)
		r = run_rules_load(
			q->book, &run, analyze_options.profile, analyze_options.recompute, &rules, err);
	if (r == 0)
		r = duet_report_load(q->book, q->a.run, &rules.rules, NULL, &report, err);
	if (r <= 0)
		return r;
	while (a < report.n && report.runs[a] != q->a.run)
		a++;
	while (b < report.n && report.runs[b] != q->b.run)
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

static int compare_clocks(struct question *q, struct error *err)
{
	struct comparison *made[N_COMPARISON_CLOCKS];
	struct run_variation variation = {};
	size_t n = 0;
	int r = 0;

	q->clocks = comparison_clocks(asked_clocks, q->a.sides, q->b.sides);
	for (enum comparison_clock clock = 0; r == 0 && clock < N_COMPARISON_CLOCKS; clock++) {
		if (!(q->clocks >> clock & 1))
			continue;
		if (clock == COMPARISON_PT && (q->a.sides[clock].n == 0 || q->b.sides[clock].n == 0))
			return error_say(
				err, -ENODATA, "--compare: not both of them have process times; compare et");

		const double KNOWN = 1e6; /* degrees of freedom of what the user says */

		if (between_percent >= 0)
			variation = (struct run_variation){between_percent / 100, KNOWN, 0};
		else if (q->a.run && q->b.run)
			r = run_variation_load(
				q->book, q->a.run, q->b.run, clock == COMPARISON_ET, &variation, err);
		if (r == 0)
			r = comparison_make(&q->a.sides[clock], &q->b.sides[clock], &variation,
				&q->comparisons[clock], err);
		made[n++] = &q->comparisons[clock];
	}
	if (r == 0 && q->comparisons[COMPARISON_PT].design == DESIGN_DUET)
		r = compare_duet(q, err);
	if (r == 0)
		comparisons_adjust(made, n);
	return r;
}

/* Of a document no more than the digest is known. */
static int find_changes(struct question *q, struct error *err)
{
	if (q->a.environment && q->b.environment) {
		_cleanup_(differences_clear) struct differences differences = {};
		int r;

		if (q->a.environment == q->b.environment)
			return 0;
		r = environment_differences(q->book, q->a.environment, q->b.environment, &differences, err);
		if (r < 0 || differences.n == 0)
			return r < 0 ? r : 0;
		q->changes = differences_description(&differences, 3);
		return 0;
	}
	if (!q->a.digest || !q->b.digest || !strcmp(q->a.digest, q->b.digest))
		return 0;
	q->changes = text_format("fingerprint was %.*s, is %.*s", (int)terminal_text_fit(q->a.digest, 16),
		q->a.digest, (int)terminal_text_fit(q->b.digest, 16), q->b.digest);
	return 0;
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
		printf("Not taken in turn: the mean %ss of separate runs vary by %s ",
			c->clock == COMPARISON_PT ? "PT" : "ET", text_percent(c->between));
		if (c->n_between > 0)
			printf("(sd of %zu runs).\n", c->n_between);
		else
			printf("(--between-runs).\n");
		break;
	default:
		printf("Not taken in turn, and it is not known how separate runs vary: no verdict.\n"
		       "Measure both in one call of emp-measure, or give --between-runs.\n");
	}
}

/* By what a stored run was judged. */
static void print_rules(const struct compare_input *side)
{
	if (!side->run)
		return;
	printf("Run %" PRId64 ": ", side->run);
	if (side->profile)
		printf("profile '%s'%s", terminal_text(side->profile),
			side->profile_missing ? " is no longer in the book" : "");
	else
		printf("no profile");
	printf("%s%s; %zu of %zu sample%s discarded\n", *side->options ? ", " : "", side->options,
		side->n_discarded, side->n_samples, side->n_samples == 1 ? "" : "s");
}

/* The marks of the profiles; that of both sides is said once. */
static void compare_print_noise(const struct question *q)
{
	const struct compare_input *a = &q->a, *b = &q->b;
	bool same = a->profile && b->profile && !strcmp(a->profile, b->profile) && a->blind_ns == b->blind_ns;

	noise_print(stdout, a->profile, a->blind_ns, a->noise);
	if (!same)
		noise_print(stdout, b->profile, b->blind_ns, b->noise);
}

static int compare_print(const struct question *q, struct error *err)
{
	_cleanup_(table_freep) struct table *list = table_new(comparison_columns);
	char memory_a[PEAK_MEMORY_TEXT_SIZE], memory_b[PEAK_MEMORY_TEXT_SIZE];

	for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++) {
		const struct comparison *c = &q->comparisons[clock];

		if (q->clocks >> clock & 1)
			printf("%s: '%s' %s in %zu sample%s, '%s' %s in %zu\n",
				clock == COMPARISON_PT ? "Process times" : "Elapsed times",
				terminal_text(q->a.name), text_duration(llround(c->a.mean_ns)), c->a.n,
				c->a.n == 1 ? "" : "s", terminal_text(q->b.name),
				text_duration(llround(c->b.mean_ns)), c->b.n);
	}
	if (q->a.memory.n > 0 && q->b.memory.n > 0)
		printf("Peak memory: '%s' %s; '%s' %s\n", terminal_text(q->a.name),
			peak_memory_text(memory_a, &q->a.memory), terminal_text(q->b.name),
			peak_memory_text(memory_b, &q->b.memory));
	if (asked_clocks == COMPARE_DEFAULT && q->clocks == COMPARE_ET &&
		(q->a.sides[COMPARISON_PT].n > 0 || q->b.sides[COMPARISON_PT].n > 0))
		printf("Only one of them has process times, so elapsed times are compared.\n");
	if (q->a.profile || q->b.profile || *q->a.options || *q->b.options) {
		print_rules(&q->a);
		print_rules(&q->b);
	}
	compare_print_noise(q);
	if (q->doubt != DUET_SOUND)
		printf("The duet is %s, so the runs of both programs alone are compared.\n",
			duet_doubt_names[q->doubt]);
	for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
		if (clock == first_clock(q) ||
			(q->clocks == COMPARE_BOTH && q->comparisons[clock].design == DESIGN_BETWEEN))
			print_design(&q->comparisons[clock]);
	if (*q->resolving)
		printf("%s\n", q->resolving);
	if (q->changes)
		printf("Environments differ: %s\n", terminal_text(q->changes));
	for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
		if (q->clocks >> clock & 1)
			comparison_list_add(list, q->a.name, q->b.name, &q->comparisons[clock]);
	comparison_list_print(list, q->clocks == COMPARE_BOTH, stdout);
	return 0;
}

static json_t *rules_as_json(const struct question *q)
{
	const struct compare_input *sides[] = {&q->a, &q->b};
	json_t *array = json_array();

	for (size_t i = 0; i < ELEMENTS(sides); i++) {
		const struct compare_input *side = sides[i];
		json_t *row;

		if (!side->run)
			continue;
		row = json_pack("{s:I, s:s?, s:b, s:b, s:o, s:I, s:I}", "run", (json_int_t)side->run,
			"profile", side->profile, "profile_missing", side->profile_missing, "other_cpus",
			side->other_cpus, "unprofiled_share_ppm",
			side->unprofiled_share_ppm > 0 ? json_integer(side->unprofiled_share_ppm)
						       : json_null(),
			"samples", (json_int_t)side->n_samples, "discarded", (json_int_t)side->n_discarded);
		json_object_set_new(row, "state", json_string(run_state_word(side->state)));
		json_object_set_new(row, "peak_memory", peak_memory_as_json(&side->memory));
		profile_noise_add_json(row, side->blind_ns, side->noise);
		json_array_append_new(array, row);
	}
	return array;
}

/* Of the profile of a result in a file only its mark is known. */
static json_t *files_as_json(const struct question *q)
{
	const struct compare_input *sides[] = {&q->a, &q->b};
	json_t *array = json_array();

	for (size_t i = 0; i < ELEMENTS(sides); i++) {
		json_t *row;

		if (sides[i]->run)
			continue;
		row = json_pack("{s:s, s:s*}", "command", sides[i]->name, "profile", sides[i]->profile);
		profile_noise_add_json(row, sides[i]->blind_ns, sides[i]->noise);
		json_array_append_new(array, row);
	}
	return array;
}

static int compare_print_json(const struct question *q, struct error *err)
{
	json_t *document = comparison_as_json(q->a.name, q->b.name, &q->comparisons[first_clock(q)]);

	if (q->clocks == COMPARE_BOTH)
		json_object_set_new(document, "et",
			comparison_as_json(q->a.name, q->b.name, &q->comparisons[COMPARISON_ET]));
	if (q->doubt != DUET_SOUND)
		json_object_set_new(document, "duet_doubt", json_string(duet_doubt_names[q->doubt]));
	json_object_set_new(document, "runs", rules_as_json(q));
	json_object_set_new(document, "files", files_as_json(q));
	if (q->changes)
		json_object_set_new(document, "environment_changes", json_string(q->changes));
	return json_print_document("emp-comparison", document, err);
}

int verb_compare(int argc, char **argv, struct error *err)
{
	_cleanup_(question_clear) struct question q = {};
	int r;

	r = 0;
	if (compare_input_is_run(argv[0]) || compare_input_is_run(argv[1]))
		r = book_open(&q.book, analyze_options.db, BOOK_READ, err);
	if (r == 0)
		r = compare_input_read(&q.a, q.book, argv[0], err);
	if (r == 0)
		r = compare_input_read(&q.b, q.book, argv[1], err);
	if (r == 0)
		r = compare_clocks(&q, err);
	if (r == 0 && q.b.run) {
		size_t of_a = q.a.sides[first_clock(&q)].n, of_b = q.b.sides[first_clock(&q)].n;

		/* The samples of the side that has fewer. */
		r = resolving_text(
			q.book, q.b.environment, NULL, of_a < of_b ? of_a : of_b, q.resolving, err);
	}
	r = r < 0 ? r : find_changes(&q, err);

	if (r == 0)
		r = analyze_options.json ? compare_print_json(&q, err) : compare_print(&q, err);
	for (enum comparison_clock clock = 0; r == 0 && clock < N_COMPARISON_CLOCKS; clock++)
		if (q.clocks >> clock & 1)
			r = comparison_judge(&q.comparisons[clock],
				&(struct comparison_limit){fail_if_slower, q.a.name, q.b.name}, err);
	return r == COMPARISON_OVER_LIMIT ? STATUS_NOT_FIT : r;
}
