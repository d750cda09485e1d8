/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results as JSON: hyperfine's members, then those of EMP ("emp"), the comparisons and
 * the duet. */
#pragma once

#include "measure/session.h"

int export_json_write(const struct session *session, FILE *file, struct error *err);
