/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The error message: see error.h. */

#include "lib/base/base.h"

#include <stdarg.h>

/* The sentence, and after ": " what is below it or NULL. */
static void error_write(struct error *err, const char *below, const char *format, va_list args)
{
	int n = vsnprintf(err->text, sizeof(err->text), format, args);

	if (below && n >= 0 && (size_t)n < sizeof(err->text))
		snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %s", below);
}

int error_say(struct error *err, int r, const char *format, ...)
{
	va_list args;

	if (!err)
		return r;
	va_start(args, format);
	error_write(err, NULL, format, args);
	va_end(args);
	err->lines[0] = '\0';
	return r;
}

int error_os(struct error *err, int r, const char *format, ...)
{
	char words[128];
	va_list args;

	if (!err)
		return r;
	va_start(args, format);
	error_write(err, r == -EINTR ? "interrupted" : strerror_r(-r, words, sizeof(words)), format,
		args);
	va_end(args);
	err->lines[0] = '\0';
	return r;
}

int error_prefix(struct error *err, int r, const char *format, ...)
{
	char said[sizeof(err->text)];
	va_list args;

	if (!err)
		return r;
	memcpy(said, err->text, sizeof(said));
	va_start(args, format);
	error_write(err, said, format, args);
	va_end(args);
	return r;
}
