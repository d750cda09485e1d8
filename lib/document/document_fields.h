/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of JSON objects that tables of fields describe, and what else several documents have:
 * moments and correlations. */
#pragma once

#include "lib/base/json.h"
#include "lib/record/run.h"

/* The members of a JSON object that a table of fields describes. Reads into `object`, whose old
 * content is dropped; missing members become unknown. */
void document_read_fields(struct json_fields *f, const struct field_table *table, void *object);
/* Writes the members, each after a comma, the first one after `separator`. -1: text that is not
 * UTF-8. */
int document_write_fields(
	FILE *file, const char *separator, const struct field_table *table, const void *object);
/* A new object with the members; NULL: text that is not UTF-8. */
json_t *document_new(const struct field_table *table, const void *object);
/* Adds a time since 1970 as RFC 3339 text. */
void document_add_moment(json_t *json, const char *name, int64_t ns);

/* Reads one member; a member that is missing may leave the struct as it is. */
void document_read_field(struct json_fields *f, const struct field *field, void *object);

/* {"lag1": …, "samples": …}; missing: not known. */
void document_read_correlation(struct json_fields *f, struct correlation *ret);
void document_add_correlation(json_t *document, const struct correlation *correlation);
