/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading documents from value to value: see document_stream.h. */
#include "lib/document/document_stream.h"

#include "lib/base/input.h"
#include "lib/document/document_internal.h"

enum { CHUNK = 1 << 18 };

/* What is no plain file, or is compressed, in a file without a name. */
static int copy_input(
	struct document_stream *s, struct input *input, int *ret_fd, struct error *err)
{
	const char *directory = getenv("TMPDIR") ?: "/var/tmp";
	_cleanup_(closep) int copy = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ssize_t n;

	if (copy < 0)
		return error_os(err, -errno,
			"cannot make a temporary file in '%s'; TMPDIR names another directory",
			directory);
	while ((n = input_read(input, s->buffer, CHUNK, err)) > 0)
		for (ssize_t done = 0, r; done < n; done += r) {
			r = write(copy, s->buffer + done, (size_t)(n - done));
			if (r < 0)
				return error_os(err, -errno,
					"cannot copy '%s' to '%s'; TMPDIR names another directory",
					s->path, directory);
		}
	if (n < 0)
		return (int)n;
	*ret_fd = TAKE_FD(copy);
	return 0;
}

int document_stream_open(struct document_stream **ret, const char *path, struct error *err)
{
	_cleanup_(document_stream_freep) struct document_stream *s = xcalloc(1, sizeof(*s));
	_cleanup_(input_freep) struct input *input = NULL;
	int r;

	s->fd = -1;
	s->err = err;
	s->path = xstrdup(path);
	s->buffer = xmalloc(CHUNK);
	s->capacity = CHUNK;
	r = input_open(&input, path, err);
	if (r < 0)
		return r;
	s->offset = input_plain(input);
	if (s->offset < 0) {
		s->offset = 0;
		r = copy_input(s, input, &s->fd, err);
	} else {
		s->fd = input_take(input);
	}
	if (r < 0)
		return r;
	*ret = TAKE(s);
	return 0;
}

void document_stream_free(struct document_stream *s)
{
	if (!s)
		return;
	closep(&s->fd);
	free(s->path);
	free(s->name);
	free(s->buffer);
	free(s);
}

/* Reads more, and keeps what begins at `from`, which `at` then counts from. false: the end, or a
 * failure. */
static bool read_more(struct document_stream *s, size_t from)
{
	ssize_t n;

	memmove(s->buffer, s->buffer + from, s->end - from);
	s->offset += (int64_t)from;
	s->end -= from;
	s->at -= from;
	if (s->end == s->capacity) {
		s->capacity *= 2;
		s->buffer = xrealloc(s->buffer, s->capacity);
	}
	n = pread(s->fd, s->buffer + s->end, s->capacity - s->end, s->offset + (int64_t)s->end);
	if (n < 0)
		s->e = errno;
	s->end += n > 0 ? (size_t)n : 0;
	return n > 0;
}

/* `at`: the byte that is not JSON. */
static int not_json(struct document_stream *s, int64_t at, const char *what)
{
	int line = 1, column = 1;
	int64_t done = 0;
	char bytes[4096];
	ssize_t n;

	if (s->e)
		return error_os(s->err, -s->e, "cannot read '%s'", s->path);
	while (done < at && (n = pread(s->fd, bytes, sizeof(bytes), done)) > 0)
		for (ssize_t i = 0; i < n && done < at; i++, done++) {
			column = bytes[i] == '\n' ? 1 : column + 1;
			line += bytes[i] == '\n';
		}
	return error_say(s->err, -EINVAL, "'%s' is not JSON: line %d, column %d: %s", s->path, line,
		column, what);
}

int stream_refuse(struct document_stream *s, const char *wanted)
{
	char found[] = "'?'";
	const char *near = found;
	_cleanup_(freep) char *what = NULL;

	if (s->at == s->end)
		near = "end of file";
	else if (s->buffer[s->at] == '\0')
		near = "a byte that is zero";
	else
		found[1] = s->buffer[s->at];
	what = text_format("%s expected near %s", wanted, near);
	return not_json(s, s->offset + (int64_t)s->at, what);
}

char stream_peek(struct document_stream *s)
{
	while (s->at < s->end || read_more(s, s->at)) {
		char c = s->buffer[s->at];

		if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
			return c;
		s->at++;
	}
	return '\0';
}

bool stream_at_end(const struct document_stream *s)
{
	return s->at == s->end && !s->e;
}

int stream_enter(struct document_stream *s, char bracket)
{
	if (stream_peek(s) != bracket)
		return stream_refuse(s, (char[]){'\'', bracket, '\'', '\0'});
	s->at++;
	s->first = true;
	return 0;
}

int stream_next(struct document_stream *s, char bracket)
{
	char c = stream_peek(s);
	bool first = s->first;

	s->first = false;
	if (c == bracket) {
		s->at++;
		return 0;
	}
	if (first)
		return 1;
	if (c != ',')
		return stream_refuse(s, "',' or the end of the object or array");
	s->at++;
	return 1;
}

/* The next byte; EOF: none. What begins at *begin is kept; NULL: nothing is. */
static inline int next_byte(struct document_stream *s, size_t *begin)
{
	if (s->at == s->end) {
		bool more = read_more(s, begin ? *begin : s->at);

		if (begin)
			*begin = 0;
		if (!more)
			return EOF;
	}
	return (unsigned char)s->buffer[s->at++];
}

enum { BYTE_SPECIAL = 1, BYTE_ENDS_WORD };

static const unsigned char byte_kinds[256] = {
	['"'] = BYTE_SPECIAL,
	['\\'] = BYTE_SPECIAL,
	['{'] = BYTE_SPECIAL,
	['['] = BYTE_SPECIAL,
	['}'] = BYTE_SPECIAL | BYTE_ENDS_WORD,
	[']'] = BYTE_SPECIAL | BYTE_ENDS_WORD,
	[','] = BYTE_ENDS_WORD,
	[':'] = BYTE_ENDS_WORD,
	[' '] = BYTE_ENDS_WORD,
	['\n'] = BYTE_ENDS_WORD,
	['\t'] = BYTE_ENDS_WORD,
	['\r'] = BYTE_ENDS_WORD,
	['\0'] = BYTE_ENDS_WORD,
};

/* Goes past a number, true, false or null. */
static void skip_word(struct document_stream *s, size_t *begin)
{
	int c;

	while ((c = next_byte(s, begin)) != EOF)
		if (byte_kinds[c] & BYTE_ENDS_WORD) {
			s->at--;
			return;
		}
}

/* Goes past a text, or all between brackets. False: the document ends before. */
static bool skip_nested(struct document_stream *s, size_t *begin)
{
	bool quoted = false;
	int64_t depth = 0;
	int c = next_byte(s, begin);

	while (c != EOF) {
		/* if there is no next byte, there is none after it either */
		if (quoted && c == '\\')
			next_byte(s, begin);
		if (c == '"')
			quoted = !quoted;
		else if (!quoted)
			depth += (c == '{' || c == '[') - (c == '}' || c == ']');
		if (!quoted && depth <= 0)
			return true;

		/* most bytes */
		while (s->at < s->end &&
			!(byte_kinds[(unsigned char)s->buffer[s->at]] & BYTE_SPECIAL))
			s->at++;
		c = next_byte(s, begin);
	}
	return false;
}

int stream_value(struct document_stream *s, bool keep)
{
	char c = stream_peek(s);
	size_t at = s->at, *begin = keep ? &at : NULL;
	bool whole = true;

	if (!c || strchr("]},:", c))
		return stream_refuse(s, "a value");
	if (c == '"' || c == '{' || c == '[')
		whole = skip_nested(s, begin);
	else
		skip_word(s, begin);
	if (!whole || s->e)
		return stream_refuse(s, "the end of a value");
	s->text = s->buffer + at;
	s->size = s->at - at;
	s->first = false;
	return 0;
}

int stream_parse(struct document_stream *s, json_t **ret)
{
	json_error_t e;
	json_t *json = json_loadb(s->text, s->size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &e);

	if (!json)
		return not_json(s,
			s->offset + (int64_t)(s->at - s->size) +
				(e.position > 0 ? e.position - 1 : 0),
			e.text);
	*ret = json;
	return 0;
}

bool stream_is_plain_text(const struct document_stream *s)
{
	if (*s->text != '"')
		return false;
	for (const char *c = s->text + 1; c < s->text + s->size - 1; c++)
		if (*c < ' ' || *c > '~' || *c == '\\')
			return false;
	return true;
}

int stream_member(struct document_stream *s, const char **ret_name)
{
	_cleanup_(json_decrefp) json_t *name = NULL;
	int r = stream_next(s, '}');

	if (r <= 0)
		return r;
	if (stream_peek(s) != '"')
		return stream_refuse(s, "the name of a member");
	r = stream_value(s, true);
	if (r == 0 && !stream_is_plain_text(s))
		r = stream_parse(s, &name);
	if (r < 0)
		return r;
	if (name) {
		free(s->name);
		s->name = xstrdup(json_string_value(name));
	} else {
		s->name = xrealloc(s->name, s->size - 1);
		*(char *)mempcpy(s->name, s->text + 1, s->size - 2) = '\0';
	}
	if (stream_peek(s) != ':')
		return stream_refuse(s, "':'");
	s->at++;
	*ret_name = s->name;
	return 1;
}

int64_t stream_tell(struct document_stream *s)
{
	stream_peek(s);
	return s->offset + (int64_t)s->at;
}

void stream_seek(struct document_stream *s, int64_t place)
{
	if (place < s->offset || place > s->offset + (int64_t)s->end) {
		s->offset = place;
		s->end = 0;
	}
	s->at = (size_t)(place - s->offset);
}
