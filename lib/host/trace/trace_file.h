/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace as a file that trace-cmd and KernelShark read (trace.dat, version 6: trace-cmd.dat.v6(5)). Its pages wait in unnamed
 * files, because the file has the pages of one CPU after those of another. */
#pragma once

#include "lib/base/error.h"

#include <stddef.h>

struct trace_file;

/* `directory`: where tracefs is mounted. The file is made now, so that a wrong path is known before the run. */
int trace_file_new(struct trace_file **ret, const char *path, const char *directory, const char *clock,
	struct error *err);
void trace_file_free(struct trace_file *file);

int trace_file_add(struct trace_file *file, int cpu, const void *page, size_t size, struct error *err);
/* Writes the file; before that, an old one of its name is as it was. */
int trace_file_finish(struct trace_file *file, struct error *err);
