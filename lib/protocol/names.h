/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names under which processes count. (Families of names, which are found in a run, are in
 * daemons.c.)
 *
 * The papers identify processes by the kernel's 15-character comm. Kernel workers change theirs
 * from one job to the next, and are grouped by a table of patterns that users can add to:
 *
 *   # PATTERN = GROUP; the first match counts; without a GROUP, a process keeps its own name
 *   kworker/R-* =
 *   php-fpm* = php-fpm */
#pragma once

#include "lib/record/run.h"

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

/* The patterns that the run was measured with. If that is not known, or without a run, those of
 * this machine today: from the file EMP_NAMES, else /etc/emp/policies/names.ini; if it does not
 * exist, names_default. */
int names_load(struct names *ret, const struct run *run, struct error *err);
/* The text of that file, which the caller frees; "" if it does not exist. */
int names_text(char **ret, struct error *err);
