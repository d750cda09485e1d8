/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of the documents that come in, read with a sentence that names the member and its place.
 *
 * The place is put into words only where something is wrong: a document may have ten million
 * executions. The `maybe` kind takes a member that is absent or null for "not known" and leaves *ret. */
#pragma once

#include "lib/base/json.h"

#include <stdbool.h>

/* "the document", or "sample 3", or "sample 3, execution 2". */
struct place {
	const char *what;  /* NULL: the document itself */
	int64_t number;    /* 0: there is one only */
	const char *phase; /* NULL: the whole of it */
	int64_t phase_number;
};

enum { PLACE_SIZE = 96 };
char *place_text(char buffer[PLACE_SIZE], const struct place *at); /* returns buffer */

#define MEMBER_TIME_MAX (INT64_C(366) * 86400 * 1000000000) /* of a sample, in ns: a year */
#define MEMBER_MOMENT_MAX (INT64_MAX / 2)                   /* the year 2116: moment + time still fits */

/* What every document begins with. */
int member_header(const json_t *document, const char *format, int64_t version, struct error *err);

int member_int(const json_t *object, const struct place *at, const char *name, int64_t min, int64_t max,
	int64_t *ret, struct error *err);
int member_int_maybe(const json_t *object, const struct place *at, const char *name, int64_t min, int64_t max,
	int64_t *ret, struct error *err);
/* Seconds, whole or not, 0 and up, as ns. */
int member_seconds(
	const json_t *object, const struct place *at, const char *name, int64_t *ret_ns, struct error *err);
int member_seconds_maybe(
	const json_t *object, const struct place *at, const char *name, int64_t *ret_ns, struct error *err);
/* Text that is not empty; it belongs to the object. */
int member_text(
	const json_t *object, const struct place *at, const char *name, const char **ret, struct error *err);
int member_text_maybe(
	const json_t *object, const struct place *at, const char *name, const char **ret, struct error *err);
int member_flag_maybe(
	const json_t *object, const struct place *at, const char *name, bool *ret, struct error *err);
int member_array(
	const json_t *object, const struct place *at, const char *name, json_t **ret, struct error *err);
int member_object(
	const json_t *object, const struct place *at, const char *name, json_t **ret, struct error *err);
int member_object_maybe(
	const json_t *object, const struct place *at, const char *name, json_t **ret, struct error *err);
/* Whether an entry of an array is an object at all. */
int member_is_object(const json_t *entry, const struct place *at, struct error *err);

/* The other way: ns as seconds, a whole number where they are whole. */
json_t *member_from_ns(int64_t ns);
