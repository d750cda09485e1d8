/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents that may be larger than memory: see json_stream.h. */
#include "lib/base/json_stream.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

enum { CHUNK = 1 << 18 };

struct json_stream {
	int fd;
	char *path, *name; /* of the file; of the last member */
	char *buffer;
	size_t capacity, at, end; /* buffer[at] is the next byte */
	size_t size;              /* of the last text, which ends at `at` */
	int64_t offset;           /* of buffer[0] in the file */
	size_t most;              /* bytes that the buffer may have; 0: any */
	bool first;               /* no value of the object or array has been read yet */
	int e;                    /* errno of a failure to read */
};

static int copy_to_file(struct json_stream *s, struct error *err)
{
	const char *directory = getenv("TMPDIR") ?: "/var/tmp";
	_cleanup_(closep) int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ssize_t n = 0;

	if (fd < 0)
		return error_os(err, -errno,
			"cannot make a temporary file in '%s'; TMPDIR names another directory", directory);
	while ((n = read(s->fd, s->buffer, CHUNK)) > 0)
		for (ssize_t done = 0, r; done < n; done += r) {
			r = write(fd, s->buffer + done, (size_t)(n - done));
			if (r < 0)
				return error_os(err, -errno,
					"cannot copy '%s' to '%s'; TMPDIR names another directory", s->path,
					directory);
		}
	if (n < 0)
		return error_os(err, -errno, "cannot read '%s'", s->path);
	close(s->fd);
	s->fd = TAKE_FD(fd);
	return 0;
}

int json_stream_open(struct json_stream **ret, const char *path, struct error *err)
{
	_cleanup_(json_stream_freep) struct json_stream *s = xcalloc(1, sizeof(*s));
	struct stat st;
	int r = 0;

	s->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
	if (s->fd < 0 || fstat(s->fd, &st) < 0)
		return error_os(err, -errno, "cannot open '%s'", path);
	s->path = xstrdup(path);
	s->buffer = xmalloc(CHUNK);
	s->capacity = CHUNK;
	if (!S_ISREG(st.st_mode) || lseek(s->fd, 0, SEEK_CUR) != 0)
		r = copy_to_file(s, err);
	if (r == 0)
		*ret = TAKE(s);
	return r;
}

void json_stream_free(struct json_stream *s)
{
	if (!s)
		return;
	closep(&s->fd);
	free(s->path);
	free(s->name);
	free(s->buffer);
	free(s);
}

/* Reads more, and keeps what begins at `from`, which `at` then counts from. false: the end, or a failure. */
static bool read_more(struct json_stream *s, size_t from)
{
	ssize_t n;

	memmove(s->buffer, s->buffer + from, s->end - from);
	s->offset += (int64_t)from;
	s->end -= from;
	s->at -= from;
	if (s->most && s->end >= s->most)
		return false;
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

/* The line and the column of byte `at`. */
static void find_line(const struct json_stream *s, int64_t at, int *ret_line, int *ret_column)
{
	char bytes[4096];
	int64_t done = 0;
	ssize_t n;

	*ret_line = 1;
	*ret_column = 1;
	while (done < at && (n = pread(s->fd, bytes, sizeof(bytes), done)) > 0)
		for (ssize_t i = 0; i < n && done < at; i++, done++) {
			*ret_column = bytes[i] == '\n' ? 1 : *ret_column + 1;
			*ret_line += bytes[i] == '\n';
		}
}

static int not_json(struct json_stream *s, int64_t at, const char *what, struct error *err)
{
	int line, column;

	if (s->e)
		return error_os(err, -s->e, "cannot read '%s'", s->path);
	find_line(s, at, &line, &column);
	return error_say(
		err, -EINVAL, "'%s' is not JSON: line %d, column %d: %s", s->path, line, column, what);
}

static int refuse_next(struct json_stream *s, const char *wanted, struct error *err)
{
	_cleanup_(freep) char *what = s->at < s->end ? text_format("%s expected near '%.10s'", wanted,
							       (char[]){s->buffer[s->at], '\0'})
						     : text_format("%s expected near end of file", wanted);

	return not_json(s, s->offset + (int64_t)s->at, what, err);
}

char json_stream_peek(struct json_stream *s)
{
	for (;; s->at++) {
		if (s->at == s->end && !read_more(s, s->at))
			return '\0';
		if (!strchr(" \t\r\n", s->buffer[s->at]) || !s->buffer[s->at])
			return s->buffer[s->at];
	}
}

int json_stream_enter(struct json_stream *s, char bracket, struct error *err)
{
	if (json_stream_peek(s) != bracket)
		return refuse_next(s, (char[]){'\'', bracket, '\'', '\0'}, err);
	s->at++;
	s->first = true;
	return 0;
}

/* The comma or the bracket after a value. 1: another follows; 0: the end. */
static int read_comma(struct json_stream *s, char bracket, struct error *err)
{
	char c = json_stream_peek(s);
	bool first = s->first;

	s->first = false;
	if (c == bracket) {
		s->at++;
		return 0;
	}
	if (first)
		return 1;
	if (c != ',')
		return refuse_next(s, "',' or the end of the object or array", err);
	s->at++;
	return 1;
}

/* The next byte; EOF: none. What begins at *begin is kept; NULL: nothing is. */
static inline int next_byte(struct json_stream *s, size_t *begin)
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

/* Past the quote at its end. */
static int pass_string(struct json_stream *s, size_t *begin)
{
	int c;

	while ((c = next_byte(s, begin)) != '"')
		if (c == EOF || (c == '\\' && next_byte(s, begin) == EOF))
			return EOF;
	return c;
}

static int pass_brackets(struct json_stream *s, size_t *begin)
{
	int64_t depth = 1;

	while (depth > 0) {
		int c = next_byte(s, begin);

		if (c == '"')
			c = pass_string(s, begin);
		if (c == EOF)
			return EOF;
		depth += (c == '{' || c == '[') - (c == '}' || c == ']');
	}
	return 0;
}

static void pass_word(struct json_stream *s, size_t *begin)
{
	int c;

	while ((c = next_byte(s, begin)) != EOF)
		if (strchr(" \t\r\n,:]}", c)) {
			s->at--;
			return;
		}
}

/* Goes past the next value; if `keep`, it is then the `size` bytes before `at`. */
static int pass_value(struct json_stream *s, bool keep, struct error *err)
{
	char c = json_stream_peek(s);
	size_t at = s->at, *begin = keep ? &at : NULL;
	int r = 0;

	if (!c || strchr("]},:", c))
		return refuse_next(s, "a value", err);
	if (c == '"' || c == '{' || c == '[') {
		s->at++;
		r = c == '"' ? pass_string(s, begin) : pass_brackets(s, begin);
	} else {
		pass_word(s, begin);
	}
	if (r == EOF && !s->e && s->most && s->end >= s->most)
		return 1;
	if (r == EOF || s->e)
		return refuse_next(s, "the end of a value", err);
	s->size = s->at - at;
	s->first = false;
	return 0;
}

int json_stream_skip(struct json_stream *s, struct error *err)
{
	return pass_value(s, false, err);
}

int json_stream_text(
	struct json_stream *s, size_t most, const char **ret, size_t *ret_size, struct error *err)
{
	int r;

	s->most = most;
	r = pass_value(s, true, err);
	s->most = 0;
	if (r != 0)
		return r;
	*ret = s->buffer + s->at - s->size;
	*ret_size = s->size;
	return 0;
}

int json_stream_parse(struct json_stream *s, json_t **ret, struct error *err)
{
	json_error_t e;
	json_t *json = json_loadb(
		s->buffer + s->at - s->size, s->size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &e);

	if (!json)
		return not_json(s,
			s->offset + (int64_t)(s->at - s->size) + (e.position > 0 ? e.position - 1 : 0),
			e.text, err);
	*ret = json;
	return 0;
}

int json_stream_json(struct json_stream *s, json_t **ret, struct error *err)
{
	int r = pass_value(s, true, err);

	return r < 0 ? r : json_stream_parse(s, ret, err);
}

int json_stream_member(struct json_stream *s, const char **ret_name, struct error *err)
{
	_cleanup_(json_decrefp) json_t *name = NULL;
	int r = read_comma(s, '}', err);

	if (r <= 0)
		return r;
	if (json_stream_peek(s) != '"')
		return refuse_next(s, "the name of a member", err);
	r = json_stream_json(s, &name, err);
	if (r < 0)
		return r;
	if (json_stream_peek(s) != ':')
		return refuse_next(s, "':'", err);
	s->at++;
	free(s->name);
	s->name = xstrdup(json_string_value(name));
	*ret_name = s->name;
	return 1;
}

int json_stream_element(struct json_stream *s, struct error *err)
{
	return read_comma(s, ']', err);
}

int json_stream_end(struct json_stream *s, struct error *err)
{
	return json_stream_peek(s) ? refuse_next(s, "the end of the document", err) : 0;
}

int64_t json_stream_tell(struct json_stream *s)
{
	json_stream_peek(s);
	return s->offset + (int64_t)s->at;
}

void json_stream_seek(struct json_stream *s, int64_t place)
{
	s->offset = place;
	s->at = s->end = s->size = 0;
}
