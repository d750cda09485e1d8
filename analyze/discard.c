/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze discard: the samples of a run that a profile discards, the causes, and the statistics before and after
 * (EMP, Tables XVII and XVIII). */
#include "analyze/analyze.h"

#include "lib/report/results.h"
#include "lib/report/run_result.h"

#include "lib/base/terminal.h"

#include <inttypes.h>

int verb_discard(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(discarding_clear) struct discarding d = {};
	_cleanup_(freep) char *profile = NULL;
	int64_t run;
	int r;

	r = analyze_open(argv[0], &book, &run, err);
	if (r == 0)
		r = analyze_discard_own(book, run, &d, &profile, err);
	if (r < 0)
		return r;
	if (!analyze_options.json) {
		static const struct column columns[] = {{"CLOCK"}, {"STEP"}, STAGE_COLUMNS, {}};
		static const struct column over_columns[] = {{"SAMPLE", COLUMN_NUMBER}, {"DAEMON"},
			{"UNIT", COLUMN_WRAP}, {"PT", COLUMN_NUMBER}, {"CUTOFF", COLUMN_NUMBER}, {}};

		printf("Run %" PRId64 " (%s), profile '%s'\n", d.run.id, terminal_text(d.run.program),
			terminal_text(profile));
		noise_print(stdout, profile, d.blind_ns, d.noise);
		printf("Discarded by cutoff: %zu of %zu samples\n", d.n_by_cutoff, d.pt.raw.n);

		_cleanup_(table_freep) struct table *over_table = table_new(over_columns);

		for (size_t i = 0; i < d.n_over; i++) {
			const struct over_cutoff *over = &d.over[i];

			table_row(over_table);
			table_cell(over_table, "%" PRIu32, over->sample);
			table_cell(over_table, "%s", over->daemon);
			table_cell(over_table, "%s", over->unit ?: "-");
			table_cell_duration(over_table, over->pt_ns);
			table_cell_duration(over_table, over->cutoff_ns);
		}
		table_print(over_table, stdout);
		print_numbers("Discarded as incomplete", d.incomplete, d.n_incomplete);
		print_numbers("Discarded by the 2-sd check of PT", d.pt.by_two_sd, d.pt.n_by_two_sd);
		print_numbers("Discarded by the 2-sd check of ET", d.et.by_two_sd, d.et.n_by_two_sd);

		_cleanup_(table_freep) struct table *table = table_new(columns);

		for (size_t i = 0; i < N_STAGES; i++) {
			table_row(table);
			table_cell(table, "%s", stages[i].clock);
			table_cell(table, "%s", stages[i].step);
			stage_cells(table, stage_summary(&d, i));
		}
		table_print(table, stdout);
		return 0;
	}
	return json_print_document("emp-discard", discarding_as_json(&d), err);
}
