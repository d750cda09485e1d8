/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files by name: the path of the book; which paths are safe, one policy for books, journals,
 * documents and all other files that EMP opens by a name; files that are written for the user;
 * small files of the kernel. */
#pragma once

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <sys/stat.h>

/* The user's own book: /var/lib/emp/emp.db for root, $XDG_DATA_HOME/emp/emp.db
 * (~/.local/share/emp/emp.db) otherwise. The caller frees it. */
int paths_default_book(char **ret, struct error *err);

/* The file that `option` (--db), else EMP_DB, else the default names. Empty means not given. */
int paths_book(const char *option, char **ret, struct error *err);

/* The lab book that is in use. Neither it nor a file that SQLite or EMP keeps beside it may be read
 * or written as a document: when any descriptor of such a file is closed, the locks of this process
 * on it are gone (fcntl(2)). */
void paths_keep_apart(const char *book);
/* -EBUSY with a sentence: `path` is one of these files. standard_fd: the descriptor that "-" stands
 * for; -1: `path` is a file. */
int paths_check_apart(const char *path, int standard_fd, struct error *err);

/* The file next to `book` that holds the constant of INC as text for `inc`; the caller frees it. */
static inline char *paths_inc_constant(const char *book)
{
	return text_format("%s.inc", book);
}

enum path_use {
	PATH_READ,
	PATH_FIND, /* to read a file that is found by its name, and that nobody named */
	PATH_WRITE,
};
/* -EACCES with a sentence: a link in the path (or, to find and to write, the file) belongs to
 * another user, in a directory that all may write to, where anybody can put it to mislead. *ret:
 * the path without links, which the caller frees; NULL: not wanted. */
int paths_check(const char *path, enum path_use use, char **ret, struct error *err);
/* What is there may be opened without waiting for anybody: it is a file, or there is nothing.
 * -EINVAL with a sentence; a link is refused, too. */
int paths_check_kind(const char *path, struct error *err);

/* The files below root_fd (as for path_text) that match a pattern
 * ("/sys/devices/system/cpu/cpu[0-9]" followed by a star), in the order of the numbers in their
 * names. */
struct paths {
	char **items;
	size_t n;
};

struct paths paths_expand(int root_fd, const char *pattern);
void paths_clear(struct paths *paths);
/* How many there are. */
size_t paths_count(int root_fd, const char *pattern);

/* A file that is written for the user: its old content stays until the new is complete. The new
 * content goes to a file of a random name in the same directory, which is then renamed and has the
 * mode and the owner of the old file.
 *
 * A symbolic link stays, and the file that it names is replaced. Pipes, devices, standard output
 * and descriptors (/dev/fd/N) are written directly, and so is a file whose owner cannot be kept or
 * in whose directory no file can be made. Links and files of other users are refused where
 * paths_follow() says so. */
struct output_file {
	FILE *file; /* to write to */
	char *target;
	char *fresh;   /* NULL: written directly */
	bool in_place; /* its old content is there until the new is complete, and may be longer */
};

/* 0, or -errno if not all that was ever printed could be written. The cause of an earlier failure
 * is not kept by the C library: one more byte finds it out, or it is -EIO. */
int stream_flush(FILE *file);

/* Whether it is the name of standard output: "-" and others. */
bool output_file_is_standard(const char *path);

/* For documents on standard output: until output_standard_end, all else that is printed goes to
 * standard error, also by programs that inherit it. -errno with a sentence. */
int output_standard_keep(int *ret_fd, struct error *err);
void output_standard_end(int fd);

/* Whether two exports would write to one file. Devices such as /dev/null are not shared: they take
 * several. */
bool output_is_shared(const char *a, const char *b);

/* -EINVAL with a sentence if two of the exports would go to the same file; devices such as
 * /dev/null take several. NULL: none. */
int output_files_apart(const char *const *paths, size_t n, struct error *err);

/* Whether it is a pipe, a device, standard output ("-" too) or a descriptor: what can be written
 * only once. */
bool output_file_is_stream(const char *path);

int output_file_open(struct output_file *ret, const char *path, struct error *err);

/* Puts the new content in the place of the old. Without this, output_file_clear leaves the old file
 * as it was. */
int output_file_commit(struct output_file *output, struct error *err);
void output_file_clear(struct output_file *output);

/* The whole of a file that a user names, as path_read_text; -errno without a sentence. -EINTR: a
 * signal ended the wait for a pipe (interrupt.h). */
int file_read_text(const char *path, char **ret);

/* Small files of the kernel, whose path is a format: path_read_text(root_fd, err, &value,
 * "/sys/block/%s/size", name). What may be missing without being an error is read by path_text() or
 * path_int().
 *
 * `root_fd`: AT_FDCWD, or a directory below which absolute paths are, too, so that captured
 * machines replay. */

/* The whole file without newlines at its end; the caller frees it. -errno with a sentence. */
int path_read_text(int root_fd, struct error *err, char **ret, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The same for values that may be missing: the text of the file, or the whole number in it. NULL,
 * or -1: it cannot be read. */
char *path_text(int root_fd, const char *format, ...) __attribute__((format(printf, 2, 3)));
int64_t path_int(int root_fd, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A descriptor of the file, closed on exec; -errno without a sentence. */
int path_open(int root_fd, int flags, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Writes the value with one write(2), as the kernel wants it; -errno without a sentence. */
int path_write(int root_fd, const char *value, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
