/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers as people read them: see text.h. */
#include "lib/base/text.h"

#include "lib/base/cleanup.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct unit {
	double ns;
	int most; /* decimals, down to a nanosecond */
	const char *name;
};

static const struct unit units[] = {{1e9, 9, "s"}, {1e6, 6, "ms"}, {1e3, 3, "us"}, {1, 0, "ns"}};

/* How many decimals show so many significant digits of `value`; below 0: none, and as many digits before the
 * point are 0. */
static int decimals_of(double value, int digits)
{
	char rounded[24];

	snprintf(rounded, sizeof(rounded), "%.*e", digits - 1, value); /* 9.96 is 10 */
	return value > 0 && isfinite(value) ? digits - 1 - (int)strtol(strchr(rounded, 'e') + 1, NULL, 10) : 0;
}

enum { NUMBER_SIZE = 32 };

/* Without the unit, rounded to two significant digits of `step`; step 0: to four of its own. */
static void print(char buffer[NUMBER_SIZE], double ns, double step_ns, const struct unit *unit)
{
	int decimals = step_ns > 0 ? decimals_of(step_ns / unit->ns, 2) : decimals_of(fabs(ns) / unit->ns, 4);
	double zeros = pow(10, decimals < 0 ? -decimals : 0);

	decimals = decimals > unit->most ? unit->most : decimals > 0 ? decimals : 0;
	snprintf(buffer, NUMBER_SIZE, "%.*f", decimals,
		zeros > 1 ? round(ns / unit->ns / zeros) * zeros : ns / unit->ns);
}

/* The unit of that name; NULL: the one in which `ns`, as it is printed, is from 1 to below 1000. */
static const struct unit *find_unit(const char *name, double ns, double step_ns)
{
	char number[NUMBER_SIZE];
	size_t u = 0;

	while (u + 1 < ELEMENTS(units) && (name ? strcmp(units[u].name, name) : fabs(ns) < units[u].ns))
		u++;
	if (name || u == 0)
		return &units[u];
	print(number, ns, step_ns, &units[u]);
	return &units[fabs(strtod(number, NULL)) >= 1000 ? u - 1 : u];
}

const char *text_unit(double ns, double beside_ns)
{
	const struct unit *unit = find_unit(NULL, ns, 0);

	while (unit > units && beside_ns >= 1e4 * unit->ns)
		unit--;
	return unit->name;
}

char *text_precise(char buffer[TEXT_TIME_SIZE], double ns, double step_ns)
{
	return text_in_unit(buffer, ns, step_ns, NULL);
}

char *text_in_unit(char buffer[TEXT_TIME_SIZE], double ns, double step_ns, const char *unit_name)
{
	const struct unit *unit = find_unit(unit_name, ns, step_ns);
	char number[NUMBER_SIZE];

	print(number, ns, step_ns, unit);
	snprintf(buffer, TEXT_TIME_SIZE, "%s %s", number, unit->name);
	return buffer;
}

char *text_mean_sd(char buffer[TEXT_PAIR_SIZE], double mean_ns, double sd_ns, const char *unit_name)
{
	const struct unit *unit = find_unit(unit_name, mean_ns, sd_ns);
	char mean[NUMBER_SIZE], sd[NUMBER_SIZE];

	print(mean, mean_ns, sd_ns, unit);
	print(sd, sd_ns, sd_ns, unit);
	snprintf(buffer, TEXT_PAIR_SIZE, "%s %s ± %s %s", mean, unit->name, sd, unit->name);
	return buffer;
}

char *text_interval(
	char buffer[TEXT_PAIR_SIZE], double low_ns, double high_ns, double sd_ns, const char *unit_name)
{
	const struct unit *unit = find_unit(unit_name, high_ns, sd_ns);
	char low[NUMBER_SIZE], high[NUMBER_SIZE];

	print(low, low_ns, sd_ns, unit);
	print(high, high_ns, sd_ns, unit);
	snprintf(buffer, TEXT_PAIR_SIZE, "%s … %s %s", low, high, unit->name);
	return buffer;
}

char *text_percent(char buffer[TEXT_TIME_SIZE], double ratio)
{
	int decimals = decimals_of(fabs(100 * ratio), 2);

	snprintf(buffer, TEXT_TIME_SIZE, "%.*f %%", decimals > 0 ? decimals : 0, 100 * ratio);
	return buffer;
}

char *text_seconds(char buffer[TEXT_TIME_SIZE], int64_t ns)
{
	int len = snprintf(buffer, TEXT_TIME_SIZE, "%" PRId64 ".%09" PRId64, ns / NS_PER_S, ns % NS_PER_S);

	while (buffer[len - 1] == '0')
		buffer[--len] = '\0';
	if (buffer[len - 1] == '.')
		buffer[--len] = '\0';
	return buffer;
}

char *text_duration(char buffer[TEXT_TIME_SIZE], int64_t ns)
{
	double size = fabs((double)ns);
	long long seconds = llround(size / 1e9), minutes = llround(size / 60e9),
		  hours = llround(size / 3600e9);
	const char *sign = ns < 0 ? "-" : "";

	if (size < 60e9)
		return text_precise(buffer, (double)ns, 0);
	if (minutes < 60)
		snprintf(buffer, TEXT_TIME_SIZE, "%s%lld min %lld s", sign, seconds / 60, seconds % 60);
	else if (hours < 48)
		snprintf(buffer, TEXT_TIME_SIZE, "%s%lld h %lld min", sign, minutes / 60, minutes % 60);
	else
		snprintf(buffer, TEXT_TIME_SIZE, "%s%lld d %lld h", sign, hours / 24, hours % 24);
	return buffer;
}
