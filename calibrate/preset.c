/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sizes of runs: see calibrate.h. */
#include "calibrate/calibrate.h"

static const struct preset presets[] = {
	{"quick", {{100 * NS_PER_MS, 200}, {NS_PER_S, 16}}},
	{"hour", {{NS_PER_S, 1600}, {60 * NS_PER_S, 30}}},
	{"day", {{16 * NS_PER_S, 1200}, {1024 * NS_PER_S, 60}}},
	{"paper", {{128 * NS_PER_S, 800}, {16384 * NS_PER_S, 40}}},
};

const struct preset *const preset_default = &presets[ELEMENTS(presets) - 1];

int preset_option(const char *value, const char *name, void *into, struct error *err)
{
	const char *names[ELEMENTS(presets) + 1] = {};
	int which, r;

	for (size_t i = 0; i < ELEMENTS(presets); i++)
		names[i] = presets[i].name;
	r = option_choice(value, name, names, &which, err);
	if (r == 0)
		*(const struct preset **)into = &presets[which];
	return r;
}

int preset_size_option(const char *value, const char *name, void *into, struct error *err)
{
	const char *x = strrchr(value, 'x');
	_cleanup_(freep) char *length = NULL;
	struct size size;
	int64_t count;
	int r;

	if (!x)
		return error_say(err, -EINVAL, "%s must be LENGTHxCOUNT such as 128x800 or 0.1x150, not '%s'",
			name, value);
	length = text_format("%.*s", (int)(x - value), value);
	r = text_parse_duration(length, name, &size.length_ns, err);
	if (r < 0)
		return r;
	r = text_parse_int(x + 1, name, 2, 1000000, &count, err);
	if (r < 0)
		return r;
	if (size.length_ns > INT64_MAX / 4 / (count + 1))
		return error_say(err, -EINVAL, "%s: '%s' would take longer than a lifetime", name, value);
	size.count = (int)count;
	*(struct size *)into = size;
	return 0;
}
