/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What EMP concludes from made-up samples, for truth.py: a question on each line of standard input,
 * an answer on each line of standard output. Times are in ns.
 *
 * interval N TIME… K TIME…
 *     the ends of the 95 % interval of the mean of N samples; those if the machine is known from a
 *     calibration of K others; those of Student's; those of Student's after the papers' 2-sd check
 * turn M N TIME…
 *     N rounds, in each of which one reference and M others took a sample in turn: how many of the
 *     others are called different
 * separate K MEAN… N TIME…
 *     two runs of N samples, after K other runs with these means: "same", "different", "unknown";
 *     and what Welch's test says of all samples
 * changes N VALUE…
 *     where the level of N values changes: how many times; for each change its first value from 0,
 *     by how much, and half its interval; then what would have been found in the middle, and in
 *     the last 5 values
 * verdict VIEW N { ET PT W K { SOURCE PT }… }…
 *     a run of N samples, in each of which K executions on its CPU were observed; SOURCE counts
 *     from 1, W is -1 where it is not known, and VIEW is 1 if L-samples are found by W: the
 *     verdict; "noisy" or "quiet"; the L-samples; the sources that are named as frequent; those
 *     that made samples long; all three separated by commas ("-": none); the reason for the verdict
 * cutoffs VIEW PPM RUN RUN RUN
 *     a profile from a short and a long run as above (without the word), with PPM as its minimum
 *     share: their verdicts; its cutoffs; the samples of the third run that it discards */
#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/protocol/analysis.h"
#include "lib/protocol/comparison.h"
#include "lib/protocol/discard.h"
#include "lib/protocol/sample_size.h"
#include "lib/record/profile.h"
#include "lib/stats/time_series.h"
#include "lib/trend/change_points.h"
#include "tests/unit/student.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 4096 };

static size_t read_count(void)
{
	unsigned long n;

	return scanf("%lu", &n) == 1 && n <= MOST ? n : 0;
}

static size_t read_times(int64_t *times, size_t n)
{
	double x;
	size_t i = 0;

	for (; i < n && scanf("%lf", &x) == 1; i++)
		times[i] = llround(x);
	return i;
}

static void print_interval(struct interval interval)
{
	printf("%.0f %.0f ", interval.low_ns, interval.high_ns);
}

static void print_student(const struct summary *s)
{
	double half = student_half(s);

	print_interval((struct interval){s->mean_ns - half, s->mean_ns + half, 0, 0});
}

/* What emp-calibrate stores of a short run with these PTs. */
static struct known_correlation calibrated(const int64_t *times, size_t n)
{
	struct sample *samples = calloc(n, sizeof(*samples));
	struct correlation found;

	for (size_t i = 0; i < n; i++)
		samples[i] = (struct sample){.n = (uint32_t)i + 1, .pt_ns = times[i]};
	found = correlation_find(&(struct analysis){.samples = samples, .n_samples = n});
	free(samples);
	return (struct known_correlation){found.lag1, (size_t)found.samples};
}

static void answer_interval(void)
{
	int64_t times[MOST], others[MOST], left[MOST];
	size_t n = read_times(times, read_count()), n_others = read_times(others, read_count()),
	       n_left = 0;
	struct summary all = summary_of(times, n), after;
	struct known_correlation machine = calibrated(others, n_others);

	for (size_t i = 0; i < n; i++)
		if (!beyond_two_sd(&all, times[i]))
			left[n_left++] = times[i];
	after = summary_of(left, n_left);
	print_interval(interval_of_mean(times, n, NULL, 0));
	print_interval(interval_of_mean(times, n, &machine, 0));
	print_student(&all);
	print_student(&after);
	putchar('\n');
}

/* Every `step`th of the times, as if one had been taken each second. */
static struct comparison_side side_of(
	struct comparison_time *items, const int64_t *times, size_t first, size_t step, size_t n)
{
	for (size_t i = 0; i < n; i++)
		items[i] = (struct comparison_time){(uint32_t)i + 1,
			(int64_t)(1 + first + i * step) * NS_PER_S, times[first + i * step]};
	return (struct comparison_side){items, n, .origin = {.call = "turn"}};
}

static void answer_turn(void)
{
	enum { MOST_OTHERS = 32 };
	struct comparison comparisons[MOST_OTHERS], *all[MOST_OTHERS];
	static struct comparison_time of_a[MOST], of_b[MOST];
	size_t others = read_count(), n = read_count(), step = others + 1;
	int64_t times[MOST];
	struct comparison_side a, b;
	struct error err;
	int different = 0;

	if (others > MOST_OTHERS || read_times(times, n * step) < n * step)
		exit(1);
	a = side_of(of_a, times, 0, step, n);
	for (size_t i = 0; i < others; i++) {
		b = side_of(of_b, times, i + 1, step, n);
		all[i] = &comparisons[i];
		if (comparison_make(&a, &b, NULL, all[i], &err) < 0)
			exit(1);
	}
	comparisons_adjust(all, others);
	for (size_t i = 0; i < others; i++)
		different += all[i]->ratio_low > 1 || all[i]->ratio_high < 1;
	printf("%d\n", different);
}

static void answer_separate(void)
{
	struct run_mean means[MOST];
	static struct comparison_time of_a[MOST], of_b[MOST];
	int64_t times[MOST];
	size_t runs = read_times(times, read_count()), n;
	struct run_variation variation;
	struct comparison_side a, b;
	const char *by_interval = "different";
	struct comparison c;
	struct error err;

	for (size_t i = 0; i < runs; i++)
		means[i] = (struct run_mean){
			(int64_t)i + 1, (int64_t)i * 10, (int64_t)i * 10 + 5, (double)times[i], 10};
	variation = run_variation_find(&(struct run_means){means, runs}, NULL, NULL, 0);
	n = read_count();
	if (read_times(times, 2 * n) < 2 * n)
		exit(1);
	a = side_of(of_a, times, 0, 1, n);
	b = side_of(of_b, times, n, 1, n);
	if (comparison_make(&a, &b, &variation, &c, &err) < 0)
		exit(1);

	if (isnan(c.ratio_low))
		by_interval = "unknown";
	else if (c.ratio_low <= 1 && c.ratio_high >= 1)
		by_interval = "same";
	printf("%s %s\n", by_interval, c.welch_p < 0.05 ? "different" : "same");
}

static void answer_changes(void)
{
	double values[MOST];
	size_t n = read_count(), i = 0;
	_cleanup_(levels_clear) struct levels levels = {};

	while (i < n && scanf("%lf", &values[i]) == 1)
		i++;
	if (i < n)
		exit(1);
	change_points_find(values, n, 0, &levels);
	printf("%zu ", levels.n - 1);
	for (size_t k = 1; k < levels.n; k++) {
		struct level_change change = levels.items[k].change;

		printf("%zu %.6g %.6g ", levels.items[k].first, change.by, change.half);
	}
	printf("%.6g %.6g\n", levels_detectable(&levels, n, n / 2),
		levels_detectable(&levels, n, 5));
}

enum { MOST_SOURCES = 64 };

static struct sources make_sources(void)
{
	static struct source items[MOST_SOURCES];

	for (size_t i = 0; i < MOST_SOURCES; i++)
		items[i] = (struct source){.id = (int64_t)i + 1,
			.name = text_format("%c%cd", 'a' + (int)(i / 8), 'a' + (int)(i % 8))};
	return (struct sources){items, MOST_SOURCES};
}

struct made_up {
	struct sample *samples;
	struct execution *executions;
	size_t n, n_executions;
};

/* Samples of which one follows at once upon another. */
static struct made_up read_run(void)
{
	enum { MOST_EXECUTIONS = 64 };
	size_t n = read_count();
	struct made_up m = {calloc(n, sizeof(*m.samples)),
		calloc(n * MOST_EXECUTIONS, sizeof(*m.executions)), n, 0};
	int64_t now = NS_PER_S, times[3];

	for (size_t i = 0; i < n; i++) {
		if (read_times(times, 3) < 3)
			exit(1);
		m.samples[i] = (struct sample){.n = (uint32_t)i + 1,
			.start_ns = now,
			.et_ns = times[0],
			.pt_ns = times[1],
			.wait_ns = times[2]};
		now += times[0];
		for (size_t left = read_count(); left > 0; left--) {
			if (read_times(times, 2) < 2 || m.n_executions == n * MOST_EXECUTIONS)
				exit(1);
			m.executions[m.n_executions++] = (struct execution){
				.sample = (uint32_t)i + 1,
				.source = (uint32_t)times[0],
				.pt_ns = times[1],
				.same_cpu_ns = times[1]};
		}
	}
	return m;
}

/* Those that made samples long: frequent ones, or those whose cutoffs explain a tenth of the delay
 * of their samples. */
static void print_named(const struct analysis *a)
{
	const char *before = "";

	for (size_t i = 0; i < a->n_statistics; i++) {
		const struct daemon_statistics *d = &a->statistics[i];

		if (a->verdict == VERDICT_FREQUENT ? d->frequent : d->share >= 0.1) {
			printf("%s%s", before, d->name);
			before = ",";
		}
	}
	printf("%s ", *before ? "" : "-");
}

static void print_analysis(const struct analysis *a)
{
	const char *before = "";

	printf("%s %s ", verdict_name(a->verdict), a->noise.noisy ? "noisy" : "quiet");
	for (size_t i = 0; i < a->n_l_samples; i++)
		printf("%s%u", i ? "," : "", a->l_samples[i]);
	printf("%s ", a->n_l_samples ? "" : "-");
	for (size_t i = 0; i < a->n_statistics; i++)
		if (a->statistics[i].frequent) {
			printf("%s%s", before, a->statistics[i].name);
			before = ",";
		}
	printf("%s ", *before ? "" : "-");
	print_named(a);
	printf("%s\n", a->why);
}

static void must(int r, const struct error *err)
{
	if (r < 0) {
		fprintf(stderr, "%s\n", err->text);
		exit(1);
	}
}

static void analyse(
	struct made_up *m, const struct sources *sources, bool by_wait, struct analysis *ret)
{
	struct run run = {.id = 1, .kind = RUN_SHORT, .resolution_ns = 1};
	_cleanup_(analysis_feed_freep) struct analysis_feed *feed = NULL;
	struct error err;

	must(analysis_feed_new(&feed, &run, TAKE(m->samples), m->n, sources,
		     &(struct analysis_options){.patterns = names_default, .by_wait = by_wait},
		     &err),
		&err);
	for (size_t i = 0; i < m->n_executions; i++)
		must(analysis_feed_add(feed, &m->executions[i], &err), &err);
	free(m->executions);
	*ret = analysis_feed_finish(feed);
}

static void answer_verdict(void)
{
	bool by_wait = read_count();
	struct made_up m = read_run();
	struct sources sources = make_sources();
	_cleanup_(analysis_clear) struct analysis analysis = {};

	analyse(&m, &sources, by_wait, &analysis);
	print_analysis(&analysis);
}

static void discard(struct made_up *m, const struct sources *sources, const struct profile *profile)
{
	const struct discard_rules rules = {.profile = profile, .patterns = names_default};
	_cleanup_(sample_filter_clear) struct sample_filter filter = {
		rules, sources, m->samples, m->n};
	_cleanup_(discarding_clear) struct discarding discarding = {};
	struct error err;

	for (size_t i = 0; i < m->n_executions; i++)
		must(sample_filter_add(&filter, &m->executions[i], &err), &err);
	discarding = sample_filter_judge(&filter);
	for (size_t i = 0; i < discarding.n_by_cutoff; i++)
		printf("%s%u", i ? "," : "", discarding.by_cutoff[i]);
	free(m->samples);
	free(m->executions);
}

static void answer_cutoffs(void)
{
	bool by_wait = read_count();
	struct sources sources = make_sources();
	_cleanup_(profile_clear) struct profile profile = {};
	_cleanup_(cutoffs_clear) struct cutoffs left_out = {};
	struct analysis runs[2];
	int64_t least_share_ppm;
	struct made_up m;

	if (scanf("%" SCNd64, &least_share_ppm) != 1)
		exit(1);
	for (size_t i = 0; i < 2; i++) {
		m = read_run();
		analyse(&m, &sources, by_wait, &runs[i]);
	}
	m = read_run();
	profile = cutoffs_make(NULL, runs, least_share_ppm, &left_out);
	printf("%s,%s ", verdict_name(runs[0].verdict), verdict_name(runs[1].verdict));
	for (size_t i = 0; i < profile.n_cutoffs; i++)
		printf("%s:%" PRId64 ",", profile.cutoffs[i].daemon, profile.cutoffs[i].below_ns);
	printf("- ");
	discard(&m, &sources, &profile);
	printf("-\n");
	analysis_clear(&runs[0]);
	analysis_clear(&runs[1]);
}

int main(void)
{
	static const struct {
		const char *word;
		void (*answer)(void);
	} questions[] = {{"interval", answer_interval}, {"turn", answer_turn},
		{"separate", answer_separate}, {"changes", answer_changes},
		{"verdict", answer_verdict}, {"cutoffs", answer_cutoffs}};
	char word[16];

	while (scanf("%15s", word) == 1)
		for (size_t i = 0; i < ELEMENTS(questions); i++)
			if (!strcmp(word, questions[i].word))
				questions[i].answer();
	return 0;
}
