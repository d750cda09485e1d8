/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An analysis as text: see analysis_print.h. */
#include "analyze/analysis_print.h"

#include "lib/base/table.h"

void analysis_print_numbers(const char *label, const uint32_t *numbers, size_t n)
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

void analysis_print(const struct analysis *a)
{
	const struct column columns[] = {{"ZOOM", COLUMN_NUMBER}, {"SAMPLES", COLUMN_NUMBER},
		{a->by_wait ? "W FROM" : "FROM", COLUMN_NUMBER}, {"TO", COLUMN_NUMBER},
		{"NEXT", COLUMN_WRAP}, {}};
	_cleanup_(table_freep) struct table *zooms = table_new(columns);
	const struct cluster *c = &a->central;
	int at = printf("Run %" PRId64 " (%s, %s):", a->run.id, terminal_text(a->run.program),
		text_count(a->n_samples, "sample"));

	terminal_wrap(stdout, a->why, (size_t)at, 2);
	if (a->by_wait) {
		terminal_say(stdout, 2,
			"Long samples were found by waiting time W, not by ET (--by-et).");
		terminal_say(
			stdout, 2, "The median ET - W is %s.", text_duration(a->median_rest_ns));
	}
	if (a->n_by_et > 0)
		terminal_say(stdout, 2,
			"W of %s is unknown: ET minus the longest ET - W of the others is used",
			text_count(a->n_by_et, "sample"));
	for (size_t i = 0; i < c->n_zooms; i++) {
		const struct zoom *z = &c->zooms[i];
		const int64_t bounds[] = {z->low_ns, z->high_ns};

		table_begin_row(zooms);
		table_add(zooms, NUMBER(i + 1), NUMBER(z->left));
		/* W, or ET with the significant digits */
		for (size_t k = 0; k < ELEMENTS(bounds); k++)
			table_add(zooms,
				TEXT(a->by_wait ? text_duration(bounds[k] - a->median_rest_ns)
						: text_precise((double)bounds[k],
							  (double)(z->high_ns - z->low_ns) / 10)));
		table_add(zooms, TEXT(text_brief("%s%s", z->end == ZOOM_LAST ? "" : "without ",
					 zoom_why(z))));
	}
	table_print(zooms, stdout);
	if (c->n_above > 0)
		printf("Long pairs: %zu in the arms, %zu in the upper right\n", c->n_arms,
			c->n_corners);
	analysis_print_numbers("L-samples", a->l_samples, a->n_l_samples);
	analysis_print_numbers(
		"Long samples that no daemons explain", a->unexplained, a->n_unexplained);
}
