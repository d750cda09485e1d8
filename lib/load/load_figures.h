/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pictures of a load: the rate of work of each run, when each worker worked in one run, and
 * what the workers waited for. plots/load-*.gp draw them. */
#pragma once

#include "lib/load/load_comparison.h"

enum load_picture {
	LOAD_RATES,      /* the rate of work of each run, in all and by script */
	LOAD_TIMELINE,   /* when each worker worked in one run of the load */
	LOAD_PAGE_WAITS, /* the histogram of page waits */
};

/* sample: the run of the load whose timeline is drawn; 0: the last. script: keeps the gnuplot file.
 * -ENOENT or -ENODATA, with a sentence: there is nothing to draw. */
int load_draw(const struct load_reports *reports, enum load_picture picture, int64_t sample,
	const char *path, bool script, struct error *err);
