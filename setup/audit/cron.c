/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When cron and anacron start their jobs: see cron.h. */
#include "setup/audit/cron.h"

#include <ctype.h>
#include <strings.h>

enum field { MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELDS };

static int cron_value(const char **p, enum field field)
{
	static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec",
			  days[] = "sunmontuewedthufrisat";
	const char *names = "";
	int value = 0;

	if (field == MONTH)
		names = months;
	else if (field == WEEKDAY)
		names = days;

	for (int i = 0; names[i * 3]; i++)
		if (!strncasecmp(*p, &names[i * 3], 3)) {
			*p += 3;
			return i + (field == MONTH);
		}
	if (!isdigit((unsigned char)**p))
		return -1;
	for (; isdigit((unsigned char)**p) && value < 100; (*p)++)
		value = value * 10 + (**p - '0');
	return value;
}

/* "*", "5", "1-5", or cronie's "1~5" (one of them), with "/2" behind */
static bool cron_range(const char **p, enum field field, uint64_t *bits)
{
	static const int least[] = {0, 0, 1, 1, 0}, most[] = {59, 23, 31, 12, 7};
	int first = least[field], last = most[field], step = 1;
	bool star = **p == '*';

	if (star)
		(*p)++;
	else {
		first = last = cron_value(p, field);
		if (**p == '-' || **p == '~') {
			(*p)++;
			last = cron_value(p, field);
		} else if (**p == '/')
			last = most[field];
	}
	if (**p == '/') {
		(*p)++;
		step = cron_value(p, MINUTE);
	}
	if (first < least[field] || last > most[field] || last < first || step < 1)
		return false;
	for (int i = first; i <= last; i += step)
		*bits |= UINT64_C(1) << (field == WEEKDAY ? i % 7 : i);
	return true;
}

int64_t cron_next(const char *line, int64_t now_s, int64_t until_s)
{
	static const char *const names[][2] = {{"@hourly", "0 * * * *"}, {"@daily", "0 0 * * *"},
		{"@midnight", "0 0 * * *"}, {"@weekly", "0 0 * * 0"}, {"@monthly", "0 0 1 * *"},
		{"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}};
	uint64_t bits[FIELDS] = {}; /* one for each value of a field */
	bool any_day = false;       /* the field of the day or of the weekday begins with '*' */
	struct tm tm;

	/* Five fields, or a name; others are at no fixed time (@reboot). */
	line += strspn(line, " \t");
	line += *line == '-'; /* of cronie: not logged */
	for (size_t i = 0; i < ELEMENTS(names); i++)
		if (!strncmp(line, names[i][0], strlen(names[i][0])))
			line = names[i][1];
	for (enum field field = MINUTE; field < FIELDS; field++) {
		line += strspn(line, " \t");
		any_day |= (field == DAY || field == WEEKDAY) && *line == '*';
		for (;; line++) {
			if (!cron_range(&line, field, &bits[field]))
				return 0;
			if (*line != ',')
				break;
		}
		if (!strchr(" \t", *line)) /* or the end of the line */
			return 0;
	}
	for (time_t t = now_s - now_s % 60 + 60; t < until_s && localtime_r(&t, &tm); t += 60) {
		const int is[FIELDS] = {
			tm.tm_min, tm.tm_hour, tm.tm_mday, tm.tm_mon + 1, tm.tm_wday};
		bool holds[FIELDS];

		for (enum field field = MINUTE; field < FIELDS; field++)
			holds[field] = bits[field] >> is[field] & 1;
		/* where both the day and the weekday are given, either of them will do */
		if (holds[MINUTE] && holds[HOUR] && holds[MONTH] &&
			(any_day ? holds[DAY] && holds[WEEKDAY] : holds[DAY] || holds[WEEKDAY]))
			return t;
	}
	return 0;
}

/* The next job of a table of crontab(5), of which `text` is the contents, which are cut into lines;
 * 0: none. */
static int64_t next_in_table(char *text, int64_t now_s, int64_t until_s)
{
	int64_t next_s = 0;

	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		next_s = cron_next(line, now_s, next_s ?: until_s) ?: next_s;
	return next_s;
}

/* Copies that editors and package managers leave are not read by cron either. */
static bool is_copy(const char *path)
{
	const char *file = strrchr(path, '/');

	return !file || strchr(file, '~') || strstr(file, ".dpkg-") || strstr(file, ".rpm");
}

/* After how many days anacron starts a job again. */
static int anacron_days(const char *period)
{
	if (!strcmp(period, "@monthly"))
		return 30;
	if (!strcmp(period, "@weekly"))
		return 7;
	return !strcmp(period, "@daily") ? 1 : atoi(period);
}

/* When a line of anacrontab(5) is due, and the name of its job; 0: it is none, or has never run. */
static int64_t next_of_anacron(const char *line, int root_fd, char name[static 64])
{
	_cleanup_(freep) char *last = NULL;
	struct tm tm = {.tm_isdst = -1};
	char period[16];
	int days;

	if (sscanf(line, " %15s %*d %63s", period, name) != 2)
		return 0;
	days = anacron_days(period);
	/* the day on which it ran last is in a file of its name: 20261121 */
	last = path_text(root_fd, "/var/spool/anacron/%s", name);
	if (days <= 0 || !last ||
		sscanf(last, "%4d%2d%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday) != 3)
		return 0;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	tm.tm_mday += days;
	return mktime(&tm);
}

void cron_read(struct elapse **jobs, size_t *n, int root_fd, int64_t now_ns, int64_t until_ns)
{
	/* of Debian, of SUSE, and of the others */
	static const char *const patterns[] = {"/etc/crontab", "/etc/cron.d/*",
		"/var/spool/cron/crontabs/*", "/var/spool/cron/tabs/*", "/var/spool/cron/*"};
	_cleanup_(freep) char *anacron = path_text(root_fd, "/etc/anacrontab");
	const int64_t now_s = now_ns / NS_PER_S, until_s = until_ns / NS_PER_S;
	char name[64];

	for (size_t i = 0; i < ELEMENTS(patterns); i++) {
		_cleanup_(paths_clear) struct paths tables = paths_expand(root_fd, patterns[i]);

		for (char **table = tables.items; table < tables.items + tables.n; table++) {
			/* NULL: such as a directory, or another user's */
			_cleanup_(freep) char *text = path_text(root_fd, "%s", *table);
			int64_t next_s = is_copy(*table) ? 0 : next_in_table(text, now_s, until_s);

			if (next_s)
				*array_add(*jobs, *n) = (struct elapse){
					text_utf8(*table), next_s * NS_PER_S};
		}
	}

	for (char *rest = anacron, *line; (line = strsep(&rest, "\n"));) {
		int64_t next_s = next_of_anacron(line, root_fd, name);

		if (next_s && next_s < until_s)
			*array_add(*jobs, *n) = (struct elapse){
				text_utf8(text_brief("/etc/anacrontab:%s", name)),
				(next_s > now_s ? next_s : now_s) * NS_PER_S};
	}
}
