/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of documents. */
#pragma once

#include "lib/document/document.h"

/* document_environment.c */

/* Adds the machine of an environment, its fingerprint, and what was measured of it. */
int document_add_environment(struct book *book, int64_t id, json_t *document, struct error *err);

/* document_export.c */
int document_not_made(struct error *err);

/* document.c: {"lag1": …, "samples": …}; missing: not known. */
void document_read_correlation(struct json_fields *f, struct correlation *ret);
void document_add_correlation(json_t *document, const struct correlation *correlation);

/* document.c: an object of a stream, whose members are read into structs. It begins with the members that are set here:
 *
 *	struct document_object o = {.stream = …, .f = {.at = …, .err = …}, .parts = {{&sample_table, &sample}}};
 *
 *	while ((r = document_member(&o, &name)) > 0)
 *		r = document_skip(&o);		or what the caller does with a member that the tables do not have
 *
 * Texts belong to the structs, also after a failure. */
struct document_object {
	struct json_stream *stream;
	struct json_fields f;
	struct document_part {
		const struct field_table *table;
		void *object;
		uint64_t seen; /* bits of its fields */
		size_t next;   /* the field that is likely to come */
	} parts[2];
	const uint32_t
		*sample; /* once this number is known, messages name it as their place; NULL: they do not */
	struct json_location at;
	bool begun;
};

/* Reads members into the structs. 1: what follows is the value of a member that they do not have; 0: the object has ended, and had
 * all that are required. */
int document_member(struct document_object *o, const char **ret_name);
/* -EINVAL: the object has two members of that name. */
int document_refuse_twice(struct document_object *o, const char *name);
int document_skip(struct document_object *o);
/* To its end, without other members. */
int document_read_object(struct document_object *o);
