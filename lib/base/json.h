/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The few things that jansson leaves to its users: printing, and reading members with a sentence that
 * names the member and the place. (A local json_t is owned with _cleanup_(json_decrefp).) */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <jansson.h>
#include <stdint.h>

/* Prints a document with a newline behind it. */
int json_print(const json_t *json, FILE *file, struct error *err);

/* A whole file; "-" is standard input. The sentence of a parse error has line and column. */
int json_read(json_t **ret, const char *path, struct error *err);

/* Member `name` of `object`; `where` names the object ("sample 3"). -EINVAL if it is missing, of another
 * kind, or below min. The text belongs to the object. */
int json_get_int(const json_t *object, const char *where, const char *name, int64_t min, int64_t *ret,
	struct error *err);
int json_get_text(
	const json_t *object, const char *where, const char *name, const char **ret, struct error *err);
int json_get_array(
	const json_t *object, const char *where, const char *name, json_t **ret, struct error *err);
