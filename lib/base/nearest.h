/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "Did you mean": which of the known words a mistyped one is most like. */
#pragma once

#include <stddef.h>

struct nearest {
	const char *typed, *found; /* found: NULL if none is close */
	size_t edits;
	char hint[96];
};

void nearest_try(struct nearest *nearest, const char *word);

/* " (did you mean 'WORD'?)", with `before` in front of the word; "" if none is close. */
const char *nearest_hint(struct nearest *nearest, const char *before);
