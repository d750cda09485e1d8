/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of values that options take: see option.h. */
#include "lib/base/option.h"

#include "lib/base/array.h"
#include "lib/base/nearest.h"
#include "lib/base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int option_choice(const char *value, const char *name, const char *const *choices, int *ret, struct error *err)
{
	struct nearest nearest = {.typed = value};
	char all[128] = "";

	for (int i = 0; choices[i]; i++) {
		if (!strcmp(value, choices[i])) {
			*ret = i;
			return 0;
		}
		nearest_try(&nearest, choices[i]);
		strcat(all, !i ? "" : choices[i + 1] ? ", " : " or ");
		strcat(all, choices[i]);
	}
	return error_say(err, -EINVAL, "%s must be %s, not '%s'%s", name, all, value, nearest_hint(&nearest, ""));
}

int option_count(const char *value, const char *name, void *into, struct error *err)
{
	int64_t n;
	int r = text_parse_int(value, name, 1, INT32_MAX, &n, err);

	if (r == 0)
		*(int *)into = (int)n;
	return r;
}

int option_count0(const char *value, const char *name, void *into, struct error *err)
{
	int64_t n;
	int r = text_parse_int(value, name, 0, INT32_MAX, &n, err);

	if (r == 0)
		*(int *)into = (int)n;
	return r;
}

int option_duration(const char *value, const char *name, void *into, struct error *err)
{
	return text_parse_duration(value, name, into, err);
}

int option_percent(const char *value, const char *name, void *into, struct error *err)
{
	char *end;
	double percent = strtod(value, &end);

	if (end == value || (*end && strcmp(end, "%")) || !isfinite(percent) || percent < 0)
		return error_say(
			err, -EINVAL, "%s must be a percentage such as 2 or 0.5, not '%s'", name, value);
	*(double *)into = percent;
	return 0;
}

int option_share(const char *value, const char *name, void *into, struct error *err)
{
	double percent;
	int r = option_percent(value, name, &percent, err);

	if (r == 0 && percent > 100)
		return error_say(err, -EINVAL, "%s must be at most 100 %%, not '%s'", name, value);
	if (r == 0)
		*(int64_t *)into = llround(percent * 1e4);
	return r;
}

int option_append(const char *value, const char *name, void *into, struct error *err)
{
	struct option_list *list = into;
	const char **item = array_add(list->items, list->n);

	*item = value;
	return 0;
}

bool option_is_list(const struct option_row *row)
{
	return row->list || !row->value || row->parse == option_append || row->parse_many;
}
