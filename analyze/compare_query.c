/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison of emp-analyze compare: see compare_query.h. */
#include "analyze/compare_query.h"

#include "analyze/options.h"
#include "lib/base/table.h"
#include "lib/protocol/adjust.h"
#include "lib/report/comparison_report.h"
#include "lib/report/results.h"

struct compare_asked compare_asked = {.between_percent = -1, .rules = COMPARISON_RULES};

void compare_query_clear(struct compare_query *q)
{
	compare_input_clear(&q->sides[0]);
	compare_input_clear(&q->sides[1]);
	book_free(q->book);
	free(q->changes);
}

int compare_query_duet(struct compare_query *q, struct book *book, struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report report = {};
	_cleanup_(run_rules_clear) struct run_rules rules = {};
	const struct run *run_a = &q->sides[0].discarding.run, *run_b = &q->sides[1].discarding.run;
	size_t a = 0, b = 0;
	unsigned clocks;
	int r = run_rules_load(
		book, run_a, analyze_options.profile, analyze_options.recompute, &rules, err);

	if (r == 0)
		r = duet_report_load(book, run_a->id, &rules.rules, NULL, &report, err);
	if (r <= 0)
		return r;
	while (a < report.n && report.rows[a].run != run_a->id)
		a++;
	while (b < report.n && report.rows[b].run != run_b->id)
		b++;
	if (a == report.n || b == report.n)
		return 0;
	clocks = duet_report_clocks(&report, compare_asked.clocks);
	q->clocks |= clocks;
	for (enum comparison_clock clock = 0; r >= 0 && clock < N_COMPARISON_CLOCKS; clock++)
		if (clocks >> clock & 1)
			r = duet_report_compare(&report, a, b, clock, &q->comparisons[clock], err);
	return r < 0 ? r : 0;
}

/* Whether only elapsed times are known, as in a document of hyperfine or pyperf. */
static bool lacks_pt(const struct compare_input *input)
{
	return input->sides[COMPARISON_PT].n == 0 && input->sides[COMPARISON_ET].n > 0;
}

/* Whether its elapsed times are those of all programs of a duet. */
static bool has_et_of_all(const struct compare_input *input)
{
	const struct comparison_side *et = &input->sides[COMPARISON_ET];

	return et->duet && et->origin.cpu >= 0;
}

int compare_query_clocks(struct compare_query *q, struct error *err)
{
	const double KNOWN = 1e6; /* degrees of freedom of --between-runs: as good as exact */
	int64_t run_a = q->sides[0].discarding.run.id, run_b = q->sides[1].discarding.run.id;
	struct run_variation variation = {};
	int r = 0;

	q->clocks = comparison_clocks(compare_asked.clocks, q->sides[0].sides, q->sides[1].sides);
	q->main = q->clocks & COMPARE_PT ? COMPARISON_PT : COMPARISON_ET;
	for (enum comparison_clock clock = 0; r == 0 && clock < N_COMPARISON_CLOCKS; clock++) {
		const struct comparison_side *a = &q->sides[0].sides[clock],
					     *b = &q->sides[1].sides[clock];

		if (!(q->clocks >> clock & 1))
			continue;
		if (clock == COMPARISON_PT && (lacks_pt(&q->sides[0]) || lacks_pt(&q->sides[1])))
			return error_say(err, -ENODATA,
				"--compare: not both of them have process times; compare et");
		if (clock == COMPARISON_ET && compare_asked.clocks != COMPARE_DEFAULT &&
			(has_et_of_all(&q->sides[0]) || has_et_of_all(&q->sides[1])))
			return error_say(err, -ENODATA,
				"--compare: in a duet on one CPU the elapsed time is that of all "
				"programs; compare pt");
		if (compare_asked.between_percent >= 0)
			variation = (struct run_variation){
				.sd = compare_asked.between_percent / 100, .df = KNOWN};
		else if (run_a && run_b)
			r = run_variation_load(
				q->book, run_a, run_b, clock == COMPARISON_ET, &variation, err);
		if (r == 0)
			r = comparison_make(a, b, &variation, &q->comparisons[clock], err);
	}
	if (r == 0 && q->comparisons[q->main].design == DESIGN_DUET && run_a && run_b)
		r = compare_query_duet(q, q->book, err);
	return r;
}

void compare_queries_finish(struct compare_query *pairs, size_t n_pairs)
{
	_cleanup_(freep) struct comparison **made = xcalloc(
		n_pairs * N_COMPARISON_CLOCKS + 1, sizeof(*made));
	size_t n = 0;

	for (struct compare_query *q = pairs; q < pairs + n_pairs; q++)
		for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
			if (q->clocks >> clock & 1) {
				made[n++] = &q->comparisons[clock];
				made[n - 1]->rules = compare_asked.rules;
				made[n - 1]->work = comparison_work(
					&q->sides[0].discarding.run, &q->sides[1].discarding.run);
			}
	comparisons_adjust(made, n);
}

int compare_query_changes(struct compare_query *q, struct error *err)
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

void compare_print_design(const struct comparison *c)
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
		if (c->lost_pairs) {
			terminal_say(stdout, 2,
				"Taken in turn, but in fewer than two rounds are the samples of "
				"both kept: measure again, with more samples.");
			break;
		}
		terminal_say(stdout, 2,
			"Not taken in turn, and it is not known how separate runs vary.");
		terminal_say(stdout, 2,
			"Measure both in one call of emp-measure, or give --between-runs.");
	}
}

/* Whether neighbours are in none of its times. */
static bool is_without_neighbour(const struct discarding *d)
{
	return d->n_by_neighbour > 0 || d->pt.adjusted.by.slope.error > 0;
}

/* Whether there was a neighbour, and nothing was done about it. */
static bool is_with_neighbour(const struct compare_input *side)
{
	return side->discarding.neighbour == NEIGHBOUR_OFF && side->neighbour.n_probed > 0 &&
	       side->neighbour.share >= NEIGHBOUR_WORTH_NOTING;
}

/* What the line of one side says of neighbours, "": nothing. */
static const char *compared_neighbour_text(
	const struct compare_input *side, const struct compare_input *other)
{
	const struct discarding *d = &side->discarding;
	const struct neighbour_slope *slope = &d->pt.adjusted.by.slope;

	if (slope->error > 0)
		return text_brief(
			"; times adjusted for a neighbour (%s)", neighbour_slope_text(slope));
	if (d->n_by_neighbour > 0)
		return text_brief(", %zu because of a neighbour", d->n_by_neighbour);
	if (is_with_neighbour(side))
		return text_brief("; with a neighbour in %s of the time",
			text_percent(side->neighbour.share));
	return side->neighbour.n_probed == 0 && is_without_neighbour(&other->discarding)
		       ? "; not probed for a neighbour"
		       : "";
}

/* The profile and the options by which each stored run was judged, and the marks of the profiles.
 * If both sides have the same mark, it is printed once. */
static void print_profiles(const struct compare_input sides[2])
{
	const struct compare_input *a = &sides[0], *b = &sides[1];
	const struct discarding *of_a = &a->discarding, *of_b = &b->discarding;
	bool any = a->profile || b->profile || *run_rules_options(&of_a->run) ||
		   *run_rules_options(&of_b->run) || is_without_neighbour(of_a) ||
		   is_without_neighbour(of_b) || is_with_neighbour(a) || is_with_neighbour(b);
	bool same = a->profile && b->profile && !strcmp(a->profile, b->profile) &&
		    of_a->mark.blind_ns == of_b->mark.blind_ns;

	for (size_t i = 0; any && i < 2; i++) {
		const struct discarding *d = &sides[i].discarding;
		const char *profile = sides[i].profile, *options = run_rules_options(&d->run);
		size_t n = d->pt.raw.n;

		if (!d->run.id && d->pt.adjusted.by.slope.error > 0)
			terminal_say(stdout, 2, "'%s':%s", terminal_text(sides[i].name),
				compared_neighbour_text(&sides[i], &sides[!i]) + strlen(";"));
		if (!d->run.id)
			continue;
		terminal_say(stdout, 2, "Run %" PRId64 ": %s%s%s%s%s%s; %zu of %s discarded%s",
			d->run.id, profile ? "profile '" : "no profile", profile ?: "",
			profile ? "'" : "",
			profile && sides[i].profile_missing ? " is no longer in the book" : "",
			*options ? ", " : "", options, n - d->pt.kept.n, text_count(n, "sample"),
			compared_neighbour_text(&sides[i], &sides[!i]));
	}
	noise_print(stdout, a->profile, &of_a->mark);
	if (!same)
		noise_print(stdout, b->profile, &of_b->mark);
}

const struct comparison *compare_query_worst(const struct compare_query *q)
{
	return comparison_worse(&q->comparisons[COMPARISON_PT], &q->comparisons[COMPARISON_ET]);
}

struct pictured_program compare_query_pictured(
	const struct compare_input *input, const struct compare_query *compared)
{
	const bool stored = input->discarding.run.id > 0;
	struct pictured_program program = {input->name, input->sides,
		{stored ? &input->discarding.pt : NULL, stored ? &input->discarding.et : NULL}, {}};

	program.discarding = stored ? &input->discarding : NULL;
	for (enum comparison_clock clock = 0; compared && clock < N_COMPARISON_CLOCKS; clock++)
		if (compared->clocks >> clock & 1)
			program.comparisons[clock] = &compared->comparisons[clock];
	return program;
}

int compare_query_draw(const struct compare_query *q, struct error *err)
{
	struct pictured_program programs[] = {compare_query_pictured(&q->sides[0], NULL),
		compare_query_pictured(&q->sides[1], q)};
	const struct comparison_picture picture = {
		.programs = programs, .n = ELEMENTS(programs), .clocks = q->clocks};

	return compare_asked.picture ? comparison_picture_draw(&picture, compare_asked.picture,
					       compare_asked.keep_script, err)
				     : 0;
}

/* "49.97 ms in 10 samples"; `of`: how many. */
static const char *mean_text(const struct summary *s, const char *of)
{
	if (s->n == 0)
		return "without a sample that is kept";
	return text_brief("%s in %s", text_duration(llround(s->mean_ns)), of);
}

/* The times of both sides by one clock. */
static void print_compared_times(const struct compare_query *q, enum comparison_clock clock)
{
	const struct compare_input *a = &q->sides[0], *b = &q->sides[1];
	const struct comparison *c = &q->comparisons[clock];

	terminal_say(stdout, 2, "%s: '%s' %s, '%s' %s",
		clock == COMPARISON_PT ? "Process times" : "Elapsed times", terminal_text(a->name),
		mean_text(&c->a, text_count(c->a.n, "sample")), terminal_text(b->name),
		mean_text(&c->b,
			c->a.n > 0 ? text_brief("%zu", c->b.n) : text_count(c->b.n, "sample")));
	if (a->sides[clock].n_late > 0 || b->sides[clock].n_late > 0)
		terminal_say(stdout, 2,
			"Left out, since the end was seen late: %zu of '%s', %zu of '%s'",
			a->sides[clock].n_late, terminal_text(a->name), b->sides[clock].n_late,
			terminal_text(b->name));
}

static void print_memory(const struct compare_input *a, const struct compare_input *b)
{
	const char *of_a = peak_memory_text(&a->memory), *of_b = peak_memory_text(&b->memory);

	if (*of_a && *of_b)
		terminal_say(stdout, 2, "Peak memory: '%s' %s; '%s' %s", terminal_text(a->name),
			of_a, terminal_text(b->name), of_b);
}

/* Of both clocks, the design of ET is said only where the runs were not taken in turn. */
static bool shows_design(const struct compare_query *q, enum comparison_clock clock)
{
	const struct comparison *c = &q->comparisons[clock];

	if (isnan(c->ratio))
		return false;
	return clock == q->main || (q->clocks == COMPARE_BOTH && c->design == DESIGN_BETWEEN);
}

void compare_query_print(const struct compare_query *q)
{
	_cleanup_(table_freep) struct table *list = table_new(comparison_columns);
	const struct compare_input *a = &q->sides[0], *b = &q->sides[1];
	bool both = q->clocks == COMPARE_BOTH;

	for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
		if (q->clocks >> clock & 1) {
			print_compared_times(q, clock);
			comparison_list_add(list, a->name, b->name, &q->comparisons[clock]);
		}
	print_memory(a, b);
	if (compare_asked.clocks == COMPARE_DEFAULT && q->clocks == COMPARE_ET &&
		(a->sides[COMPARISON_PT].n > 0 || b->sides[COMPARISON_PT].n > 0))
		terminal_say(stdout, 2,
			"Only one of them has process times, so elapsed times are compared.");
	print_profiles(q->sides);

	if (q->comparisons[q->main].of_runs_alone)
		terminal_say(stdout, 2, DUET_COMPARED_ALONE);
	for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
		if (shows_design(q, clock))
			compare_print_design(&q->comparisons[clock]);
	for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
		if (q->clocks >> clock & 1 && q->comparisons[clock].ratio_in_turn > 0)
			terminal_say(stdout, 2,
				"The runs alone have a ratio of %s of %.4f: it depends on how the "
				"programs alternate.",
				clock == COMPARISON_PT ? "PT" : "ET",
				q->comparisons[clock].ratio_in_turn);
	if (*q->mdd)
		terminal_say(stdout, 2, "%s", q->mdd);
	if (q->changes)
		terminal_say(stdout, 2, "Environments differ: %s", q->changes);

	comparison_list_print(list, both, stdout);
	comparison_verdict_print(stdout,
		&(struct verdict_line){a->name, b->name, .names_clock = both},
		compare_query_worst(q));
}

static json_t *run_side_as_json(const struct compare_input *input)
{
	const struct discarding *d = &input->discarding;
	const struct run *run = &d->run;
	json_t *json = json_pack("{s:I, s:s?, s:b, s:b}", "run", (json_int_t)run->id, "profile",
		input->profile, "profile_missing", input->profile_missing, "other_cpus",
		run->other_cpus);

	json_object_set_new(json, "unprofiled_share_ppm",
		json_int_if(run->unprofiled_share_ppm > 0, run->unprofiled_share_ppm));
	json_object_set_new(json, "samples", json_integer((json_int_t)d->pt.raw.n));
	json_object_set_new(
		json, "discarded", json_integer((json_int_t)(d->pt.raw.n - d->pt.kept.n)));
	json_object_set_new(
		json, "discarded_by_neighbour", json_integer((json_int_t)d->n_by_neighbour));
	json_object_set_new(json, "neighbour_share",
		json_real_or_null(input->neighbour.n_probed > 0 ? input->neighbour.share : NAN));
	json_object_set_new(json, "state", json_string(run_state_word(run->state)));
	json_object_set_new(json, "peak_memory", peak_memory_as_json(&input->memory));
	return json;
}

static void add_slope(json_t *row, const struct neighbour_slope *slope)
{
	bool adjusted = slope->error > 0;

	json_object_set_new(row, "neighbour_slope", json_real_or_null(adjusted ? slope->k : NAN));
	json_object_set_new(
		row, "neighbour_slope_error", json_real_or_null(adjusted ? slope->error : NAN));
}

/* The runs, or the results in files: of their profiles only the marks are known. */
static json_t *sides_as_json(const struct compare_query *q, bool of_files)
{
	json_t *array = json_array();

	for (size_t i = 0; i < 2; i++) {
		const struct compare_input *s = &q->sides[i];
		size_t n_late = s->sides[COMPARISON_ET].n_late;
		json_t *row;

		if (of_files != !s->discarding.run.id)
			continue;
		if (of_files)
			row = json_pack("{s:s, s:s*}", "command", s->name, "profile", s->profile);
		else
			row = run_side_as_json(s);
		add_slope(row, &s->discarding.pt.adjusted.by.slope);
		if (q->clocks & COMPARE_ET)
			json_object_set_new(row, "ended_late", json_integer((json_int_t)n_late));
		noise_add_json(row, &s->discarding.mark);
		json_array_append_new(array, row);
	}
	return array;
}

json_t *compare_query_as_json(const struct compare_query *q)
{
	const struct compare_input *a = &q->sides[0], *b = &q->sides[1];
	json_t *document = comparison_as_json(a->name, b->name, &q->comparisons[q->main]);
	json_t *et = q->clocks == COMPARE_BOTH
			     ? comparison_as_json(a->name, b->name, &q->comparisons[COMPARISON_ET])
			     : NULL;

	json_object_set_new(document, "verdict_of_all",
		json_string(comparison_verdict_text(compare_query_worst(q))));
	json_object_update_new(document,
		json_pack("{s:o*, s:o, s:o, s:s*}", "et", et, "runs", sides_as_json(q, false),
			"files", sides_as_json(q, true), "environment_changes", q->changes));
	return document;
}
