/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of emp-analyze: see options.h. */
#include "analyze/options.h"

struct analyze_options analyze_options;

int option_run(const char *value, const char *name, void *into, struct error *err)
{
	if (text_parse_int(value, name, 1, INT64_MAX, into, err) == 0)
		return 0;
	return error_say(err, -EINVAL,
		"%s must be the number of a run, not '%s'; 'emp-analyze list' shows the numbers",
		name, value);
}

int option_since(const char *value, const char *name, void *into, struct error *err)
{
	static const char *const formats[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
		"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"};
	int64_t *ns = into, ago;

	for (size_t i = 0; i < ELEMENTS(formats); i++) {
		struct tm tm = {.tm_isdst = -1};
		const char *end = strptime(value, formats[i], &tm);
		int day = tm.tm_mday;
		int year = tm.tm_year + 1900;
		time_t at = mktime(&tm);

		if (!end || *end || tm.tm_mday != day) /* February has no 30th */
			continue;
		if (year < 1970 || at > JSON_MOMENT_MAX / NS_PER_S)
			return error_say(err, -EINVAL,
				"%s must be in the years from 1970 to 2260, not '%s'", name, value);
		*ns = at > 0 ? (int64_t)at * NS_PER_S : 0; /* 1970 began earlier in the east */
		return 0;
	}
	/* 3 may be meant as a run, and 20261120 as a day */
	if (!value[strspn(value, "0123456789.")] || option_duration(value, name, &ago, NULL) < 0)
		return error_say(err, -EINVAL,
			"%s must be a day (2026-11-20), a time (2026-11-20 14:30) or how long ago "
			"(12h), not '%s'",
			name, value);
	*ns = clock_ns(CLOCK_REALTIME) - ago;
	return 0;
}

int analyze_check_by(struct error *err)
{
	const struct option_rule rules[] = {
		{analyze_options.by_et && analyze_options.analysis.by_wait,
			"--by-wait and --by-et exclude each other"}};

	return option_check_rules(rules, ELEMENTS(rules), err);
}
