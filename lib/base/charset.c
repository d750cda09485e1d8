/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locales whose characters are not UTF-8: see charset.h. */
#include "lib/base/charset.h"

#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <wchar.h>
#include <wctype.h>

enum { UTF8_MAX = 4, ESCAPED = 4 /* \xNN */, CONVERTED_MAX = MB_LEN_MAX > 16 ? MB_LEN_MAX : 16 };

/* The locale's characters; CHARSET_UTF8 also before charset_begin. */
static enum { CHARSET_UTF8, CHARSET_ASCII, CHARSET_OTHER } charset;

bool charset_converts(void)
{
	return charset != CHARSET_UTF8;
}

/* Characters that EMP itself prints, and those that look like them, as they are printed in every
 * locale that is not UTF-8. */
static const struct {
	wchar_t character;
	const char *ascii;
} signs[] = {
	{L'±', "+-"},
	{L'×', "x"},
	{L'…', "..."},
	{L'µ', "u"},
	{L'μ', "u"},
	{L'σ', "sd"},
	{L'−', "-"},
	{L'–', "-"},
	{L'—', "-"},
	{L'≤', "<="},
	{L'≥', ">="},
	{L'°', ""},
	{L'²', "^2"},
	{L'→', "->"},
	{L'\u00a0', " "},
};

/* The number of a character of UTF-8. */
static wchar_t decode_utf8(const char *text, size_t size)
{
	wchar_t c = size == 1 ? text[0] : text[0] & (0x7f >> size);

	for (size_t i = 1; i < size; i++)
		c = c << 6 | (text[i] & 0x3f);
	return c;
}

static size_t encode_utf8(wchar_t c, char *to)
{
	size_t size = 4;

	if (c < 0x80)
		size = 1;
	else if (c < 0x800)
		size = 2;
	else if (c < 0x10000)
		size = 3;
	for (size_t i = size; i-- > 1; c >>= 6)
		to[i] = (char)(0x80 | (c & 0x3f));
	to[0] = (char)(size == 1 ? c : (0xf00 >> size & 0xff) | c);
	return size;
}

/* A character of UTF-8 as it is printed. Returns its bytes. */
static size_t convert(const char *text, size_t size, char to[CONVERTED_MAX], size_t *ret_columns)
{
	wchar_t c = decode_utf8(text, size);
	mbstate_t state = {};
	size_t n = SIZE_MAX;

	for (size_t i = 0; i < ELEMENTS(signs); i++)
		if (c == signs[i].character) {
			*ret_columns = n = strlen(signs[i].ascii);
			memcpy(to, signs[i].ascii, n);
			return n;
		}
	if (c < 0x80) {
		to[0] = (char)c;
		n = 1;
	} else if (charset == CHARSET_OTHER) {
		n = wcrtomb(to, c, &state);
	}
	if (n <= MB_LEN_MAX) {
		*ret_columns = wcwidth(c) > 0 ? (size_t)wcwidth(c) : 0;
		return n;
	}
	for (size_t i = 0; i < size; i++) {
		char escaped[ESCAPED + 1];

		snprintf(escaped, sizeof(escaped), "\\x%02x", (unsigned char)text[i]);
		memcpy(to + i * ESCAPED, escaped, ESCAPED);
	}
	*ret_columns = size * ESCAPED;
	return size * ESCAPED;
}

size_t charset_columns(const char *character, size_t size)
{
	char to[CONVERTED_MAX];
	size_t columns;

	convert(character, size, to, &columns);
	return columns;
}

char *charset_decode(const char *text)
{
	size_t length = text ? strlen(text) : 0;
	char *made, *to;
	mbstate_t state = {};
	wchar_t c;

	if (!text || charset != CHARSET_OTHER)
		return text_copy(text);
	made = to = xmalloc(length * UTF8_MAX + 1);
	while (*text) {
		size_t size = text_utf8_size(text), n;

		if (size == 0) {
			n = mbrtowc(&c, text, strlen(text), &state);
			if (n > 0 && n <= MB_LEN_MAX && iswprint((wint_t)c)) {
				to += encode_utf8(c, to);
				text += n;
				continue;
			}
			state = (mbstate_t){};
			size = 1;
		}
		to = mempcpy(to, text, size);
		text += size;
	}
	*to = '\0';
	return made;
}

/* A stream that converts what is written to it. */
struct charset_stream {
	FILE *to;
	int fd;                   /* of `to` */
	char begun[UTF8_MAX + 1]; /* of a character that is not complete */
	size_t n_begun;
};

/* The size of a character that begins with this byte; 1: no character begins with it. */
static size_t expected_size(char first)
{
	unsigned char c = (unsigned char)first;

	if (c >= 0xf0 && c < 0xf8)
		return 4;
	if (c >= 0xe0 && c < 0xf0)
		return 3;
	return c >= 0xc0 && c < 0xe0 ? 2 : 1;
}

/* Bytes that are not UTF-8 are \xNN, as in all that EMP prints. */
static void put_begun(struct charset_stream *s)
{
	char converted[CONVERTED_MAX];
	size_t columns;

	s->begun[s->n_begun] = '\0';
	if (text_utf8_size(s->begun) == s->n_begun) {
		fwrite(converted, 1, convert(s->begun, s->n_begun, converted, &columns), s->to);
	} else {
		for (size_t i = 0; i < s->n_begun; i++)
			fprintf(s->to, s->begun[i] & 0x80 ? "\\x%02x" : "%c",
				(unsigned char)s->begun[i]);
	}
	s->n_begun = 0;
}

static ssize_t charset_write(void *data, const char *bytes, size_t n)
{
	struct charset_stream *s = data;

	for (size_t i = 0; i < n; i++) {
		bool continues = (bytes[i] & 0xc0) == 0x80;

		if (s->n_begun > 0 && !continues)
			put_begun(s);
		s->begun[s->n_begun++] = bytes[i];
		if (s->n_begun == expected_size(s->begun[0]))
			put_begun(s);
	}
	return fflush(s->to) == 0 ? (ssize_t)n : 0; /* as fopencookie(3) wants it */
}

static int charset_close(void *data)
{
	struct charset_stream *s = data;
	int r = fclose(s->to);

	free(s);
	return r;
}

/* *ret_cookie is freed when the stream is closed. */
static FILE *charset_stream(FILE *to, struct charset_stream **ret_cookie)
{
	struct charset_stream *s = *ret_cookie = xcalloc(1, sizeof(*s));
	FILE *file;

	*s = (struct charset_stream){.to = to, .fd = fileno(to)};
	file = fopencookie(
		s, "w", (cookie_io_functions_t){.write = charset_write, .close = charset_close});
	if (!file)
		free(s);
	return file;
}

/* The standard streams that are converted; NULL: they are not. They are never closed: LeakSanitizer
 * sees a leak unless their cookies are known here. */
static FILE *standard_streams[STDERR_FILENO + 1];
static struct charset_stream *standard_cookies[STDERR_FILENO + 1];

int charset_fileno(FILE *file)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (file == standard_streams[fd])
			return fd;
	return fileno(file);
}

/* How libc buffers this descriptor. */
static int standard_buffering(int fd)
{
	if (fd == STDERR_FILENO)
		return _IONBF;
	return isatty(fd) ? _IOLBF : _IOFBF;
}

void charset_begin(void)
{
	FILE **const streams[] = {[STDOUT_FILENO] = &stdout, [STDERR_FILENO] = &stderr};
	const char *name;

	setlocale(LC_CTYPE, "");
	name = nl_langinfo(CODESET);
	charset = CHARSET_OTHER;
	if (!strcmp(name, "UTF-8"))
		charset = CHARSET_UTF8;
	else if (!strcmp(name, "ANSI_X3.4-1968"))
		charset = CHARSET_ASCII;
	if (!charset_converts())
		return;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		FILE *file;

		if (fileno(*streams[fd]) != fd)
			continue;
		file = charset_stream(*streams[fd], &standard_cookies[fd]);
		if (!file)
			continue;
		setvbuf(file, NULL, standard_buffering(fd), BUFSIZ);
		*streams[fd] = standard_streams[fd] = file;
	}
}

int charset_document_open(struct output_file *ret, const char *path, struct error *err)
{
	int r = output_file_open(ret, path, err);
	struct charset_stream *cookie;
	FILE *file;

	if (r < 0 || !charset_converts() || !output_file_is_standard(path))
		return r;
	file = charset_stream(ret->file, &cookie);
	ret->file = file ?: ret->file;
	return 0;
}
