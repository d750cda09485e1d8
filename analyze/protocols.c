/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze protocols: the statistics of runs after each step of the protocol (EMP, Figure 17). */
#include "analyze/analyze.h"

#include "lib/report/results.h"
#include "lib/report/run_result.h"

#include <inttypes.h>
#include <string.h>

int verb_protocols(int argc, char **argv, struct error *err)
{
	static const struct column columns[] = {
		{"RUN", COLUMN_NUMBER}, {"CLOCK"}, {"STEP"}, STAGE_COLUMNS, {}};
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(table_freep) struct table *table = table_new(columns);
	_cleanup_(json_decrefp) json_t *array = json_array();
	_cleanup_(freep) char *profile = NULL;
	int r;

	r = book_open(&book, analyze_options.db, BOOK_READ, err);
	for (int i = 0; r == 0 && i < argc; i++) {
		_cleanup_(discarding_clear) struct discarding d = {};
		_cleanup_(freep) char *gather_profile = NULL;
		int64_t run;

		/* A row for each run, below the marks of the profiles, each once. */
		r = analyze_parse_run(argv[i], "RUN", &run, err);
		if (r == 0)
			r = analyze_discard_own(book, run, &d, &gather_profile, err);
		if (r == 0 && !analyze_options.json && (!profile || strcmp(profile, gather_profile)))
			noise_print(stdout, gather_profile, d.blind_ns, d.noise);
		if (r >= 0) {
			json_t *row = json_pack("{s:I, s:s*, s:s*}", "run", (json_int_t)d.run.id, "program",
				d.run.program, "profile", gather_profile);

			for (size_t k = 0; k < N_STAGES; k++)
				json_object_set_new(
					row, stages[k].member, summary_as_json(stage_summary(&d, k)));
			profile_noise_add_json(row, d.blind_ns, d.noise);
			json_array_append_new(array, row);
			for (size_t k = 0; k < N_STAGES; k++) {
				table_row(table);
				table_cell(table, "%" PRId64, d.run.id);
				table_cell(table, "%s", stages[k].clock);
				table_cell(table, "%s", stages[k].step);
				stage_cells(table, stage_summary(&d, k));
			}
			free(profile);
			profile = TAKE(gather_profile);
			r = 0;
		}
	}
	if (r < 0)
		return r;
	if (analyze_options.json)
		return json_print_document("emp-protocols", json_pack("{s:O}", "runs", array), err);
	table_print(table, stdout);
	return 0;
}
