/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of verdicts, the intervals that they stand for, and their exit statuses. */
#include "tests/unit/check.h"

#include "lib/stats/comparison_verdict.h"

static const struct comparison_rules none = {.fail_if_slower = -1, .equal_within = 2},
				     gate = {.fail_if_slower = 5,
					     .equal_within = 2,
					     .strict = true};

static void check_word(
	const struct comparison_rules *rules, double low, double high, const char *want)
{
	enum comparison_verdict verdict = comparison_rules_apply(
		rules, (low + high) / 2, low, high);

	assert_string_equal(comparison_verdict_words[verdict], want);
}

TEST(without_a_gate_an_interval_beyond_1_is_faster_or_slower)
{
	check_word(&none, 1.001, 1.002, "slower");
	check_word(&none, 0.998, 0.999, "faster");
	check_word(&none, 0.98, 1.02, "equal");
	check_word(&none, 0.979, 1.01, "cannot tell");
	check_word(&none, 0.99, 1.021, "cannot tell");
	check_word(&none, NAN, NAN, "cannot tell");
}

TEST(with_a_gate_what_is_allowed_is_equal)
{
	check_word(&gate, 1.001, 1.04, "equal");
	check_word(&gate, 0.96, 0.99, "equal");
	check_word(&gate, 1.03, 1.08, "slower");      /* by 5.5 %, and not by chance */
	check_word(&gate, 1.01, 1.07, "cannot tell"); /* slower by 4 %: whether by more than 5 % */
	check_word(&gate, 0.8, 0.9, "faster");
	check_word(&gate, 0.9, 1.2, "cannot tell");
	check_word(&gate, NAN, NAN, "cannot tell");
}

TEST(each_word_has_an_exit_status)
{
	static const struct {
		enum comparison_verdict verdict;
		enum status plain, of_gate, strict;
	} rows[] = {
		{COMPARISON_SAME_PROGRAM, 0, 0, 0},
		{COMPARISON_EQUAL, 0, 0, 0},
		{COMPARISON_FASTER, 0, 0, 0},
		{COMPARISON_CANNOT_TELL, 0, 0, 4},
		{COMPARISON_UNMEASURABLE, 0, 0, 4},
		{COMPARISON_SLOWER, 0, 2, 2},
		{COMPARISON_DIFFERENT_WORK, 1, 1, 1},
	};
	struct comparison_rules lenient = gate;

	lenient.strict = false;
	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		assert_int_equal(comparison_verdict_status(&none, rows[i].verdict), rows[i].plain);
		assert_int_equal(
			comparison_verdict_status(&lenient, rows[i].verdict), rows[i].of_gate);
		assert_int_equal(comparison_verdict_status(&gate, rows[i].verdict), rows[i].strict);
	}
	assert_int_equal(comparison_verdict_worse(COMPARISON_CANNOT_TELL, COMPARISON_SLOWER),
		COMPARISON_SLOWER);
}
