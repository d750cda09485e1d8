/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small files of the kernel, whose path is a format: path_read_int(root_fd, err, &value, "/sys/block/%s/size", name). What may
 * be missing without being an error is read by path_text() or path_int().
 *
 * `root_fd`: AT_FDCWD, or a directory below which absolute paths are, too, so that captured machines replay. */
#pragma once

#include "lib/base/error.h"

#include <stdint.h>

/* The whole file without newlines at its end; the caller frees it. -errno with a sentence; err NULL: without. */
int path_read_text(int root_fd, struct error *err, char **ret, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A file that holds one whole number; -EINVAL: it holds something else. */
int path_read_int(int root_fd, struct error *err, int64_t *ret, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The same for what is not known where it cannot be read: NULL, or -1. */
char *path_text(int root_fd, const char *format, ...) __attribute__((format(printf, 2, 3)));
int64_t path_int(int root_fd, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A descriptor of the file, closed on exec; -errno without a sentence. */
int path_open(int root_fd, int flags, const char *format, ...) __attribute__((format(printf, 3, 4)));
