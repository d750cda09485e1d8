/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rate of work: see load_report.h. */
#include "lib/load/load_report.h"

#include "lib/base/ini_file.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"

#include <math.h>
#include <string.h>

/* Beyond what a machine can do: the book may be somebody else's. */
static const double MOST_A_SECOND = 1e9;

/* What the workers did in one run. */
struct run_parts {
	const struct sample *sample;
	const struct sample_program *items;
	size_t n;
};

static struct run_parts find_run_parts(const struct sample *sample, const struct load_work *work)
{
	struct run_parts parts = {.sample = sample, .items = work->parts};
	const struct sample_program *end = work->parts + work->n_parts;

	while (parts.items < end && parts.items->sample < sample->n)
		parts.items++;
	while (parts.items + parts.n < end && parts.items[parts.n].sample == sample->n)
		parts.n++;
	return parts;
}

double load_rate_of_slave(
	enum coordination coordination, const struct sample *sample, const struct sample_program *part)
{
	int64_t ns = coordination == LOAD_CONSTANT ? part->et_ns : sample->et_ns;

	return ns > 0 && part->repetitions > 0 ? (double)part->repetitions * (double)NS_PER_S / (double)ns
					       : 0;
}

/* Repetitions in 10^9 s. script NULL: all. */
static int64_t rate_of_script(const struct load_work *work, const struct run_parts *parts, const char *script)
{
	double sum = 0;

	for (size_t i = 0; i < parts->n; i++) {
		uint32_t program = parts->items[i].program;

		if (program <= work->n_programs &&
			(!script || !strcmp(work->programs[program - 1].name, script)))
			sum += load_rate_of_slave(work->coordination, parts->sample, &parts->items[i]);
	}
	return (int64_t)(1e9 * fmin(sum, MOST_A_SECOND));
}

struct load_rate *load_rates_find(const struct load_rates *rates, const char *script)
{
	for (size_t i = 1; i < rates->n; i++)
		if (!strcmp(rates->items[i].script, script))
			return &rates->items[i];
	return NULL;
}

bool load_rates_in_shares(const struct load_rates *rates)
{
	return rates->n > 2;
}

/* The geometric mean of the scripts' rates: SPEC's mean of ratios, which does not depend on the unit of any of them. */
static int64_t rate_in_shares(
	const struct load_rates *rates, const struct load_work *work, const struct run_parts *parts)
{
	double logs = 0;

	for (size_t i = 1; i < rates->n; i++) {
		const struct load_rate *rate = &rates->items[i];
		const struct load_rate *of = work->shares_of ? load_rates_find(work->shares_of, rate->script)
							     : NULL;

		logs += log((double)rate_of_script(work, parts, rate->script) / (double)(of ?: rate)->share);
	}
	return (int64_t)exp(logs / (double)(rates->n - 1)); /* 0 if a script has done nothing */
}

/* A line of the load's file; the book may be somebody else's, so that it may say anything. */
static int take_repetitions(const struct ini_line *line, void *data, struct error *err)
{
	struct load_rate *rate = load_rates_find(data, line->section);
	int64_t n;

	if (rate && !strcmp(line->name, "repetitions") &&
		text_parse_int(line->value, line->name, 1, 10000, &n, err) == 0)
		rate->share = n * rate->slaves;
	return 0;
}

static bool same_order(const struct run_parts *a, const struct run_parts *b)
{
	for (size_t i = 1; i < a->n && i < b->n; i++)
		for (size_t k = 0; k < i; k++)
			if ((a->items[i].finished_ns < a->items[k].finished_ns) !=
				(b->items[i].finished_ns < b->items[k].finished_ns))
				return false;
	return true;
}

static void fill_rate(struct load_rates *rates, struct load_rate *rate, const struct load_work *work,
	const struct sample *samples)
{
	bool in_shares = rate == rates->items && load_rates_in_shares(rates);
	size_t n = rates->n_runs;

	rate->nano = xcalloc(n + 1, sizeof(*rate->nano));
	for (size_t i = 0; i < n; i++) {
		struct run_parts parts = find_run_parts(&samples[i], work);

		rate->nano[i] = in_shares ? rate_in_shares(rates, work, &parts)
					  : rate_of_script(work, &parts, rate->script);
	}
	rate->summary = summary_of(rate->nano, n);
	rate->interval = interval_of_mean(rate->nano, n, 0.95, NULL);
}

struct load_rates load_rates_of(const struct load_work *work, const struct sample *samples, size_t n_samples)
{
	struct load_rates rates = {.n_runs = n_samples};
	_cleanup_(freep) int64_t *times = xcalloc(n_samples + 1, sizeof(*times));
	size_t changed = 0;
	struct load_rate *all = array_add(rates.items, rates.n);

	all->slaves = rates.sum.slaves = (int64_t)work->n_programs;
	for (size_t i = 0; i < work->n_programs; i++) {
		const char *script = work->programs[i].name;
		struct load_rate *rate = load_rates_find(&rates, script);

		if (!rate) {
			rate = array_add(rates.items, rates.n);
			rate->script = script;
		}
		rate->share = ++rate->slaves;
	}
	ini_each_line(work->file, "", take_repetitions, &rates, &(struct error){});
	for (size_t k = 0; k < rates.n; k++)
		fill_rate(&rates, &rates.items[k], work, samples);
	fill_rate(&rates, &rates.sum, work, samples);
	for (size_t i = 0; i < n_samples; i++)
		times[i] = samples[i].et_ns;
	rates.time = summary_of(times, n_samples);
	rates.interval = interval_of_mean(times, n_samples, 0.95, NULL);
	for (size_t i = 1; i < n_samples; i++) {
		struct run_parts before = find_run_parts(&samples[i - 1], work);
		struct run_parts now = find_run_parts(&samples[i], work);

		changed += !same_order(&before, &now);
	}
	rates.order_changed = n_samples > 1 ? (double)changed / (double)(n_samples - 1) : NAN;
	return rates;
}

void load_rates_clear(struct load_rates *rates)
{
	for (size_t i = 0; i < rates->n; i++)
		free(rates->items[i].nano);
	free(rates->items);
	free(rates->sum.nano);
	*rates = (struct load_rates){};
}

const struct load_unit *load_unit_for(double nano)
{
	static const struct load_unit units[] = {
		{"s", "second", 1}, {"min", "minute", 60}, {"h", "hour", 3600}};
	size_t i = 0;

	while (i + 1 < ELEMENTS(units) && nano * units[i].seconds < 1e9)
		i++;
	return &units[i];
}

int load_rate_decimals(const struct load_rate *rate, const struct load_unit *unit)
{
	const struct summary *s = &rate->summary;
	double step = (s->n > 1 && s->sd_ns > 0 ? s->sd_ns : s->mean_ns / 100) * unit->seconds / 1e9;
	int decimals = step > 0 ? 1 - (int)floor(log10(step)) : 3;

	return decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
}
