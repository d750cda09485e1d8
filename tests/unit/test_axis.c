/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ticks of pictures: axis.h. */
#include "lib/report/axis.h"

#include "tests/unit/check.h"

static double place(const struct axis *a, double value)
{
	if (a->scale == AXIS_LOGARITHMIC)
		return log(value);
	return a->scale == AXIS_ARSINH ? asinh(value / a->linear) : value;
}

/* What holds for each axis: ticks inside it, in one unit, each label once and right, and not too
 * many. */
static void check_ticks(const struct axis *a, const struct axis_ticks *t)
{
	assert_true(t->n <= a->room + 1);
	for (size_t i = 0; i < t->n; i++) {
		const struct axis_tick *tick = &t->items[i];
		double slack = 1e-6 * (a->high - a->low);

		assert_true(!a->seconds || !strchr(tick->label, 'e'));
		assert_true(tick->at >= a->low - slack && tick->at <= a->high + slack);
		assert_true(fabs(strtod(tick->label, NULL) - tick->at * t->per) <=
			    1e-5 * fabs(tick->at * t->per) + 1e-12);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(tick->label, t->items[k].label);
	}
}

TEST(ticks_are_in_one_unit_which_is_that_of_the_greatest_value)
{
	const struct axis a = {.seconds = true, .high = 0.12, .room = 8};
	const struct axis_ticks t = axis_ticks_of(&a);

	assert_string_equal(t.unit, "ms");
	assert_int_equal(t.n, 7);
	assert_string_equal(t.items[0].label, "0");
	assert_string_equal(t.items[5].label, "100");
}

TEST(a_number_has_no_unit)
{
	const struct axis a = {.low = 0.97, .high = 1.22, .room = 6};
	const struct axis_ticks t = axis_ticks_of(&a);

	assert_string_equal(t.unit, "");
	assert_string_equal(t.items[0].label, "1.00");
	assert_string_equal(t.items[t.n - 1].label, "1.20");
}

TEST(ticks_of_a_logarithmic_axis_are_not_all_at_one_end)
{
	const struct axis a = {.scale = AXIS_LOGARITHMIC, .low = 3e-5, .high = 150, .room = 5};
	const struct axis_ticks t = axis_ticks_of(&a);
	double least = INFINITY;

	for (size_t i = 0; i < t.n; i++)
		least = fmin(least, t.items[i].at);
	assert_true(t.n >= 3 && least < 0.01);
}

TEST(any_axis_has_four_ticks_or_more_that_can_be_read)
{
	for (int i = 0; i < 2000; i++) {
		double size = pow(10, -9 + i % 37 / 3.0), part = 0.01 * (1 + i % 97);
		struct axis a = {.seconds = i % 2, .scale = i % 3, .room = 8};
		struct axis_ticks t;

		size *= a.seconds ? 1 : 1e6; /* numbers without a unit are no billionths */
		a.low = a.scale == AXIS_ARSINH ? -size * part : size;
		a.high = a.scale == AXIS_LOGARITHMIC ? size * pow(10, 5 * part)
						     : size * (1 + 3 * part);
		a.linear = size * part / 10;
		t = axis_ticks_of(&a);
		check_ticks(&a, &t);
		assert_true(t.n >= 4 - (a.scale != AXIS_LINEAR));
		for (size_t k = 0; k < t.n && a.scale != AXIS_LINEAR; k++)
			for (size_t j = 0; j < k; j++)
				assert_true(
					fabs(place(&a, t.items[k].at) - place(&a, t.items[j].at)) >
					0.5 * (place(&a, a.high) - place(&a, a.low)) /
						(double)a.room / 2);
	}
}

TEST(a_margin_is_a_share_of_what_is_seen)
{
	const struct axis a = {.scale = AXIS_LOGARITHMIC, .low = 1, .high = 100};
	const struct axis wider = axis_with_margin(a, 0.5);

	assert_true(fabs(wider.low - 0.1) < 1e-9 && fabs(wider.high - 1000) < 1e-6);
}
