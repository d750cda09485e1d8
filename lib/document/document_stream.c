/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a JSON document that may be larger than memory, from value to value, and back to a place;
 * and its objects into structs, by their tables of fields. Only the value at hand is in memory. */
#include "lib/document/document_internal.h"

#include "lib/base/input.h"

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
	const char near[] = {'\'', s->at < s->end ? s->buffer[s->at] : '\0', '\'', '\0'};
	_cleanup_(freep) char *what = text_format("%s expected near %s", wanted,
		s->at == s->end ? "end of file"
		: near[1]       ? near
				: "a byte that is zero");

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

int stream_value(struct document_stream *s, bool keep)
{
	enum { SPECIAL = 1, ENDS_WORD };
	static const unsigned char bytes[256] = {['"'] = SPECIAL,
		['\\'] = SPECIAL,
		['{'] = SPECIAL,
		['['] = SPECIAL,
		['}'] = SPECIAL | ENDS_WORD,
		[']'] = SPECIAL | ENDS_WORD,
		[','] = ENDS_WORD,
		[':'] = ENDS_WORD,
		[' '] = ENDS_WORD,
		['\n'] = ENDS_WORD,
		['\t'] = ENDS_WORD,
		['\r'] = ENDS_WORD,
		['\0'] = ENDS_WORD};
	int c = (unsigned char)stream_peek(s);
	bool quoted = false, word = c != '"' && c != '{' && c != '[';
	size_t at = s->at, *begin = keep ? &at : NULL;
	int64_t depth = 0;

	if (!c || strchr("]},:", c))
		return stream_refuse(s, "a value");
	while (word && (c = next_byte(s, begin)) != EOF)
		if (bytes[c] & ENDS_WORD) {
			s->at--;
			break;
		}
	c = word ? '\0' : next_byte(s, begin);
	while (!word && c != EOF) { /* to the end of a text, or of all between brackets */
		/* if there is no next byte, there is none after it either */
		if (quoted && c == '\\')
			next_byte(s, begin);
		if (c == '"')
			quoted = !quoted;
		else if (!quoted)
			depth += (c == '{' || c == '[') - (c == '}' || c == ']');
		if (!quoted && depth <= 0)
			break;
		/* most */
		while (s->at < s->end && !(bytes[(unsigned char)s->buffer[s->at]] & SPECIAL))
			s->at++;
		c = next_byte(s, begin);
	}
	if (c == EOF || s->e)
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

/* Whether the value is a text in quotes that means itself: printable ASCII without escapes. */
static bool is_plain_text(const struct document_stream *s)
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
	if (r == 0 && !is_plain_text(s))
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

/* A value as EMP writes it, without a parser, because a run may have ten million executions. false:
 * it is wrong or unusual. */
static bool read_plain(const struct document_stream *s, const struct field *field, void *object)
{
	const char *text = s->text, *end = text + s->size, *begin = text + (*text == '-'),
		   *at = begin;
	uint64_t digits = 0; /* which has room for 19 of them */
	int64_t value = 0;

	if (field->type == FIELD_TEXT || field->type == FIELD_ENUM) {
		if (!is_plain_text(s))
			return false;
		if (field->type == FIELD_TEXT) {
			*field_text(field, object) = xstrndup(text + 1, s->size - 2);
			return true;
		}
		while (value < field->n_words &&
			(strncmp(field->words[value], text + 1, s->size - 2) ||
				field->words[value][s->size - 2]))
			value++;
		if (value == field->n_words)
			return false;
	} else {
		while (at < end && *at >= '0' && *at <= '9')
			digits = digits * 10 + (uint64_t)(*at++ - '0');
		if (at < end || at == begin || at - begin > 19 || digits > INT64_MAX ||
			(*begin == '0' && at - begin > 1))
			return false;
		value = begin > text ? -(int64_t)digits : (int64_t)digits;
		if (field->type == FIELD_BOOL || field->type == FIELD_REAL || field->seconds ||
			value < field->min || value > field_max(field))
			return false;
	}
	field_set(field, object, value);
	return true;
}

/* The field of that name and the part that has it. NULL: there is none. */
static const struct field *find_field(
	struct document_object *o, const char *name, struct document_part **ret)
{
	for (struct document_part *part = o->parts;
		part < o->parts + ELEMENTS(o->parts) && part->table; part++)
		for (size_t i = 0; i < part->table->n; i++) {
			size_t k = (part->next + i) % part->table->n;
			const struct field *field = &part->table->fields[k];
			const char *its_name = field->seconds ?: field->name;

			if (field->book_only || *its_name != *name || strcmp(its_name, name))
				continue;
			part->next = k + 1;
			*ret = part;
			return field;
		}
	return NULL;
}

int document_member(struct document_object *o, const char **ret_name)
{
	struct document_part *part = o->parts, *end = o->parts + ELEMENTS(o->parts);
	struct document_stream *s = o->stream;
	int r = 0;

	if (!o->begun) {
		for (; part < end && part->table; part++)
			fields_init(part->table, part->object);
		o->f.err = s->err;
		o->at = o->f.at;
		o->begun = true;
		if (stream_peek(s) != '{')
			return json_fields_refuse(&o->f, -EINVAL, " must be a JSON object {…}");
		r = stream_enter(s, '{');
	}
	while (r >= 0 && (r = stream_member(s, ret_name)) > 0) {
		_cleanup_(json_decrefp) json_t *value = NULL, *object = NULL;
		const struct field *field = find_field(o, *ret_name, &part);
		uint64_t bit;

		if (!field)
			return 1;
		bit = UINT64_C(1) << (field - part->table->fields);
		if (part->seen & bit)
			return document_refuse_twice(o, *ret_name);
		part->seen |= bit;
		r = stream_value(s, true);
		if (r >= 0 && !read_plain(s, field, part->object)) {
			r = stream_parse(s, &value);
			if (r < 0)
				return r;
			o->f.object = object = json_pack("{s:O}", *ret_name, value);
			document_read_field(&o->f, field, part->object);
			r = o->f.r;
		}
		if (o->sample && *o->sample > 0)
			o->f.at = (struct json_location){"sample", *o->sample};
	}
	o->f.object = NULL;
	for (part = o->parts; r == 0 && part < end && part->table; part++)
		for (size_t k = 0; k < part->table->n; k++)
			if (!part->table->fields[k].book_only && !(part->seen & UINT64_C(1) << k))
				document_read_field(&o->f, &part->table->fields[k], part->object);
	return r < 0 ? r : o->f.r;
}

int document_refuse_twice(struct document_object *o, const char *name)
{
	o->f.at = o->at;
	return json_fields_refuse(&o->f, -EINVAL, ": it has two members '%s'", name);
}

int document_skip(struct document_object *o)
{
	_cleanup_(json_decrefp) json_t *value = NULL;
	int r = stream_value(o->stream, true);

	return r < 0 || is_plain_text(o->stream) ? r : stream_parse(o->stream, &value);
}

int document_read_object(struct document_object *o)
{
	const char *name;
	int r;

	while ((r = document_member(o, &name)) > 0) {
		r = document_skip(o);
		if (r < 0)
			return r;
	}
	return r;
}
