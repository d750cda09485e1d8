/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs made up from a seed: see made_up_run.h. */
#include "tests/unit/made_up_run.h"
#include "tests/unit/check.h"

#include "lib/protocol/analysis.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

/* One is planted. The others run everywhere or here and there, and are no cause of anything. */
static struct source made_up_daemons[] = {
	{1, (char *)"rcu_preempt", NULL, NULL, SOURCE_KERNEL},
	{2, (char *)"kworker/0:1", NULL, NULL, SOURCE_KERNEL},
	{3, (char *)"kworker/0:2-eve", NULL, NULL, SOURCE_KERNEL},
	{4, (char *)"systemd-journal", NULL, (char *)"systemd-journald.service", SOURCE_PROCESS},
	{5, (char *)"cron", NULL, (char *)"cron.service", SOURCE_PROCESS},
	{6, (char *)"backup", NULL, (char *)"backup.timer", SOURCE_PROCESS},
	{7, (char *)"sh", NULL, NULL, SOURCE_PROCESS},
};

static const double presence[] = {1, 0.9, 0.5, 0.3, 0.1};

enum { PLANTED = 6, RARE = 7 };

static double noise(gsl_rng *rng, enum noise kind)
{
	switch (kind) {
	case NOISE_UNIFORM:
		return gsl_ran_flat(rng, -1.7, 1.7);
	case NOISE_EXPONENTIAL:
		return gsl_ran_exponential(rng, 1);
	case NOISE_LOGNORMAL:
		return gsl_ran_lognormal(rng, 0, 0.8);
	case NOISE_T3:
		return fabs(gsl_ran_tdist(rng, 3));
	case NOISE_CAUCHY:
		return fabs(gsl_ran_cauchy(rng, 0.7));
	case NOISE_PARETO:
		return gsl_ran_pareto(rng, 2.5, 1);
	default:
		return gsl_ran_gaussian(rng, 1);
	}
}

static double trend(const struct made_up *m, gsl_rng *rng, size_t i)
{
	double at = (double)i / (double)m->n;

	if (m->drift != 0)
		return m->drift * (m->wave ? 0.5 - 0.5 * cos(2 * M_PI * at) : at);
	if (m->step == 0)
		return 0;
	if (m->alternating)
		return (double)(i % 2) * m->step;
	return m->step_at > 0 ? (i >= m->step_at) * m->step
			      : (gsl_rng_uniform(rng) < 0.4) * m->step;
}

static void add(struct analysis_feed *feed, uint32_t sample, uint32_t daemon, int64_t pt_ns)
{
	struct error err = {};

	assert_int_equal(analysis_feed_add(feed,
				 &(struct execution){.sample = sample,
					 .source = daemon,
					 .pt_ns = pt_ns,
					 .same_cpu_ns = -1},
				 &err),
		0);
}

static void feed_all(struct analysis_feed *feed, const struct made_up *m, const int64_t *planted_ns,
	gsl_rng *rng)
{
	for (size_t i = 0; i < m->n; i++) {
		for (uint32_t d = 0; d < ELEMENTS(presence); d++) {
			double usual = (double)m->spread_ns * (0.05 + 0.02 * d);
			double pt = usual * (1 + 0.1 * gsl_ran_gaussian_tail(rng, -3, 1));

			if (gsl_rng_uniform(rng) < presence[d])
				add(feed, (uint32_t)i + 1, d + 1,
					resolution_round(llround(pt), m->quantum_ns));
		}
		if (gsl_rng_uniform(rng) < m->rare)
			add(feed, (uint32_t)i + 1, RARE,
				resolution_round(m->spread_ns / 20, m->quantum_ns));
		if (planted_ns[i] > 0 && !m->unseen)
			add(feed, (uint32_t)i + 1, PLANTED, planted_ns[i]);
	}
}

struct made_up_run made_up_read(const struct made_up *m)
{
	const struct sources daemons = {made_up_daemons, ELEMENTS(made_up_daemons)};
	_cleanup_(freep) int64_t *planted_ns = calloc(m->n, sizeof(*planted_ns));
	_cleanup_(analysis_feed_freep) struct analysis_feed *feed = NULL;
	struct sample *samples = calloc(m->n, sizeof(*samples));
	struct made_up_run out = {.planted = calloc(m->n, sizeof(bool))};
	struct run run = {.id = 1, .program = strdup("INC"), .resolution_ns = m->quantum_ns};
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	struct error err = {};
	double off = 0;
	int64_t start_ns = 0;
	size_t left = m->n_planted;

	gsl_rng_set(rng, m->seed);
	for (size_t i = 0; i < m->n; i++) {
		if (m->n_planted) /* `left` of those that remain are chosen */
			left -= out.planted[i] = gsl_rng_uniform_int(rng, m->n - i) < left;
		else if (m->in_pairs && i % 2 == 1)
			out.planted[i] = out.planted[i - 1];
		else
			out.planted[i] = gsl_rng_uniform(rng) < m->planted;
		if (out.planted[i])
			planted_ns[i] = resolution_round(
				llround((double)m->least_ns *
					pow((double)m->most_ns / (double)m->least_ns,
						gsl_rng_uniform(rng))),
				m->quantum_ns);

		off = m->wander * off + sqrt(1 - m->wander * m->wander) * noise(rng, m->noise);
		samples[i].n = (uint32_t)i + 1;
		samples[i].wait_ns = -1;
		samples[i].et_ns = resolution_round(
			m->length_ns + llround((double)m->spread_ns * (off + trend(m, rng, i))),
			m->quantum_ns);
		samples[i].et_ns += resolution_round(
			llround((double)planted_ns[i] * (m->stretch ?: 1)), m->quantum_ns);
		if (m->by_wait)
			samples[i].wait_ns = planted_ns[i];

		samples[i].pt_ns = m->length_ns;
		samples[i].start_ns = start_ns;
		start_ns += samples[i].et_ns + m->spread_ns;
	}
	assert_int_equal(analysis_feed_new(&feed, &run, samples, m->n, &daemons,
				 &(struct analysis_options){
					 .patterns = names_default, .by_wait = m->by_wait},
				 &err),
		0);
	feed_all(feed, m, planted_ns, rng);
	out.analysis = analysis_feed_finish(feed);
	gsl_rng_free(rng);
	return out;
}

void made_up_clear(struct made_up_run *run)
{
	analysis_clear(&run->analysis);
	free(run->planted);
}

bool made_up_found(const struct made_up_run *run)
{
	size_t l = 0;

	for (size_t i = 0; i < run->analysis.n_samples; i++)
		if (run->planted[i] &&
			(l >= run->analysis.n_l_samples || run->analysis.l_samples[l++] != i + 1))
			return false;
	return l == run->analysis.n_l_samples;
}
