/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that several verbs print. */
#include "analyze/analyze.h"

#include "lib/base/xalloc.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"

#include <inttypes.h>

/* A bound of a zoom: an ET with the significant digits, or a W. */
static const char *bound_text(const struct analysis *analysis, const struct zoom *z, int64_t ns)
{
	if (analysis->by_wait)
		return text_duration(ns - analysis->median_rest_ns);
	return text_precise((double)ns, (double)(z->high_ns - z->low_ns) / 10);
}

void print_numbers(const char *label, const uint32_t *numbers, size_t n)
{
	enum { MOST = 40 };
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *memory = n > 0 ? xopen_memstream(&text, &size) : NULL;

	for (size_t i = 0; memory && i < n && i < MOST; i++)
		fprintf(memory, " %" PRIu32, numbers[i]);
	if (n > MOST && memory)
		fprintf(memory, " and %zu more", n - MOST);
	if (memory && fclose(memory) == 0)
		terminal_wrap(stdout, text + 1, (size_t)printf("%s:", label), 2);
}

void print_analysis(const struct analysis *analysis)
{
	int at;
	const struct cluster *c = &analysis->central;

	at = printf("Run %" PRId64 " (%s, %zu sample%s):", analysis->run.id,
		terminal_text(analysis->run.program), analysis->n_samples,
		analysis->n_samples == 1 ? "" : "s");
	terminal_wrap(stdout, analysis->why, (size_t)at, 2);
	if (analysis->by_wait)
		printf("Long samples were found by waiting time W, not by ET (--by-et).\n"
		       "The median ET - W is %s.\n",
			text_duration(analysis->median_rest_ns));
	if (analysis->n_by_et > 0)
		printf("W of %zu sample%s is unknown: ET minus the longest ET - W of the others is used\n",
			analysis->n_by_et, analysis->n_by_et == 1 ? "" : "s");

	const struct column columns[] = {{"ZOOM", COLUMN_NUMBER}, {"SAMPLES", COLUMN_NUMBER},
		{analysis->by_wait ? "W FROM" : "FROM", COLUMN_NUMBER}, {"TO", COLUMN_NUMBER},
		{"NEXT", COLUMN_WRAP}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 0; i < c->n_zooms; i++) {
		const struct zoom *z = &c->zooms[i];
		char why[ZOOM_WHY_SIZE];

		table_row(table);
		table_cell(table, "%zu", i + 1);
		table_cell(table, "%zu", z->left);
		table_cell(table, "%s", bound_text(analysis, z, z->low_ns));
		table_cell(table, "%s", bound_text(analysis, z, z->high_ns));
		table_cell(table, "%s%s", z->end == ZOOM_LAST ? "" : "without ", zoom_why(why, z));
	}
	table_print(table, stdout);
	if (analysis->central.n_above > 0)
		printf("Long pairs: %zu in the arms, %zu in the upper right\n", analysis->central.n_arms,
			analysis->central.n_corners);
	print_numbers("L-samples", analysis->l_samples, analysis->n_l_samples);
	print_numbers("Long samples that no daemons explain", analysis->unexplained, analysis->n_unexplained);
}
