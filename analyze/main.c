/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze: reports what the runs in the lab book show. */
#include "analyze/analyze.h"

#include "lib/base/text.h"

#include <errno.h>

struct analyze_options analyze_options;

static const struct option_row common_options[] = {
	{.name = "db",
		.value = "FILE",
		.summary = "the lab book (default: EMP_DB, otherwise the user's own)",
		.into = &analyze_options.db},
	{.name = "json", .summary = "print the result as JSON", .into = &analyze_options.json},
	{},
};

static const struct verb verbs[] = {
	{.name = "list", .summary = "list the runs in the book", .run = verb_list},
	{.name = "show",
		.args = "RUN",
		.min_args = 1,
		.max_args = 1,
		.summary = "show one run: how it was made, its times, its verdict",
		.run = verb_show},
	{.name = "import",
		.args = "FILE...",
		.min_args = 1,
		.max_args = -1,
		.summary = "add runs to the book from emp-run documents (-: standard input)",
		.run = verb_import},
	{.name = "export",
		.args = "RUN",
		.min_args = 1,
		.max_args = 1,
		.summary = "write a run as an emp-run document",
		.run = verb_export},
	{.name = "remove",
		.args = "RUN...",
		.min_args = 1,
		.max_args = -1,
		.summary = "delete runs from the book",
		.options = remove_options,
		.run = verb_remove},
	{.name = "cutoffs",
		.summary = "make a profile of cutoffs from a short and a long run",
		.options = cutoffs_options,
		.run = verb_cutoffs},
	{.name = "discard",
		.args = "RUN",
		.min_args = 1,
		.max_args = 1,
		.summary = "apply a profile to a run: discarded samples, causes, statistics",
		.options = discard_options,
		.run = verb_discard},
	{.name = "daemons",
		.args = "RUN",
		.min_args = 1,
		.max_args = 1,
		.summary = "list the daemons in the central cluster and in the L-samples",
		.options = daemons_options,
		.run = verb_daemons},
	{.name = "sample-size",
		.args = "RUN",
		.min_args = 1,
		.max_args = 1,
		.summary = "suggest how many samples are enough",
		.options = sample_size_options,
		.run = verb_sample_size},
	{.name = "protocols",
		.args = "RUN...",
		.min_args = 1,
		.max_args = -1,
		.summary = "show the statistics after each step of the protocol",
		.options = protocols_options,
		.run = verb_protocols},
	{.name = "compare",
		.args = "A B",
		.min_args = 2,
		.max_args = 2,
		.summary = "compare two runs, or results of hyperfine, pyperf or emp-measure",
		.options = compare_options,
		.run = verb_compare},
	{.name = "scatter",
		.args = "RUN -o FILE",
		.min_args = 1,
		.max_args = 1,
		.summary = "draw the scatter plot of dual executions",
		.options = scatter_options,
		.run = verb_scatter},
	{},
};

static const struct tool tool = {
	.name = "emp-analyze",
	.summary = "Reports what the runs in the lab book show.",
	.notes = "Examples:\n"
		 "  emp-analyze list\n"
		 "  emp-analyze cutoffs --short 1 --long 2 --save lab1\n"
		 "  emp-analyze discard 3 --profile lab1\n"
		 "  emp-analyze scatter 1 -o short.png\n",
	.options = common_options,
	.verbs = verbs,
};

int analyze_open_book(enum book_mode mode, struct book **ret, struct error *err)
{
	_cleanup_(freep) char *path = NULL;
	int r;

	r = book_path(analyze_options.db, &path, err);
	return r < 0 ? r : book_open(ret, path, mode, err);
}

int analyze_parse_run(const char *text, const char *what, int64_t *ret, struct error *err)
{
	if (text_parse_int(text, what, 1, INT64_MAX, ret, err) == 0)
		return 0;
	return error_say(err, -EINVAL,
		"%s must be the number of a run, not '%s'; emp-analyze list shows the numbers", what, text);
}

int analyze_load(const char *run, const struct analysis_options *options, struct book **ret_book,
	struct analysis *ret, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	int64_t id;
	int r;

	r = analyze_parse_run(run, "RUN", &id, err);
	if (r == 0)
		r = analyze_open_book(BOOK_READ, &book, err);
	if (r == 0)
		r = analysis_load(book, id, options, ret, err);
	if (r == 0)
		*ret_book = TAKE(book);
	return r;
}

int analyze_discard(
	struct book *book, int64_t run, const char *profile, struct discarding *ret, struct error *err)
{
	_cleanup_(profile_clearp) struct profile cutoffs = {};
	int r = profile ? book_get_profile(book, profile, &cutoffs, err) : 0;

	return r < 0 ? r : discard_run(book, run, profile ? &cutoffs : NULL, ret, err);
}

int analyze_need_profile(const char *profile, struct error *err)
{
	if (profile)
		return 0;
	return error_say(
		err, -EINVAL, "name the profile with --profile; emp-calibrate profile list lists them");
}

int option_run(const char *value, const char *name, void *into, struct error *err)
{
	return analyze_parse_run(value, name, into, err);
}

int main(int argc, char **argv)
{
	return tool_main(&tool, argc, argv);
}
