/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LaTeX: texts in which no character has a meaning, and columns of numbers as the package siunitx
 * aligns them. */
#pragma once

#include "lib/base/base.h"

void latex_put_text(FILE *file, const char *text);

/* A column of numbers with one unit, which stands in the heading. */
struct latex_numbers {
	bool found;       /* each text is a number with its unit, or "-" */
	const char *unit; /* as texts have it: "ms", "%"; "": none */
	int power;        /* of ten, of the unit of time, in seconds */
	bool negative;
	size_t digits, decimals; /* most before and behind the point */
};

/* n texts: "127.9 ms", "3.6 %", "12", "-". Times have the smallest of their units. */
struct latex_numbers latex_numbers_of(const char *const *texts, size_t n);

/* "S[table-format=3.2]" */
void latex_put_format(FILE *file, const struct latex_numbers *numbers);
/* " (\unit{\milli\second})"; nothing if there is no unit. */
void latex_put_unit(FILE *file, const struct latex_numbers *numbers);
/* Any text; a unit of time at its end is one of siunitx, too. */
void latex_put_quantity(FILE *file, const char *text);
/* One of the texts, without its unit. */
void latex_put_number(FILE *file, const struct latex_numbers *numbers, const char *text);
