/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-measure: times a program against a saved profile. */
#include "measure/measure.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/base/tool.h"
#include "lib/host/interrupt.h"

#include <errno.h>

static struct measure_options options = {
	.cpu = -1,
	.warm_ups = 1,
	.samples = 10,
	.linger_ns = 10 * NS_PER_S,
};

static const struct option_row option_rows[] = {
	{.letter = 'r',
		.name = "runs",
		.value = "N",
		.summary = "samples to take (default 10)",
		.parse = option_count,
		.into = &options.samples},
	{.letter = 'w',
		.name = "warmup",
		.value = "N",
		.summary = "runs before them that do not count (default 1)",
		.parse = option_count0,
		.into = &options.warm_ups},
	{.name = "profile",
		.value = "NAME",
		.summary = "discard by this profile's cutoffs (emp-calibrate makes it)",
		.into = &options.profile},
	{.name = "cpu",
		.value = "N",
		.summary = "run the program on this CPU",
		.parse = option_count0,
		.into = &options.cpu},
	{.letter = 'i',
		.name = "ignore-failure",
		.summary = "measure a program that fails all the same",
		.into = &options.ignore_failure},
	{.name = "timeout",
		.value = "TIME",
		.summary = "end a sample, with all it started, after this long",
		.parse = option_duration,
		.into = &options.timeout_ns},
	{.name = "linger",
		.value = "TIME",
		.summary = "let processes that the program leaves behind go on for this long (default 10s)",
		.parse = option_duration,
		.into = &options.linger_ns},
	{.name = "show-output",
		.summary = "let the program print (default: to /dev/null)",
		.into = &options.show_output},
	{.name = "export-json",
		.value = "FILE",
		.summary = "write the result as JSON, in hyperfine's form and more",
		.into = &options.export_json},
	{.name = "json", .summary = "print that JSON instead of the text", .into = &options.json},
	{.letter = 'q', .name = "quiet", .summary = "no progress", .into = &options.quiet},
	{.name = "accounting",
		.value = "BACKEND",
		.summary = "auto, bpf, taskstats or none (default auto)",
		.parse = observer_backend_parse,
		.into = &options.backend},
	{.name = "db",
		.value = "FILE",
		.summary = "the book (default: EMP_DB, else the user's own)",
		.into = &options.db},
	{},
};

static int give(const struct measured *measured, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	int r;

	r = export_document(measured, 1, &document, err);
	if (r < 0)
		return r;
	if (options.json)
		r = json_print(document, stdout, err);
	else
		show_measured(measured, &options);
	if (r == 0 && options.export_json)
		r = export_file(document, options.export_json, err);
	return r;
}

static int run(int argc, char **argv, struct error *err)
{
	_cleanup_(measured_clearp) struct measured measured = {};
	int r;

	r = interrupt_init();
	if (r < 0)
		return error_os(err, r, "cannot catch signals");
	r = measure_command(&options, argv, &measured, err);
	if (r != 0)
		return r;
	r = give(&measured, err);
	if (r < 0)
		return r;
	if (measured.result.pt.clean.n < 2 && measured.n_samples > 1)
		return error_say(err, STATUS_TOO_FEW, "only %zu of %zu samples are clean",
			measured.result.pt.clean.n, measured.n_samples);
	return 0;
}

static const struct verb verbs[] = {
	{.args = "[--] COMMAND [ARGUMENT...]",
		.min_args = 1,
		.max_args = -1,
		.options = option_rows,
		.run = run},
	{},
};

static const struct option_row no_options[] = {{}};

static const struct tool tool = {
	.name = "emp-measure",
	.summary = "Times a program; discards samples in which an infrequent daemon ran too long, by name.",
	.notes = "Examples:\n"
		 "  emp-measure -- sort big.txt\n"
		 "  emp-measure --profile lab1 --cpu 1 -r 20 -- ./solver input\n",
	.options = no_options,
	.verbs = verbs,
};

int main(int argc, char **argv)
{
	return tool_main(&tool, argc, argv);
}
