/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze jitter: what interrupted a CPU, by name (De, Kothari & Mann 2007). */
#include "lib/base/base.h"
#include "analyze/analyze.h"
#include "lib/jitter/jitter_run.h"

struct range {
	int64_t low_ns, high_ns; /* 0, 0: not given */
};

static struct {
	struct range between;
	int64_t baseline;
	double fail_if_new; /* percent; below 0: not given */
	const char *output;
	bool all, combinations, by_source, timeline, script;
} options = {.fail_if_new = -1};

/* 11us..13us */
static int parse_between(const char *value, const char *name, void *into, struct error *err)
{
	_cleanup_(freep) char *low = xstrdup(value);
	char *high = strstr(low, "..");
	struct range range;
	int r;

	if (!high)
		return error_say(
			err, -EINVAL, "%s must be two times such as 11us..13us, not '%s'", name, value);
	*high = '\0';
	r = text_parse_duration(low, name, &range.low_ns, err);
	if (r == 0)
		r = text_parse_duration(high + 2, name, &range.high_ns, err);
	if (r < 0)
		return r;
	if (range.low_ns > range.high_ns)
		return error_say(
			err, -EINVAL, "%s: the first time of '%s' is longer than the second", name, value);
	*(struct range *)into = range;
	return 0;
}

const struct option_row jitter_options[] = {
	{'a', "all", NULL, "list every source, however little it took", NULL, &options.all},
	{0, "combinations", NULL, "list what interrupted at the same time, as one source", NULL,
		&options.combinations},
	{0, "between", "LOW..HIGH", "list the sources of interruptions of these lengths (11us..13us)",
		parse_between, &options.between},
	{0, "baseline", "RUN", "list the sources that are new, gone, grown or shrunk since this run",
		option_run, &options.baseline},
	{0, "fail-if-new", "SHARE", "exit status 2 if new sources took more than this share of all (5%)",
		option_percent, &options.fail_if_new},
	{'o', "output", "FILE", "draw the densities instead: .png, .svg or .pdf", NULL, &options.output},
	{0, "by-source", NULL, "with -o: draw what each source took before and after", NULL,
		&options.by_source},
	{0, "timeline", NULL, "with -o: draw when the longest interruptions occurred", NULL,
		&options.timeline},
	{0, "script", NULL, "keep the gnuplot file, with its data, as FILE.gnuplot", NULL, &options.script},
	{},
};

static int show_run(const struct jitter_run *run, struct error *err)
{
	if (options.between.high_ns > 0) {
		struct jitter_peak peak = {};
		int r = jitter_peak_make(&peak, &run->jitter, options.between.low_ns, options.between.high_ns,
			&run->sources, err);

		if (r < 0)
			return r;
		if (analyze_options.json)
			r = json_print_document("emp-jitter-peak", jitter_peak_as_json(run, &peak), err);
		else
			jitter_print_peak(run, &peak);
		jitter_table_clear(&peak.table);
		return r;
	}
	if (analyze_options.json)
		return json_print_document("emp-jitter", jitter_as_json(run), err);
	if (options.combinations)
		jitter_print_combinations(run, options.all);
	else
		jitter_print(run, options.all);
	return 0;
}

static int show_changes(const struct jitter_pair *pair, struct error *err)
{
	double new_share = pair->changes.new_share;
	int r = 0;

	if (analyze_options.json)
		r = json_print_document("emp-jitter-changes", jitter_changes_as_json(pair), err);
	else
		jitter_print_changes(pair, options.all);
	if (r < 0 || options.fail_if_new < 0 || new_share * 100 <= options.fail_if_new)
		return r;
	return error_say(err, STATUS_NOT_FIT,
		"new sources took %s of the time of all interruptions, more than %s", text_percent(new_share),
		text_percent(options.fail_if_new / 100));
}

/* With two runs the first is the baseline of the second. */
int verb_jitter(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(jitter_run_clear) struct jitter_run run = {}, baseline = {};
	_cleanup_(jitter_changes_clear) struct jitter_changes changes = {};
	const bool compared = options.baseline || argc > 1, between = options.between.high_ns > 0;
	const struct option_rule rules[] = {
		{argc > 1 && options.baseline, "two runs are compared already; leave --baseline out"},
		{options.fail_if_new >= 0 && !compared,
			"--fail-if-new needs a run to compare with: --baseline RUN"},
		{options.timeline && !options.output, NEEDS_PICTURE("--timeline")},
		{options.by_source && !options.output, NEEDS_PICTURE("--by-source")},
		{options.script && !options.output, NEEDS_PICTURE("--script")},
		{options.timeline && compared, "--timeline draws one run; leave --baseline out"},
		{options.by_source && !compared,
			"--by-source compares two runs: emp-analyze jitter BEFORE AFTER"},
		{options.combinations + between + compared + (options.output && !compared) > 1,
			"--combinations, --between, --baseline and -o show different things; choose one (-o and --baseline go together)"},
	};
	struct jitter_pair pair = {.run = &run};
	int64_t id;
	int r = analyze_check_options(rules, ELEMENTS(rules), err);

	if (r == 0 && argc > 1)
		r = analyze_parse_run(argv[0], "BEFORE", &options.baseline, err);
	if (r == 0)
		r = analyze_open(argv[argc - 1], &book, &id, err);
	if (r == 0)
		r = jitter_run_load(book, id, &run, err);
	if (r == 0 && compared)
		r = jitter_run_load(book, options.baseline, &baseline, err);
	if (r == 0 && compared) {
		changes = jitter_changes_make(&baseline.frequency, &baseline.all, &run.frequency, &run.all);
		pair = (struct jitter_pair){&run, &baseline, changes};
	}
	if (r == 0 && options.output)
		r = plot_drawing(options.timeline    ? jitter_timeline(&run)
				 : options.by_source ? jitter_shares(&pair)
						     : jitter_densities(&pair),
			options.output, options.script, err);
	if (r < 0 || (options.output && !compared))
		return r;
	return compared ? show_changes(&pair, err) : show_run(&run, err);
}
