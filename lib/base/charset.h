/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is printed in a locale whose characters are not UTF-8.
 *
 * All text in memory is UTF-8. On its way to standard output and standard error it becomes text of
 * the locale: EMP's own signs are ASCII there ("+-", "..."), and a character that the locale does
 * not have is \xNN for each of its bytes. Files are UTF-8. */
#pragma once

#include "lib/base/base.h"

/* Sets the locale's characters by the environment; from now on standard output and error are
 * converted where that is necessary. */
void charset_begin(void);

/* Whether standard output and error are converted. */
bool charset_converts(void);

/* As fileno(3), also for a stream that is converted. */
int charset_fileno(FILE *file);

/* How many columns the character of `size` bytes takes when it is printed. */
size_t charset_columns(const char *character, size_t size);

/* `text` as the user typed it, or as a name of a file, in UTF-8: bytes that are not UTF-8 are taken
 * for characters of the locale if they are printable there, and stay otherwise. The caller frees
 * it. NULL for NULL. */
char *charset_decode(const char *text);

/* output_file_open for a document of text: on standard output it is converted. */
int charset_document_open(struct output_file *ret, const char *path, struct error *err);
