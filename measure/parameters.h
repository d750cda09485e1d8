/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parameters of command lines (-L, -P): {NAME} in a text is replaced by each of the values of NAME.
 * All combinations of the values are numbered from 0, the first parameter changing fastest. Apart
 * from the options, because commands are made of them later. */
#pragma once

#include "lib/base/base.h"

struct parameter {
	char *name;
	bool used; /* parameters_replace has found {NAME} in a text */
	char **values;
	size_t n;
};

struct parameters {
	struct parameter *items;
	size_t n;
};

/* values: separated by commas; "\," is a comma in a value, "\\" a backslash. */
int parameters_add_list(
	struct parameters *p, const char *name, const char *values, struct error *err);

/* The numbers from min to max, written with as many decimals as min and step have. */
int parameters_add_scan(struct parameters *p, const char *name, const char *min, const char *max,
	const char *step, struct error *err);

/* SIZE_MAX: more than can be counted. */
size_t parameters_count(const struct parameters *p);

/* The value of each parameter in combination k, ends with NULL. Free it with argv_freep. */
char **parameters_values(const struct parameters *p, size_t k);

/* `text` with the values; the caller frees it. */
char *parameters_replace(const struct parameters *p, char *const *values, const char *text);
