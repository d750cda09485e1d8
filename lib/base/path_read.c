/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small files of the kernel: see path_read.h. */
#include "lib/base/path_read.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>

static int vread_text(int root_fd, struct error *err, char **ret, const char *format, va_list args)
{
	char path[PATH_MAX];
	int r = vsnprintf(path, sizeof(path), format, args) < PATH_MAX ? 0 : -ENAMETOOLONG;

	if (r == 0)
		r = text_read_file(root_fd, path, ret);
	return r < 0 && err ? error_os(err, r, "cannot read %s", path) : r;
}

static int vread_int(int root_fd, struct error *err, int64_t *ret, const char *format, va_list args)
{
	_cleanup_(freep) char *text = NULL;
	struct error ignored;
	int r = vread_text(root_fd, err, &text, format, args);

	return r < 0 ? r : text_parse_int(text, "the file", INT64_MIN, INT64_MAX, ret, err ?: &ignored);
}

int path_read_text(int root_fd, struct error *err, char **ret, const char *format, ...)
{
	va_list args;
	int r;

	va_start(args, format);
	r = vread_text(root_fd, err, ret, format, args);
	va_end(args);
	return r;
}

int path_read_int(int root_fd, struct error *err, int64_t *ret, const char *format, ...)
{
	va_list args;
	int r;

	va_start(args, format);
	r = vread_int(root_fd, err, ret, format, args);
	va_end(args);
	return r;
}

char *path_text(int root_fd, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vread_text(root_fd, NULL, &text, format, args) < 0)
		text = NULL;
	va_end(args);
	return text;
}

int64_t path_int(int root_fd, const char *format, ...)
{
	int64_t value;
	va_list args;

	va_start(args, format);
	if (vread_int(root_fd, NULL, &value, format, args) < 0)
		value = -1;
	va_end(args);
	return value;
}

int path_open(int root_fd, int flags, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int n, fd;

	va_start(args, format);
	n = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (n >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = openat(root_fd, text_below(root_fd, path), flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
