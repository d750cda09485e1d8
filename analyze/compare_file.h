/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An operand of emp-analyze compare that is no run: "FILE", or "FILE:N" for the N-th result in
 * it. */
#pragma once

#include "analyze/compare_document.h"

/* A colon without a number after it is a part of the name. What emp-measure discarded by name stays
 * discarded. */
struct compare_file {
	char *path;
	int64_t number; /* 0: none is named */
	json_t *json;
	struct compare_document document;
};

void compare_file_clear(struct compare_file *file);

/* Whether an operand is a file: 1; or a run, by its number or name: 0. What is both is refused. */
int compare_names_file(const char *operand, struct error *err);

int compare_file_open(const char *text, struct compare_file *ret, struct error *err);
