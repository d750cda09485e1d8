/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of a document in a file that a user names: gzip is unpacked, and a byte order mark is
 * left out. Other encodings and archives are refused, with the command that converts them. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <stddef.h>
#include <sys/types.h>

struct input;

/* "-" is standard input. */
int input_open(struct input **ret, const char *path, struct error *err);
void input_free(struct input *input);
DEFINE_FREEP(input)

/* As interrupt_read(): 0 is the end. A failure has a sentence. */
ssize_t input_read(struct input *input, void *buffer, size_t size, struct error *err);

/* Where the document begins in the file, if it stands there as it is, from the beginning of a
 * regular file; otherwise -1. */
off_t input_plain(const struct input *input);
/* The descriptor of the file becomes the caller's. */
int input_take(struct input *input);
