/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run in the book, judged: see run_result.h. */
#include "lib/record/profile.h"
#include "lib/report/run_result.h"

#include "lib/base/terminal.h"
#include "lib/document/document.h"
#include "lib/protocol/adjust.h"

int run_is_from(
	struct book *book, const struct run *run, const char *machine, bool *ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	const char *there;
	int r = document_read_environment(book, run->environment, &document, err);

	if (r < 0)
		return r;
	there = json_string_value(
		json_object_get(json_object_get(document, "identity"), "machine"));
	*ret = there && !strcmp(there, machine);
	return 0;
}

void run_state_print(FILE *file, const struct run *run)
{
	static const char *const words[N_RUN_STATES] = {[RUN_OPEN] = "is still running, and has",
		[RUN_INTERRUPTED] = "was interrupted after",
		[RUN_FAILED] = "failed after"};

	if (words[run->state])
		fprintf(file, "Run %" PRId64 " %s %s\n", run->id, words[run->state],
			text_count(run->n_samples, "sample"));
}

int run_rules_load(struct book *book, const struct run *run, const char *profile, bool today,
	struct run_rules *ret, struct error *err)
{
	struct correlation correlation = {};
	struct error why = {};
	int r = -ENOENT;
	bool there;

	if (profile || (run->profile && (today || !run->profile_id)))
		r = book_get_profile(book, 0, profile ?: run->profile, &ret->profile, &why);
	if (r == -ENOENT && !profile && run->profile_id)
		r = book_get_profile(book, run->profile_id, NULL, &ret->profile, &why);
	there = r == 0;
	if (!there && (profile || r != -ENOENT))
		return error_say(err, r, "%s", why.text);
	r = today ? names_load(&ret->names, NULL, err) : 0;
	if (r == 0 && today && run->environment)
		r = book_get_correlation(
			book, run->environment, run->inc_digest, &correlation, err);
	if (r < 0)
		return r;
	if (there)
		profile_for_inc(&ret->profile, run->inc_digest);
	ret->missing = run->profile && !there;
	ret->rules = (struct discard_rules){
		.profile = there ? &ret->profile : NULL,
		.patterns = ret->names.rows,
		.other_cpus = run->other_cpus,
		.unprofiled_share = (double)run->unprofiled_share_ppm / PPM,
		.neighbour = run->neighbour_rule,
		.neighbour_limit_ppm = run_neighbour_limit_ppm(run),
		.correlation = {correlation.lag1, (size_t)correlation.samples},
	};
	return 0;
}

void run_rules_print_changes(FILE *file, const struct run *run, const struct run_rules *today)
{
	const struct known_correlation *now = &today->rules.correlation;
	const struct correlation *then = &run->correlation;
	_cleanup_(freep) char *patterns = NULL;

	if (today->rules.profile && today->profile.id != run->profile_id)
		fprintf(file, "  profile '%s' was made anew on %s\n", terminal_text(run->profile),
			text_moment(today->profile.made_ns));
	else if (today->rules.profile && today->profile.retired_ns)
		fprintf(file, "  profile '%s' was removed on %s; the run keeps it\n",
			terminal_text(run->profile), text_moment(today->profile.retired_ns));
	if (run->name_patterns && names_text(&patterns, NULL) == 0 &&
		strcmp(patterns, run->name_patterns))
		fprintf(file, "  the patterns of names (names.ini) have changed\n");
	if (now->values == 0 || (then->samples == (int64_t)now->values && then->lag1 == now->lag1))
		return;
	fprintf(file, "  the correlation of neighbouring samples was %s, is %.2f\n",
		then->samples > 0 ? text_brief("%.2f", then->lag1) : "not known", now->lag1);
}

/* "--neighbour discard=5%"; "": the default, auto=5%, or off. */
static const char *neighbour_option(const struct run *run)
{
	enum neighbour_rule rule = run->neighbour_rule;
	int64_t limit_ppm = run_neighbour_limit_ppm(run);
	const char *name = neighbour_rule_names[rule];

	if (rule == NEIGHBOUR_ADJUST)
		return text_brief("--neighbour %s", name);
	if (rule == NEIGHBOUR_OFF || (rule == NEIGHBOUR_AUTO && limit_ppm == NEIGHBOUR_LIMIT_PPM))
		return "";
	return text_brief("--neighbour %s=%.10g%%", name, (double)limit_ppm / (PPM / 100));
}

const char *run_rules_options(const struct run *run)
{
	const char *options[3] = {run->other_cpus ? "--other-cpus" : "", "", neighbour_option(run)};
	const char *text = "";

	if (run->unprofiled_share_ppm > 0)
		options[1] = text_brief("--discard-unprofiled %.10g%%",
			(double)run->unprofiled_share_ppm / (PPM / 100));
	for (size_t i = 0; i < ELEMENTS(options); i++)
		if (*options[i])
			text = text_brief("%s%s%s", text, *text ? " " : "", options[i]);
	return text;
}

void run_rules_clear(struct run_rules *rules)
{
	names_clear(&rules->names);
	profile_clear(&rules->profile);
	*rules = (struct run_rules){};
}

/* On a hybrid processor, the type of the CPU that the run was pinned to; without one, all types may
 * be in it. */
static void find_cpu_kind(struct discarding *d, const json_t *environment)
{
	json_t *types = NULL, *list;
	const char *kind;

	if (!environment || json_unpack((json_t *)environment, "{s:{s:{s:o}}}", "settings", "cpus",
				    "types", &types) < 0)
		return;
	json_object_foreach (types, kind, list) {
		_cleanup_(freep) int *cpus = NULL;
		size_t n = 0;

		if (json_is_string(list))
			text_parse_cpu_list(json_string_value(list), &cpus, &n);
		for (size_t i = 0; i < n && !d->cpu_kind; i++)
			if (cpus[i] == d->run.cpu)
				d->cpu_kind = xstrdup(kind);
	}
	/* the work of a load is that of all its CPUs */
	if (!d->unmeasurable && d->run.kind != RUN_LOAD && d->run.cpu < 0 &&
		json_object_size(types) > 1)
		d->unmeasurable = UNMEASURABLE_CPU_KINDS;
}

/* Whether PT contains interrupts, by the kernel's configuration. */
static enum interrupts_in_pt interrupts_in_pt_of(const json_t *environment)
{
	const char *value = NULL;

	if (environment)
		json_unpack((json_t *)environment, "{s:{s:{s:s}}}", "settings", "kernel_options",
			"IRQ_TIME_ACCOUNTING", &value);
	if (!value)
		return INTERRUPTS_NOT_KNOWN;
	return !strcmp(value, "y") ? INTERRUPTS_NOT_IN_PT : INTERRUPTS_IN_PT;
}

/* The counters of all samples. In a duet the programs wait for each other, and nothing tells that
 * from other waiting. The caller frees the array. */
static int counters_load(struct book *book, const struct run *run, struct counters **ret,
	size_t *ret_n, struct error *err)
{
	int r = book_rows(book, run->id, &counters_table, ret, ret_n, err);

	for (size_t i = 0; r == 0 && run->kind == RUN_DUET && i < *ret_n; i++)
		(*ret)[i].value[COUNTER_CPU_PRESSURE] = INT64_MIN;
	return r;
}

/* The counters of a result, what disturbed the run, and whether that leaves anything to compare. */
static int disturbances_load(struct book *book, struct run_result *result, struct error *err)
{
	struct disturbances *found = &result->disturbances;
	struct discarding *d = &result->discarding;
	_cleanup_(json_decrefp) json_t *environment = NULL;
	int r = counters_load(book, &d->run, &result->counters, &result->n_counters, err);

	if (r == 0)
		r = document_read_environment(book, d->run.environment, &environment, err);
	if (r < 0)
		return r;
	*found = disturbances_find(
		result->counters, result->n_counters, (int64_t)d->et.raw.median_ns);
	found->pt_ns = d->pt.raw.mean_ns;
	found->interrupts = interrupts_in_pt_of(environment);
	d->unmeasurable = counters_unmeasurable(
		result->counters, result->n_counters, result->samples, result->n_samples);
	find_cpu_kind(d, environment);
	return 0;
}

struct tick_feed {
	book_each *each;
	void *data;
};

static int pass_ticks(void *data, const struct execution *execution, struct error *err)
{
	const struct tick_feed *feed = data;
	struct execution by_ticks = *execution;

	if (!execution_use_ticks(&by_ticks))
		return error_say(err, -ENODATA,
			"of an execution in sample %" PRIu32
			" the time in ticks is not known: omit --clock tick",
			execution->sample);
	return feed->each(feed->data, &by_ticks, err);
}

/* The executions of a run, with their times by this clock. */
static int each_by_clock(
	struct book *book, int64_t run, int clock, book_each *each, void *data, struct error *err)
{
	struct tick_feed feed = {each, data};

	if (clock == EXECUTION_TICK)
		return book_each_execution(book, run, pass_ticks, &feed, err);
	return book_each_time(book, run, each, data, err);
}

/* The samples of a run, and what else ran in them. */
struct filtered_run {
	int64_t id;
	struct sample *samples;
	struct sample_filter filter;
};

static int read_filtered(struct book *book, struct filtered_run *f, bool by_name, struct error *err)
{
	int r = book_rows(book, f->id, &sample_table, &f->samples, &f->filter.n_samples, err);

	f->filter.samples = f->samples;
	if (r == 0 && by_name)
		r = each_by_clock(
			book, f->id, f->filter.rules.clock, sample_filter_add, &f->filter, err);
	return r < 0 ? error_prefix(err, r, "run %" PRId64, f->id) : 0;
}

/* The other runs of a duet, by the rules of this one, so that a sample is discarded in all of them
 * or in none. Returns them all; *ret_n 0: it is of no duet. The caller clears them, the first of
 * which is `own`. */
static int read_duet(struct book *book, const struct filtered_run *own, bool by_name,
	struct filtered_run **ret, size_t *ret_n, struct error *err)
{
	_cleanup_(freep) int64_t *ids = NULL;
	size_t n = 0;
	int r = document_companions(book, own->id, &ids, &n, err);

	*ret = xcalloc(n, sizeof(**ret));
	*ret_n = 0;
	for (size_t i = 0; r == 0 && i < n; i++) {
		struct filtered_run *f = &(*ret)[*ret_n];

		if (ids[i] == own->id)
			continue;
		f->id = ids[i];
		f->filter.rules = own->filter.rules;
		f->filter.sources = own->filter.sources;
		++*ret_n;
		r = read_filtered(book, f, by_name, err);
	}
	return r;
}

static void filtered_runs_free(struct filtered_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sample_filter_clear(&runs[i].filter);
		free(runs[i].samples);
	}
	free(runs);
}

/* Reads the samples of the run, and of a duet those of the other runs, and judges them by the rules
 * of `own`. `duet_by_name`: whether these rules discard samples of the other runs by name. */
static int judge_filtered(struct book *book, struct filtered_run *own, const struct run *run,
	bool by_name, bool duet_by_name, struct discarding *ret, struct error *err)
{
	_cleanup_(freep) struct sample_filter **duet = NULL;
	struct filtered_run *others = NULL;
	size_t n_others = 0;
	int r = read_filtered(book, own, by_name, err);

	if (r == 0 && run->kind == RUN_DUET)
		r = read_duet(book, own, duet_by_name, &others, &n_others, err);
	duet = xcalloc(n_others + 1, sizeof(*duet));
	duet[0] = &own->filter;
	for (size_t i = 0; i < n_others; i++)
		duet[i + 1] = &others[i].filter;
	own->filter.duet = duet;
	own->filter.n_duet = n_others + 1;
	if (r == 0)
		*ret = sample_filter_finish(&own->filter);
	own->filter.duet = NULL;
	filtered_runs_free(others, n_others);
	return r;
}

int run_result_read(struct book *book, int64_t id, const struct discard_rules *given,
	enum result_parts parts, struct run_result *ret, struct error *err)
{
	_cleanup_(run_result_clear) struct run_result result = {};
	_cleanup_(sources_clear) struct sources sources = {};
	_cleanup_(names_clear) struct names names = {};
	_cleanup_(run_clear) struct run run = {};
	struct filtered_run own = {.id = id, .filter = {.rules = *given, .sources = &sources}};
	struct discard_rules *rules = &own.filter.rules;
	bool by_rules = discard_rules_by_name(given), by_name = parts & RESULT_OTHERS || by_rules;
	int r = book_get_run(book, id, &run, err);

	if (r == 0 && by_name && !rules->patterns)
		r = names_load(&names, &run, err);
	rules->patterns = rules->patterns ?: names.rows;
	if (!rules->correlation.values)
		rules->correlation = (struct known_correlation){
			run.correlation.lag1, (size_t)run.correlation.samples};
	if (!(rules->slope.error > 0))
		rules->slope = run_neighbour_slope(&run);
	rules->resolution_ns = run.resolution_ns;
	if (r == 0 && by_name)
		r = book_sources(book, &sources, err);

	if (r == 0)
		r = judge_filtered(book, &own, &run, by_name, by_rules, &result.discarding, err);
	if (r == 0) {
		result.discarding.run = TAKE_STRUCT(run);
		result.samples = TAKE(own.samples);
		result.n_samples = own.filter.n_samples;
	}
	sample_filter_clear(&own.filter);
	free(own.samples);

	if (r == 0 && parts & RESULT_COUNTERS)
		r = disturbances_load(book, &result, err);
	if (r == 0)
		*ret = TAKE_STRUCT(result);
	return r;
}

json_t *held_back_as_json(const struct run_result *result)
{
	struct held_time held = held_time_of(result->samples, result->n_samples);
	const char *by = result->discarding.run.held_back_by;

	if (held.ns == 0 && !by)
		return json_null();
	return json_pack("{s:I, s:f, s:s?, s:b}", "ns", (json_int_t)held.ns, "share", held.share,
		"by", by, "unmeasurable", held.share > HELD_TOO_LONG);
}

struct neighbour_time run_neighbour_time(const struct run_result *r)
{
	return neighbour_time_of(
		r->samples, r->n_samples, run_neighbour_limit_ppm(&r->discarding.run));
}

json_t *neighbour_as_json(const struct run_result *result)
{
	const struct discarding *d = &result->discarding;
	const struct neighbour_time time = run_neighbour_time(result);
	const struct neighbour_slope *slope = &d->pt.adjusted.by.slope;
	bool adjusted = d->pt.adjusted.times_ns;

	if (time.n_probed == 0)
		return json_null();
	return JSON_OBJECT({"share", json_real_or_null(time.share)},
		{"samples", json_integer(time.n_beside)}, {"probed", json_integer(time.n_probed)},
		{"limit_ppm", json_integer(run_neighbour_limit_ppm(&d->run))},
		{"rule", json_text(neighbour_rule_names[d->run.neighbour_rule])},
		{"done", json_text(neighbour_rule_names[d->neighbour])},
		{"slope?", adjusted ? json_real(slope->k) : NULL},
		{"slope_error?", adjusted ? json_real(slope->error) : NULL},
		{"slope_df?", adjusted ? json_real(slope->df) : NULL});
}

void run_result_clear(struct run_result *r)
{
	discarding_clear(&r->discarding);
	free(r->samples);
	free(r->counters);
	disturbances_clear(&r->disturbances);
	*r = (struct run_result){};
}

/* Whether the mean is so uncertain, because of what was taken out of it for a neighbour, that it
 * tells little of how runs differ. */
static bool is_vague(const struct clock_discarding *clock)
{
	const double VAGUE = 0.02;

	return sqrt(clock->adjusted.by.variance) > VAGUE * clock->kept.mean_ns;
}

/* Whether both ran on one CPU or neither did, and whether the times of both are without a
 * neighbour or those of neither. */
static bool are_measured_alike(const struct run *a, const struct run *b)
{
	return (a->cpu >= 0) == (b->cpu >= 0) &&
	       (a->neighbour_rule == NEIGHBOUR_OFF) == (b->neighbour_rule == NEIGHBOUR_OFF);
}

/* Replaces the means by those of the samples that the rules of each run keep. like NULL: any run
 * counts; else those that were measured alike, and others have no samples. */
static int keep_by_rules(struct book *book, struct run_means *means, bool et,
	const struct run *like, struct error *err)
{
	int r = 0;

	for (struct run_mean *m = means->items; r == 0 && m < means->items + means->n; m++) {
		_cleanup_(run_result_clear) struct run_result result = {};
		_cleanup_(run_rules_clear) struct run_rules rules = {};
		_cleanup_(run_clear) struct run of = {};
		const struct discarding *d = &result.discarding;
		const struct clock_discarding *clock = et ? &d->et : &d->pt;

		r = book_get_run(book, m->run, &of, err);
		if (r == 0 && like && !are_measured_alike(&of, like)) {
			m->n_samples = 0;
			continue;
		}
		if (r == 0)
			r = run_rules_load(book, &of, NULL, false, &rules, err);
		if (r < 0 || !(discard_rules_by_name(&rules.rules) ||
				     rules.rules.neighbour != NEIGHBOUR_OFF))
			continue;
		r = run_result_read(book, of.id, &rules.rules, 0, &result, err);
		m->mean_ns = clock->kept.mean_ns;
		m->n_samples = is_vague(clock) ? 0 : (int64_t)clock->kept.n;
	}
	return r;
}

/* The means of all runs of the command of `run`. */
static int load_means(
	struct book *book, int64_t run, bool et, struct run_means *ret, struct error *err)
{
	int r = book_run_means(book, run, et, ret, err);

	return r ?: keep_by_rules(book, ret, et, NULL, err);
}

/* As many as tell enough, and are read at once. */
enum { MOST_EARLIER_RUNS = 20 };

/* Of the runs of its command, leaves the last ones that ended before this one began, or that are
 * not this one. *ret_own: this one. False: it is not among them. */
static bool leave_earlier_runs(
	struct run_means *means, int64_t run, bool all_others, struct run_mean *ret_own)
{
	const struct run_mean *own = NULL;
	size_t n = 0;

	for (size_t i = 0; !own && i < means->n; i++)
		if (means->items[i].run == run)
			own = &means->items[i];
	if (!own)
		return false;
	*ret_own = *own;
	for (size_t i = 0; i < means->n; i++) {
		const struct run_mean *m = &means->items[i];

		if (m->run != run && (all_others || m->ended_ns < ret_own->started_ns))
			means->items[n++] = *m;
	}
	if (n > MOST_EARLIER_RUNS)
		memmove(means->items, means->items + n - MOST_EARLIER_RUNS,
			MOST_EARLIER_RUNS * sizeof(*means->items));
	means->n = n < MOST_EARLIER_RUNS ? n : MOST_EARLIER_RUNS;
	return true;
}

static int add_between(
	struct book *book, struct discarding *d, bool et, bool all_others, struct error *err)
{
	struct clock_discarding *clock = et ? &d->et : &d->pt;
	struct run_means means = {};
	struct run_variation variation;
	struct run_mean own;
	int r = book_run_means(book, d->run.id, et, &means, err);

	if (r == 0 && leave_earlier_runs(&means, d->run.id, all_others, &own)) {
		r = keep_by_rules(book, &means, et, &d->run, err);
		variation = run_variation_find(&means, NULL, &own, 1);
		if (r == 0 && variation.df > 0)
			clock->between = interval_between_runs(
				&clock->interval, clock->kept.mean_ns, clock->kept.n, &variation);
	}
	free(means.items);
	return r;
}

int run_result_add_between(
	struct book *book, struct run_result *result, bool all_others, struct error *err)
{
	struct discarding *d = &result->discarding;
	int r = 0;

	for (int et = 0; r == 0 && et < 2 && discarding_may_have_between(d); et++)
		r = add_between(book, d, et, all_others, err);
	return r;
}

int neighbour_slope_load(struct book *book, struct run *run, struct error *err)
{
	_cleanup_(freep) struct probed_time *times = NULL;
	_cleanup_(freep) struct neighbour_sample *samples = NULL;
	struct neighbour_slope slope;
	size_t n = 0;
	int r = book_probed_times(book, run, &times, &n, err);

	if (r < 0)
		return r;
	samples = xcalloc(n + 1, sizeof(*samples));
	for (size_t i = 0; i < n; i++)
		samples[i] = (struct neighbour_sample){
			.run = (size_t)times[i].run,
			.time_ns = times[i].pt_ns,
			.share = (double)times[i].neighbour_ppm / PPM,
			.share_error = (double)times[i].neighbour_error_ppm / PPM,
		};
	slope = neighbour_slope_learn(samples, n);
	if (slope.error >= neighbour_slope_unknown.error)
		return 0;
	run->neighbour_slope_ppm = llround(slope.k * PPM);
	run->neighbour_slope_error_ppm = llround(fmax(1, slope.error * PPM));
	return 0;
}

int run_variation_load(struct book *book, int64_t run_a, int64_t run_b, bool et,
	struct run_variation *ret, struct error *err)
{
	const int64_t runs[] = {run_a, run_b};
	struct run_means means[2] = {};
	struct run_mean compared[2];
	bool of_one_command = false;
	size_t n = 0;
	int r = 0;

	*ret = (struct run_variation){};
	for (size_t i = 0; r == 0 && i < 2; i++) {
		r = load_means(book, runs[i], et, &means[i], err);
		for (size_t k = 0; r == 0 && k < means[i].n; k++) {
			if (means[i].items[k].run == runs[i])
				compared[n++] = means[i].items[k];
			of_one_command |= i == 0 && means[i].items[k].run == run_b;
		}
	}
	if (n == 2) /* the runs of one command must not count twice */
		*ret = run_variation_find(
			&means[0], of_one_command ? NULL : &means[1], compared, n);
	free(means[0].items);
	free(means[1].items);
	return r;
}

/* The analysis of a run. */

int analysis_load(struct book *book, int64_t id, const struct analysis_options *given,
	struct analysis *ret, struct error *err)
{
	_cleanup_(analysis_feed_freep) struct analysis_feed *feed = NULL;
	_cleanup_(sources_clear) struct sources sources = {};
	_cleanup_(names_clear) struct names names = {};
	_cleanup_(freep) struct sample *samples = NULL;
	_cleanup_(run_clear) struct run run = {};
	struct analysis_options options = *given;
	size_t n;
	int r;

	r = book_get_run(book, id, &run, err);
	if (r == 0)
		r = book_rows(book, id, &sample_table, &samples, &n, err);
	if (r == 0) /* after the samples: then it has all of theirs, even if the run is not over */
		r = book_sources(book, &sources, err);
	if (r == 0)
		r = names_load(&names, NULL, err);
	if (r < 0)
		return r;
	if (!options.patterns)
		options.patterns = names.rows;
	r = analysis_feed_new(&feed, &run, samples, n, &sources, &options, err);
	if (r < 0)
		return r;
	TAKE(samples);
	r = each_by_clock(book, id, options.clock, analysis_feed_add, feed, err);
	if (r < 0)
		return r == -ENODATA ? error_prefix(err, r, "run %" PRId64, id) : r;
	*ret = analysis_feed_finish(feed);
	return 0;
}

/* The marks of profiles. */

enum { LINE_COLUMNS = 78 }; /* of the first screen, after its indent */

/* How much of the time of all samples this counter is, at most 1. */
static double counted_share(
	const struct counters *counters, size_t n, enum counter which, double time_ns)
{
	double sum = 0;

	for (size_t k = 0; k < n; k++)
		if (counters_know(&counters[k], which))
			sum += (double)counters[k].value[which];
	/* the first and the last reading are a little outside the samples */
	return time_ns > 0 ? fmin(sum / time_ns, 1) : 0;
}

/* Why the samples of a noisy run varied, by what was counted in them. */
static int noise_load(
	struct book *book, const struct analysis *analysis, char **ret, struct error *err)
{
	static const struct {
		enum counter which;
		const char *name;
		double from; /* the share of a run's time that counts */
	} causes[] = {
		{COUNTER_STEAL, "steal", 0.01},
		{COUNTER_CPU_PRESSURE, "PSI", 0.05},
		{COUNTER_INTERRUPTS, "interrupts", 0.01},
	};
	_cleanup_(freep) struct counters *counters = NULL;
	double time_ns = 0;
	char *text = NULL;
	size_t n = 0;
	int r = counters_load(book, &analysis->run, &counters, &n, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < analysis->n_samples; i++)
		time_ns += (double)analysis->samples[i].et_ns;
	for (size_t i = 0; i < ELEMENTS(causes); i++) {
		double share = counted_share(counters, n, causes[i].which, time_ns);

		if (share >= causes[i].from)
			text_append(&text, ", ", "%s %s", causes[i].name, text_percent(share));
	}
	if (!text && analysis->noise.n_long > 0)
		text = xstrdup("many samples long, cause unknown");
	*ret = text ?: xstrdup("speed varies");
	return 0;
}

/* "busy, ", or "busy, step, ": the verdicts on these runs that give no cutoffs, each once. The
 * caller frees it. */
static char *refused_verdicts(const struct analysis runs[2])
{
	char *text = xstrdup("");

	for (size_t i = 0; i < 2; i++) {
		bool said = *text && runs[i].verdict == runs[0].verdict;

		if (!analysis_gives_cutoffs(&runs[i]) && !said)
			text_append(&text, "", "%s, ", verdict_name(runs[i].verdict));
	}
	return text;
}

/* The noisy run that hides the greater time; NULL: none is noisy. By ET only runs of the first INC
 * count. */
static const struct analysis *noisiest_run(const struct analysis runs[2], bool by_wait)
{
	const struct analysis *noisy = NULL;

	for (const struct analysis *a = runs; a < runs + 2; a++) {
		bool of_one_inc = !strcmp(a->run.inc_digest ?: "", runs[0].run.inc_digest ?: "");

		if (!a->noise.noisy || !(by_wait || of_one_inc))
			continue;
		if (!noisy || a->noise.blind_ns > noisy->noise.blind_ns)
			noisy = a;
	}
	return noisy;
}

int noise_mark(struct book *book, const struct analysis runs[2], struct profile *profile,
	struct error *err)
{
	const struct analysis *noisy = noisiest_run(runs, profile->by_wait);
	_cleanup_(freep) char *load = NULL, *refused = refused_verdicts(runs);
	int r = noisy ? noise_load(book, noisy, &load, err) : 0;

	if (r < 0)
		return r;
	if (noisy)
		profile->mark.blind_ns = noisy->noise.blind_ns > 0 ? noisy->noise.blind_ns : 1;
	if (!*refused)
		profile->mark.noise = TAKE(load);
	else if (load)
		profile->mark.noise = text_format("%sforced; %s", refused, load);
	else
		profile->mark.noise = text_format("%sforced", refused);
	return 0;
}

char *noise_text(const char *profile, const struct profile_mark *mark)
{
	_cleanup_(freep) char *reason = mark->noise ? text_format(" (%s)", mark->noise)
						    : xstrdup("");
	const char *blind = text_precise((double)mark->blind_ns, (double)mark->blind_ns);
	char *text;

	if (mark->blind_ns <= 0 && !mark->noise)
		return NULL;
	if (mark->blind_ns <= 0)
		return text_format("Profile '%s' is unreliable%s", profile, reason);
	text = text_format(
		"Profile '%s' is noisy: blind to daemons below %s%s", profile, blind, reason);
	if (terminal_text_width(text) <= LINE_COLUMNS)
		return text;
	free(text);
	return text_format("Profile '%s' is noisy: blind below %s%s", profile, blind, reason);
}

void noise_print(FILE *file, const char *profile, const struct profile_mark *mark)
{
	_cleanup_(freep) char *text = noise_text(profile, mark);

	if (text)
		terminal_say(file, 2, "%s", text);
}

void new_profile_clear(struct new_profile *made)
{
	analysis_clear(&made->analyses[0]);
	analysis_clear(&made->analyses[1]);
	profile_clear(&made->profile);
	cutoffs_clear(&made->left_out);
}

/* Names that are a family in one of the two runs are one in the other, too, which may have few of
 * them. */
static int load_both(struct book *book, const struct profile_request *request,
	struct analysis ret[2], struct error *err)
{
	struct analysis_options options = request->options;
	bool again = false;
	int r = 0;

	for (size_t i = 0; r == 0 && request->options.resolution_ns <= 0 && i < 2; i++) {
		_cleanup_(run_clear) struct run run = {};

		r = book_get_run(book, request->runs[i], &run, err);
		if (run.resolution_ns > options.resolution_ns)
			options.resolution_ns = run.resolution_ns;
	}
	for (size_t i = 0; r == 0 && i < 2; i++) {
		options.central_max_ns = request->central_max_ns[i];
		r = analysis_load(book, request->runs[i], &options, &ret[i], err);
		options.family_reference[0] = &ret[i];
	}
	for (size_t i = 0; r == 0 && i < ret[1].n_statistics; i++)
		again |= ret[1].statistics[i].names > 0 &&
			 !analysis_daemon(&ret[0], ret[1].statistics[i].name);
	if (!again)
		return r;
	analysis_clear(&ret[0]);
	options.central_max_ns = request->central_max_ns[0];
	return analysis_load(book, request->runs[0], &options, &ret[0], err);
}

int profile_from_runs(struct book *book, const struct profile_request *request,
	struct new_profile *ret, struct error *err)
{
	_cleanup_(new_profile_clear) struct new_profile made = {};
	const struct run *short_run = &made.analyses[0].run;
	int64_t least_ppm = request->least_share_ppm;
	struct profile *profile = &made.profile;
	bool imported; /* how others measured is not known */
	int r = load_both(book, request, made.analyses, err);

	if (r < 0)
		return r;
	imported = short_run->kind == RUN_IMPORT;
	if (least_ppm < 0)
		least_ppm = imported ? 0 : LEAST_SHARE_PPM;
	for (size_t i = 0; r == 0 && !request->force && i < 2; i++) {
		const struct analysis *a = &made.analyses[i];

		if (!analysis_gives_cutoffs(a))
			r = error_say(err, PROFILE_REFUSED,
				"run %" PRId64
				" (%s) is neither an L nor clean, but shows %s; cutoffs from it "
				"would be meaningless",
				a->run.id, a->run.program, a->why);
	}
	if (r == 0) {
		*profile = cutoffs_make(request->name, made.analyses, least_ppm, &made.left_out);
		profile->made_ns = clock_ns(CLOCK_REALTIME);
		r = book_get_environment(book, short_run->environment, &profile->environment_digest,
			NULL, NULL, err);
	}
	if (r == 0)
		r = noise_mark(book, made.analyses, profile, err);
	if (r == 0 && !imported) {
		mdd_find(profile->mdd, &made.analyses[0]);
		profile->correlation = correlation_find(&made.analyses[0]);
		profile->inc_digest = text_copy(short_run->inc_digest);
	}
	if (r >= 0)
		*ret = TAKE_STRUCT(made);
	return r;
}
