/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON documents: see json.h. */
#include "lib/base/json.h"

#include <math.h>
#include <stdarg.h>
#include <sys/stat.h>

static void *json_allocate(size_t size)
{
	return xmalloc(size);
}

/* No call of jansson fails for memory. */
static __attribute__((constructor)) void json_watch_memory(void)
{
	json_set_alloc_funcs(json_allocate, free);
}

/* A terminal would act on control characters beyond ASCII. */
static size_t ascii_flag(FILE *file)
{
	int fd = fileno(file);

	return fd >= 0 && isatty(fd) ? JSON_ENSURE_ASCII : 0;
}

int json_write(FILE *file, const json_t *json)
{
	if (!json)
		return -1;
	if (json_is_real(json))
		return json_write_real(file, json_real_value(json));
	return json_dumpf(json, file, JSON_ENCODE_ANY | JSON_PRESERVE_ORDER | ascii_flag(file));
}

int json_write_real(FILE *file, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof(text), "%.17g", value);
	return fputs(text, file) < 0 ? -1 : 0;
}

int json_write_text(FILE *file, const char *text)
{
	_cleanup_(json_decrefp) json_t *json = NULL;
	size_t n = 0;

	while (text[n] >= ' ' && text[n] < 0x7f && text[n] != '"' && text[n] != '\\')
		n++;
	if (text[n]) {
		json = json_string(text);
		return json_write(file, json);
	}
	fputc('"', file);
	fwrite(text, 1, n, file);
	fputc('"', file);
	return 0;
}

void json_write_int(FILE *file, int64_t value)
{
	char digits[24], *at = digits + sizeof(digits);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	do
		*--at = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		*--at = '-';
	fwrite(at, 1, (size_t)(digits + sizeof(digits) - at), file);
}

static int print_indented(const json_t *json, FILE *file, size_t flags, struct error *err)
{
	if (json_dumpf(json, file, JSON_INDENT(1) | JSON_PRESERVE_ORDER | flags | ascii_flag(file)) < 0 ||
		fputc('\n', file) < 0)
		return error_os(err, -errno, "cannot write a JSON document");
	return 0;
}

int json_print(const json_t *json, FILE *file, struct error *err)
{
	return print_indented(json, file, JSON_REAL_PRECISION(15), err);
}

int json_print_exactly(const json_t *json, FILE *file, struct error *err)
{
	return print_indented(json, file, 0, err);
}

int json_print_document(const char *format, json_t *members, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = json_pack("{s:s, s:i}", "format", format, "version", 1);

	json_object_update(document, members);
	json_decref(members);
	return json_print(document, stdout, err);
}

json_t *json_real_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_interval(double low, double high)
{
	return isfinite(low) && isfinite(high) ? json_pack("[f, f]", low, high) : json_null();
}

int json_read(json_t **ret, const char *path, struct error *err)
{
	_cleanup_(fclosep) FILE *file = NULL;
	json_error_t e;
	json_t *json;

	if (strcmp(path, "-")) {
		file = fopen(path, "re");
		if (!file)
			return error_os(err, -errno, "cannot open '%s'", path);
	}
	json = json_loadf(file ?: stdin, JSON_REJECT_DUPLICATES, &e);
	if (!json)
		return error_say(err, -EINVAL, "'%s' is not JSON: line %d, column %d: %s", path, e.line,
			e.column, e.text);
	*ret = json;
	return 0;
}

/* Reading the members of a JSON object. */

int json_fields_refuse(struct json_fields *f, int r, const char *format, ...)
{
	_cleanup_(freep) char *rest = NULL;
	const struct json_location *at = &f->at;
	va_list ap;

	if (f->r < 0)
		return f->r;
	va_start(ap, format);
	if (vasprintf(&rest, format, ap) < 0)
		xalloc_fail();
	va_end(ap);
	f->r = error_say(f->err, r, "%s%s%s%s", at->what ?: "the document",
		at->number > 0 ? text_brief(" %" PRId64, at->number) : "",
		at->part ? text_brief(", %s %" PRId64, at->part, at->part_number) : "", rest);
	return f->r;
}

bool json_fields_has(const struct json_fields *f, const char *name)
{
	const json_t *member = json_object_get(f->object, name);

	return member && !json_is_null(member);
}

enum json_kind { IS_INTEGER, IS_NUMBER, IS_SECONDS, IS_STRING, IS_TEXT, IS_FLAG, IS_ARRAY, IS_OBJECT };

static const struct {
	unsigned types; /* a bit for each json_type */
	const char *words;
} json_kinds[] = {
	[IS_INTEGER] = {1 << JSON_INTEGER, "a whole number"},
	[IS_NUMBER] = {1 << JSON_INTEGER | 1 << JSON_REAL, "a number"},
	[IS_SECONDS] = {1 << JSON_INTEGER | 1 << JSON_REAL, "a number of seconds"},
	[IS_STRING] = {1 << JSON_STRING, "text"},
	[IS_TEXT] = {1 << JSON_STRING, "text, and not empty"},
	[IS_FLAG] = {1 << JSON_TRUE | 1 << JSON_FALSE, "true or false"},
	[IS_ARRAY] = {1 << JSON_ARRAY, "an array […]"},
	[IS_OBJECT] = {1 << JSON_OBJECT, "an object {…}"},
};

/* NULL: it is not known, or there was a failure, now or before. f->name is its name. */
static json_t *json_fields_find(struct json_fields *f, const char *name, enum json_kind kind)
{
	size_t n = strlen(name);
	bool maybe = n > 0 && name[n - 1] == '?';
	json_t *member;

	snprintf(f->name, sizeof(f->name), "%.*s", (int)(n - maybe), name);
	member = json_object_get(f->object, maybe ? f->name : name);
	if (maybe && (!member || json_is_null(member)))
		return NULL;
	if (!member)
		json_fields_refuse(f, -EINVAL, " has no '%s'", f->name);
	else if (!(json_kinds[kind].types & 1U << json_typeof(member)) ||
		 (kind == IS_TEXT && json_string_length(member) == 0))
		json_fields_refuse(f, -EINVAL, ": '%s' must be %s", f->name, json_kinds[kind].words);
	return f->r < 0 ? NULL : member;
}

struct json_fields json_fields_begin(const json_t *object, struct json_location at, struct error *err)
{
	struct json_fields f = {.object = object, .at = at, .err = err};

	if (!json_is_object(object))
		json_fields_refuse(&f, -EINVAL, " must be a JSON object {…}");
	return f;
}

void json_fields_header(struct json_fields *f, const char *format, int64_t version)
{
	const char *its_format = NULL;
	int64_t its_version = 0;

	json_fields_text(f, "format", &its_format);
	if (f->r == 0 && strcmp(its_format, format))
		json_fields_refuse(f, -EINVAL, ": 'format' is '%s', not '%s'", its_format, format);
	json_fields_int(f, "version", 1, INT64_MAX, &its_version);
	if (f->r == 0 && its_version != version)
		json_fields_refuse(f, -EPROTONOSUPPORT,
			": 'version' is %" PRId64 ", and this EMP reads %s version %" PRId64
			" only; try a newer EMP",
			its_version, format, version);
}

void json_fields_int(struct json_fields *f, const char *name, int64_t min, int64_t max, int64_t *ret)
{
	const json_t *member = json_fields_find(f, name, IS_INTEGER);
	int64_t value = json_integer_value(member);

	if (member && (value < min || value > max))
		json_fields_refuse(f, -EINVAL, ": '%s' is %" PRId64 " and must not be %s %" PRId64, f->name,
			value, value < min ? "below" : "above", value < min ? min : max);
	else if (member)
		*ret = value;
}

void json_fields_real(struct json_fields *f, const char *name, double *ret)
{
	const json_t *member = json_fields_find(f, name, IS_NUMBER);

	if (member)
		*ret = json_number_value(member);
}

void json_fields_seconds(struct json_fields *f, const char *name, int64_t *ret_ns)
{
	const double max = (double)(JSON_MOMENT_MAX / NS_PER_S); /* a fraction above it could round up */
	const json_t *member = json_fields_find(f, name, IS_SECONDS);
	double seconds = json_number_value(member);

	if (!member)
		return;
	if (seconds >= 0 && seconds <= max)
		*ret_ns = json_is_integer(member) ? json_integer_value(member) * NS_PER_S
						  : llround(seconds * NS_PER_S);
	else
		json_fields_refuse(f, -EINVAL, ": '%s' is %.15g and must be from 0 to %.0f seconds", f->name,
			seconds, max);
}

void json_fields_text(struct json_fields *f, const char *name, const char **ret)
{
	const json_t *member = json_fields_find(f, name, IS_TEXT);

	if (member)
		*ret = json_string_value(member);
}

void json_fields_text_or_empty(struct json_fields *f, const char *name, const char **ret)
{
	const json_t *member = json_fields_find(f, name, IS_STRING);

	if (member)
		*ret = json_string_value(member);
}

void json_fields_word(struct json_fields *f, const char *name, const char *const *words, int n, int64_t *ret)
{
	const char *text = NULL;

	json_fields_text_or_empty(f, name, &text);
	for (int i = 0; f->r == 0 && i < n; i++)
		if (!strcmp(text, words[i])) {
			*ret = i;
			return;
		}
	json_fields_refuse(
		f, -EINVAL, ": '%s' is '%s', which this EMP does not know; try a newer EMP", name, text);
}

void json_fields_flag(struct json_fields *f, const char *name, bool *ret)
{
	const json_t *member = json_fields_find(f, name, IS_FLAG);

	if (member)
		*ret = json_is_true(member);
}

json_t *json_fields_array(struct json_fields *f, const char *name)
{
	return json_fields_find(f, name, IS_ARRAY);
}

json_t *json_fields_object(struct json_fields *f, const char *name)
{
	return json_fields_find(f, name, IS_OBJECT);
}

/* A document that may be larger than memory. */

enum { CHUNK = 1 << 18 };

struct json_stream {
	int fd;
	char *path, *name; /* of the file; of the last member */
	char *buffer;
	size_t capacity, at, end; /* buffer[at] is the next byte */
	size_t size;              /* of the last text, which ends at `at` */
	int64_t offset;           /* of buffer[0] in the file */
	bool first;               /* no value of the object or array has been read yet */
	int e;                    /* errno of a failure to read */
};

int json_stream_open(struct json_stream **ret, const char *path, struct error *err)
{
	_cleanup_(json_stream_freep) struct json_stream *s = xcalloc(1, sizeof(*s));
	_cleanup_(closep) int copy = -1;
	const char *directory = getenv("TMPDIR") ?: "/var/tmp";
	struct stat st;
	ssize_t n;

	s->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
	if (s->fd < 0 || fstat(s->fd, &st) < 0)
		return error_os(err, -errno, "cannot open '%s'", path);
	s->path = xstrdup(path);
	s->buffer = xmalloc(CHUNK);
	s->capacity = CHUNK;
	if (S_ISREG(st.st_mode) && lseek(s->fd, 0, SEEK_CUR) == 0) {
		*ret = TAKE(s);
		return 0;
	}
	copy = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (copy < 0)
		return error_os(err, -errno,
			"cannot make a temporary file in '%s'; TMPDIR names another directory", directory);
	while ((n = read(s->fd, s->buffer, CHUNK)) > 0)
		for (ssize_t done = 0, r; done < n; done += r) {
			r = write(copy, s->buffer + done, (size_t)(n - done));
			if (r < 0)
				return error_os(err, -errno,
					"cannot copy '%s' to '%s'; TMPDIR names another directory", path,
					directory);
		}
	if (n < 0)
		return error_os(err, -errno, "cannot read '%s'", path);
	close(s->fd);
	s->fd = TAKE_FD(copy);
	*ret = TAKE(s);
	return 0;
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
static int not_json(struct json_stream *s, int64_t at, const char *what, struct error *err)
{
	int line = 1, column = 1;
	int64_t done = 0;
	char bytes[4096];
	ssize_t n;

	if (s->e)
		return error_os(err, -s->e, "cannot read '%s'", s->path);
	while (done < at && (n = pread(s->fd, bytes, sizeof(bytes), done)) > 0)
		for (ssize_t i = 0; i < n && done < at; i++, done++) {
			column = bytes[i] == '\n' ? 1 : column + 1;
			line += bytes[i] == '\n';
		}
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

static inline bool is_blank(int c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

char json_stream_peek(struct json_stream *s)
{
	while (s->at < s->end || read_more(s, s->at)) {
		if (!is_blank(s->buffer[s->at]))
			return s->buffer[s->at];
		s->at++;
	}
	return '\0';
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

/* Goes past the next value; if `keep`, it is then the `size` bytes before `at`. */
static int pass_value(struct json_stream *s, bool keep, struct error *err)
{
	static const bool special[256] = {
		['"'] = true, ['\\'] = true, ['{'] = true, ['}'] = true, ['['] = true, [']'] = true};
	int c = (unsigned char)json_stream_peek(s);
	bool quoted = false, word = c != '"' && c != '{' && c != '[';
	size_t at = s->at, *begin = keep ? &at : NULL;
	int64_t depth = 0;

	if (!c || strchr("]},:", c))
		return refuse_next(s, "a value", err);
	while (word && (c = next_byte(s, begin)) != EOF)
		if (is_blank(c) || c == ',' || c == '}' || c == ']' || c == ':' || c == '\0') {
			s->at--;
			break;
		}
	c = word ? '\0' : next_byte(s, begin);
	while (!word && c != EOF) {      /* to the end of a text, or of all between brackets */
		if (quoted && c == '\\') /* if there is no next byte, there is none after it either */
			next_byte(s, begin);
		if (c == '"')
			quoted = !quoted;
		else if (!quoted)
			depth += (c == '{' || c == '[') - (c == '}' || c == ']');
		if (!quoted && depth <= 0)
			break;
		while (s->at < s->end && !special[(unsigned char)s->buffer[s->at]]) /* most bytes */
			s->at++;
		c = next_byte(s, begin);
	}
	if (c == EOF || s->e)
		return refuse_next(s, "the end of a value", err);
	s->size = s->at - at;
	s->first = false;
	return 0;
}

int json_stream_skip(struct json_stream *s, struct error *err)
{
	return pass_value(s, false, err);
}

int json_stream_text(struct json_stream *s, const char **ret, size_t *ret_size, struct error *err)
{
	int r = pass_value(s, true, err);

	*ret = s->buffer + s->at - s->size;
	*ret_size = s->size;
	return r;
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

bool json_text_is_plain(const char *text, size_t size)
{
	if (*text != '"')
		return false;
	for (size_t i = 1; i < size - 1; i++)
		if (text[i] < ' ' || text[i] > '~' || text[i] == '\\')
			return false;
	return true;
}

int json_stream_member(struct json_stream *s, const char **ret_name, struct error *err)
{
	_cleanup_(json_decrefp) json_t *name = NULL;
	const char *text;
	size_t size;
	int r = read_comma(s, '}', err);

	if (r <= 0)
		return r;
	if (json_stream_peek(s) != '"')
		return refuse_next(s, "the name of a member", err);
	r = json_stream_text(s, &text, &size, err);
	if (r == 0 && !json_text_is_plain(text, size))
		r = json_stream_parse(s, &name, err);
	if (r < 0)
		return r;
	if (name) {
		free(s->name);
		s->name = xstrdup(json_string_value(name));
	} else {
		s->name = xrealloc(s->name, size - 1);
		*(char *)mempcpy(s->name, text + 1, size - 2) = '\0';
	}
	if (json_stream_peek(s) != ':')
		return refuse_next(s, "':'", err);
	s->at++;
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
	s->size = 0;
	if (place < s->offset || place > s->offset + (int64_t)s->end) {
		s->offset = place;
		s->end = 0;
	}
	s->at = (size_t)(place - s->offset);
}
