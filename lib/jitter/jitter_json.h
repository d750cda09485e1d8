/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A jitter run as the members of an emp-jitter document: see emp-documents(5). */
#pragma once

#include "lib/base/json.h"
#include "lib/jitter/jitter_load.h"

/* NULL: no memory. */
json_t *jitter_as_json(const struct jitter_run *run);

/* The rows of a table, largest first, each with its remedy. */
json_t *jitter_table_as_json(const struct jitter_run *run, const struct jitter_table *table);
