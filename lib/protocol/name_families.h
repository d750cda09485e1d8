/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Families of names, found in a run: processes that get a new name each time, such as "memfd:j-04211" or one with the
 * number of its job. Each name alone would be a daemon that was seen once.
 *
 * The stem of a text is the text with '*' for what changes. A family has at least four names with the same stem: most
 * of them have at most a quarter of its executions, and those that came back have at most half. At least eight names with nothing in common are a family if
 * they have the same stem of the unit, or of the executable, and no name came back. Its name is that stem. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/record/run.h"

struct family_member {
	const char *name, *exe, *unit; /* as in struct source */
	size_t executions;
	bool alone;    /* it belongs to no family: a kernel thread, or a group already */
	bool returned; /* more than one process had this name */
	size_t family; /* index into name_families + 1; 0: none */
};

struct name_family {
	char *name;
	uint32_t names; /* how many */
};

struct name_families {
	struct name_family *items;
	size_t n;
};

/* A family that was found in another run, however few of its names are among these: none adds nothing. Before
 * name_families_find. -ENOMEM. */
int name_families_add_known(
	struct name_families *families, const char *name, struct family_member *members, size_t n);

/* Fills in members[].family, and adds to `ret`, which begins as {} or with known ones. -ENOMEM: it is empty. */
int name_families_find(struct family_member *members, size_t n, struct name_families *ret);
void name_families_clear(struct name_families *families);

/* Whether this is one of the family's processes. */
bool name_family_has(const char *family, const struct source *source);

/* "j-* (51 names)", or the name alone if it is no family (names 0). */
enum { FAMILY_LABEL_SIZE = 320 };
const char *name_family_label(char label[FAMILY_LABEL_SIZE], const char *name, uint32_t names);
