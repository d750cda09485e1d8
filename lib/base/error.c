/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The error message: see error.h. */

#include "lib/base/base.h"

#include <stdarg.h>

int error_say(struct error *err, int r, const char *format, ...)
{
	va_list ap;

	if (!err)
		return r;
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	err->lines[0] = '\0';
	return r;
}

int error_os(struct error *err, int r, const char *format, ...)
{
	char words[128];
	size_t len;
	va_list ap;

	if (!err)
		return r;
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	err->lines[0] = '\0';
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", strerror_r(-r, words, sizeof(words)));
	return r;
}

int error_prefix(struct error *err, int r, const char *format, ...)
{
	char said[sizeof(err->text)];
	size_t len;
	va_list ap;

	if (!err)
		return r;
	memcpy(said, err->text, sizeof(said));
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", said);
	return r;
}
