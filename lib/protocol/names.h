/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names under which processes count: groups, which a table of patterns makes, and families, which are found in a run.
 *
 * The papers identify processes by the kernel's 15-character comm. Kernel workers change theirs from one job to the
 * next, and are grouped by a table of patterns that users can add to:
 *
 *   # PATTERN = GROUP; the first match counts; without a GROUP, a process keeps its own name
 *   kworker/R-* =
 *   php-fpm* = php-fpm
 *
 * Families are processes that get a new name each time, such as "memfd:j-04211" or one with the number of its job. Each
 * name alone would be a daemon that was seen once. The stem of a text is the text with '*' for what changes. A family has
 * at least four names with the same stem: most of them have at most a quarter of its executions, and those that came back
 * have at most half. At least eight names with nothing in common are a family if they have the same stem of the unit, or
 * of the executable, and no name came back. Its name is that stem. */
#pragma once

#include "lib/base/base.h"
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

/* The patterns that the run was measured with. If that is not known, or without a run, those of this machine today: from the file
 * EMP_NAMES, else /etc/emp/policies/names.ini; if it does not exist, names_default. */
int names_load(struct names *ret, const struct run *run, struct error *err);
/* The text of that file, which the caller frees; "" if it does not exist. */
int names_text(char **ret, struct error *err);

struct family_member {
	const char *name, *exe, *unit; /* as in struct source */
	size_t executions;
	bool alone;    /* it belongs to no family: a kernel thread, or a group already */
	bool returned; /* more than one process had this name */
	char *family;  /* the name of its family, which the caller frees; NULL: none */
};

/* Fills in members[].family: first of the families that are known from another run, however few of their names are among these;
 * then of those that are found among the rest. */
void name_families_find(struct family_member *members, size_t n, const char *const *known, size_t n_known);

/* Whether this is one of the family's processes. */
bool name_family_has(const char *family, const struct source *source);

/* " (51 names)", behind the name of a family of so many; "" if it is no family (0). */
const char *name_family_size(uint32_t names);
