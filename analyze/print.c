/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What several verbs print alike, for people. */
#include "analyze/analyze.h"

#include "lib/base/text.h"

#include <inttypes.h>

void cell_time(struct table *table, int64_t ns)
{
	char text[TEXT_TIME_SIZE];

	table_cell(table, "%s", ns < 0 ? "-" : text_duration(text, ns));
}

void print_over(const struct over_cutoff *over)
{
	char pt[TEXT_TIME_SIZE], cutoff[TEXT_TIME_SIZE];

	printf("  sample %" PRIu32 ": %s%s%s%s took %s, its cutoff is %s\n", over->sample, over->daemon,
		over->unit ? " (" : "", over->unit ?: "", over->unit ? ")" : "",
		text_duration(pt, over->pt_ns), text_duration(cutoff, over->cutoff_ns));
}

static void print_zooms(const struct cluster *c)
{
	for (size_t i = 0; i < c->n_zooms; i++) {
		const struct zoom *z = &c->zooms[i];
		double width = (double)(z->high_ns - z->low_ns) / 10;
		char low[TEXT_TIME_SIZE], high[TEXT_TIME_SIZE], why[ZOOM_WHY_SIZE];

		printf("  zoom %zu: %zu sample%s from %s to %s\n          %s: %s\n", i + 1, z->left,
			z->left == 1 ? "" : "s", text_precise(low, (double)z->low_ns, width),
			text_precise(high, (double)z->high_ns, width),
			z->end == ZOOM_LAST ? "the central cluster" : "left out next", zoom_why(why, z));
	}
}

static void print_numbers(const char *label, const uint32_t *numbers, size_t n)
{
	enum { MOST = 40 };

	if (n == 0)
		return;
	printf("  %s:", label);
	for (size_t i = 0; i < n && i < MOST; i++)
		printf(" %" PRIu32, numbers[i]);
	if (n > MOST)
		printf(" and %zu more", n - MOST);
	printf("\n");
}

void print_analysis(const struct analysis *analysis)
{
	printf("Run %" PRId64 " (%s, %zu samples) shows %s.\n", analysis->run.id, analysis->run.program,
		analysis->n_samples, analysis->why);
	print_zooms(&analysis->central);
	if (analysis->central.n_above > 0)
		printf("  long pairs: %zu in the arms, %zu in the upper right\n", analysis->central.n_arms,
			analysis->central.n_corners);
	print_numbers("L-samples", analysis->l_samples, analysis->n_l_samples);
	print_numbers("long without a daemon that ran long", analysis->unexplained, analysis->n_unexplained);
}
