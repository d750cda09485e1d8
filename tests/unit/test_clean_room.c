/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The study clean-room: what is counted as wrong, and how often the copy was really slower. */
#include "tests/unit/scratch.h"

#include "lib/stats/summary.h"
#include "lib/study/clean_room_book.h"
#include "lib/study/clean_room_result.h"

#include <jansson.h>

#define MADE_UP_FILE "[study]\nwhat = clean-room\n[subject x]\ncommand = x\n"

/* A comparison by hyperfine, which has two rules. */
struct made_up_comparison {
	bool daemon;
	double slowdown;
	enum room_claim claims[ROOM_RULES_MAX];
};

static int64_t put_study(struct scratch *s, const struct made_up_comparison *made, size_t n)
{
	struct study_block *blocks = xcalloc(n, sizeof(*blocks));
	struct study_row row = {.name = (char *)"clean-room",
		.what = STUDY_CLEAN_ROOM,
		.file = (char *)MADE_UP_FILE,
		.options = (char *)"[\"--cpu\",\"3\"]"};

	for (size_t i = 0; i < n; i++)
		blocks[i] = (struct study_block){.position = (uint32_t)i + 1,
			.round = (int)i + 1,
			.step = made[i].daemon ? (char *)ROOM_DAEMON_STEP : NULL,
			.subject = (char *)"hyperfine",
			.size = made[i].slowdown,
			.command = (char *)"[\"sort\",\"big.txt\"]",
			.samples = 10};
	assert_int_equal(book_add_study(s->book, &row, blocks, n, &s->err), 0);
	for (size_t i = 0; i < n; i++) {
		const struct room_comparison comparison = {.block = blocks[i].id,
			.copy_first = i % 2,
			.slowed = made[i].slowdown * 1.01,
			.daemon = made[i].daemon ? 0.05 : NAN};
		const struct room_answer answer = {
			.claims = {made[i].claims[0], made[i].claims[1]}, .ratios = {1.02, NAN}};

		assert_int_equal(book_begin_study_block(s->book, blocks[i].id, &s->err), 0);
		assert_int_equal(book_add_room_comparison(s->book, &comparison,
					 room_tool_find("hyperfine"), &answer, &s->err),
			0);
	}
	free(blocks);
	return row.id;
}

static json_t *report_of(struct scratch *s, int64_t study)
{
	_cleanup_(study_report_clear) struct study_report report = {};
	_cleanup_(study_data_clear) struct study_data data = {};

	assert_int_equal(study_data_read(s->book, study, NULL, &data, &s->err), 0);
	assert_int_equal(study_report_make(s->book, &data, STUDY_RULE_ALL, &report, &s->err), 0);
	return study_report_as_json(&report);
}

static const json_t *line_of(const json_t *document, const char *table, const char *rule)
{
	json_t *lines = json_object_get(json_object_get(document, "tables"), table), *line;
	size_t i;

	json_array_foreach (lines, i, line)
		if (!strcmp(json_string_value(json_object_get(line, "rule")), rule))
			return line;
	fail_msg("no line of %s in %s", rule, table);
	return NULL;
}

#define assert_member(line, member, value) \
	assert_int_equal(json_integer_value(json_object_get(line, member)), value)

TEST_IN_BOOK(claims_count_where_both_are_the_same_and_misses_where_one_is_slower)
{
	const struct made_up_comparison made[] = {
		{false, 0, {ROOM_SLOWER, ROOM_NO_CLAIM}},
		{false, 0, {ROOM_FASTER, ROOM_NO_CLAIM}},
		{false, 0, {ROOM_NO_CLAIM, ROOM_NO_CLAIM}},
		{false, 0.02, {ROOM_SLOWER, ROOM_NO_CLAIM}},
		{false, 0.02, {ROOM_FASTER, ROOM_SLOWER}},
		{true, 0.05, {ROOM_NO_CLAIM, ROOM_FASTER}},
	};
	int64_t study = put_study(s, made, ELEMENTS(made));
	_cleanup_(json_decrefp) json_t *document = report_of(s, study);
	const json_t *line = line_of(document, "nothing_planted", "hyperfine-ratio");

	assert_member(line, "claims_at_0", 2);
	assert_member(line, "claims_at_0_of", 3);
	assert_member(line, "claims_at_0_reversed", 0);
	assert_member(line, "misses_of_2", 1);
	assert_member(line, "misses_of_2_of", 2);
	assert_member(line, "misses_of_2_reversed", 1);
	assert_member(line, "misses_of_5_of", 0);
	line = line_of(document, "nothing_planted", "hyperfine-welch");
	assert_member(line, "claims_at_0", 0);
	assert_member(line, "misses_of_2", 1);
	assert_member(line, "misses_of_2_reversed", 0);
	line = line_of(document, "beside_daemon", "hyperfine-ratio");
	assert_member(line, "misses_of_5", 1);
	assert_member(line, "misses_of_5_reversed", 0);
	line = line_of(document, "beside_daemon", "hyperfine-welch");
	assert_member(line, "misses_of_5", 1);
	assert_member(line, "misses_of_5_reversed", 1);
}

TEST_IN_BOOK(each_claim_is_in_the_document_and_not_on_the_screen)
{
	const struct made_up_comparison made[] = {{true, 0.05, {ROOM_SLOWER, ROOM_NO_CLAIM}}};
	int64_t study = put_study(s, made, ELEMENTS(made));
	_cleanup_(json_decrefp) json_t *document = report_of(s, study);
	const json_t *line = line_of(document, "claims", "hyperfine-welch");

	assert_string_equal(json_string_value(json_object_get(line, "claim")), "none");
	assert_true(json_is_null(json_object_get(line, "ratio")));
	line = line_of(document, "claims", "hyperfine-ratio");
	assert_string_equal(json_string_value(json_object_get(line, "claim")), "slower");
	assert_close(json_number_value(json_object_get(line, "slowed")), 0.0505, 1e-9);
	assert_close(json_number_value(json_object_get(line, "daemon_share")), 0.05, 1e-9);
}

TEST_IN_BOOK(the_screen_says_what_was_compared_and_how_much_slower_it_was)
{
	const struct made_up_comparison made[] = {{false, 0.02, {ROOM_FASTER, ROOM_SLOWER}},
		{true, 0.05, {ROOM_SLOWER, ROOM_NO_CLAIM}}};
	int64_t study = put_study(s, made, ELEMENTS(made));
	_cleanup_(study_report_clear) struct study_report report = {};
	_cleanup_(study_data_clear) struct study_data data = {};
	_cleanup_(freep) char *text = NULL;

	assert_int_equal(study_data_read(s->book, study, NULL, &data, &s->err), 0);
	assert_int_equal(study_report_make(s->book, &data, STUDY_RULE_ALL, &report, &s->err), 0);
	text = PRINTED(file, study_report_print(&report, file));
	assert_non_null(strstr(text, "sort big.txt against itself (0 %) and slowed by 2 and 5 %"));
	assert_non_null(strstr(text, "2 comparisons on"));
	assert_non_null(strstr(text, "1/1 (3-100 %)"));
	assert_non_null(strstr(text, "2.02 … 2.02 %"));
	assert_non_null(strstr(text, "to be faster: 1 time by"));
	assert_null(strstr(text, "copy_first"));
}

TEST_IN_BOOK(a_study_without_a_comparison_says_how_to_go_on)
{
	int64_t study = put_study(s, NULL, 0);
	_cleanup_(study_report_clear) struct study_report report = {};
	_cleanup_(study_data_clear) struct study_data data = {};

	assert_int_equal(study_data_read(s->book, study, NULL, &data, &s->err), 0);
	assert_int_equal(
		study_report_make(s->book, &data, STUDY_RULE_ALL, &report, &s->err), -ENOENT);
	assert_non_null(strstr(s->err.text, "emp-study resume"));
}

TEST(each_tool_has_a_name_and_rules_of_its_own)
{
	for (size_t i = 0; i < N_ROOM_TOOLS; i++) {
		assert_ptr_equal(room_tool_find(room_tools[i].name), &room_tools[i]);
		assert_non_null(room_tools[i].rules[0].name);
		assert_null(room_tools[i].rules[ROOM_RULES_MAX].name);
	}
	assert_null(room_tool_find("stopwatch"));
}

/* Clopper & Pearson (1934), by binom.test of R. */
TEST(the_interval_of_a_rate_is_exact)
{
	static const struct {
		size_t k, n;
		double low, high;
	} known[] = {{0, 10, 0, 0.3084971}, {1, 10, 0.0025286, 0.4450161},
		{5, 10, 0.1870860, 0.8129140}, {10, 10, 0.6915029, 1}, {3, 100, 0.0062300, 0.0851}};

	for (size_t i = 0; i < ELEMENTS(known); i++) {
		double low, high;

		proportion_interval(known[i].k, known[i].n, &low, &high);
		assert_close(low, known[i].low, 1e-4);
		assert_close(high, known[i].high, 1e-4);
	}
}
