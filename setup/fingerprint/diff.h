/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares fingerprints. */
#pragma once

#include "lib/base/error.h"
#include "lib/protocol/environment_diff.h"

#include <jansson.h>

/* The fingerprint of this machine as a document; the caller drops it. */
int diff_now(json_t **ret, struct error *err);

int diff_print(const struct differences *differences, struct error *err);
json_t *diff_json(const struct differences *differences); /* an array; NULL: no memory */

/* Compares two documents, each in a file that "fingerprint --json" wrote, or "now". A status of tool.h. */
int diff_files(const char *before_name, const char *now_name, struct error *err);
