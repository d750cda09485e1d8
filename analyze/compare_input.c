/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads one side of a comparison: see compare_input.h. */
#include "analyze/compare_input.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int read_stored(struct book *book, const char *text, struct compare_input *side, struct error *err)
{
	_cleanup_(discarding_clear) struct discarding d = {};
	_cleanup_(freep) struct sample *samples = NULL;
	_cleanup_(freep) char *command = NULL;
	int64_t id;
	size_t n;
	int r;

	r = analyze_parse_run(text, "the run", &id, err);
	if (r == 0) {
		_cleanup_(run_rules_clear) struct run_rules rules = {};
		_cleanup_(run_clear) struct run run = {};
		const char *profile;

		r = book_get_run(book, id, &run, err);
		if (r == 0)
			r = run_rules_load(
				book, &run, analyze_options.profile, analyze_options.recompute, &rules, err);
		if (r == 0)
			r = discard_run(book, id, &rules.rules, &d, err);
		if (r >= 0) {
			if (analyze_options.recompute && !analyze_options.json) {
				printf("Recomputed: run %" PRId64 "\n", id);
				run_rules_print_changes(stdout, &run, &rules);
			}
			profile = analyze_options.profile ?: run.profile;
			side->profile = text_copy(profile);
			side->profile_missing = rules.missing;
			side->blind_ns = d.blind_ns;
			side->noise = TAKE(d.noise);
			side->other_cpus = run.other_cpus;
			side->unprofiled_share_ppm = run.unprofiled_share_ppm;
			run_rules_options(side->options, &run);
			side->state = run.state;
			if (!analyze_options.json)
				run_state_print(stdout, &run);
			side->n_samples = d.pt.raw.n;
			side->n_discarded = d.pt.raw.n - d.pt.kept.n;
			r = profile && !side->profile ? error_oom(err) : 0;
		}
	}
	if (r == 0 && d.run.kind == RUN_LOAD)
		return error_say(
			err, -EINVAL, "run %s is a load: 'emp-analyze load RUN RUN' compares two", text);
	if (r == 0)
		r = book_samples(book, id, &samples, &n, err);
	if (r < 0)
		return r;
	command = run_command_line(&d.run);
	side->name = text_format("run %s (%s)", text, d.run.name ?: command ?: d.run.program);
	side->memory = peak_memory_of(samples, d.out, n);
	side->run = id;
	side->environment = d.run.environment;
	if (side->environment > 0)
		r = book_get_environment(book, side->environment, &side->digest, NULL, err);
	if (r < 0)
		return r;
	for (int clock = COMPARISON_PT; clock <= COMPARISON_ET; clock++)
		side->sides[clock] = comparison_side_make(&d, samples, n, (enum comparison_clock)clock);
	return 0;
}

static int read_file(const char *text, struct compare_input *side, struct error *err)
{
	_cleanup_(freep) char *path = xstrdup(text);
	_cleanup_(json_decrefp) json_t *document = NULL;
	int64_t number = 0;
	int r;
	char *colon = strrchr(path, ':');

	/* Splits "FILE:N"; a colon without a number after it is a part of the name. */
	if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")]) {
		r = 0;
	} else {
		*colon = '\0';
		r = text_parse_int(colon + 1, "the number after the colon", 1, INT32_MAX, &number, err);
	}
	if (r == 0)
		r = json_read(&document, path, err);
	return r < 0 ? r : compare_document_read(side, document, path, number, err);
}

bool compare_input_is_run(const char *text)
{
	return !text[strspn(text, "0123456789")];
}

int compare_input_read(struct compare_input *ret, struct book *book, const char *text, struct error *err)
{
	return compare_input_is_run(text) ? read_stored(book, text, ret, err) : read_file(text, ret, err);
}
