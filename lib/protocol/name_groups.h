/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups of process names. The papers identify processes by the kernel's 15-character comm. Kernel workers change
 * theirs from one job to the next, and are grouped by a table of patterns that users can add to:
 *
 *   # PATTERN = GROUP; the first match counts; without a GROUP, a process keeps its own name
 *   kworker/R-* =
 *   php-fpm* = php-fpm
 */
#pragma once

#include "lib/base/error.h"

struct name_pattern {
	const char *pattern; /* as fnmatch(3) */
	const char *group;   /* NULL: they keep their own names, and no further pattern is tried */
};

/* Ends with {}. */
extern const struct name_pattern names_default[];

/* The group of the first pattern that matches `comm`, else `comm` itself. */
const char *name_group(const struct name_pattern *patterns, const char *comm);

struct names {
	struct name_pattern *rows; /* the user's, then names_default; ends with {} */
	char *text;                /* that the user's point into */
};

/* Takes a copy of `text`. -EINVAL with a sentence that names `where` and the line. */
int names_parse(struct names *ret, const char *text, const char *where, struct error *err);
void names_clear(struct names *names);
