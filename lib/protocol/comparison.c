/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing two sets of samples: see comparison.h. */
#include "lib/protocol/comparison.h"

#include "lib/protocol/disturbances.h"
#include "lib/stats/time_series.h"

#include <gsl/gsl_cdf.h>

/* Whether all times are 0. */
static bool is_all_zero(const struct comparison_side *side)
{
	for (size_t i = 0; i < side->n; i++)
		if (side->items[i].time_ns > 0)
			return false;
	return true;
}

enum unmeasurable_cause comparison_held_back(const char *by)
{
	return by && strstr(by, "the quota of ") ? UNMEASURABLE_QUOTA : UNMEASURABLE_HELD_BACK;
}

enum unmeasurable_cause comparison_unmeasurable(
	const struct discarding *d, const struct sample *samples, size_t n)
{
	size_t n_out = 0;

	if (held_time_of(samples, n).share > HELD_TOO_LONG)
		return comparison_held_back(d->run.held_back_by);
	for (size_t i = 0; i < n; i++)
		n_out += d->out[i];
	return n > 0 && n_out == n ? UNMEASURABLE_DISTURBED : d->unmeasurable;
}

/* Whether the clock cannot time the program: its mean PT is less than a step of the clock. Not of a
 * program that was held back, whose times mean nothing for that reason. */
static bool is_too_short(const struct comparison_side *side, const struct discarding *d)
{
	if (side->unmeasurable == UNMEASURABLE_QUOTA ||
		side->unmeasurable == UNMEASURABLE_HELD_BACK)
		return false;
	return side->clock == COMPARISON_PT && side->n > 0 &&
	       d->pt.kept.mean_ns < (double)d->run.resolution_ns;
}

struct comparison_side comparison_side_make(const struct discarding *d,
	const struct sample *samples, size_t n, enum comparison_clock clock)
{
	struct comparison_side side = {
		.items = xcalloc(n ?: 1, sizeof(*side.items)),
		.discarded = xcalloc(n ?: 1, sizeof(*side.discarded)),
		.clock = clock,
		.duet = d->run.kind == RUN_DUET,
		.shared = NAN,
		.unmeasurable = comparison_unmeasurable(d, samples, n),
		.cpu_kind = d->cpu_kind,
		.step_ns = clock == COMPARISON_PT ? d->run.resolution_ns : 0,
		.origin = {.call = d->run.owner, .cpu = d->run.cpu},
	};
	const struct clock_discarding *c = clock == COMPARISON_ET ? &d->et : &d->pt;
	bool knows_wait = wait_source_is_exact(d->run.wait_source);
	size_t n_waits = 0;

	for (size_t i = 0; i < n; i++) {
		const struct sample *s = &samples[i];
		bool late = clock == COMPARISON_ET && sample_is_late(s);
		const struct comparison_time time = {
			.n = s->n,
			.start_ns = s->start_ns,
			.time_ns = d->out[i] ? sample_time_ns(s, clock == COMPARISON_ET)
					     : clock_time_ns(c, samples, i, clock == COMPARISON_ET),
			.end_ns = s->start_ns + s->et_ns,
		};

		side.n_late += late && !d->out[i];
		if (d->out[i] || late) {
			side.discarded[side.n_discarded++] = time;
			continue;
		}
		side.items[side.n++] = time;
		if (knows_wait && s->wait_ns > 0)
			side.wait_ns += (double)s->wait_ns;
		n_waits += s->wait_ns >= 0;
	}
	side.knows_wait = knows_wait && n_waits == side.n;
	if (side.n > 0)
		side.wait_ns /= (double)side.n;
	side.error = (struct mean_error){c->adjusted.by.variance, c->adjusted.by.slope.df};
	if (is_too_short(&side, d))
		side.unmeasurable = UNMEASURABLE_SHORT;
	return side;
}

void comparison_side_clear(struct comparison_side *side)
{
	free(side->items);
	free(side->discarded);
	*side = (struct comparison_side){};
}

static bool is_near(double a, double b)
{
	return a >= 0.95 * b && a <= 1.05 * b;
}

/* The next two samples of the same number, from a->items[*i] and b->items[*k] on. False: there are
 * no more. */
static bool next_pair(const struct comparison_side *a, size_t *i, const struct comparison_side *b,
	size_t *k, const struct comparison_time **ret_x, const struct comparison_time **ret_y)
{
	while (*i < a->n && *k < b->n) {
		const struct comparison_time *x = &a->items[*i], *y = &b->items[*k];

		*i += x->n <= y->n;
		*k += y->n <= x->n;
		if (x->n != y->n)
			continue;
		*ret_x = x;
		*ret_y = y;
		return true;
	}
	return false;
}

static size_t count_pairs(const struct comparison_side *a, const struct comparison_side *b)
{
	const struct comparison_time *x, *y;
	size_t n = 0;

	for (size_t i = 0, k = 0; next_pair(a, &i, b, &k, &x, &y);)
		n++;
	return n;
}

/* In how many samples the program was on one CPU all the time. */
static size_t count_on_cpu(const struct comparison_side *pt, const struct comparison_side *et)
{
	const struct comparison_time *x, *y;
	size_t n = 0;

	for (size_t i = 0, k = 0; next_pair(pt, &i, et, &k, &x, &y);)
		n += is_near((double)x->time_ns, (double)y->time_ns);
	return n;
}

/* Whether PT, or the sum of PT and W, is nearly ET: in the mean, or, where W is not known, in some
 * samples. What a program waits for by itself, it waits for each time. */
static bool is_on_one_cpu(const struct comparison_side *sides)
{
	enum { ON_CPU_SAMPLES = 2 };
	const struct comparison_side *pt = &sides[COMPARISON_PT], *et = &sides[COMPARISON_ET];
	double on_cpu = 0, elapsed = 0;

	for (size_t i = 0; i < pt->n; i++)
		on_cpu += (double)pt->items[i].time_ns / (double)pt->n;
	for (size_t i = 0; i < et->n; i++)
		elapsed += (double)et->items[i].time_ns / (double)et->n;
	if (is_near(on_cpu, elapsed) || is_near(on_cpu + et->wait_ns, elapsed))
		return true;
	return !et->knows_wait && count_on_cpu(pt, et) >= ON_CPU_SAMPLES;
}

/* Whether ET can be compared, if the ends of `known` of n samples, or pairs, are known. */
static bool knows_ends(size_t known, size_t n)
{
	return known == n || (known >= 2 && 2 * known >= n);
}

/* Whether the sides are of a run of a duet on several CPUs. */
static bool is_duet_on_cpus(const struct comparison_side *sides)
{
	const struct comparison_side *pt = &sides[COMPARISON_PT];

	return pt->duet && pt->origin.cpu < 0;
}

unsigned comparison_clocks(
	unsigned asked, const struct comparison_side *a, const struct comparison_side *b)
{
	const struct comparison_side *pt[] = {&a[COMPARISON_PT], &b[COMPARISON_PT]};
	const struct comparison_side *et[] = {&a[COMPARISON_ET], &b[COMPARISON_ET]};

	if (asked != COMPARE_DEFAULT)
		return asked;
	for (int i = 0; i < 2; i++) /* not because all samples are discarded */
		if (pt[i]->n == 0 && et[i]->n > 0)
			return COMPARE_ET;
	if (is_duet_on_cpus(a) && is_duet_on_cpus(b))
		return COMPARE_BOTH;
	if (a[COMPARISON_PT].duet || b[COMPARISON_PT].duet)
		return COMPARE_PT;
	if (!knows_ends(et[0]->n, pt[0]->n) || !knows_ends(et[1]->n, pt[1]->n) ||
		!knows_ends(count_pairs(et[0], et[1]), count_pairs(pt[0], pt[1])))
		return COMPARE_PT;
	return is_on_one_cpu(a) && is_on_one_cpu(b) ? COMPARE_PT : COMPARE_BOTH;
}

/* A sample may seem to end after the start of the next one by this share of its ET: its end may
 * have been seen that late (sample_is_late), and the clock of the starts is adjusted. */
static const double END_TOLERANCE = 0.01;

static bool has_ended(const struct comparison_time *earlier, const struct comparison_time *later)
{
	double length_ns = (double)(earlier->end_ns - earlier->start_ns);

	return (double)(earlier->end_ns - later->start_ns) <= END_TOLERANCE * length_ns;
}

/* Documents that others wrote have no machine: two of them are taken to be of one. */
static bool is_same_machine(const struct comparison_origin *a, const struct comparison_origin *b)
{
	if (!a->machine || !b->machine)
		return a->machine == b->machine && a->cpu == b->cpu;
	return !strcmp(a->machine, b->machine) && a->cpu == b->cpu;
}

static bool were_in_one_call(const struct comparison_side *a, const struct comparison_side *b)
{
	return a->origin.call && b->origin.call && !strcmp(a->origin.call, b->origin.call);
}

/* Whether both samples of each pair started before either of the next. If they were not taken by
 * one call of a tool, they must also be of one machine and CPU, and none may have run at the same
 * time as another; and they are no duet. */
static bool were_in_turn(const struct comparison_side *a, const struct comparison_side *b)
{
	bool one_call = were_in_one_call(a, b);
	const struct comparison_time *x, *y, *last = NULL; /* the later one of the last pair */

	if (a->duet && b->duet && !one_call)
		return false;
	if (!one_call && !is_same_machine(&a->origin, &b->origin))
		return false;
	for (size_t i = 0, k = 0; next_pair(a, &i, b, &k, &x, &y);) {
		const struct comparison_time *first = x->start_ns < y->start_ns ? x : y;
		const struct comparison_time *second = first == x ? y : x;

		if (first->start_ns <= (last ? last->start_ns : 0))
			return false;
		if (!one_call && (!has_ended(first, second) || (last && !has_ended(last, first))))
			return false;
		last = second;
	}
	return last;
}

/* The middle of a sample, in ns since `zero_ns`. */
static double middle_of(const struct comparison_time *sample, int64_t zero_ns)
{
	int64_t end_ns = sample->end_ns > sample->start_ns ? sample->end_ns : sample->start_ns;

	return (double)(sample->start_ns - zero_ns) + (double)(end_ns - sample->start_ns) / 2;
}

static enum unmeasurable_cause find_unmeasurable(
	const struct comparison_side *a, const struct comparison_side *b)
{
	if (a->unmeasurable || b->unmeasurable)
		return a->unmeasurable ?: b->unmeasurable;
	if ((a->n > 0 && is_all_zero(a)) || (b->n > 0 && is_all_zero(b)))
		return UNMEASURABLE_SHORT;
	if (a->cpu_kind && b->cpu_kind && strcmp(a->cpu_kind, b->cpu_kind) != 0)
		return UNMEASURABLE_CPU_KINDS;
	return MEASURABLE;
}

static void copy_times(const struct comparison_side *side, int64_t *ret)
{
	for (size_t i = 0; i < side->n; i++)
		ret[i] = side->items[i].time_ns;
}

static int64_t *side_times(const struct comparison_side *side)
{
	int64_t *times = xcalloc(side->n + 1, sizeof(*times));

	copy_times(side, times);
	return times;
}

static struct summary side_summary(const struct comparison_side *side)
{
	_cleanup_(freep) int64_t *times = side_times(side);

	return summary_of(times, side->n);
}

/* Whether one change of level is nearly all of the variance, and 2 % or more. That spoils runs that
 * were not taken in turn. */
static bool comparison_side_steps(const struct comparison_side *side)
{
	const double STEP = 0.88, LEAST = 0.02;
	_cleanup_(freep) int64_t *times = side_times(side);
	struct trend trend = trend_of(times, side->n, INT64_MIN, INT64_MAX);

	return trend.step >= STEP && fabs(trend.after - trend.before) >= LEAST * trend.before;
}

/* The times of both sides, as they are compared. */
struct paired_times {
	int64_t *a_ns, *b_ns;
	bool *a_first;
	struct sample_times *at;
	size_t n;     /* pairs */
	bool above_0; /* no time of a pair is 0 */
};

static void paired_times_clear(struct paired_times *p)
{
	free(p->a_ns);
	free(p->b_ns);
	free(p->a_first);
	free(p->at);
}

/* The samples of the same number. There is room for those that have none, too. */
static struct paired_times pair_times(
	const struct comparison_side *a, const struct comparison_side *b)
{
	struct paired_times p = {
		.a_ns = xcalloc(a->n, sizeof(*p.a_ns)),
		.b_ns = xcalloc(b->n, sizeof(*p.b_ns)),
		.a_first = xcalloc(a->n, sizeof(*p.a_first)),
		.at = xcalloc(a->n, sizeof(*p.at)),
		.above_0 = true,
	};
	const struct comparison_time *x, *y;

	for (size_t i = 0, k = 0; next_pair(a, &i, b, &k, &x, &y); p.n++) {
		int64_t zero_ns = a->items[0].start_ns;

		p.a_ns[p.n] = x->time_ns;
		p.b_ns[p.n] = y->time_ns;
		p.a_first[p.n] = x->start_ns < y->start_ns;
		p.at[p.n] = (struct sample_times){middle_of(x, zero_ns), middle_of(y, zero_ns)};
		p.above_0 = p.above_0 && x->time_ns > 0 && y->time_ns > 0;
	}
	return p;
}

/* A comparison that has the means of both sides, and no ratio. */
static struct comparison comparison_without_ratio(const struct comparison_side *a,
	const struct comparison_side *b, enum unmeasurable_cause unmeasurable)
{
	return (struct comparison){
		.clock = a->clock,
		.a = side_summary(a),
		.b = side_summary(b),
		.unmeasurable = unmeasurable,
		.ratio = NAN,
		.ratio_low = NAN,
		.ratio_high = NAN,
		.alpha = 0.05,
		.t = NAN,
		.df = NAN,
		.p = NAN,
		.p_adjusted = NAN,
		.welch_p = NAN,
		.mann_whitney_p = NAN,
		.smallest_difference = NAN,
		.rules = COMPARISON_RULES,
	};
}

/* Of a duet where what sharing cost is not known: neither is how far the ratio may be off, so that
 * it has no interval and no p. */
static void forget_interval(struct comparison *c)
{
	c->ratio_low = c->ratio_high = c->smallest_difference = NAN;
	c->t = c->p = c->p_adjusted = c->mann_whitney_p = NAN;
	c->log_ratio.robust_low = c->log_ratio.robust_high = NAN;
}

static struct mean_error relative_error_of(struct mean_error error, double mean)
{
	return (struct mean_error){error.variance / (mean * mean), error.df};
}

/* Whether the scatter of the times, which is all that a test by ranks knows, is the smaller part of
 * what is uncertain about the means. */
static bool scatter_is_minor(const struct comparison *c, struct mean_error a, struct mean_error b)
{
	double scatter = c->a.sd_ns * c->a.sd_ns / (double)c->a.n +
			 c->b.sd_ns * c->b.sd_ns / (double)c->b.n;

	return a.variance + b.variance > scatter;
}

int comparison_make(const struct comparison_side *a, const struct comparison_side *b,
	const struct run_variation *variation, struct comparison *ret, struct error *err)
{
	_cleanup_(paired_times_clear) struct paired_times times = {};
	struct compare_plan plan = {.design = DESIGN_SEPARATE};
	enum unmeasurable_cause unmeasurable = find_unmeasurable(a, b);
	size_t n_a = a->n, n_b = b->n;
	bool duet, knows_shared = !isnan(a->shared) && !isnan(b->shared);
	int r;

	if (unmeasurable && (n_a == 0 || n_b == 0 || is_all_zero(a) || is_all_zero(b))) {
		*ret = comparison_without_ratio(a, b, unmeasurable);
		return 0;
	}

	times = pair_times(a, b);
	if (times.n > 1 && were_in_turn(a, b)) {
		plan.design = a->duet && b->duet && times.above_0 ? DESIGN_DUET : DESIGN_PAIRS;
		plan.a_first = times.a_first;
		plan.at = times.at;
		n_a = n_b = times.n;
	} else {
		if (!unmeasurable && (comparison_side_steps(a) || comparison_side_steps(b)))
			unmeasurable = UNMEASURABLE_SPEED_STEP;
		if (variation && variation->df > 0)
			plan = (struct compare_plan){DESIGN_BETWEEN, variation->sd, variation->df};
		copy_times(a, times.a_ns);
		copy_times(b, times.b_ns);
	}
	plan.step_ns = a->step_ns > b->step_ns ? a->step_ns : b->step_ns;
	duet = plan.design == DESIGN_DUET;
	if (duet && knows_shared) {
		plan.shared_a = a->shared;
		plan.shared_b = b->shared;
	} else if (duet && !unmeasurable) {
		unmeasurable = UNMEASURABLE_SHARED;
	}
	plan.error_a = a->error;
	plan.error_b = b->error;

	r = compare(times.a_ns, n_a, times.b_ns, n_b, &plan, ret, err);
	if (r < 0)
		return r;
	ret->clock = a->clock;
	ret->rules = COMPARISON_RULES;
	ret->unmeasurable = unmeasurable;
	ret->lost_pairs = times.n < 2 && a->n > 1 && b->n > 1 && were_in_one_call(a, b);
	if (duet && !knows_shared)
		forget_interval(ret);
	if (duet || scatter_is_minor(ret, a->error, b->error)) /* ranks know only the scatter */
		ret->mann_whitney_p = NAN;
	if (plan.design == DESIGN_PAIRS && times.above_0) {
		ret->log_ratio = log_ratio_of(times.a_ns, times.b_ns, times.a_first, times.n);
		log_ratio_add_error(&ret->log_ratio, relative_error_of(a->error, ret->mean_a));
		log_ratio_add_error(&ret->log_ratio, relative_error_of(b->error, ret->mean_b));
	}
	if (plan.design == DESIGN_BETWEEN) {
		ret->between = variation->sd;
		ret->n_between = variation->n_runs;
	}
	return 0;
}

/* "SHA-256" or "SHA-256 NAME": a program that acts by its name is another one under another
 * name. */
static bool is_same_program(const char *a, const char *b)
{
	const char *name_a = a ? strchr(a, ' ') : NULL, *name_b = b ? strchr(b, ' ') : NULL;

	if (!a || !b)
		return false;
	if (strcspn(a, " ") != strcspn(b, " ") || strncmp(a, b, strcspn(a, " ")) != 0)
		return false;
	return !name_a || !name_b || !strcmp(name_a, name_b);
}

static bool output_varies(const char *digest)
{
	return digest && (!*digest || !strcmp(digest, OUTPUT_VARIES));
}

enum compared_work comparison_work(const struct run *a, const struct run *b)
{
	const char *of_a = a->output_digest, *of_b = b->output_digest;

	if (of_a && !strcmp(of_a, OUTPUT_FAILED))
		return WORK_FAILED_IN_REFERENCE;
	if (of_b && !strcmp(of_b, OUTPUT_FAILED))
		return WORK_FAILED;
	if (output_varies(of_a))
		return WORK_VARIES_IN_REFERENCE;
	if (output_varies(of_b))
		return WORK_VARIES;
	if (of_a && of_b && strcmp(of_a, of_b) != 0)
		return WORK_DIFFERENT;
	return is_same_program(a->program_digest, b->program_digest) ? WORK_SAME_PROGRAM
								     : WORK_NOT_CHECKED;
}

char *comparison_different_work(const struct comparison *c, const char *reference, const char *name)
{
	switch (c->work) {
	case WORK_DIFFERENT:
		return xstrdup("their outputs differ");
	case WORK_FAILED_IN_REFERENCE:
		return text_format("--check failed for '%s'", reference);
	case WORK_FAILED:
		return text_format("--check failed for '%s'", name);
	case WORK_VARIES_IN_REFERENCE:
		return text_format("the output of '%s' varies", reference);
	case WORK_VARIES:
		return text_format("the output of '%s' varies", name);
	default:
		return NULL;
	}
}

enum comparison_verdict comparison_verdict(const struct comparison *c)
{
	enum comparison_verdict verdict;

	if (c->work >= WORK_DIFFERENT)
		return COMPARISON_DIFFERENT_WORK;
	if (c->work == WORK_SAME_PROGRAM)
		return COMPARISON_SAME_PROGRAM;
	if (c->unmeasurable)
		return COMPARISON_UNMEASURABLE;
	verdict = comparison_rules_apply(&c->rules, c->ratio, c->ratio_low, c->ratio_high);
	if (c->unconfirmed && (verdict == COMPARISON_SLOWER || verdict == COMPARISON_FASTER))
		return COMPARISON_CANNOT_TELL;
	return verdict;
}

static bool comparison_fails(const struct comparison *c)
{
	return comparison_verdict_status(&c->rules, comparison_verdict(c)) != STATUS_DONE;
}

const struct comparison *comparison_worse(const struct comparison *a, const struct comparison *b)
{
	bool has_a = a && comparison_is_made(a), has_b = b && comparison_is_made(b);
	enum comparison_verdict of_a, of_b;

	if (!has_a)
		return has_b ? b : NULL;
	if (!has_b)
		return a;

	if (comparison_fails(a) != comparison_fails(b))
		return comparison_fails(b) ? b : a;

	of_a = comparison_verdict(a);
	of_b = comparison_verdict(b);
	if (of_a == of_b && a->clock == b->clock)
		return fabs(log(b->ratio)) > fabs(log(a->ratio)) ? b : a;
	return of_b > of_a ? b : a;
}

/* The standard error of the ratio, as a share of it, with so many more samples of each. */
static double error_with(const struct comparison *c, double more)
{
	double a = c->mean_a, b = c->mean_b;
	double of_a = (double)c->a.n / ((double)c->a.n + more);
	double of_b = (double)c->b.n / ((double)c->b.n + more);
	/* does not shrink with more samples */
	double fixed_a = c->between * c->between + c->fixed_a / a / a;
	double fixed_b = c->between * c->between + c->fixed_b / b / b, fixed = fixed_a + fixed_b;
	double variance_a, variance_b, covariance;

	if (c->design == DESIGN_DUET)
		return sqrt((c->log_ratio.se * c->log_ratio.se - fixed) * of_a + fixed);
	variance_a = (c->variance_a / a / a - fixed_a) * of_a;
	variance_b = (c->variance_b / b / b - fixed_b) * of_b;
	covariance = 2 * c->covariance / a / b * of_a;
	return sqrt(variance_a + variance_b - covariance + fixed);
}

static struct verdict_forecast samples_forecast(const void *of, double more)
{
	const struct comparison *c = of;
	double n = (double)c->a.n, freedom = c->df, t;
	struct verdict_forecast f = {
		.ratio = c->ratio,
		.error = error_with(c, 0),
		.df = c->df,
		.next_error = error_with(c, more),
		.hidden = c->bias_a / c->mean_a + c->bias_b / c->mean_b +
			  (c->ratio > 1 ? c->shared_b : c->shared_a / c->ratio),
		.equal_error = NAN,
	};

	if (c->design == DESIGN_PAIRS || c->design == DESIGN_DUET)
		freedom += more;
	else if (c->design == DESIGN_INDEPENDENT)
		freedom *= (n - 1 + more) / (n - 1);
	t = c->design == DESIGN_DUET ? comparison_duet_quantile(c, f.next_error, freedom)
				     : gsl_cdf_tdist_Pinv(1 - c->alpha / 2, freedom);
	f.shown_from = t;
	f.half = t * f.next_error;
	return f;
}

double comparison_samples_missing(const struct comparison *c)
{
	const double MOST = 1e9;

	if (c->a.n < 2 || c->b.n < 2 || isnan(c->smallest_difference))
		return NAN;
	return verdict_missing(&c->rules, samples_forecast, c, MOST);
}

static const char *clock_text(const struct comparison *c)
{
	if (c->of_rates)
		return "in the time for the same work";
	return c->clock == COMPARISON_PT ? "in CPU time" : "in elapsed time";
}

enum status comparison_judge(
	const struct comparison *c, const char *reference, const char *name, struct error *err)
{
	enum comparison_verdict verdict = comparison_verdict(c);
	enum status status = comparison_verdict_status(&c->rules, verdict);
	const struct unmeasurable_text *why = &unmeasurable_texts[c->unmeasurable];
	_cleanup_(freep) char *work = comparison_different_work(c, reference, name);
	int r = (int)status;

	if (status == STATUS_NOT_FIT)
		r = error_say(err, status,
			"'%s' is slower than '%s' by %.2f %% %s (95 %% CI %.2f to %.2f %%), more "
			"than %g %%",
			name, reference, 100 * (c->ratio - 1), clock_text(c),
			100 * (c->ratio_low - 1), 100 * (c->ratio_high - 1),
			c->rules.fail_if_slower);
	else if (verdict == COMPARISON_DIFFERENT_WORK)
		r = error_say(
			err, status, "'%s' and '%s' do different work: %s", name, reference, work);
	else if (status == STATUS_CANNOT_TELL && verdict == COMPARISON_UNMEASURABLE)
		r = error_say(err, status, "'%s' and '%s' are unmeasurable: %s; %s", name,
			reference, why->cause, why->remedy);
	else if (status == STATUS_CANNOT_TELL)
		r = error_say(err, status, "whether '%s' is slower than '%s' %s cannot be told",
			name, reference, clock_text(c));
	return (enum status)r;
}
