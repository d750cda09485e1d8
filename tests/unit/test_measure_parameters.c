/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parameters of command lines. */
#include "tests/unit/check.h"
#include "tests/unit/parameters.h"

#include "measure/parameters.h"

#include "lib/base/argv.h"

static struct error err;

static void assert_values(const struct parameter *p, const char *const *expected)
{
	for (size_t i = 0; expected[i] || i < p->n; i++) {
		assert_true(i < p->n);
		assert_non_null(expected[i]);
		assert_string_equal(p->values[i], expected[i]);
	}
}

TEST(a_list_is_split_at_commas)
{
	static const struct {
		const char *text;
		const char *values[5];
	} cases[] = {
		{"a,b,c", {"a", "b", "c"}},
		{"", {""}},
		{",", {"", ""}},
		{"a\\,b,c", {"a,b", "c"}},
		{"\\\\,x", {"\\", "x"}},
		{"a\\nb", {"a\\nb"}},
		{"end\\", {"end\\"}},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		_cleanup_(parameters_clear) struct parameters p = {};

		assert_int_equal(parameters_add_list(&p, "x", cases[i].text, &err), 0);
		assert_values(&p.items[0], cases[i].values);
	}
}

TEST(a_scan_has_the_decimals_of_its_start_and_step)
{
	static const struct {
		const char *min, *max, *step;
		const char *values[6];
	} cases[] = {
		{"1", "3", "1", {"1", "2", "3"}},
		{"0.3", "0.7", "0.2", {"0.3", "0.5", "0.7"}},
		{"0", "1", "0.25", {"0.00", "0.25", "0.50", "0.75", "1.00"}},
		{"-1", "1", "1", {"-1", "0", "1"}},
		{"5", "5", "1", {"5"}},
		{"1", "4", "2", {"1", "3"}},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		_cleanup_(parameters_clear) struct parameters p = {};

		assert_int_equal(parameters_add_scan(
					 &p, "x", cases[i].min, cases[i].max, cases[i].step, &err),
			0);
		assert_values(&p.items[0], cases[i].values);
	}
}

/* More than a double holds. */
#define NINES_50 "99999999999999999999999999999999999999999999999999"
#define NINES NINES_50 NINES_50 NINES_50 NINES_50 NINES_50 NINES_50 NINES_50

TEST(a_scan_that_is_none_is_an_error)
{
	static const char *const cases[][4] = {
		{"3", "1", "1", "must go from a number up to a number"},
		{"a", "1", "1", "must go from a number up to a number"},
		{"1e3", "2000", "1", "must go from a number up to a number"},
		{"", "1", "1", "must go from a number up to a number"},
		{"0", "1", "0", "--parameter-step-size must be a number above 0"},
		{"0", "1", "-1", "--parameter-step-size must be a number above 0"},
		{"0", "1000000", "0.1", "with at most 100000 steps"},
		{"100000000000000000000", "100000000000000000000", "1",
			"with at most 100000 steps"},
		{"0", NINES, "1", "must go from a number up to a number"},
		{"0", "1", NINES, "--parameter-step-size must be a number above 0"},
		{"inf", "inf", "1", "must go from a number up to a number"},
		{"nan", "nan", "1", "must go from a number up to a number"},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		_cleanup_(parameters_clear) struct parameters p = {};

		assert_int_equal(
			parameters_add_scan(&p, "x", cases[i][0], cases[i][1], cases[i][2], &err),
			-EINVAL);
		assert_non_null(strstr(err.text, cases[i][3]));
	}
}

TEST(a_parameter_is_defined_once)
{
	_cleanup_(parameters_clear) struct parameters p = {};

	assert_int_equal(parameters_add_list(&p, "x", "1,2", &err), 0);
	assert_int_equal(parameters_add_scan(&p, "x", "1", "2", "1", &err), -EINVAL);
	assert_string_equal(err.text, "parameter 'x' is defined twice");
}

TEST(all_combinations_are_numbered_the_first_parameter_fastest)
{
	_cleanup_(parameters_clear) struct parameters p = {};
	static const char *const expected[] = {"1 a", "2 a", "1 b", "2 b", "1 c", "2 c"};

	assert_int_equal(parameters_count(&p), 1);
	assert_int_equal(parameters_add_list(&p, "x", "1,2", &err), 0);
	assert_int_equal(parameters_add_list(&p, "y", "a,b,c", &err), 0);
	assert_int_equal(parameters_count(&p), 6);
	for (size_t i = 0; i < 6; i++) {
		_cleanup_(argv_freep) char **values = parameters_values(&p, i);
		_cleanup_(freep) char *text = parameters_replace(&p, values, "{x} {y}");

		assert_string_equal(text, expected[i]);
	}
}

TEST(more_combinations_than_can_be_counted_are_SIZE_MAX)
{
	_cleanup_(parameters_clear) struct parameters p = {};
	char name[] = "a";

	for (int i = 0; i < 9; i++, name[0]++)
		assert_int_equal(parameters_add_scan(&p, name, "1", "1000", "1", &err), 0);
	assert_true(parameters_count(&p) == SIZE_MAX);
}

TEST(only_names_in_braces_are_replaced_and_values_are_not_replaced_again)
{
	_cleanup_(parameters_clear) struct parameters p = {};
	_cleanup_(argv_freep) char **values = NULL;
	_cleanup_(freep) char *text = NULL;

	assert_int_equal(parameters_add_list(&p, "x", "{y}", &err), 0);
	assert_int_equal(parameters_add_list(&p, "y", "2", &err), 0);
	values = parameters_values(&p, 0);
	text = parameters_replace(&p, values, "x {x}{y} {z} {x {xy}");
	assert_string_equal(text, "x {y}2 {z} {x {xy}");
}
