/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze jitter: what interrupted a CPU, by name (De, Kothari & Mann 2007). */
#include "analyze/options.h"
#include "analyze/run.h"

#include "lib/jitter/jitter_show.h"

static struct jitter_view view = {.fail_if_new = -1};
static const char *baseline;

/* 11us..13us */
static int parse_between(const char *value, const char *name, void *into, struct error *err)
{
	_cleanup_(freep) char *low = xstrdup(value);
	char *high = strstr(low, "..");
	int r;

	if (!high)
		return error_say(err, -EINVAL, "%s must be two times such as 11us..13us, not '%s'",
			name, value);
	*high = '\0';
	r = text_parse_duration(low, name, &view.low_ns, err);
	if (r == 0)
		r = text_parse_duration(high + 2, name, &view.high_ns, err);
	if (r == 0 && view.low_ns > view.high_ns)
		return error_say(err, -EINVAL,
			"%s: the first time of '%s' is longer than the second", name, value);
	return r;
}

static const struct option_row jitter_options[] = {
	{'a', "all", NULL, "list every source, however little it took", NULL, &view.all},
	{0, "combinations", NULL, "list what interrupted at the same time, as one source", NULL,
		&view.combinations},
	{0, "between", "LOW..HIGH",
		"list the sources of interruptions of these lengths (11us..13us)", parse_between,
		NULL},
	{0, "baseline", "RUN",
		"list the sources that are new, gone, grown or shrunk since this run", NULL,
		&baseline},
	{0, "fail-if-new", "SHARE",
		"exit status 2 if new sources took more than this share of all (5%)",
		option_percent, &view.fail_if_new},
	{'o', "output", "FILE", "draw the densities instead: .png, .svg or .pdf", NULL,
		&view.output},
	{0, "by-source", NULL, "with -o: draw what each source took before and after", NULL,
		&view.by_source},
	{0, "timeline", NULL, "with -o: draw when the longest interruptions occurred", NULL,
		&view.timeline},
	{0, "script", NULL, "keep the gnuplot file, with its data, as FILE.gnuplot", NULL,
		&view.script},
	LAST_RUN_OPTION,
	{},
};

/* With two runs the first is the baseline of the second. */
static int analyze_jitter_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	const bool compared = baseline || argc > 1, between = view.high_ns > 0;
	const struct option_rule rules[] = {
		{argc > 1 && baseline, "two runs are compared already; leave --baseline out"},
		{view.fail_if_new >= 0 && !compared,
			"--fail-if-new needs a run to compare with: --baseline RUN"},
		{view.timeline && !view.output, NEEDS_PICTURE("--timeline")},
		{view.by_source && !view.output, NEEDS_PICTURE("--by-source")},
		{view.script && !view.output, NEEDS_PICTURE("--script")},
		{view.output && !compared && (analyze_options.json || view.all),
			"-o draws in place of the list and of --json; choose one"},
		{view.timeline && compared, "--timeline draws one run; leave --baseline out"},
		{view.by_source && !compared,
			"--by-source compares two runs: emp-analyze jitter BEFORE AFTER"},
		{view.combinations + between + compared + (view.output && !compared) > 1,
			"--combinations, --between, --baseline and -o show different things; "
			"choose one (-o and --baseline go together)"},
	};
	int64_t id;
	int r = option_check_rules(rules, ELEMENTS(rules), err);

	if (r == 0)
		r = analyze_open(argv[argc - 1], &book, &id, err);
	if (r == 0 && compared)
		r = analyze_find_run(book, baseline ?: argv[0], &view.baseline, err);
	view.json = analyze_options.json;
	return r >= 0 ? jitter_show(book, id, &view, err) : r;
}

const struct verb analyze_jitter = {
	.name = "jitter",
	.args = "RUN [AFTER]",
	.summary = "list what interrupted a CPU, by name, or what changed",
	.min_args = 1,
	.max_args = 2,
	.options = jitter_options,
	.run = analyze_jitter_verb,
};
