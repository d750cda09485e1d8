/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --help prints: made from the rows of verbs and options, wrapped to the terminal and to 80 columns. */
#pragma once

#include "lib/base/tool.h"

#include <stdio.h>

/* verb NULL: the tool as a whole. */
void tool_help(FILE *file, const struct tool *tool, const struct verb *verb);

/* "emp-analyze show [OPTION...] RUN"; the caller frees it. NULL: no memory. */
char *tool_usage(const struct tool *tool, const struct verb *verb);
