/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a JSON document that may be larger than memory: from value to value, and back to a place. Only the value at hand is in memory.
 *
 *	json_stream_enter(s, '{', err);
 *	while ((r = json_stream_member(s, &name, err)) > 0)
 *		r = json_stream_json(s, &value, err);		or _text, or _skip, or _enter and what is inside
 *
 * Functions return 0 (or 1: there is one more), or -EINVAL with the line and the column of what is not JSON. */
#pragma once

#include "lib/base/json.h"

struct json_stream;

/* "-" is standard input. What is no regular file is first copied to a file without a name in TMPDIR (otherwise /var/tmp). */
int json_stream_open(struct json_stream **ret, const char *path, struct error *err);
void json_stream_free(struct json_stream *s);
DEFINE_FREEP(json_stream)

/* The first character of the value that comes next; '\0': there is none. */
char json_stream_peek(struct json_stream *s);
/* Goes into an object '{' or an array '['. */
int json_stream_enter(struct json_stream *s, char bracket, struct error *err);
/* 1: the next value is the member with this name, which is valid until the next call of it; 0: the object has ended. */
int json_stream_member(struct json_stream *s, const char **ret_name, struct error *err);
/* 1: the next value is an element; 0: the array has ended. */
int json_stream_element(struct json_stream *s, struct error *err);
/* The text of the next value, valid until the next call of any function. Only its brackets and quotes were checked. 1: it is
 * longer than `most` bytes, which must be a power of two from 256 KiB on; json_stream_seek() goes back to its beginning. */
int json_stream_text(
	struct json_stream *s, size_t most, const char **ret, size_t *ret_size, struct error *err);
/* The text that json_stream_text returned last, parsed. */
int json_stream_parse(struct json_stream *s, json_t **ret, struct error *err);
/* Both in one. */
int json_stream_json(struct json_stream *s, json_t **ret, struct error *err);
int json_stream_skip(struct json_stream *s, struct error *err);
/* After the document there must be nothing but blanks. */
int json_stream_end(struct json_stream *s, struct error *err);

/* The place of the next value, to come back to it. */
int64_t json_stream_tell(struct json_stream *s);
void json_stream_seek(struct json_stream *s, int64_t place);
