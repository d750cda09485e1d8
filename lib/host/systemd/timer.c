/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often systemd starts a service: see timer.h. systemd-analyze evaluates calendar expressions. */
#include "lib/host/systemd/timer.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/saturate.h"
#include "lib/base/text.h"
#include "lib/host/process/subprocess.h"

#include <string.h>
#include <time.h>

enum { ASK_MS = 5000 };

/* "Sat 2026-11-21 06:00:00 UTC" */
static bool parse_moment(const char *text, time_t *ret)
{
	struct tm tm = {};

	if (sscanf(text, "%*s %d-%d-%d %d:%d:%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
		    &tm.tm_min, &tm.tm_sec) != 6 ||
		tm.tm_year < 1970 || tm.tm_year > 9999 || tm.tm_mon < 1)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	*ret = timegm(&tm); /* local or not: only differences count */
	return true;
}

int64_t timer_period(const char *printed)
{
	time_t moment, last = 0;
	int64_t period = 0;
	int n = 0;

	for (const char *line = printed; *line; line = strchrnul(line, '\n'), line += *line == '\n') {
		const char *colon;

		line += strspn(line, " ");
		if (strncmp(line, "Next elapse:", 12) != 0 && strncmp(line, "Iter", 4) != 0)
			continue;
		colon = strchr(line, ':');
		if (!colon || !parse_moment(colon + 1, &moment))
			continue;
		if (n == 1)
			period = moment - last;
		else if (n > 1 && moment - last != period)
			return 0;
		last = moment;
		n++;
	}
	return period > 0 ? saturate_multiply((uint64_t)period, NS_PER_S) : 0;
}

static int64_t ask_calendar(const char *expression)
{
	const char *const argv[] = {"systemd-analyze", "calendar", "--iterations=8", "--", expression, NULL};
	_cleanup_(freep) char *printed = NULL;
	struct error ignored;
	int status;

	if (subprocess_ask(argv, ASK_MS, &printed, &status, &ignored) < 0 || status != 0)
		return 0;
	return timer_period(printed);
}

static int describe(struct units *units, const char *name, struct timer *ret, struct error *err)
{
	struct timer_setting setting;
	int r = units_timer_setting(units, name, &setting, err);

	if (r < 0)
		return r;
	*ret = (struct timer){
		.name = xstrdup(name),
		.text = TAKE(setting.text),
		.period_ns = setting.every_ns && !setting.calendar ? setting.every_ns : 0,
		.spread_ns = setting.spread_ns,
	};
	if (setting.calendar && !setting.every_ns)
		ret->period_ns = ask_calendar(setting.calendar);
	timer_setting_clear(&setting);
	return 0;
}

int timer_list(struct units *units, const char *service, struct timer **ret, size_t *ret_n, struct error *err)
{
	_cleanup_(strings_freep) char **triggers = NULL;
	struct timer *timers = NULL, *timer;
	size_t n = 0;
	int r;

	r = units_names(units, service, "TriggeredBy", &triggers, err);
	for (char **name = triggers; r >= 0 && name && *name; name++) {
		if (!unit_is_kind(*name, ".timer"))
			continue;
		timer = array_add(timers, n);
		r = timer ? describe(units, *name, timer, err) : error_oom(err);
	}
	if (r < 0) {
		timer_list_free(timers, n);
		return r;
	}
	*ret = timers;
	*ret_n = n;
	return 0;
}

void timer_list_free(struct timer *timers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(timers[i].name);
		free(timers[i].text);
	}
	free(timers);
}
