/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rate of work: see load_rates.h. */
#include "lib/load/load_rates.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/ini_file.h"
#include "lib/base/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Beyond what a machine can do: the book may be somebody else's. */
static const double MOST_A_SECOND = 1e9;

/* The slaves of one run. */
struct slaves {
	const struct sample *sample;
	const struct sample_program *parts;
	size_t n;
};

static struct slaves find_slaves(const struct sample *sample, const struct load_work *work)
{
	const struct sample_program *parts = work->parts;
	size_t n_parts = work->n_parts;
	struct slaves s = {.sample = sample};

	while (n_parts > 0 && parts->sample < sample->n)
		parts++, n_parts--;
	s.parts = parts;
	while (s.n < n_parts && parts[s.n].sample == sample->n)
		s.n++;
	return s;
}

double load_rate_of_slave(
	enum coordination coordination, const struct sample *sample, const struct sample_program *part)
{
	int64_t ns = coordination == LOAD_CONSTANT ? part->et_ns : sample->et_ns;

	return ns > 0 && part->repetitions > 0 ? (double)part->repetitions * (double)NS_PER_S / (double)ns : 0;
}

/* Repetitions in 10^9 s. script NULL: all. */
static int64_t rate_of_script(const struct load_work *work, const struct slaves *s, const char *script)
{
	double sum = 0;

	for (size_t i = 0; i < s->n; i++) {
		uint32_t program = s->parts[i].program;

		if (program <= work->n_programs &&
			(!script || !strcmp(work->programs[program - 1].name, script)))
			sum += load_rate_of_slave(work->coordination, s->sample, &s->parts[i]);
	}
	return (int64_t)(1e9 * fmin(sum, MOST_A_SECOND));
}

static struct load_rate *find_rate(const struct load_rates *rates, const char *script)
{
	for (size_t i = 1; i < rates->n; i++)
		if (!strcmp(rates->items[i].script, script))
			return &rates->items[i];
	return NULL;
}

const struct load_rate *load_rates_find(const struct load_rates *rates, const char *script)
{
	return find_rate(rates, script);
}

bool load_rates_in_shares(const struct load_rates *rates)
{
	return rates->n > 2;
}

/* The geometric mean of the scripts' rates: SPEC's mean of ratios, which does not depend on the unit of any of them. */
static int64_t rate_in_shares(
	const struct load_rates *rates, const struct load_work *work, const struct slaves *s)
{
	double logs = 0;

	for (size_t i = 1; i < rates->n; i++) {
		const struct load_rate *rate = &rates->items[i];
		const struct load_rate *of = work->shares_of ? find_rate(work->shares_of, rate->script)
							     : NULL;

		logs += log((double)rate_of_script(work, s, rate->script) / (double)(of ?: rate)->share);
	}
	return (int64_t)exp(logs / (double)(rates->n - 1)); /* 0 if a script has done nothing */
}

/* A line of the load's file; the book may be somebody else's, so that it may say anything. */
static int take_repetitions(const struct ini_line *line, void *data, struct error *err)
{
	struct load_rate *rate = find_rate(data, line->section);
	int64_t n;

	if (rate && !strcmp(line->name, "repetitions") &&
		text_parse_int(line->value, line->name, 1, 10000, &n, err) == 0)
		rate->share = n * rate->slaves;
	return 0;
}

static int list_scripts(struct load_rates *rates, const struct load_work *work, struct error *err)
{
	struct load_rate *all = array_add(rates->items, rates->n);

	all->slaves = rates->sum.slaves = (int64_t)work->n_programs;
	for (size_t i = 0; i < work->n_programs; i++) {
		const char *script = work->programs[i].name;
		struct load_rate *rate = find_rate(rates, script);

		if (!rate) {
			rate = array_add(rates->items, rates->n);
			rate->script = script;
		}
		rate->share = ++rate->slaves;
	}
	return ini_each_line(work->file, "", take_repetitions, rates, &(struct error){}) == -ENOMEM ? error_oom(err) : 0;
}

static bool same_order(const struct slaves *a, const struct slaves *b)
{
	for (size_t i = 1; i < a->n && i < b->n; i++)
		for (size_t k = 0; k < i; k++)
			if ((a->parts[i].finished_ns < a->parts[k].finished_ns) !=
				(b->parts[i].finished_ns < b->parts[k].finished_ns))
				return false;
	return true;
}

static double order_changed(const struct load_work *work, const struct sample *samples, size_t n)
{
	size_t changed = 0;

	for (size_t i = 1; i < n; i++) {
		struct slaves before = find_slaves(&samples[i - 1], work), now = find_slaves(&samples[i], work);

		changed += !same_order(&before, &now);
	}
	return n > 1 ? (double)changed / (double)(n - 1) : NAN;
}

static int summarize_time(struct load_rates *rates, const struct sample *samples, size_t n, struct error *err)
{
	_cleanup_(freep) int64_t *times = xcalloc(n + 1, sizeof(*times));

	for (size_t i = 0; i < n; i++)
		times[i] = samples[i].et_ns;
	rates->time = summary_of(times, n);
	rates->interval = interval_of_mean(times, n, 0.95, NULL);
	return 0;
}

static int fill_rate(struct load_rates *rates, struct load_rate *rate, const struct load_work *work,
	const struct sample *samples, struct error *err)
{
	bool in_shares = rate == rates->items && load_rates_in_shares(rates);
	size_t n = rates->n_runs;

	rate->nano = xcalloc(n + 1, sizeof(*rate->nano));
	for (size_t i = 0; i < n; i++) {
		struct slaves s = find_slaves(&samples[i], work);

		rate->nano[i] = in_shares ? rate_in_shares(rates, work, &s)
					  : rate_of_script(work, &s, rate->script);
	}
	rate->summary = summary_of(rate->nano, n);
	rate->interval = interval_of_mean(rate->nano, n, 0.95, NULL);
	return 0;
}

int load_rates_of(struct load_rates *ret, const struct load_work *work, const struct sample *samples,
	size_t n_samples, struct error *err)
{
	_cleanup_(load_rates_clear) struct load_rates rates = {.n_runs = n_samples};
	int r = list_scripts(&rates, work, err);

	for (size_t k = 0; r == 0 && k < rates.n; k++)
		r = fill_rate(&rates, &rates.items[k], work, samples, err);
	if (r == 0)
		r = fill_rate(&rates, &rates.sum, work, samples, err);
	if (r == 0)
		r = summarize_time(&rates, samples, n_samples, err);
	if (r < 0)
		return r;
	rates.order_changed = order_changed(work, samples, n_samples);
	*ret = TAKE_STRUCT(rates);
	return 0;
}

void load_rates_clear(struct load_rates *rates)
{
	for (size_t i = 0; i < rates->n; i++)
		free(rates->items[i].nano);
	free(rates->items);
	free(rates->sum.nano);
	*rates = (struct load_rates){};
}
