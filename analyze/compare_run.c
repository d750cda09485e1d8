/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run of the book as one side of a comparison: see compare_run.h. */
#include "analyze/compare_run.h"

#include "analyze/options.h"
#include "analyze/run.h"
#include "lib/duet/duet_report.h"
#include "lib/record/peak_memory.h"
#include "lib/report/results.h"

/* The call that took a run, as text: of a run in a duet, that duet, which is known of imported
 * runs, too; of others, the process. NULL: not known. */
static int read_call(struct book *book, const struct run *run, char **ret, struct error *err)
{
	_cleanup_(freep) struct duet_row *rows = NULL;
	size_t n = 0;
	int r = run->kind == RUN_DUET ? book_duet(book, run->id, &rows, &n, err) : 0;

	if (r < 0)
		return r;
	*ret = n > 0 ? text_format("the duet of run %" PRId64, rows[0].reference)
		     : text_copy(run->owner);
	return 0;
}

int compare_read_run(
	struct book *book, const char *text, struct compare_input *side, struct error *err)
{
	_cleanup_(run_rules_clear) struct run_rules rules = {};
	_cleanup_(run_result_clear) struct run_result result = {};
	_cleanup_(run_clear) struct run run = {};
	_cleanup_(freep) char *command = NULL;
	struct discarding *d = &side->discarding;
	int64_t id;
	int r = analyze_find_run(book, text, &id, err);

	if (r > 0)
		r = book_get_run(book, id, &run, err);
	if (r == 0 && run.kind == RUN_LOAD)
		return error_say(err, -EINVAL,
			"run %" PRId64 " is a load: 'emp-analyze load RUN RUN' compares two", id);
	if (r == 0)
		r = run_rules_load(book, &run, analyze_options.profile, analyze_options.recompute,
			&rules, err);
	if (r == 0)
		r = run_result_read(book, id, &rules.rules, RESULT_COUNTERS, &result, err);
	if (r == 0)
		r = book_get_environment(book, run.environment, &side->digest, NULL, NULL, err);
	if (r == 0)
		r = read_call(book, &run, &side->call, err);
	if (r < 0)
		return r;
	if (analyze_options.recompute && !analyze_options.json) {
		printf("Recomputed: run %" PRId64 "\n", id);
		run_rules_print_changes(stdout, &run, &rules);
	}
	if (!analyze_options.json)
		run_state_print(stdout, &run);

	command = run_command_line(&run);
	side->name = text_format("run %" PRId64 " (%s)", id, run.name ?: command ?: run.program);
	side->profile = text_copy(analyze_options.profile ?: run.profile);
	side->profile_missing = rules.missing;

	side->neighbour = run_neighbour_time(&result);
	*d = TAKE_STRUCT(result.discarding);
	side->memory = peak_memory_of(result.samples, d->out, result.n_samples);
	for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++) {
		side->sides[clock] = comparison_side_make(
			d, result.samples, result.n_samples, clock);
		side->sides[clock].origin.call = side->call;
		side->sides[clock].origin.machine = side->digest;
	}
	return 0;
}
