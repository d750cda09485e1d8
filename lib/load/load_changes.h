/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In what two loads differ. */
#pragma once

#include "lib/base/error.h"
#include "lib/load/load.h"

#include <stdbool.h>

/* "coordination was constant-load, is before; line 3 of the file was 'slaves = 4', is 'slaves = 5'"; the caller frees it. NULL if
 * they are the same. */
int load_changes(const struct load_row *before, const struct load_row *now, char **ret, struct error *err);
bool load_is_same(const struct load_row *a, const struct load_row *b);
