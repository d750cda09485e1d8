/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that is written for the user: its old content stays until the new is complete. The new content goes to a file
 * of a random name in the same directory, which is then renamed and has the mode and the owner of the old file.
 *
 * A symbolic link stays, and the file that it names is replaced. Pipes, devices, standard output and descriptors
 * (/dev/fd/N) are written directly, and so is a file whose owner cannot be kept or in whose directory no file can be made.
 * Links and files of other users are refused where paths_follow() says so. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <stdbool.h>

struct output_file {
	FILE *file; /* to write to */
	char *target;
	char *fresh;   /* NULL: written directly */
	bool in_place; /* its old content is there until the new is complete, and may be longer */
};

/* Whether it is a pipe, a device, standard output ("-" too) or a descriptor: what can be written only once. */
bool output_file_is_stream(const char *path);

int output_file_open(struct output_file *ret, const char *path, struct error *err);

/* Puts it in its place. Without this, output_file_clear leaves the old file as it was. */
int output_file_commit(struct output_file *output, struct error *err);
void output_file_clear(struct output_file *output);
