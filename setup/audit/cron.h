/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When cron and anacron start their jobs: their tables are text, and no service tells. */
#pragma once

#include "setup/audit/facts.h"

/* The first minute after `now_s` and before `until_s` (since 1970, local time) in which a line of
 * crontab(5) starts its job; 0: none, or no such line. */
int64_t cron_next(const char *line, int64_t now_s, int64_t until_s);
/* Adds the next job of each table of crontab(5) and anacrontab(5) below root_fd that can be read,
 * if it is before `until_ns`. A job of anacron that is overdue is due now. */
void cron_read(struct elapse **jobs, size_t *n, int root_fd, int64_t now_ns, int64_t until_ns);
