/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The member "sentinels" of a sample in an emp-run document. */
#pragma once

#include "lib/record/book/book_counters.h"
#include "lib/record/document/json_fields.h"

/* What is known; NULL: no memory. */
json_t *document_make_counters(const struct counters *counters);

/* Nothing is known of a sample without the member. */
int document_parse_counters(
	const json_t *sample, const struct place *at, struct counters *ret, struct error *err);
