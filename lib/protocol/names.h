/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Under which name a process counts. The papers' key is the kernel's 15-character comm; kernel workers
 * change theirs from one job to the next, and are grouped by a table of patterns. */
#pragma once

struct name_pattern {
	const char *pattern; /* as fnmatch(3) */
	const char *group; /* the name that they count under; NULL: their own, patterns below are not tried */
};

/* Ends with {}. */
extern const struct name_pattern names_default[];

/* The name that `comm` counts under: of the first pattern that fits, else `comm` itself. */
const char *name_group(const struct name_pattern *patterns, const char *comm);
