/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INI text, line by line: "name = value" in a [section]. Lines that start with ';' or '#' are
 * comments. The only file that includes inih. */
#pragma once

#include "lib/base/base.h"

struct ini_line {
	const char *section, *name;
	const char *value; /* without a comment at its end, " ; like this" */
	const char *whole; /* with it */
	int n;             /* counts from 1 */
};

/* Takes one line; a failure ends the reading. Its sentence begins with where the line is:
 * "jobs.ini, line 7: ". */
typedef int ini_take(const struct ini_line *line, void *data, struct error *err);

/* Calls `take` for each line that sets something. -EINVAL for a line that is none of these or has
 * more than 198 bytes. `where` names the text in sentences. */
int ini_each_line(
	const char *text, const char *where, ini_take *take, void *data, struct error *err);
