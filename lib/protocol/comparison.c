/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing two sets of samples: see comparison.h. */
#include "lib/protocol/comparison.h"

#include "lib/protocol/disturbances.h"

struct comparison_side comparison_side_make(
	const struct discarding *d, const struct sample *samples, size_t n, enum comparison_clock clock)
{
	struct comparison_time *items = xcalloc(n ?: 1, sizeof(*items));
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!d->out[i] && !(clock == COMPARISON_ET && sample_is_late(&samples[i])))
			items[kept++] = (struct comparison_time){
				.n = samples[i].n,
				.start_ns = samples[i].start_ns,
				.time_ns = sample_time_ns(&samples[i], clock == COMPARISON_ET),
				.end_ns = samples[i].start_ns + samples[i].et_ns,
			};
	return (struct comparison_side){
		.items = items,
		.n = kept,
		.clock = clock,
		.duet = d->run.kind == RUN_DUET,
		.unmeasurable = held_time_of(samples, n).share > HELD_TOO_LONG,
		.step_ns = clock == COMPARISON_PT ? d->run.resolution_ns : 0,
		.origin = {.call = d->run.owner, .cpu = d->run.cpu},
	};
}

void comparison_side_clear(struct comparison_side *side)
{
	free(side->items);
	*side = (struct comparison_side){};
}

/* Whether PT and ET are the same within this. */
static bool is_on_one_cpu(const struct comparison_side *sides)
{
	const struct comparison_side *pt = &sides[COMPARISON_PT], *et = &sides[COMPARISON_ET];
	double on_cpu = 0, elapsed = 0;

	for (size_t i = 0; i < pt->n; i++)
		on_cpu += (double)pt->items[i].time_ns / (double)pt->n;
	for (size_t i = 0; i < et->n; i++)
		elapsed += (double)et->items[i].time_ns / (double)et->n;
	return on_cpu >= 0.95 * elapsed && on_cpu <= 1.05 * elapsed;
}

/* The next two samples of the same number, from a->items[*i] and b->items[*k] on. False: there are no more. */
static bool next_pair(const struct comparison_side *a, size_t *i, const struct comparison_side *b, size_t *k,
	const struct comparison_time **ret_x, const struct comparison_time **ret_y)
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

/* Of so many samples, or pairs, the ends of `known` are known: enough to compare ET. */
static bool knows_ends(size_t known, size_t n)
{
	return known == n || (known >= 2 && 2 * known >= n);
}

unsigned comparison_clocks(unsigned asked, const struct comparison_side *a, const struct comparison_side *b)
{
	const struct comparison_side *pt[] = {&a[COMPARISON_PT], &b[COMPARISON_PT]};
	const struct comparison_side *et[] = {&a[COMPARISON_ET], &b[COMPARISON_ET]};

	if (asked != COMPARE_DEFAULT)
		return asked;
	if (a[COMPARISON_PT].n == 0 || b[COMPARISON_PT].n == 0)
		return COMPARE_ET;
	if (a[COMPARISON_PT].duet && b[COMPARISON_PT].duet)
		return COMPARE_PT;
	if (!knows_ends(et[0]->n, pt[0]->n) || !knows_ends(et[1]->n, pt[1]->n) ||
		!knows_ends(count_pairs(et[0], et[1]), count_pairs(pt[0], pt[1])))
		return COMPARE_PT;
	return is_on_one_cpu(a) && is_on_one_cpu(b) ? COMPARE_PT : COMPARE_BOTH;
}

/* Of the ET of a sample: an end may have been seen that late (sample_is_late), and the clock of the
 * starts is adjusted. */
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

/* Both samples of each pair started before either of the next. One call takes one after the other,
 * or it is a duet. Otherwise they must be of one machine and CPU, and none may have run at the same
 * time as another. */
static bool were_in_turn(const struct comparison_side *a, const struct comparison_side *b)
{
	const struct comparison_origin *of_a = &a->origin, *of_b = &b->origin;
	bool one_call = of_a->call && of_b->call && !strcmp(of_a->call, of_b->call);
	const struct comparison_time *x, *y, *last = NULL; /* the later one of the last pair */

	if (a->duet && b->duet && !one_call)
		return false;
	if (!one_call && !is_same_machine(of_a, of_b))
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

int comparison_make(const struct comparison_side *a, const struct comparison_side *b,
	const struct run_variation *variation, struct comparison *ret, struct error *err)
{
	_cleanup_(freep) int64_t *of_a = xcalloc(a->n, sizeof(*of_a));
	_cleanup_(freep) int64_t *of_b = xcalloc(b->n, sizeof(*of_b));
	_cleanup_(freep) bool *a_first = xcalloc(a->n, sizeof(*a_first));
	_cleanup_(freep) struct sample_times *at = xcalloc(a->n, sizeof(*at));
	struct compare_plan plan = {.design = DESIGN_SEPARATE};
	const struct comparison_time *x, *y;
	size_t n = 0, n_a = a->n, n_b = b->n;
	bool above_0 = true;
	int r;

	for (size_t i = 0, k = 0; next_pair(a, &i, b, &k, &x, &y);) {
		above_0 = above_0 && x->time_ns > 0 && y->time_ns > 0;
		a_first[n] = x->start_ns < y->start_ns;
		at[n] = (struct sample_times){
			middle_of(x, a->items[0].start_ns), middle_of(y, a->items[0].start_ns)};
		of_a[n] = x->time_ns;
		of_b[n++] = y->time_ns;
	}
	if (n > 1 && were_in_turn(a, b)) {
		plan.design = a->duet && b->duet && above_0 ? DESIGN_DUET : DESIGN_PAIRS;
		plan.a_first = a_first;
		plan.at = at;
		n_a = n_b = n;
	} else {
		if (variation && variation->df > 0)
			plan = (struct compare_plan){DESIGN_BETWEEN, variation->sd, variation->df};
		for (size_t i = 0; i < n_a; i++)
			of_a[i] = a->items[i].time_ns;
		for (size_t i = 0; i < n_b; i++)
			of_b[i] = b->items[i].time_ns;
	}
	plan.step_ns = a->step_ns > b->step_ns ? a->step_ns : b->step_ns;
	r = compare(of_a, n_a, of_b, n_b, &plan, ret, err);
	if (r < 0)
		return r;
	ret->clock = a->clock;
	ret->unmeasurable = a->unmeasurable || b->unmeasurable;
	if (plan.design == DESIGN_PAIRS && above_0)
		ret->log_ratio = log_ratio_of(of_a, of_b, a_first, n);
	if (plan.design == DESIGN_BETWEEN) {
		ret->between = variation->sd;
		ret->n_between = variation->n_runs;
	}
	return 0;
}

enum comparison_verdict comparison_verdict(const struct comparison *c)
{
	if (c->unmeasurable || isnan(c->ratio_low))
		return COMPARISON_UNKNOWN;
	if (c->ratio_low > 1)
		return COMPARISON_SLOWER;
	return c->ratio_high < 1 ? COMPARISON_FASTER : COMPARISON_SAME;
}

int comparison_judge(const struct comparison *c, double percent, const char *reference, const char *name,
	struct error *err)
{
	if (percent < 0)
		return 0;
	if (c->unmeasurable)
		return error_say(err, COMPARISON_OVER_LIMIT,
			"'%s' and '%s' cannot be judged: control groups held the programs back for more than %g %% of their time; measure without a quota",
			name, reference, 100 * HELD_TOO_LONG);
	if (c->a.n < 2 || c->b.n < 2)
		return error_say(err, -ENODATA,
			"'%s' and '%s' cannot be judged: this needs two samples of each", name, reference);
	if (c->design == DESIGN_SEPARATE)
		return error_say(err, -ENODATA,
			"'%s' and '%s' cannot be judged: they are from separate runs, and it is not known how those vary (emp-analyze compare --between-runs)",
			name, reference);
	if (!(c->ratio > 1 + percent / 100) || !(c->ratio_low > 1))
		return 0;
	return error_say(err, COMPARISON_OVER_LIMIT,
		"'%s' is slower than '%s' by %.2f %% in %s time (%g %% confidence: %.2f to %.2f %%), more than %g %%",
		name, reference, 100 * (c->ratio - 1), c->clock == COMPARISON_PT ? "CPU" : "elapsed",
		100 - round(1000 * c->alpha) / 10, 100 * (c->ratio_low - 1), 100 * (c->ratio_high - 1),
		percent);
}
