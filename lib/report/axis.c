/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ticks of an axis: see axis.h. */
#include "lib/report/axis.h"

#include <math.h>

enum { FEWEST = 4 };

/* How far along the axis a value is, as a length of which the axis shows some part. */
static double axis_place(const struct axis *a, double value)
{
	if (a->scale == AXIS_LOGARITHMIC)
		return log10(value);
	return a->scale == AXIS_ARSINH ? asinh(value / a->linear) : value;
}

static double axis_value(const struct axis *a, double place)
{
	if (a->scale == AXIS_LOGARITHMIC)
		return pow(10, place);
	return a->scale == AXIS_ARSINH ? a->linear * sinh(place) : place;
}

struct axis axis_with_margin(struct axis a, double share)
{
	double low = axis_place(&a, a.low), high = axis_place(&a, a.high),
	       margin = share * (high - low);
	struct axis wider = a;

	wider.low = axis_value(&a, low - margin);
	wider.high = axis_value(&a, high + margin);
	return wider;
}

/* That of the greatest value, or, where small values have as much room as great ones, of the
 * middle. */
static void choose_axis_unit(const struct axis *a, struct axis_ticks *t)
{
	static const struct {
		const char *name;
		double per;
	} units[] = {{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}};
	double value = fmax(fabs(a->low), fabs(a->high));
	size_t i = 0;

	if (a->scale == AXIS_LOGARITHMIC)
		value = axis_value(a, (axis_place(a, a->low) + axis_place(a, a->high)) / 2);
	else if (a->scale == AXIS_ARSINH)
		value = axis_value(a, axis_place(a, value) / 2);
	t->unit = "";
	t->per = 1;
	if (!a->seconds)
		return;
	while (i + 1 < ELEMENTS(units) && value * units[i].per < 0.999)
		i++;
	t->unit = units[i].name;
	t->per = units[i].per;
}

static void add_tick(const struct axis *a, struct axis_ticks *t, double at, int decimals)
{
	const double slack = 1e-9 * (fabs(a->low) + fabs(a->high));
	struct axis_tick *tick = &t->items[t->n];

	if (t->n == AXIS_MOST_TICKS || at < a->low - slack || at > a->high + slack)
		return;
	tick->at = at;
	if (decimals >= 0)
		snprintf(tick->label, sizeof(tick->label), "%.*f", decimals, at * t->per);
	else
		snprintf(tick->label, sizeof(tick->label), "%.10g", at * t->per);
	t->n++;
}

/* Multiples of 1, 2, 2.5 or 5 times a power of ten: of the steps that have room, the smallest. */
static void add_linear_ticks(const struct axis *a, struct axis_ticks *t)
{
	static const double digits[] = {1, 2, 2.5, 5};
	double low = a->low * t->per, high = a->high * t->per, step = high - low, first;

	for (int power = (int)floor(log10(high - low)); power > (int)floor(log10(high - low)) - 3;
		power--)
		for (size_t i = ELEMENTS(digits); i-- > 0;) {
			double smaller = digits[i] * pow(10, power);

			if (floor(high / smaller + 1e-9) - ceil(low / smaller - 1e-9) + 1 <=
				(double)a->room)
				step = smaller;
		}
	first = ceil(low / step - 1e-9);
	/* as many decimals as the step has */
	int decimals = 0;

	while (decimals < 9 &&
		fabs(step * pow(10, decimals) - round(step * pow(10, decimals))) > 1e-6)
		decimals++;
	for (double i = first; i * step <= high + 1e-9 * step && t->n < AXIS_MOST_TICKS; i++)
		add_tick(a, t, i == 0 ? 0 : i * step / t->per, decimals);
}

/* A tick, if it is far enough from those that are there. */
static void add_apart(const struct axis *a, struct axis_ticks *t, double at)
{
	double apart = (axis_place(a, a->high) - axis_place(a, a->low)) / (double)a->room;

	for (size_t i = 0; i < t->n; i++)
		if (fabs(axis_place(a, at) - axis_place(a, t->items[i].at)) < 0.999 * apart)
			return;
	add_tick(a, t, at, -1);
}

/* The power of ten `power`, times `digit`, and on an axis about 0 its negative. */
static void add_both_signs(const struct axis *a, struct axis_ticks *t, int digit, int power)
{
	/* the unit is a power of ten: exact labels */
	double at = power < 0 ? digit / pow(10, -power) : digit * pow(10, power);

	if (at <= a->high && at >= a->low)
		add_apart(a, t, at);
	if (a->scale == AXIS_ARSINH && -at >= a->low && -at <= a->high)
		add_apart(a, t, -at);
}

/* 0; powers of ten, the greatest first; and what is between them where those are few. */
static void add_other_ticks(const struct axis *a, struct axis_ticks *t)
{
	static const int digits[] = {1, 5, 2, 3};
	double greatest = fmax(fabs(a->low), fabs(a->high));
	double least = a->scale == AXIS_ARSINH ? a->linear / 20 : a->low;
	int last = (int)floor(log10(greatest)), first = (int)floor(log10(least));

	if (a->low <= 0 && a->high >= 0)
		add_tick(a, t, 0, 0);
	for (size_t i = 0; i < ELEMENTS(digits); i++)
		for (int power = last; power >= first && (i == 0 || t->n < FEWEST + 2); power--)
			add_both_signs(a, t, digits[i], power);
}

struct axis_ticks axis_ticks_of(const struct axis *a)
{
	struct axis_ticks ticks = {};

	choose_axis_unit(a, &ticks);
	if (a->scale != AXIS_LINEAR)
		add_other_ticks(a, &ticks);
	/* over more than a decade, evenly spaced values would stand at one end */
	if (ticks.n < FEWEST && !(a->scale == AXIS_LOGARITHMIC && a->high > 10 * a->low)) {
		ticks.n = 0;
		add_linear_ticks(a, &ticks);
	}
	return ticks;
}
