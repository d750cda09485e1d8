/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The differences between two fingerprints as rows, which the verbs fingerprint and verify show. */
#pragma once

#include "lib/base/table.h"
#include "lib/protocol/environment_diff.h"

/* The differences, and as rows of a table or of an array. */
struct differences fingerprint_compare(
	const json_t *before, const json_t *now, struct table **ret_list);
