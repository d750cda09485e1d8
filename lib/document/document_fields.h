/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The members of a JSON object that a table of fields describes: see lib/record/fields.h. */
#pragma once

#include "lib/base/json_fields.h"
#include "lib/record/run.h"

/* Reads into `object`, whose old content is dropped; missing members become unknown. */
void document_read_fields(struct json_fields *f, const struct field_table *table, void *object);

/* Writes the members, each after a comma, the first one after `separator`. -1: as document_add_fields. */
int document_write_fields(
	FILE *file, const char *separator, const struct field_table *table, const void *object);

/* A new object with the members; NULL: as below. */
json_t *document_new(const struct field_table *table, const void *object);
/* Adds the members to `json`. Not 0: no memory, or text that is not UTF-8. */
int document_add_fields(json_t *json, const struct field_table *table, const void *object);

/* Adds a time since 1970 as RFC 3339 text. */
int document_add_moment(json_t *json, const char *name, int64_t ns);

/* {"lag1": …, "samples": …}; missing: not known. */
void document_read_correlation(struct json_fields *f, struct correlation *ret);
int document_add_correlation(json_t *document, const struct correlation *correlation);
