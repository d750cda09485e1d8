/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results as a table: CSV, Markdown, AsciiDoc or Org mode. hyperfine's columns come
 * first, as in hyperfine. */
#pragma once

#include "measure/session.h"
#include "lib/base/table.h"

int export_table_write(
	const struct session *session, enum table_format format, FILE *file, struct error *err);
