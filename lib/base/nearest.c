/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nearest of several words: see nearest.h. */
#include "lib/base/nearest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 32 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many characters to insert, delete, replace or exchange with their neighbour (optimal string alignment). */
static size_t count_edits(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), d[LONGEST + 1][LONGEST + 1];

	if (n > LONGEST || m > LONGEST)
		return LONGEST;
	for (size_t i = 0; i <= n; i++)
		for (size_t k = 0; k <= m; k++) {
			if (i == 0 || k == 0) {
				d[i][k] = i + k;
				continue;
			}
			d[i][k] = least(d[i - 1][k], d[i][k - 1]) + 1;
			d[i][k] = least(d[i][k], d[i - 1][k - 1] + (a[i - 1] != b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				d[i][k] = least(d[i][k], d[i - 2][k - 2] + 1);
		}
	return d[n][m];
}

void nearest_try(struct nearest *nearest, const char *word)
{
	size_t len = strlen(nearest->typed), edits = count_edits(nearest->typed, word);

	if (len >= 3 && !strncmp(nearest->typed, word, len)) /* its beginning */
		edits = 1;
	if (edits <= (len + 1) / 3 && (!nearest->found || edits < nearest->edits)) {
		nearest->found = word;
		nearest->edits = edits;
	}
}

const char *nearest_hint(struct nearest *nearest, const char *before)
{
	if (nearest->found)
		snprintf(nearest->hint, sizeof(nearest->hint), " (did you mean '%s%s'?)", before,
			nearest->found);
	return nearest->hint;
}
