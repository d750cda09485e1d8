/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When cron and anacron start their jobs. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "setup/audit/cron.h"

#include <time.h>

/* Sunday, 2026-11-22 10:07:30, UTC */
#define NOW INT64_C(1795342050)
#define DAY (24 * 3600)

static int utc(void **state)
{
	setenv("TZ", "UTC", 1);
	tzset();
	return tree_make(state);
}

TEST_WITH(the_next_minute_of_a_line_is_found, utc, tree_remove)
{
	static const struct {
		const char *line;
		int64_t after_s; /* from 10:07:00 on; 0: not within 2 days */
	} rows[] = {
		{"* * * * * root true", 60},
		{"*/5 * * * * root true", 3 * 60},
		{"8,40 * * * * root true", 60},
		{"7 * * * * root true", 3600},
		{"17 10-12 * * * true", 10 * 60},
		{"0 0 * * * true", (13 * 60 + 53) * 60},
		{"@daily true", (13 * 60 + 53) * 60},
		{"@hourly true", 53 * 60},
		{"@reboot true", 0},
		{"10 10 22 11 * true", 3 * 60},
		{"10 10 * nov sun true", 3 * 60},
		{"10 10 * * 7 true", 3 * 60},
		{"10 10 * * mon true", DAY + 3 * 60},
		{"10 10 23 * sun true", 3 * 60}, /* the day or the weekday */
		{"10 10 * * 3 true", 0},
		{"\t30 11 * * 1-5 root true", DAY + (60 + 23) * 60},
		{"-*/10 * * * * root true", 3 * 60},
		{"MAILTO=root", 0},
		{"# 1 2 3 4 5", 0},
		{"61 * * * * true", 0},
		{"5-1 * * * * true", 0},
		{"*/0 * * * * true", 0},
		{"* * *", 0},
		{"", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int64_t next = cron_next(rows[i].line, NOW, NOW + 2 * DAY);

		if (next != (rows[i].after_s ? NOW - 30 + rows[i].after_s : 0))
			fail_msg("'%s': %lld s from now on", rows[i].line,
				(long long)(next - NOW + 30));
	}
}

TEST_WITH(each_table_gives_its_next_job, utc, tree_remove)
{
	static const char *const tables[] = {"/etc/crontab", "/etc/cron.d/sysstat",
		"/var/spool/cron/crontabs/me", "/var/spool/cron/you", "/etc/anacrontab:cron.daily"};
	static const int64_t after_s[] = {10 * 60, 60, 3 * 60, 53 * 60, 30};
	struct elapse *jobs = NULL;
	size_t n = 0;

	tree_put("etc/crontab", "SHELL=/bin/sh\n30 * * * * root late\n17 * * * * root early\n");
	tree_put("etc/cron.d/sysstat", "* * * * * root sa1\n");
	tree_put("etc/cron.d/sysstat.dpkg-dist", "* * * * * root sa1\n");
	tree_put("etc/cron.d/monthly", "0 0 1 * * root x\n");
	tree_put("var/spool/cron/crontabs/me", "10 * * * * x\n");
	tree_put("var/spool/cron/you", "@hourly x\n");
	tree_put("etc/anacrontab", "1\t5\tcron.daily\trun-parts\n7\t10\tcron.weekly\trun-parts\n"
				   "@monthly 15 cron.monthly x\n");
	tree_put("var/spool/anacron/cron.daily", "20261121\n");
	tree_put("var/spool/anacron/cron.weekly", "20261120\n");
	cron_read(&jobs, &n, tree.fd, NOW * NS_PER_S, (NOW + DAY) * NS_PER_S);
	assert_int_equal(n, 5);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(jobs[i].unit, tables[i]);
		assert_int_equal(jobs[i].next_ns / NS_PER_S - NOW + 30, after_s[i]);
	}
	elapses_free(jobs, n);
}
