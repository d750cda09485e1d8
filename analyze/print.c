/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that several verbs print. */
#include "analyze/analyze.h"

#include "lib/base/terminal.h"

void print_numbers(const char *label, const uint32_t *numbers, size_t n)
{
	enum { MOST = 40 };
	_cleanup_(freep) char *text = NULL;

	for (size_t i = 0; i < n && i < MOST; i++)
		text_append(&text, " ", "%" PRIu32, numbers[i]);
	if (n > MOST)
		text_append(&text, " ", "and %zu more", n - MOST);
	if (text)
		terminal_wrap(stdout, text, (size_t)printf("%s:", label), 2);
}

static void print_zooms(const struct analysis *analysis)
{
	const struct column columns[] = {{"ZOOM", COLUMN_NUMBER}, {"SAMPLES", COLUMN_NUMBER},
		{analysis->by_wait ? "W FROM" : "FROM", COLUMN_NUMBER}, {"TO", COLUMN_NUMBER},
		{"NEXT", COLUMN_WRAP}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);
	const struct cluster *c = &analysis->central;

	for (size_t i = 0; i < c->n_zooms; i++) {
		const struct zoom *z = &c->zooms[i];
		const int64_t bounds[] = {z->low_ns, z->high_ns};

		table_row(table, NUMBER(i + 1), NUMBER(z->left));
		for (size_t k = 0; k < ELEMENTS(bounds); k++) /* W, or ET with the significant digits */
			table_add(table,
				TEXT(analysis->by_wait ? text_duration(bounds[k] - analysis->median_rest_ns)
						       : text_precise((double)bounds[k],
								 (double)(z->high_ns - z->low_ns) / 10)));
		table_add(
			table, TEXT(text_brief("%s%s", z->end == ZOOM_LAST ? "" : "without ", zoom_why(z))));
	}
	table_print(table, stdout);
}

void print_analysis(const struct analysis *a)
{
	int at = printf("Run %" PRId64 " (%s, %zu sample%s):", a->run.id, terminal_text(a->run.program),
		a->n_samples, a->n_samples == 1 ? "" : "s");

	terminal_wrap(stdout, a->why, (size_t)at, 2);
	if (a->by_wait)
		printf("Long samples were found by waiting time W, not by ET (--by-et).\n"
		       "The median ET - W is %s.\n",
			text_duration(a->median_rest_ns));
	if (a->n_by_et > 0)
		printf("W of %zu sample%s is unknown: ET minus the longest ET - W of the others is used\n",
			a->n_by_et, a->n_by_et == 1 ? "" : "s");
	print_zooms(a);
	if (a->central.n_above > 0)
		printf("Long pairs: %zu in the arms, %zu in the upper right\n", a->central.n_arms,
			a->central.n_corners);
	print_numbers("L-samples", a->l_samples, a->n_l_samples);
	print_numbers("Long samples that no daemons explain", a->unexplained, a->n_unexplained);
}
