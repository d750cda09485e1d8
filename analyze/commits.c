/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze commits: judges what emp-compare-commits measured. */
#include "analyze/commits_report.h"
#include "analyze/options.h"

#include "lib/base/charset.h"
#include "lib/protocol/suite.h"
#include "lib/report/metric_export.h"

static struct {
	const char *markdown;
	struct option_list exports;
	bool strict, again;
	bool takes_stdout; /* a report or an export is printed */
} commits_options;

static const struct option_row commits_option_rows[] = {
	{0, "markdown", "FILE", "write a report for a pull request; - is standard output", NULL,
		&commits_options.markdown},
	EXPORT_METRICS_OPTION(commits_options.exports),
	{0, "strict", NULL, "exit status 4 if something cannot be told", NULL,
		&commits_options.strict},
	{0, "again", NULL,
		"print the numbers of the command lines to measure again, and nothing else", NULL,
		&commits_options.again},
	{},
};

static void print_again(const struct commits *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct commit_line *line = &c->lines[i];
		const struct suite_line of_suite = {
			line->is_compared ? line->query.comparisons : NULL, line->again};

		if (suite_wants_again(&of_suite))
			printf("%zu\n", i + 1);
	}
}

/* The interval of the change's mean, as emp-measure has it. */
static void find_mean_interval(const struct commit_line *line, enum comparison_clock clock,
	double *ret_low, double *ret_high)
{
	const json_t *result = json_array_get(json_object_get(line->measurement, "results"), 1);
	const json_t *times = json_object_get(
		json_object_get(result, "emp"), clock == COMPARISON_PT ? "pt" : "et");
	const json_t *interval = json_object_get(json_object_get(times, "kept"), "interval_ns");
	bool known = json_array_size(interval) == 2;

	*ret_low = known ? json_number_value(json_array_get(interval, 0)) : NAN;
	*ret_high = known ? json_number_value(json_array_get(interval, 1)) : NAN;
}

/* The change's times, and its ratios to the base. */
static struct metrics commits_metrics(const struct commits *c)
{
	static const char *const measures[N_COMPARISON_CLOCKS] = {"cpu-time", "latency"};
	static const char *const ratios[N_COMPARISON_CLOCKS] = {"cpu-time-ratio", "latency-ratio"};
	struct metrics metrics = {.commit = c->change};

	for (size_t i = 0; i < c->n; i++) {
		const struct commit_line *line = &c->lines[i];

		for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++) {
			const struct comparison *of_clock = &line->query.comparisons[clock];
			const struct comparison_side *side = &line->query.sides[1].sides[clock];
			struct metric *time;

			if (!line->is_compared || !(line->query.clocks >> clock & 1))
				continue;
			if (metrics.started_ns == 0 && side->n > 0)
				metrics.started_ns = side->items[0].start_ns;
			time = array_add(metrics.items, metrics.n);
			*time = (struct metric){line->command_line, measures[clock], "ns",
				of_clock->b.mean_ns, NAN, NAN, of_clock->b.n};
			find_mean_interval(line, clock, &time->low, &time->high);
			if (!isnan(of_clock->ratio))
				*array_add(metrics.items, metrics.n) = (struct metric){
					line->command_line, ratios[clock], "times", of_clock->ratio,
					of_clock->ratio_low, of_clock->ratio_high, of_clock->b.n};
		}
	}
	return metrics;
}

static int write_report(const struct commits *c, const char *sentence, struct error *err)
{
	_cleanup_(output_file_clear) struct output_file output = {};
	int r = charset_document_open(&output, commits_options.markdown, err);

	if (r < 0)
		return r;
	commits_write_markdown(c, sentence, output.file);
	return output_file_commit(&output, err);
}

static int show(struct commits *c, struct error *err)
{
	_cleanup_(freep) char *sentence = commits_sentence(c);
	int r = 0;

	if (analyze_options.json)
		r = commits_print_json(c, sentence, err);
	else if (!commits_options.takes_stdout)
		commits_print(c, sentence);
	if (r == 0 && commits_options.markdown)
		r = write_report(c, sentence, err);
	if (r == 0 && commits_options.exports.n > 0) {
		struct metrics metrics = commits_metrics(c);

		r = metric_files_write(&metrics, &commits_options.exports, err);
		free(metrics.items);
	}
	return r < 0 ? r : (int)commits_status(c);
}

static int analyze_commits_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(commits_clear) struct commits c = {};
	const char *paths[] = {analyze_options.json ? "-" : NULL, commits_options.markdown};
	bool exported = false;
	int r = metric_files_check(&commits_options.exports, &exported, err);

	if (r == 0)
		r = output_files_apart(paths, ELEMENTS(paths), err);
	if (r == 0 && commits_options.again &&
		(analyze_options.json || paths[1] || commits_options.exports.n > 0))
		r = error_say(err, -EINVAL,
			"--again prints numbers only: omit --json, --markdown and --export");
	if (r == 0 && exported && (paths[0] || (paths[1] && output_file_is_standard(paths[1]))))
		r = error_say(err, -EINVAL,
			"--export: standard output has another document: name a file");
	commits_options.takes_stdout = exported || (paths[1] && output_file_is_standard(paths[1]));
	if (r == 0)
		r = commits_load(&c, argv[0], commits_options.strict, err);
	if (r < 0)
		return r;
	if (commits_options.again) {
		print_again(&c);
		return 0;
	}
	return show(&c, err);
}

const struct verb analyze_commits = {
	.name = "commits",
	.args = "FILE",
	.summary = "judge what emp-compare-commits --json measured",
	.min_args = 1,
	.max_args = 1,
	.options = commits_option_rows,
	.run = analyze_commits_verb,
	.reads_stdin = true,
};
