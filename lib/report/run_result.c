/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run in the book, judged: see run_result.h. */
#include "lib/report/run_result.h"

#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/document/document.h"
#include "lib/protocol/names.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

int run_is_from(struct book *book, const struct run *run, const char *machine, bool *ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	const char *there;
	int r = document_read_environment(book, run->environment, &document, err);

	if (r < 0)
		return r;
	there = json_string_value(json_object_get(json_object_get(document, "identity"), "machine"));
	*ret = there && !strcmp(there, machine);
	return 0;
}

void run_state_print(FILE *file, const struct run *run)
{
	static const char *const words[N_RUN_STATES] = {[RUN_OPEN] = "is still running, and has",
		[RUN_INTERRUPTED] = "was interrupted after",
		[RUN_FAILED] = "failed after"};

	if (words[run->state])
		fprintf(file, "Run %" PRId64 " %s %" PRIu32 " sample%s\n", run->id, words[run->state],
			run->n_samples, run->n_samples == 1 ? "" : "s");
}

/* The run's own profile. 1: *ret has it; 0: the run has none, or the book does not have it. */
static int load_own_profile(
	struct book *book, const struct run *run, bool today, struct profile *ret, struct error *err)
{
	struct error missing = {};
	int r = -ENOENT;

	if (run->profile && (today || !run->profile_id))
		r = book_get_profile(book, run->profile, ret, &missing);
	if (r == -ENOENT && run->profile_id)
		r = book_get_run_profile(book, run->profile_id, ret, &missing);
	if (r < 0 && r != -ENOENT)
		*err = missing;
	return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

int run_rules_load(struct book *book, const struct run *run, const char *profile, bool today,
	struct run_rules *ret, struct error *err)
{
	struct correlation correlation = {};
	int r = profile ? book_get_profile(book, profile, &ret->profile, err)
			: load_own_profile(book, run, today, &ret->profile, err);
	bool there = profile ? r == 0 : r > 0;

	if (r >= 0 && today)
		r = names_load(&ret->names, err);
	if (r >= 0 && today && run->environment)
		r = book_get_correlation(book, run->environment, &correlation, err);
	if (r < 0)
		return r;
	ret->missing = run->profile && !there;
	ret->rules = (struct discard_rules){
		.profile = there ? &ret->profile : NULL,
		.patterns = ret->names.rows,
		.other_cpus = run->other_cpus,
		.unprofiled_share = (double)run->unprofiled_share_ppm / PPM,
		.correlation = {correlation.lag1, (size_t)correlation.samples},
	};
	return 0;
}

void run_rules_print_changes(FILE *file, const struct run *run, const struct run_rules *today)
{
	const struct known_correlation *now = &today->rules.correlation;
	const struct correlation *then = &run->correlation;
	char moment[TEXT_TIME_SIZE], before[32] = "not known";
	_cleanup_(freep) char *patterns = NULL;

	if (today->rules.profile && today->profile.id != run->profile_id)
		fprintf(file, "  profile '%s' was made anew on %s\n", terminal_text(run->profile),
			text_moment(moment, today->profile.made_ns));
	else if (today->rules.profile && today->profile.retired_ns)
		fprintf(file, "  profile '%s' was removed on %s; the run keeps it\n",
			terminal_text(run->profile), text_moment(moment, today->profile.retired_ns));
	if (run->name_patterns && names_text(&patterns, &(struct error){}) == 0 &&
		strcmp(patterns, run->name_patterns))
		fprintf(file, "  the patterns of names (names.ini) have changed\n");
	if (now->values == 0 || (then->samples == (int64_t)now->values && then->lag1 == now->lag1))
		return;
	if (then->samples > 0)
		snprintf(before, sizeof(before), "%.2f", then->lag1);
	fprintf(file, "  the correlation of neighbouring samples was %s, is %.2f\n", before, now->lag1);
}

char *run_rules_options(char buffer[RUN_RULES_TEXT_SIZE], const struct run *run)
{
	int used = snprintf(buffer, RUN_RULES_TEXT_SIZE, "%s", run->other_cpus ? "--other-cpus" : "");

	if (run->unprofiled_share_ppm > 0)
		snprintf(buffer + used, RUN_RULES_TEXT_SIZE - (size_t)used, "%s--discard-unprofiled %.10g%%",
			used > 0 ? " " : "", (double)run->unprofiled_share_ppm / (PPM / 100));
	return buffer;
}

void run_rules_clear(struct run_rules *rules)
{
	names_clear(&rules->names);
	profile_clear(&rules->profile);
	*rules = (struct run_rules){};
}

struct discard_walk {
	struct discarder *discarder;
	const struct sources *sources;
	struct error *err;
};

static int discard_execution(const struct execution *e, void *data)
{
	struct discard_walk *walk = data;

	if (e->source < 1 ||
		e->source > walk->sources->n) /* added after the sources were read, while the run continues */
		return 0;
	return discarder_add(walk->discarder, &walk->sources->items[e->source - 1], e, walk->err);
}

/* walk: add the executions; otherwise nothing is discarded by name, and there are no others. */
static int discard_samples(struct book *book, int64_t id, const struct discard_rules *given, bool walk,
	const struct sample *samples, size_t n, struct discarding *ret, struct error *err)
{
	_cleanup_(discarder_freep) struct discarder *discarder = NULL;
	_cleanup_(sources_clear) struct sources sources = {};
	_cleanup_(names_clear) struct names names = {};
	_cleanup_(run_clear) struct run run = {};
	struct discard_rules rules = *given;
	int r;

	r = book_get_run(book, id, &run, err);
	if (r == 0 && !rules.patterns)
		r = names_load_of(&run, &names, err);
	if (r < 0)
		return r;
	if (!rules.correlation.values)
		rules.correlation = (struct known_correlation){
			run.correlation.lag1, (size_t)run.correlation.samples};
	if (!rules.patterns)
		rules.patterns = names.rows;
	discarder = discarder_new(&rules);
	for (size_t i = 0; i < n; i++)
		discarder_add_sample(discarder, &samples[i]);
	if (walk) {
		r = book_sources(book, &sources, err);
		if (r < 0)
			return r;
		r = book_each_time(
			book, id, discard_execution, &(struct discard_walk){discarder, &sources, err}, err);
		if (r < 0)
			return error_prefix(err, r, "run %" PRId64, id);
	}
	*ret = discarder_finish(discarder);
	ret->run = TAKE_STRUCT(run);
	return 0;
}

int interrupts_in_pt_load(
	struct book *book, int64_t environment, enum interrupts_in_pt *ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	const char *value = NULL;
	int r = document_read_environment(book, environment, &document, err);

	if (r < 0)
		return r;
	if (document)
		json_unpack(document, "{s:{s:{s:s}}}", "settings", "kernel_options", "IRQ_TIME_ACCOUNTING",
			&value);
	*ret = !value ? INTERRUPTS_NOT_KNOWN : !strcmp(value, "y") ? INTERRUPTS_NOT_IN_PT : INTERRUPTS_IN_PT;
	return 0;
}

int run_result_read(struct book *book, int64_t run, const struct discard_rules *rules, struct run_result *ret,
	struct error *err)
{
	_cleanup_(run_result_clear) struct run_result result = {};
	const struct discarding *d = &result.discarding;
	int r;

	r = book_samples(book, run, &result.samples, &result.n_samples, err);
	if (r == 0)
		r = discard_samples(
			book, run, rules, true, result.samples, result.n_samples, &result.discarding, err);
	if (r == 0)
		r = book_counters(book, run, &result.counters, &result.n_counters, err);
	if (r < 0)
		return r;
	result.disturbances = disturbances_find(
		result.counters, result.n_counters, (int64_t)d->et.raw.median_ns);
	result.disturbances.pt_ns = d->pt.raw.mean_ns;
	r = interrupts_in_pt_load(book, d->run.environment, &result.disturbances.interrupts, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(result);
	return 0;
}

void run_result_clear(struct run_result *r)
{
	discarding_clear(&r->discarding);
	free(r->samples);
	free(r->counters);
	disturbances_clear(&r->disturbances);
	*r = (struct run_result){};
}

int discard_run(struct book *book, int64_t run, const struct discard_rules *rules, struct discarding *ret,
	struct error *err)
{
	_cleanup_(freep) struct sample *samples = NULL;
	size_t n;
	int r;

	r = book_samples(book, run, &samples, &n, err);
	if (r == 0)
		r = discard_samples(book, run, rules, discard_rules_by_name(rules), samples, n, ret, err);
	return r;
}

int disturbances_load(struct book *book, int64_t id, struct disturbances *ret, struct error *err)
{
	_cleanup_(freep) struct sample_counters *counters = NULL;
	_cleanup_(freep) struct sample *samples = NULL;
	_cleanup_(freep) int64_t *times = NULL;
	_cleanup_(run_clear) struct run run = {};
	enum interrupts_in_pt interrupts;
	size_t n, n_samples;
	int r;

	r = book_counters(book, id, &counters, &n, err);
	if (r == 0)
		r = book_samples(book, id, &samples, &n_samples, err);
	if (r == 0)
		r = book_get_run(book, id, &run, err);
	if (r == 0)
		r = interrupts_in_pt_load(book, run.environment, &interrupts, err);
	if (r < 0)
		return r;
	times = xcalloc(n_samples, sizeof(*times));
	for (size_t i = 0; i < n_samples; i++)
		times[i] = samples[i].et_ns;
	*ret = disturbances_find(counters, n, (int64_t)summary_of(times, n_samples).median_ns);
	ret->interrupts = interrupts;
	for (size_t i = 0; i < n_samples; i++)
		ret->pt_ns += (double)samples[i].pt_ns / (double)n_samples;
	return 0;
}

int clean_samples_add(struct clean_samples *c, struct book *book, const struct discard_rules *given,
	const struct sample *sample, const struct execution *executions, size_t n, struct error *err)
{
	uint32_t last = 0;
	int r = 0;

	if (!c->discarder) {
		struct discard_rules rules = *given;

		r = names_load(&c->names, err);
		if (r < 0)
			return r;
		rules.patterns = rules.patterns ?: c->names.rows;
		c->discarder = discarder_new(&rules);
	}
	for (size_t i = 0; i < n; i++)
		last = executions[i].source > last ? executions[i].source : last;
	if (last > c->sources.n) {
		sources_clear(&c->sources);
		r = book_sources(book, &c->sources, err);
	}
	if (r == 0)
		discarder_add_sample(c->discarder, sample);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = discard_execution(&executions[i], &(struct discard_walk){c->discarder, &c->sources, err});
	return r;
}

size_t clean_samples_count(struct clean_samples *c)
{
	_cleanup_(discarding_clear) struct discarding d = {};

	if (c->discarder)
		d = discarder_judge(c->discarder);
	return d.pt.kept.n;
}

void clean_samples_clear(struct clean_samples *c)
{
	discarder_free(c->discarder);
	names_clear(&c->names);
	sources_clear(&c->sources);
	*c = (struct clean_samples){};
}

static const struct run_mean *mean_of_run(const struct run_means *means, int64_t run)
{
	for (size_t i = 0; i < means->n; i++)
		if (means->items[i].run == run)
			return &means->items[i];
	return NULL;
}

static int load_means(struct book *book, int64_t run, bool et, struct run_means *ret, struct error *err)
{
	int r = book_run_means(book, run, et, ret, err);

	for (size_t i = 0; r == 0 && i < ret->n; i++) {
		_cleanup_(discarding_clear) struct discarding d = {};
		_cleanup_(run_rules_clear) struct run_rules rules = {};
		_cleanup_(run_clear) struct run kept_run = {};
		const struct summary *kept = et ? &d.et.kept : &d.pt.kept;

		/* The mean of the samples that the rules of its run keep. */
		r = book_get_run(book, ret->items[i].run, &kept_run, err);
		if (r == 0)
			r = run_rules_load(book, &kept_run, NULL, false, &rules, err);
		if (r >= 0 && discard_rules_by_name(&rules.rules)) {
			r = discard_run(book, ret->items[i].run, &rules.rules, &d, err);
			ret->items[i].mean_ns = kept->mean_ns;
			ret->items[i].n_samples = (int64_t)kept->n;
		}
	}
	return r;
}

int run_variation_load(struct book *book, int64_t run_a, int64_t run_b, bool et, struct run_variation *ret,
	struct error *err)
{
	struct run_means a = {}, b = {};
	struct run_mean compared[2];
	size_t n = 0;
	int r;

	*ret = (struct run_variation){};
	r = load_means(book, run_a, et, &a, err);
	if (r == 0)
		r = load_means(book, run_b, et, &b, err);
	if (r == 0 && mean_of_run(&a, run_a))
		compared[n++] = *mean_of_run(&a, run_a);
	if (r == 0 && mean_of_run(&b, run_b))
		compared[n++] = *mean_of_run(&b, run_b);
	if (n == 2) /* if both are of one command, its runs must not count twice */
		*ret = run_variation_find(&a, mean_of_run(&a, run_b) ? NULL : &b, compared, n);
	free(a.items);
	free(b.items);
	return r;
}
