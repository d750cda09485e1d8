/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON documents in and out, and the members of objects. A local json_t is owned with
 * _cleanup_(json_decrefp). */
#pragma once

#include "lib/base/base.h"

#include <jansson.h>

/* Prints a document, which is taken over, and a newline. Real numbers have 15 digits, or `digits`;
 * 0: as many as they need to be read again. A failure to write stays in ferror(file). */
int json_print_digits(json_t *json, FILE *file, int digits, struct error *err);
static inline int json_print(json_t *json, FILE *file, struct error *err)
{
	return json_print_digits(json, file, 15, err);
}

/* A document of that format, version 1, with the name of its schema (schema/). Takes `members`
 * over. */
json_t *json_document(const char *format, json_t *members);
/* Prints it on standard output. */
int json_print_document(const char *format, json_t *members, struct error *err);

/* A value on one line, with all digits of its numbers. -1: it cannot be written, or is NULL. */
int json_write(FILE *file, const json_t *json);
int json_write_real(FILE *file, double value); /* with as many digits as it needs */

/* null if the number is not finite, or is not known. */
json_t *json_real_or_null(double value);
static inline json_t *json_int_if(bool known, int64_t value)
{
	return known ? json_integer(value) : json_null();
}
/* [low, high]; null if they are not finite numbers. */
json_t *json_interval(double low, double high);
/* null if it is NULL, or not UTF-8. */
json_t *json_text(const char *text);

/* An object of these members, in their order:
 *
 * 	JSON_OBJECT({"run", json_integer(run)}, {"unit", json_text(unit)},
 * 		{"profile?", json_string(profile)})
 *
 * The values are taken over. A name with a question mark: the member is left out if its value is
 * NULL. Another value that is NULL was forgotten, and aborts the program with the member's name. */
struct json_member {
	const char *name;
	json_t *value;
};

#define JSON_OBJECT(...) json_object_of((const struct json_member[]){__VA_ARGS__, {}})
json_t *json_object_of(const struct json_member *members);

/* A whole file, see input.h; "-" is standard input. The sentence of a parse error has line and
 * column. */
int json_read(json_t **ret, const char *path, struct error *err);

/* Reading the members of a JSON object. Messages name the member and its location.
 *
 * 	struct json_fields f = json_fields_begin(object, (struct json_location){"sample", 3}, err);
 *
 * 	json_fields_int(&f, "et_ns", 0, INT64_MAX, &sample->et_ns);
 * 	json_fields_text_or_empty(&f, "unit?", &unit);
 * 	return f.r;
 *
 * A name with a question mark: the member may be missing or null, which is "not known", and *ret is
 * not written. The first failure is kept in f.r and its sentence in err; later calls do nothing.
 * The location is formatted only for a message: a document may have ten million executions. Texts,
 * arrays and objects belong to the object. */

/* {}: "the document"; {"the journal"}; {"sample", 3}; {"sample", 3, "execution", 2}. */
struct json_location {
	const char *what;
	int64_t number;
	const char *part;
	int64_t part_number;
};

struct json_fields {
	const json_t *object;
	struct json_location at;
	struct error *err;
	int r;         /* 0, or -EINVAL */
	char name[64]; /* of the last member, without the question mark */
};

/* f.r is -EINVAL if `object` is not an object. */
struct json_fields json_fields_begin(
	const json_t *object, struct json_location at, struct error *err);

/* Fails with r and the sentence "<location><format>", unless something failed before. Returns
 * f.r. */
int json_fields_refuse(struct json_fields *f, int r, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Checks format and version. -EINVAL: another format; -EPROTONOSUPPORT: an unknown version. */
void json_fields_header(struct json_fields *f, const char *format, int64_t version);

/* Whether it has a member of that name which is not null. */
bool json_fields_has(const struct json_fields *f, const char *name);

void json_fields_int(
	struct json_fields *f, const char *name, int64_t min, int64_t max, int64_t *ret);
/* Any number; JSON has no infinite ones. */
void json_fields_real(struct json_fields *f, const char *name, double *ret);
/* Seconds from 0 to 146 years, whole or not, as ns. */
void json_fields_seconds(struct json_fields *f, const char *name, int64_t *ret_ns);
/* json_fields_text() refuses an empty text. */
void json_fields_text(struct json_fields *f, const char *name, const char **ret);
void json_fields_text_or_empty(struct json_fields *f, const char *name, const char **ret);
void json_fields_flag(struct json_fields *f, const char *name, bool *ret);
/* NULL: it is not known, or something failed. */
json_t *json_fields_array(struct json_fields *f, const char *name);
json_t *json_fields_object(struct json_fields *f, const char *name);

#define JSON_TIME_MAX (INT64_C(366) * 86400 * 1000000000) /* of a sample, in ns: a year */
#define JSON_SPAN_MAX (INT64_MAX / 2)                     /* 146 years: the sum of two still fits */
/* The year 2260: moment + time still fits. Linux lets no clock be set beyond 2232. */
#define JSON_MOMENT_MAX (INT64_MAX - 2 * JSON_TIME_MAX)
