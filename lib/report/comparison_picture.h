/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The picture of a comparison: the samples of each program in the order of time with what was
 * discarded, the mean of each with its interval, and the ratio to the reference with its interval.
 * plots/comparison.gp draws it. */
#pragma once

#include "lib/protocol/comparison.h"
#include "lib/protocol/discard.h"

/* The texts and the arrays are the caller's. */
struct pictured_program {
	const char *name;
	const struct comparison_side *sides; /* by clock; NULL: its samples are not drawn */
	const struct clock_discarding *means[N_COMPARISON_CLOCKS]; /* NULL: of the samples kept */
	const struct comparison *comparisons[N_COMPARISON_CLOCKS]; /* NULL: none */
	const struct discarding *discarding; /* who disturbed its samples; NULL: not known */
};

/* The first program is the reference, unless each has one of its own: then the title names them,
 * and there are only ratios. */
struct comparison_picture {
	const char *title; /* NULL: by the programs */
	struct pictured_program *programs;
	size_t n;
	unsigned clocks; /* that are drawn, a bit for each */
};

/* As plot_drawing. */
int comparison_picture_draw(
	const struct comparison_picture *picture, const char *path, bool script, struct error *err);
