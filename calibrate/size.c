/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The size of a run as an option: see size.h. */
#include "calibrate/size.h"

int size_option(const char *value, const char *name, void *into, struct error *err)
{
	const char *x = strrchr(value, 'x');
	_cleanup_(freep) char *length = NULL;
	struct size size;
	int64_t count;
	int r;

	if (!x)
		return error_say(err, -EINVAL,
			"%s must be LENGTHxCOUNT such as 128x800 or 0.1x150, not '%s'", name,
			value);
	length = text_format("%.*s", (int)(x - value), value);
	r = text_parse_duration(length, name, &size.length_ns, err);
	if (r < 0)
		return r;
	r = text_parse_int(x + 1, name, 2, 1000000, &count, err);
	if (r < 0)
		return r;
	if (size.length_ns > INT64_MAX / 4 / (count + 1))
		return error_say(
			err, -EINVAL, "%s: '%s' would take longer than a lifetime", name, value);
	size.count = (int)count;
	*(struct size *)into = size;
	return 0;
}
