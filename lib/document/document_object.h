/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of a stream, whose members are read into structs by their tables of fields.
 *
 * 	struct document_object o = {
 * 		.stream = …, .f.at = …, .parts = {{&sample_table, &sample}}};
 *
 * 	while ((r = document_member(&o, &name)) > 0)
 * 		r = document_skip(&o);  // or reads a member that the tables do not have
 *
 * Texts belong to the structs, also after a failure. */
#pragma once

#include "lib/base/json.h"
#include "lib/record/fields.h"

struct document_stream;

/* The caller sets the members `stream`, `f.at`, `parts` and `sample`. */

struct document_object {
	struct document_stream *stream;
	struct json_fields f;
	struct document_part {
		const struct field_table *table;
		void *object;
		uint64_t seen; /* bits of its fields */
		size_t next;   /* the field that is likely to come */
	} parts[2];
	/* once this number is known, messages name it as their place; NULL: they do not */
	const uint32_t *sample;
	struct json_location at;
	bool begun;
};

/* Reads members into the structs. 1: what follows is the value of a member that they do not have;
 * 0: the object has ended, and had all that are required. */
int document_member(struct document_object *o, const char **ret_name);
/* -EINVAL: the object has two members of that name. */
int document_refuse_twice(struct document_object *o, const char *name);
int document_skip(struct document_object *o);
/* To its end, without other members. */
int document_read_object(struct document_object *o);
