/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of documents. */
#pragma once

#include "lib/document/document.h"

/* document_environment.c */

/* Adds the machine of an environment, its fingerprint, and what was measured of it. */
int document_add_environment(struct book *book, int64_t id, json_t *document, struct error *err);

/* document_export.c */
int document_not_made(struct error *err);

/* document.c */
void document_read_field(struct json_fields *f, const struct field *field, void *object);
/* {"lag1": …, "samples": …}; missing: not known. */
void document_read_correlation(struct json_fields *f, struct correlation *ret);
void document_add_correlation(json_t *document, const struct correlation *correlation);

/* document_stream.c: from value to value. Functions return 0 (or 1: there is one more), or -EINVAL
 * with the line and the column of what is not JSON.
 *
 * stream_enter(s, '{'); while ((r = stream_member(s, &name)) > 0)
 * 	r = stream_value(s, false);		or stream_enter and what is inside */
struct document_stream {
	struct error *err;
	int fd;
	char *path, *name; /* of the file; of the last member */
	char *buffer;
	size_t capacity, at, end; /* buffer[at] is the next byte */
	int64_t offset;           /* of buffer[0] in the file */
	bool first;               /* no value of the object or array has been read yet */
	int e;                    /* errno of a failure to read */
	const char *
		/* of the last value that was kept, until the next call; only its brackets and
		 * quotes were checked */
		text;
	size_t size;
	/* a run that was imported from it names a profile that it does not have */
	bool names_profile;
};

/* The first character of the value that comes next; '\0': there is none. */
char stream_peek(struct document_stream *s);
/* After that: no byte is left, and all could be read. */
bool stream_at_end(const struct document_stream *s);
/* Goes into an object '{' or an array '['. */
int stream_enter(struct document_stream *s, char bracket);
/* 1: another value follows; 0: the object or array has ended with this bracket. */
int stream_next(struct document_stream *s, char bracket);
/* 1: the value of the member with this name follows, which is valid until the next call of it; 0:
 * the object has ended. */
int stream_member(struct document_stream *s, const char **ret_name);
/* Goes past a value, which may be larger than memory unless it is kept. */
int stream_value(struct document_stream *s, bool keep);
/* The value that was kept. */
int stream_parse(struct document_stream *s, json_t **ret);
/* -EINVAL: what comes next is not what is wanted. */
int stream_refuse(struct document_stream *s, const char *wanted);
/* The place of the next value, to come back to it. */
int64_t stream_tell(struct document_stream *s);
void stream_seek(struct document_stream *s, int64_t place);

/* document_stream.c: an object of a stream, whose members are read into structs. It begins with the
 * members that are set here:
 *
 * struct document_object o = {.stream = …, .f.at = …, .parts = {{&sample_table, &sample}}};
 *
 * while ((r = document_member(&o, &name)) > 0)
 * 	r = document_skip(&o);		or what the caller does with a member that the tables do not have
 *
 * Texts belong to the structs, also after a failure. */
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
