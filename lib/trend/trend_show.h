/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze trend: how a series of runs and its levels are shown, on the screen, as documents and
 * as a picture. */
#pragma once

#include "lib/trend/series.h"

struct trend_options {
	bool seconds, json;
	/* Files: NULL: none; "-": standard output. */
	const char *csv;      /* a row for each run */
	const char *markdown; /* the table of levels */
	const char *output;   /* a picture; NULL: none */
	bool script;          /* its gnuplot file is kept */
	struct comparison_rules rules;
	struct trend_reference since;
};

/* Shows it as the options say. The status of the verdict, with a sentence where that is no
 * success. */
int trend_show(struct book *book, const char *name, const struct trend_options *options,
	struct error *err);
