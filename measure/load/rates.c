/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rate of work: see rates.h. */
#include "measure/load/rates.h"

#include "lib/base/array.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* The slaves of one run. */
struct slaves {
	const struct sample *sample;
	const struct sample_program *parts;
	size_t n;
};

static struct slaves find_slaves(
	const struct sample *sample, const struct sample_program *parts, size_t n_parts)
{
	struct slaves s = {.sample = sample};

	while (n_parts > 0 && parts->sample < sample->n)
		parts++, n_parts--;
	s.parts = parts;
	while (s.n < n_parts && parts[s.n].sample == sample->n)
		s.n++;
	return s;
}

/* In a second. */
static double rate_of(
	enum coordination coordination, const struct slaves *s, const struct sample_program *part)
{
	int64_t ns = coordination == LOAD_CONSTANT ? part->et_ns : s->sample->et_ns;

	return ns > 0 ? (double)part->repetitions * (double)NS_PER_S / (double)ns : 0;
}

/* script NULL: all. */
static double rate_of_script(enum coordination coordination, const struct slaves *s,
	const struct run_program *programs, size_t n_programs, const char *script)
{
	double sum = 0;

	for (size_t i = 0; i < s->n; i++) {
		uint32_t program = s->parts[i].program;

		if (program <= n_programs && (!script || !strcmp(programs[program - 1].name, script)))
			sum += rate_of(coordination, s, &s->parts[i]);
	}
	return sum;
}

static struct rate *find_rate(struct rates *rates, const char *script)
{
	for (size_t i = 1; i < rates->n; i++)
		if (!strcmp(rates->items[i].script, script))
			return &rates->items[i];
	return NULL;
}

static int list_scripts(struct rates *rates, const struct run_program *programs, size_t n, struct error *err)
{
	struct rate *all = array_add(rates->items, rates->n);

	if (!all)
		return error_oom(err);
	all->slaves = (int64_t)n;
	for (size_t i = 0; i < n; i++) {
		struct rate *rate = find_rate(rates, programs[i].name);

		if (!rate)
			rate = array_add(rates->items, rates->n);
		if (!rate)
			return error_oom(err);
		rate->script = programs[i].name;
		rate->slaves++;
	}
	return 0;
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

static double order_changed(
	const struct sample *samples, size_t n, const struct sample_program *parts, size_t n_parts)
{
	size_t changed = 0;

	for (size_t i = 1; i < n; i++) {
		struct slaves before = find_slaves(&samples[i - 1], parts, n_parts);
		struct slaves now = find_slaves(&samples[i], parts, n_parts);

		changed += !same_order(&before, &now);
	}
	return n > 1 ? (double)changed / (double)(n - 1) : NAN;
}

static int summarize_time(struct rates *rates, const struct sample *samples, size_t n, struct error *err)
{
	_cleanup_(freep) int64_t *times = calloc(n + 1, sizeof(*times));

	if (!times)
		return error_oom(err);
	for (size_t i = 0; i < n; i++)
		times[i] = samples[i].et_ns;
	rates->time = summary_of(times, n);
	rates->interval = interval_of_mean(times, n, 0.95, NULL);
	return 0;
}

int rates_of(struct rates *ret, enum coordination coordination, const struct run_program *programs,
	size_t n_programs, const struct sample *samples, size_t n_samples, const struct sample_program *parts,
	size_t n_parts, struct error *err)
{
	_cleanup_(rates_clear) struct rates rates = {.n_runs = n_samples};
	int r = list_scripts(&rates, programs, n_programs, err);

	for (size_t k = 0; r == 0 && k < rates.n; k++) {
		struct rate *rate = &rates.items[k];

		rate->nano = calloc(n_samples + 1, sizeof(*rate->nano));
		if (!rate->nano)
			return error_oom(err);
		for (size_t i = 0; i < n_samples; i++) {
			struct slaves s = find_slaves(&samples[i], parts, n_parts);

			rate->nano[i] = (int64_t)(1e9 * rate_of_script(coordination, &s, programs, n_programs,
								rate->script));
		}
		rate->summary = summary_of(rate->nano, n_samples);
		rate->interval = interval_of_mean(rate->nano, n_samples, 0.95, NULL);
	}
	if (r == 0)
		r = summarize_time(&rates, samples, n_samples, err);
	if (r < 0)
		return r;
	rates.order_changed = order_changed(samples, n_samples, parts, n_parts);
	*ret = TAKE_STRUCT(rates);
	return 0;
}

void rates_clear(struct rates *rates)
{
	for (size_t i = 0; i < rates->n; i++)
		free(rates->items[i].nano);
	free(rates->items);
	*rates = (struct rates){};
}
