/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the samples of each cause are marked, alike in every picture; the data of the pictures, and the command
 * that plots them. */
#pragma once

#include "analyze/figure.h"

enum { N_CAUSES = CAUSE_DAEMON + FIGURE_DAEMONS };

/* How many points each cause has in a picture. */
struct marks {
	size_t n[N_CAUSES];
};

/* Data blocks of pairs (x, y: ETs beyond the central median, in seconds) or of single samples (x: number). */
struct marks marks_of_pairs(const struct figure *f, struct plot *plot);
struct marks marks_of_samples(const struct figure *f, struct plot *plot);

/* "plot" with all causes that have points. titles: with their names in the key. */
void marks_plot(const struct figure *f, const struct marks *marks, bool titles, struct plot *plot);

/* The same without points: a key alone. */
void marks_plot_key(const struct figure *f, const struct marks *marks, struct plot *plot);

/* What the axes show: "ET", or "W". */
const char *time_name(const struct figure *f);

/* ET or W of a sample beyond the median of the central cluster, in seconds. */
double beyond_median(const struct figure *f, int64_t et_ns);

/* How far the central cluster reaches from its median, in seconds; if it is a point, what matters to the analysis. */
double central_reach(const struct figure *f);

/* "128.2503 s": the central median with the digits that the cluster calls for. */
char *median_text(char text[40], const struct figure *f);
