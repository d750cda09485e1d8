/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON documents in and out; json_fields.h reads the members of one. A local json_t is owned with
 * _cleanup_(json_decrefp). */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <jansson.h>
#include <stdint.h>

/* Prints a document and a newline. NULL: out of memory. */
int json_print(const json_t *json, FILE *file, struct error *err);
/* The same with all digits, for a document that will be read again. */
int json_print_exactly(const json_t *json, FILE *file, struct error *err);

/* Prints a document of that format, version 1, on standard output. Takes `members` over; NULL: no memory. */
int json_print_document(const char *format, json_t *members, struct error *err);

/* Writes a value of a document that is larger than memory. -1: the text is not UTF-8, or no memory. */
int json_write_text(FILE *file, const char *text);
void json_write_int(FILE *file, int64_t value);
int json_write_real(FILE *file, double value); /* with as many digits as it needs */
/* A value on one line; all digits of its numbers. */
int json_write(FILE *file, const json_t *json);

/* null: not a finite number. */
json_t *json_real_or_null(double value);
/* [low, high]; null: not finite numbers. */
json_t *json_interval(double low, double high);

/* A whole file; "-" is standard input. The sentence of a parse error has line and column. */
int json_read(json_t **ret, const char *path, struct error *err);
