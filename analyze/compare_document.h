/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The times in a document that hyperfine, pyperf or emp-measure wrote. */
#pragma once

#include "lib/base/json.h"
#include "lib/protocol/comparison.h"
#include "lib/record/run.h"

/* One side of a comparison; its times by enum comparison_clock. That of COMPARISON_PT is empty where only elapsed times are known. */
struct compare_input {
	char *name;
	struct comparison_side sides[N_COMPARISON_CLOCKS];
	struct discarding
		discarding; /* of a run of the book; of a result in a file only the mark of its profile, and run.id is 0 */
	char *digest;         /* of the environment; NULL: unknown */
	char *profile;        /* that discarded samples of it; NULL: none */
	bool profile_missing; /* from the book */
	struct peak_memory memory;
};

void compare_input_clear(struct compare_input *input);

/* `number` is that of the result, from 1; 0: there must be one result only, else -EINVAL, and the sentence lists them.
 * `path` is for messages. */
int compare_document_read(struct compare_input *ret, const json_t *document, const char *path, int64_t number,
	struct error *err);
