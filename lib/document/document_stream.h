/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a JSON document that may be larger than memory, from value to value, and back to a place.
 * Only the value at hand is in memory. Functions return 0 (or 1: there is one more), or -EINVAL
 * with the line and the column of what is not JSON.
 *
 * 	stream_enter(s, '{');
 * 	while ((r = stream_member(s, &name)) > 0)
 * 		r = stream_value(s, false);     // or stream_enter() and what is inside
 */
#pragma once

#include "lib/base/json.h"
#include "lib/document/document_import.h"

/* The first character of the value that comes next; '\0': there is none. */
char stream_peek(struct document_stream *s);
/* After stream_peek(): no byte is left, and all could be read. */
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
/* Parses the value that was kept. */
int stream_parse(struct document_stream *s, json_t **ret);
/* -EINVAL: what comes next is not what is wanted. */
int stream_refuse(struct document_stream *s, const char *wanted);
/* The place of the next value, to come back to it. */
int64_t stream_tell(struct document_stream *s);
void stream_seek(struct document_stream *s, int64_t place);

/* Whether the value that was kept is a text in quotes that means itself: printable ASCII without
 * escapes. */
bool stream_is_plain_text(const struct document_stream *s);
