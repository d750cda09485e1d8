/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When cron and anacron start their jobs: see cron.h. */
#include "lib/host/system/cron.h"

#include "lib/base/cleanup.h"
#include "lib/base/paths.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/host/system/kernel.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum field { MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELDS };

/* The moments of a line: a bit for each value of a field. */
struct moments {
	uint64_t bits[FIELDS];
	bool any_day, any_weekday; /* the field begins with '*' */
};

static int cron_value(const char **p, enum field field)
{
	static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec", days[] = "sunmontuewedthufrisat";
	const char *names = field == MONTH ? months : field == WEEKDAY ? days : "";
	int value = 0;

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

static bool cron_field(const char **p, enum field field, uint64_t *bits)
{
	*p += strspn(*p, " \t");
	for (;;) {
		if (!cron_range(p, field, bits))
			return false;
		if (**p != ',')
			return **p == ' ' || **p == '\t' || **p == '\0';
		(*p)++;
	}
}

/* The five fields of a name like "@daily"; NULL: not such a name, or at no fixed time (@reboot). */
static const char *expand_name(const char *line)
{
	static const char *const rows[][2] = {{"@hourly", "0 * * * *"}, {"@daily", "0 0 * * *"},
		{"@midnight", "0 0 * * *"}, {"@weekly", "0 0 * * 0"}, {"@monthly", "0 0 1 * *"},
		{"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}};

	for (size_t i = 0; i < ELEMENTS(rows); i++)
		if (!strncmp(line, rows[i][0], strlen(rows[i][0])))
			return rows[i][1];
	return NULL;
}

static bool cron_line(const char *line, struct moments *ret)
{
	*ret = (struct moments){};
	line += strspn(line, " \t");
	line += *line == '-'; /* of cronie: not logged */
	if (*line == '@')
		line = expand_name(line) ?: "";
	for (enum field field = MINUTE; field < FIELDS; field++) {
		line += strspn(line, " \t");
		if (field == DAY)
			ret->any_day = *line == '*';
		if (field == WEEKDAY)
			ret->any_weekday = *line == '*';
		if (!cron_field(&line, field, &ret->bits[field]))
			return false;
	}
	return true;
}

static bool has_moment(const struct moments *m, enum field field, int value)
{
	return m->bits[field] >> value & 1;
}

/* Where both the day and the weekday are given, either of them will do. */
static bool cron_matches(const struct moments *m, const struct tm *tm)
{
	bool day = has_moment(m, DAY, tm->tm_mday), weekday = has_moment(m, WEEKDAY, tm->tm_wday);

	return has_moment(m, MINUTE, tm->tm_min) && has_moment(m, HOUR, tm->tm_hour) &&
	       has_moment(m, MONTH, tm->tm_mon + 1) &&
	       (m->any_day || m->any_weekday ? day && weekday : day || weekday);
}

int64_t cron_next(const char *line, int64_t now_s, int64_t until_s)
{
	struct moments moments;

	if (!cron_line(line, &moments))
		return 0;
	for (time_t t = now_s - now_s % 60 + 60; t < until_s; t += 60) {
		struct tm tm;

		if (localtime_r(&t, &tm) && cron_matches(&moments, &tm))
			return t;
	}
	return 0;
}

/* The jobs found so far, and the time in which they must begin. */
struct cron_search {
	struct cron_job *jobs;
	size_t n;
	int root_fd;
	int64_t now_s, until_s;
};

static void read_tables(struct cron_search *s, const char *pattern)
{
	_cleanup_(paths_clear) struct paths paths = kernel_setting_expand(s->root_fd, pattern);

	for (size_t i = 0; i < paths.n; i++) {
		const char *path = paths.items[i], *name = strrchr(path, '/');
		_cleanup_(freep) char *text = NULL;
		int64_t next_s = 0;

		/* copies that editors and package managers leave are not read by cron either */
		if (!name || strchr(name, '~') || strstr(name, ".dpkg-") || strstr(name, ".rpm"))
			continue;
		text = path_text(s->root_fd, "%s", path);
		if (!text)
			continue; /* such as a directory, or another user's */
		for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
			next_s = cron_next(line, s->now_s, next_s ?: s->until_s) ?: next_s;
		if (next_s)
			*array_add(s->jobs, s->n) = (struct cron_job){xstrdup(path), next_s};
	}
}

/* The day on which a job of anacron ran last is in a file of its name: 20261121. */
static int64_t anacron_next(int root_fd, const char *name, int days)
{
	_cleanup_(freep) char *text = path_text(root_fd, "/var/spool/anacron/%s", name);
	struct tm tm = {.tm_isdst = -1};

	if (!text || sscanf(text, "%4d%2d%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday) != 3)
		return 0;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	tm.tm_mday += days;
	return mktime(&tm);
}

static void read_anacron(struct cron_search *s)
{
	_cleanup_(freep) char *text = path_text(s->root_fd, "/etc/anacrontab");
	char period[16], name[64];

	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		int64_t next_s;
		int days;

		if (sscanf(line, " %15s %*d %63s", period, name) != 2)
			continue;
		days = !strcmp(period, "@monthly")  ? 30
		       : !strcmp(period, "@weekly") ? 7
		       : !strcmp(period, "@daily")  ? 1
						    : atoi(period);
		next_s = days > 0 ? anacron_next(s->root_fd, name, days) : 0;
		if (next_s && next_s < s->until_s)
			*array_add(s->jobs, s->n) = (struct cron_job){text_format("/etc/anacrontab:%s", name),
				next_s > s->now_s ? next_s : s->now_s};
	}
}

struct cron_job *cron_read(size_t *ret_n, int root_fd, int64_t now_s, int64_t until_s)
{
	/* of Debian, of SUSE, and of the others */
	static const char *const patterns[] = {"/etc/crontab", "/etc/cron.d/*", "/var/spool/cron/crontabs/*",
		"/var/spool/cron/tabs/*", "/var/spool/cron/*"};
	struct cron_search search = {.root_fd = root_fd, .now_s = now_s, .until_s = until_s};

	for (size_t i = 0; i < ELEMENTS(patterns); i++)
		read_tables(&search, patterns[i]);
	read_anacron(&search);
	*ret_n = search.n;
	return search.jobs;
}

void cron_clear(struct cron_job *jobs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(jobs[i].table);
	free(jobs);
}
