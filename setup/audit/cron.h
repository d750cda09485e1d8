/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When cron and anacron start their jobs: the tables of crontab(5) and anacrontab(5). */
#pragma once

#include "lib/base/base.h"

/* The first minute after `now_s` and before `until_s` (since 1970, local time) in which a line of a table starts its job;
 * 0: none, or no such line. */
int64_t cron_next(const char *line, int64_t now_s, int64_t until_s);

/* The next job of a table. */
struct cron_job {
	char *table; /* "/etc/cron.d/sysstat", "/etc/anacrontab:cron.daily" */
	int64_t next_s;
};

/* Those of all tables below root_fd that can be read and have a job before `until_s`; the caller clears the array. A job of
 * anacron that is overdue is due now. */
struct cron_job *cron_read(size_t *ret_n, int root_fd, int64_t now_s, int64_t until_s);
void cron_clear(struct cron_job *jobs, size_t n);
