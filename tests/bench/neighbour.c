/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How right results beside a neighbour are, on a made-up machine whose truth is known. Prints
 * tables, by hand:
 *
 *     build/tests/bench/bench_neighbour [CASES [SEED]]
 *
 * A neighbour comes and goes; how long it stays and stays away, on average, is drawn for each run
 * from 20 ms to 2 minutes. It takes the share k of the program's speed, which is drawn from 0 to a
 * half, and varies by an eighth of itself from one visit to the next. A sample has the work of 20
 * ms to 1 s, with a noise of 0.3 to 3 %; the machine is read before and after it, and within it
 * every 10 ms, as lib/host/cpu/prober.h does.
 *
 * Of each way to a result, in percent: the bias of the result, how often the interval contains the
 * truth (aim: 93 to 97), and how wide it is, as a share of the interval of as many samples without
 * a neighbour (median, and the highest tenth; aim: 1.3 at most).
 *
 * Then, by how many of the samples are without a neighbour, adjusted and by auto: how often the
 * interval contains the truth, and how wide it is, as a share of that of the run's own samples
 * without a neighbour (geometric mean; aim: 1.3 at most), or, where fewer than two are, in percent
 * of the truth (geometric mean).
 *
 * Then, of two programs of different slopes that are measured in turn, how often their comparison
 * shows a difference that is not there (aim: 5 at most), and how wide the interval of the ratio is,
 * as a share of that of as many samples without a neighbour (median). */
#include "lib/protocol/comparison.h"
#include "lib/stats/neighbour.h"
#include "lib/stats/summary.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort_double.h>
#include <math.h>

enum { MOST = 80, EARLIER = 3, EACH = 20 };

static const double READING = 0.0003, EVERY = 0.01, GAP = 0.002, WAIT = 0.1;
static const double LIMIT = (double)NEIGHBOUR_LIMIT_PPM / PPM;
static const double VARIES = 0.12, RUNS_DIFFER = 0.01;

static gsl_rng *rng;

static double draw_log(double low, double high)
{
	return exp(gsl_ran_flat(rng, log(low), log(high)));
}

/* The machine in one run, at a time that only goes on. */
struct machine {
	double at_s, until_s; /* now, and the end of this visit or absence */
	double stays_s, stays_away_s;
	bool there;
	double k;
	double differs; /* how much more this neighbour takes than others */
};

static void change(struct machine *m)
{
	m->there = !m->there;
	m->until_s += gsl_ran_exponential(rng, m->there ? m->stays_s : m->stays_away_s);
	m->differs = fmax(0, 1 + gsl_ran_gaussian(rng, VARIES));
}

static struct machine machine_of(double k)
{
	struct machine m = {
		.k = k, .stays_s = draw_log(0.02, 120), .stays_away_s = draw_log(0.02, 120)};

	/* in the middle of one of its times, by their lengths */
	m.there = gsl_rng_uniform(rng) > m.stays_s / (m.stays_s + m.stays_away_s);
	change(&m);
	return m;
}

/* Lets time pass: at most so long, or until the work is done, which is what it takes without a
 * neighbour. Returns how long there was one. */
static double pass(struct machine *m, double *work_s, double for_s)
{
	double end_s = m->at_s + for_s, beside_s = 0;

	while (m->at_s<end_s && * work_s> 0) {
		double speed = m->there ? 1 - m->k * m->differs : 1;
		double step_s = fmin(m->until_s, end_s) - m->at_s;

		if (*work_s <= step_s * speed) {
			step_s = *work_s / speed;
			*work_s = 0;
		} else {
			*work_s -= step_s * speed;
		}
		m->at_s += step_s;
		beside_s += m->there ? step_s : 0;
		if (m->at_s >= m->until_s)
			change(m);
	}
	return beside_s;
}

static double read_machine(struct machine *m)
{
	double idle = INFINITY, share = pass(m, &idle, READING) / READING;

	return fmin(1, share * fmax(0, 1 + gsl_ran_gaussian(rng, 0.05)));
}

static struct neighbour_sample take(struct machine *m, size_t run, double work_s)
{
	struct neighbour_sample sample = {.run = run};
	double begin_s = m->at_s, before, after, idle = INFINITY, time_s = 0;

	do { /* it waits for a while until there is no neighbour */
		pass(m, &idle, GAP);
		before = read_machine(m);
	} while (before > LIMIT && m->at_s < begin_s + WAIT);

	while (work_s > 0) {
		double from_s = m->at_s, took_s;

		pass(m, &work_s, EVERY);
		took_s = m->at_s - from_s;
		after = read_machine(m);
		time_s += took_s;
		sample.share += took_s * (before + after) / 2;
		/* it changed at any time between two readings that differ */
		sample.share_error += pow(took_s * (after - before), 2) / 12;
		before = after;
	}
	sample.time_ns = llround(time_s * 1e9);
	sample.share /= time_s;
	sample.share_error = sqrt(sample.share_error) / time_s;
	return sample;
}

/* What is drawn for each case. */
struct made_case {
	double k, work_s, noise;
	size_t n;
	struct neighbour_slope earlier;
	struct neighbour_sample samples[MOST];
	double stays_s; /* the shorter one of both */
};

static double draw_work(const struct made_case *c)
{
	return c->work_s * exp(gsl_ran_gaussian(rng, c->noise));
}

static void learn(struct made_case *c)
{
	struct neighbour_sample samples[EARLIER * EACH];

	for (size_t run = 0; run < EARLIER; run++) {
		struct machine m = machine_of(c->k);
		double level = exp(gsl_ran_gaussian(rng, RUNS_DIFFER));

		for (size_t i = 0; i < EACH; i++)
			samples[run * EACH + i] = take(&m, run, level * draw_work(c));
	}
	c->earlier = neighbour_slope_learn(samples, EARLIER * EACH);
}

static void make_case(struct made_case *c)
{
	static const size_t sizes[] = {5, 10, 20, 40};
	struct machine m;

	c->k = 1 - exp2(-gsl_rng_uniform(rng));
	c->work_s = draw_log(0.02, 1);
	c->noise = draw_log(0.003, 0.03);
	c->n = sizes[gsl_rng_uniform_int(rng, ELEMENTS(sizes))];
	learn(c);
	m = machine_of(c->k);
	c->stays_s = fmin(m.stays_s, m.stays_away_s);
	for (size_t i = 0; i < 2 * c->n; i++)
		c->samples[i] = take(&m, 0, draw_work(c));
}

/* A way from samples to a result. */
enum way {
	CLEAN,
	RAW,
	DISCARD,
	DISCARD_CORRECTED,
	ADJUST,
	ADJUST_UNKNOWN,
	AUTO,
	AUTO_UNKNOWN,
	N_WAYS
};

static const char *const ways[N_WAYS] = {"no neighbour", "raw", "discard", "discard, rest by k",
	"adjust", "adjust, k unknown", "auto", "auto, k unknown"};

struct outcome {
	bool any;
	bool adjusted;
	double off, width; /* of the result, as shares of the truth */
	bool contains;
};

static struct outcome outcome_of(const struct made_case *c, const int64_t *times, size_t n,
	const struct neighbour_adjustment *a)
{
	double truth = c->work_s * 1e9;
	struct summary s = summary_of(times, n);
	struct interval interval = interval_of_mean(times, n, NULL, 0);

	if (n < 2)
		return (struct outcome){};
	if (a)
		interval = neighbour_interval(a, s.mean_ns, interval);
	return (struct outcome){
		.any = true,
		.off = s.mean_ns / truth - 1,
		.width = (interval.high_ns - interval.low_ns) / truth,
		.contains = interval.low_ns <= truth && truth <= interval.high_ns,
	};
}

static struct outcome without_neighbour(const struct made_case *c, size_t n)
{
	int64_t times[MOST];

	for (size_t i = 0; i < n; i++)
		times[i] = llround(draw_work(c) * 1e9);
	return outcome_of(c, times, n, NULL);
}

/* Samples are taken until there are enough without a neighbour, or twice as many as wanted.
 * Returns how many were taken. */
static size_t retake(const struct made_case *c, struct neighbour_sample *ret_clean, size_t *ret_n)
{
	size_t n = 0, taken = 0;

	while (n < c->n && taken < 2 * c->n) {
		const struct neighbour_sample *sample = &c->samples[taken++];

		if (sample->share <= LIMIT)
			ret_clean[n++] = *sample;
	}
	*ret_n = n;
	return taken;
}

static struct outcome as_they_are(
	const struct made_case *c, const struct neighbour_sample *samples, size_t n)
{
	int64_t times[MOST];

	for (size_t i = 0; i < n; i++)
		times[i] = samples[i].time_ns;
	return outcome_of(c, times, n, NULL);
}

static struct outcome adjusted(const struct made_case *c, const struct neighbour_sample *samples,
	size_t n, const struct neighbour_slope *earlier)
{
	int64_t times[MOST];
	struct neighbour_adjustment a;
	struct outcome outcome;

	if (n == 0)
		return (struct outcome){};
	a = neighbour_adjust(samples, n, earlier, times);
	outcome = outcome_of(c, times, n, &a);
	outcome.adjusted = true;
	return outcome;
}

static struct outcome of_auto(const struct made_case *c, const struct neighbour_slope *earlier)
{
	struct neighbour_sample clean[MOST];
	size_t n, taken = retake(c, clean, &n);

	if (neighbour_rule_for(NEIGHBOUR_AUTO, n, taken) == NEIGHBOUR_ADJUST)
		return adjusted(c, c->samples, taken, earlier);
	return as_they_are(c, clean, n);
}

static struct outcome outcome_by(const struct made_case *c, enum way way, size_t *ret_like)
{
	const struct neighbour_slope *unknown = &neighbour_slope_unknown;
	struct neighbour_sample clean[MOST];
	size_t n;

	retake(c, clean, &n);
	*ret_like = c->n;
	switch (way) {
	case CLEAN:
		return without_neighbour(c, c->n);
	case RAW:
		return as_they_are(c, c->samples, c->n);
	case DISCARD:
		*ret_like = n;
		return as_they_are(c, clean, n);
	case DISCARD_CORRECTED:
		*ret_like = n;
		return adjusted(c, clean, n, &c->earlier);
	case ADJUST:
	case ADJUST_UNKNOWN:
		return adjusted(c, c->samples, c->n, way == ADJUST ? &c->earlier : unknown);
	case AUTO:
	case AUTO_UNKNOWN:
		return of_auto(c, way == AUTO ? &c->earlier : unknown);
	default:
		return (struct outcome){};
	}
}

/* Some of the cases. */
struct slice {
	const char *name;
	bool (*has)(const struct made_case *c);
};

static bool is_any(const struct made_case *c)
{
	return c->n > 0;
}
static bool has_few(const struct made_case *c)
{
	return c->n <= 5;
}
static bool has_ten(const struct made_case *c)
{
	return c->n == 10;
}
static bool has_many(const struct made_case *c)
{
	return c->n >= 20;
}
static bool changes_often(const struct made_case *c)
{
	return c->stays_s < 0.1;
}
static bool changes(const struct made_case *c)
{
	return c->stays_s >= 0.1 && c->stays_s < 2;
}
static bool changes_seldom(const struct made_case *c)
{
	return c->stays_s >= 2;
}
static bool is_short(const struct made_case *c)
{
	return c->work_s < 0.1;
}
static bool is_long(const struct made_case *c)
{
	return c->work_s >= 0.1;
}
static bool is_insensitive(const struct made_case *c)
{
	return c->k < 0.15;
}
static bool is_sensitive(const struct made_case *c)
{
	return c->k > 0.35;
}

static bool is_known(const struct made_case *c)
{
	return c->earlier.error < 0.06;
}

static const struct slice slices[] = {{"all", is_any}, {"k known to 0.06", is_known},
	{"5 samples", has_few}, {"10 samples", has_ten}, {"20 and 40 samples", has_many},
	{"shorter stay below 0.1 s", changes_often}, {"0.1 to 2 s", changes},
	{"2 s and more", changes_seldom}, {"samples below 0.1 s", is_short},
	{"samples from 0.1 s", is_long}, {"k below 0.15", is_insensitive},
	{"k above 0.35", is_sensitive}};

struct tally {
	size_t n, contain, adjusted;
	double off, squares;
	double *widths; /* in those of as many without a neighbour */
};

static void add(struct tally *t, const struct outcome *o, const struct outcome *like)
{
	t->contain += o->contains;
	t->adjusted += o->adjusted;
	t->off += o->off;
	t->squares += o->off * o->off;
	t->widths[t->n++] = o->width / like->width;
}

static void print(enum way way, struct tally *t)
{
	double n = (double)t->n, bias = t->off / n;
	double error = sqrt(fmax(0, t->squares / n - bias * bias) / n);

	gsl_sort(t->widths, 1, t->n);
	printf("  %-20s %6zu %7.2f ± %-5.2f %6.2f %8.1f %8.2f %7.2f\n", ways[way], t->n, 100 * bias,
		100 * error, 100 * sqrt(t->squares / n), 100 * (double)t->contain / n,
		t->n ? t->widths[t->n / 2] : NAN, t->n ? t->widths[t->n * 9 / 10] : NAN);
}

/* By how many samples had no neighbour. */
static const size_t clean_from[] = {0, 2, 3, 5, 10, 20, MOST + 1};

struct by_clean {
	size_t n, contain[N_WAYS];
	double log_width[N_WAYS];
};

static void add_by_clean(struct by_clean *rows, const struct made_case *c)
{
	static const enum way compared[] = {ADJUST, AUTO, AUTO_UNKNOWN};
	struct neighbour_sample clean[MOST];
	struct outcome own;
	size_t n, row = 0;

	retake(c, clean, &n);
	own = as_they_are(c, clean, n);
	while (n >= clean_from[row + 1])
		row++;
	rows[row].n++;
	for (size_t i = 0; i < ELEMENTS(compared); i++) {
		enum way way = compared[i];
		size_t like;
		struct outcome o = outcome_by(c, way, &like);

		rows[row].contain[way] += o.contains;
		rows[row].log_width[way] += log(own.any ? o.width / own.width : 100 * o.width);
	}
}

static void print_by_clean(const struct by_clean *rows)
{
	static const enum way compared[] = {ADJUST, AUTO, AUTO_UNKNOWN};

	printf("\n%-16s %6s", "clean samples", "cases");
	for (size_t i = 0; i < ELEMENTS(compared); i++)
		printf("  %-16s", ways[compared[i]]);
	for (size_t row = 0; row + 1 < ELEMENTS(clean_from); row++) {
		double n = (double)rows[row].n;

		printf("\n%zu to %-11zu %6zu", clean_from[row], clean_from[row + 1] - 1,
			rows[row].n);
		for (size_t i = 0; i < ELEMENTS(compared); i++)
			printf("  %5.1f %6.2f%-4s",
				100 * (double)rows[row].contain[compared[i]] / n,
				exp(rows[row].log_width[compared[i]] / n), row ? "" : " %");
	}
	printf("\n");
}

/* A program that is measured in turn with another. */
struct in_turn {
	double k, work_s;
	struct neighbour_slope earlier;
	struct sample samples[MOST];
};

static void draw_program(struct in_turn *p, double work_s, double noise)
{
	struct made_case c = {
		.k = 1 - exp2(-gsl_rng_uniform(rng)), .work_s = work_s, .noise = noise};

	learn(&c);
	*p = (struct in_turn){.k = c.k, .work_s = work_s, .earlier = c.earlier};
}

static void take_in_turn(struct in_turn *p, struct machine *m, size_t i, double noise)
{
	double begin_s = m->at_s;
	struct neighbour_sample sample;

	m->k = p->k;
	sample = take(m, 0, p->work_s * exp(gsl_ran_gaussian(rng, noise)));
	p->samples[i] = (struct sample){.n = (uint32_t)i + 1,
		.start_ns = llround(begin_s * 1e9) + 1,
		.pt_ns = sample.time_ns,
		.et_ns = sample.time_ns,
		.wait_ns = -1,
		.neighbour_ppm = llround(sample.share * PPM),
		.neighbour_error_ppm = llround(sample.share_error * PPM)};
}

static struct comparison compare_in_turn(
	const struct in_turn programs[2], size_t n, enum neighbour_rule rule)
{
	static const struct sources none = {};
	struct discarding judged[2];
	struct comparison_side sides[2];
	struct comparison c;
	struct error err = {};

	for (size_t i = 0; i < 2; i++) {
		struct sample_filter filter = {.rules = {.neighbour = rule,
						       .neighbour_limit_ppm = NEIGHBOUR_LIMIT_PPM,
						       .slope = programs[i].earlier},
			.sources = &none,
			.samples = programs[i].samples,
			.n_samples = n};

		judged[i] = sample_filter_judge(&filter);
		judged[i].run.cpu = 1;
		judged[i].run.owner = (char *)"one call";
		sides[i] = comparison_side_make(&judged[i], programs[i].samples, n, COMPARISON_PT);
		sample_filter_clear(&filter);
	}
	if (comparison_make(&sides[0], &sides[1], NULL, &c, &err) < 0)
		c = (struct comparison){.ratio_low = NAN};
	for (size_t i = 0; i < 2; i++) {
		comparison_side_clear(&sides[i]);
		judged[i].run.owner = NULL;
		discarding_clear(&judged[i]);
	}
	return c;
}

/* As long as too few rounds are without a neighbour, up to twice as many. */
static size_t take_rounds(
	struct in_turn programs[2], struct machine *m, size_t wanted, double noise)
{
	size_t n = 0, clean = 0;

	while (n < 2 * wanted && clean < wanted) {
		for (size_t i = 0; i < 2; i++)
			take_in_turn(&programs[(n + i) % 2], m, n, noise);
		clean += !sample_has_neighbour(&programs[0].samples[n], NEIGHBOUR_LIMIT_PPM) &&
			 !sample_has_neighbour(&programs[1].samples[n], NEIGHBOUR_LIMIT_PPM);
		n++;
	}
	return n;
}

static void print_comparisons(size_t cases, enum neighbour_rule rule)
{
	static const size_t sizes[] = {10, 20, 40};
	static struct in_turn programs[2];

	printf("%-10s", neighbour_rule_names[rule]);
	for (size_t s = 0; s < ELEMENTS(sizes); s++) {
		size_t known = 0, differ = 0;
		double *widths = xcalloc(cases, sizeof(*widths));

		for (size_t i = 0; i < cases; i++) {
			double work_s = draw_log(0.02, 1), noise = draw_log(0.003, 0.03);
			struct machine m = machine_of(0);
			struct comparison c;
			size_t n;

			draw_program(&programs[0], work_s, noise);
			draw_program(&programs[1], work_s, noise);
			n = take_rounds(programs, &m, sizes[s], noise);
			c = compare_in_turn(programs, n, rule);
			if (isnan(c.ratio_low))
				continue;
			differ += c.ratio_low > 1 || c.ratio_high < 1;
			widths[known++] = (c.ratio_high - c.ratio_low) /
					  (2 * 1.96 * noise * sqrt(2 / (double)sizes[s]));
		}
		gsl_sort(widths, 1, known);
		printf(" %6zu: %5.1f %6.2f", known, 100 * (double)differ / (double)known,
			known ? widths[known / 2] : NAN);
		free(widths);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	size_t cases = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000;
	static struct tally tallies[ELEMENTS(slices)][N_WAYS];
	static struct by_clean by_clean[ELEMENTS(clean_from)];
	static struct made_case c;

	rng = gsl_rng_alloc(gsl_rng_taus2);
	gsl_rng_set(rng, argc > 2 ? strtoul(argv[2], NULL, 10) : 1);
	for (size_t s = 0; s < ELEMENTS(slices); s++)
		for (size_t w = 0; w < N_WAYS; w++)
			tallies[s][w].widths = xcalloc(cases, sizeof(double));
	for (size_t i = 0; i < cases; i++) {
		make_case(&c);
		add_by_clean(by_clean, &c);
		for (size_t w = 0; w < N_WAYS; w++) {
			size_t like;
			struct outcome o = outcome_by(&c, w, &like), reference;

			if (!o.any)
				continue;
			reference = without_neighbour(&c, like);
			for (size_t s = 0; s < ELEMENTS(slices); s++)
				if (slices[s].has(&c))
					add(&tallies[s][w], &o, &reference);
		}
	}
	printf("%-22s %6s %15s %6s %8s %8s %7s\n", "", "cases", "bias", "rms", "contains", "width",
		"90 %");
	for (size_t s = 0; s < ELEMENTS(slices); s++) {
		printf("%s\n", slices[s].name);
		for (size_t w = 0; w < N_WAYS; w++) {
			print(w, &tallies[s][w]);
			free(tallies[s][w].widths);
		}
	}
	print_by_clean(by_clean);
	printf("\nin turn, 10, 20 and 40 samples: cases, false differences, width\n");
	for (enum neighbour_rule rule = 0; rule < N_NEIGHBOUR_RULES; rule++)
		print_comparisons(cases, rule);
	gsl_rng_free(rng);
	return 0;
}
