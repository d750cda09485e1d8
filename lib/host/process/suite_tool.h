/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Another tool of the suite, run as a user would run it: the one in the folder of this executable, or in the build
 * tree. Tools are separate programs because the licences of their libraries must not meet in one binary
 * (GPL-2-only libcpupower in emp-setup, GPL-3 GSL in the others). */
#pragma once

#include "lib/base/error.h"

/* Runs `tool` (such as "emp-setup") with argv (argv[0] is the tool, ends with NULL), and gives its standard
 * output (the caller frees it) and exit status. Standard error is ours. */
int suite_tool_run(
	const char *tool, char *const *argv, char **ret_output, int *ret_status, struct error *err);

/* The file of a library of the suite, such as "libemp-clock-preload.so"; the caller frees it. -ENOENT with a sentence. */
int suite_library_find(const char *name, char **ret, struct error *err);

/* The file of `tool`; the caller frees it. -ENOENT with a sentence. */
int suite_tool_find(const char *tool, char **ret, struct error *err);
