/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps of the protocol, and their statistics: see analyze.h. */
#include "analyze/analyze.h"

#include "lib/base/text.h"
#include "lib/report/screen.h"

const struct stage stages[N_STAGES] = {
	{"ET", "all", "et_raw"},
	{"ET", "cutoffs", "et_by_cutoff"},
	{"ET", "2 sd", "et_clean"},
	{"PT", "all", "pt_raw"},
	{"PT", "cutoffs", "pt_by_cutoff"},
	{"PT", "2 sd", "pt_clean"},
};

const struct summary *stage_summary(const struct discarding *d, size_t stage)
{
	const struct summary *const summaries[N_STAGES] = {
		&d->et.raw, &d->et.kept, &d->et.papers, &d->pt.raw, &d->pt.kept, &d->pt.papers};

	return summaries[stage];
}

void stage_cells(struct table *table, const struct summary *s)
{
	table_cell(table, "%zu", s->n);
	table_cell(table, "%s", text_precise((double)s->min_ns, range_step(s)));
	table_cell(table, "%s", text_precise((double)s->max_ns, range_step(s)));
	table_cell(table, "%s", text_precise(s->mean_ns, s->sd_ns));
	table_cell(table, "%s", text_precise(s->sd_ns, s->sd_ns));
	table_cell(table, "%s", text_percent(s->relative_error));
}
