/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze show: one run, how it was made, its times, and the shape of its scatter. */
#include "analyze/analyze.h"

#include "lib/base/text.h"
#include "lib/report/results_json.h"

#include <inttypes.h>

static void print_command(const char *command)
{
	_cleanup_(json_decrefp) json_t *argv = command ? json_loads(command, 0, NULL) : NULL;
	json_t *word;
	size_t i;

	if (!argv)
		return;
	printf("  command:    ");
	json_array_foreach (argv, i, word)
		printf(" %s", json_string_value(word) ?: "?");
	printf("\n");
}

static void print_run(const struct run *run, size_t n_samples, const char *digest)
{
	char text[TEXT_TIME_SIZE];

	printf("Run %" PRId64 ": %s, %zu sample%s, %s\n", run->id, run->program, n_samples,
		n_samples == 1 ? "" : "s", run->state ?: "state unknown");
	print_command(run->command);
	if (run->purpose)
		printf("  purpose:     %s\n", run->purpose);
	if (run->started_ns > 0)
		printf("  started:     %s\n", text_moment(text, run->started_ns));
	if (run->task_length_ns > 0)
		printf("  task length: %s s\n", text_seconds(text, run->task_length_ns));
	printf("  resolution:  %s\n", text_duration(text, run->resolution_ns));
	printf("  processes:   %s\n", run->backend ?: "as imported");
	if (run->pt_source)
		printf("  PT from:     %s\n", run->pt_source);
	if (run->cpu >= 0)
		printf("  pinned to:   CPU %d\n", run->cpu);
	if (digest)
		printf("  environment: %.16s\n", digest);
	if (run->profile)
		printf("  profile:     %s\n", run->profile);
	if (run->notes)
		printf("  notes:       %s\n", run->notes);
}

static void print_clock(const char *name, const struct summary *s)
{
	char min[TEXT_TIME_SIZE], max[TEXT_TIME_SIZE], mean[TEXT_TIME_SIZE], sd[TEXT_TIME_SIZE];

	printf("  %s, all samples: mean %s, sd %s (%.2g of it), from %s to %s\n", name,
		text_precise(mean, s->mean_ns, s->sd_ns), text_precise(sd, s->sd_ns, 0), s->relative_error,
		text_precise(min, (double)s->min_ns, s->sd_ns),
		text_precise(max, (double)s->max_ns, s->sd_ns));
}

static int print_json(
	const struct analysis *analysis, const struct discarding *raw, const char *digest, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = analysis_as_json(analysis);
	const struct run *run = &analysis->run;

	json_object_update_new(document,
		json_pack("{s:s*, s:s*, s:I, s:I, s:I, s:s*, s:s*, s:s*, s:s*, s:s*}", "purpose",
			run->purpose, "state", run->state, "started_ns", (json_int_t)run->started_ns,
			"task_length_ns", (json_int_t)run->task_length_ns, "resolution_ns",
			(json_int_t)run->resolution_ns, "backend", run->backend, "pt_source", run->pt_source,
			"environment", digest, "profile", run->profile, "notes", run->notes));
	json_object_set_new(document, "pt", summary_as_json(&raw->pt.raw));
	json_object_set_new(document, "et", summary_as_json(&raw->et.raw));
	return json_print(document, stdout, err);
}

/* A run that was ended before its first sample has no scatter. */
static int show_empty(struct run *run, const char *digest, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;

	if (!analyze_options.json) {
		print_run(run, 0, digest);
		return 0;
	}
	document = json_pack("{s:I, s:s*, s:I, s:s*, s:s*}", "run", (json_int_t)run->id, "program",
		run->program, "samples", (json_int_t)0, "purpose", run->purpose, "state", run->state);
	return json_print(document, stdout, err);
}

static int show(struct book *book, struct run *run, const char *digest, struct error *err)
{
	_cleanup_(analysis_clearp) struct analysis analysis = {};
	_cleanup_(discarding_clearp) struct discarding raw = {};
	int r;

	r = analysis_load(book, run->id, &(struct analysis_options){}, &analysis, err);
	if (r == 0)
		r = discard_run(book, run->id, NULL, &raw, err);
	if (r < 0)
		return r;
	if (analyze_options.json)
		return print_json(&analysis, &raw, digest, err);
	print_run(run, analysis.n_samples, digest);
	print_clock("PT", &raw.pt.raw);
	print_clock("ET", &raw.et.raw);
	return print_analysis(&analysis, err);
}

int verb_show(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(run_clearp) struct run run = {};
	_cleanup_(freep) char *digest = NULL;
	int64_t id;
	int r;

	r = analyze_parse_run(argv[0], "RUN", &id, err);
	if (r == 0)
		r = analyze_open_book(BOOK_READ, &book, err);
	if (r == 0)
		r = book_get_run(book, id, &run, err);
	if (r == 0 && run.environment > 0)
		r = book_get_environment(book, run.environment, &digest, NULL, err);
	if (r < 0)
		return r;
	return run.n_samples > 0 ? show(book, &run, digest, err) : show_empty(&run, digest, err);
}
