/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rate of work of a load: see load_rates.h. */
#include "lib/load/load_rates.h"

#include "lib/base/ini_file.h"

/* Beyond what a machine can do: the book may be somebody else's. */
static const double MOST_A_SECOND = 1e9;

struct load_parts load_parts_of(const struct load_work *work, uint32_t sample)
{
	struct load_parts parts = {.items = work->parts};
	const struct sample_program *end = work->parts + work->n_parts;

	while (parts.items < end && parts.items->sample < sample)
		parts.items++;
	while (parts.items + parts.n < end && parts.items[parts.n].sample == sample)
		parts.n++;
	return parts;
}

double load_rate_of_worker(enum coordination coordination, const struct sample *sample,
	const struct sample_program *part)
{
	int64_t ns = coordination == LOAD_CONSTANT ? part->et_ns : sample->et_ns;

	if (ns <= 0 || part->repetitions <= 0)
		return 0;
	return (double)part->repetitions * (double)NS_PER_S / (double)ns;
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

/* A line of the load's file; the book may be somebody else's, so that it may say anything. */
static int take_repetitions(const struct ini_line *line, void *data, struct error *err)
{
	struct load_rate *rate = load_rates_find(data, line->section);
	int64_t n;

	if (rate && !strcmp(line->name, "repetitions") &&
		text_parse_int(line->value, line->name, 1, 10000, &n, err) == 0)
		rate->share = n * rate->workers;
	return 0;
}

/* One for all work, then one for each script, with what a share of it is. */
static void list_rates(struct load_rates *rates, const struct load_work *work)
{
	array_add(rates->items, rates->n)->workers = rates->sum.workers = (int64_t)work->n_programs;
	for (size_t i = 0; i < work->n_programs; i++) {
		const char *script = work->programs[i].name;
		struct load_rate *rate = load_rates_find(rates, script);

		if (!rate) {
			rate = array_add(rates->items, rates->n);
			rate->script = script;
		}
		rate->share = ++rate->workers;
	}
	ini_each_line(work->file, "", take_repetitions, rates, NULL);
	rates->sum.nano = xcalloc(rates->n_runs + 1, sizeof(int64_t));
	for (size_t k = 0; k < rates->n; k++)
		rates->items[k].nano = xcalloc(rates->n_runs + 1, sizeof(int64_t));
}

/* In 10^9 s. */
static int64_t nano_rate(double per_second)
{
	return (int64_t)(1e9 * fmin(per_second, MOST_A_SECOND));
}

/* The rates of run i. That of all work in shares is the geometric mean of the scripts' rates:
 * SPEC's mean of ratios, which does not depend on the unit of any of them. It is 0 if a script has
 * done nothing. */
static void fill_rates(struct load_rates *rates, size_t i, const struct load_work *work,
	const struct load_rates *shares_of, const struct sample *sample)
{
	_cleanup_(freep) double *sums = xcalloc(rates->n, sizeof(*sums)); /* [0]: of all */
	struct load_parts parts = load_parts_of(work, sample->n);
	int64_t *of_all = &rates->items[0].nano[i];
	double logs = 0;

	for (size_t k = 0; k < parts.n; k++) {
		double rate = load_rate_of_worker(work->coordination, sample, &parts.items[k]);
		const char *script = work->programs[parts.items[k].program - 1].name;

		sums[0] += rate;
		sums[load_rates_find(rates, script) - rates->items] += rate;
	}

	rates->sum.nano[i] = nano_rate(sums[0]);
	for (size_t k = 1; k < rates->n; k++) {
		struct load_rate *rate = &rates->items[k];
		const struct load_rate *of = NULL;

		if (shares_of)
			of = load_rates_find(shares_of, rate->script);
		rate->nano[i] = nano_rate(sums[k]);
		logs += log((double)rate->nano[i] / (double)(of ?: rate)->share);
	}
	*of_all = rates->sum.nano[i];
	if (load_rates_in_shares(rates))
		*of_all = (int64_t)exp(logs / (double)(rates->n - 1));
}

/* Whether the workers finished in another order in b than in a. */
static bool is_other_order(struct load_parts a, struct load_parts b)
{
	for (size_t k = 1; k < a.n && k < b.n; k++)
		for (size_t j = 0; j < k; j++)
			if ((a.items[k].finished_ns < a.items[j].finished_ns) !=
				(b.items[k].finished_ns < b.items[j].finished_ns))
				return true;
	return false;
}

struct load_rates load_rates_of(const struct load_work *work, const struct load_rates *shares_of,
	const struct sample *samples, size_t n_samples)
{
	struct load_rates rates = {.n_runs = n_samples};
	_cleanup_(freep) int64_t *times = xcalloc(n_samples + 1, sizeof(*times));
	size_t changed = 0;

	list_rates(&rates, work);
	for (size_t i = 0; i < n_samples; i++) {
		fill_rates(&rates, i, work, shares_of, &samples[i]);
		times[i] = samples[i].et_ns;
		changed += i > 0 && is_other_order(load_parts_of(work, samples[i - 1].n),
					    load_parts_of(work, samples[i].n));
	}
	for (size_t k = 0; k <= rates.n; k++) {
		struct load_rate *rate = k < rates.n ? &rates.items[k] : &rates.sum;

		rate->summary = summary_of(rate->nano, n_samples);
		rate->interval = interval_of_mean(rate->nano, n_samples, NULL, 0);
	}
	rates.time = summary_of(times, n_samples);
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
	double step_ns = s->n > 1 && s->sd_ns > 0 ? s->sd_ns : s->mean_ns / 100;
	double step = step_ns * unit->seconds / 1e9;
	int decimals = step > 0 ? 1 - (int)floor(log10(step)) : 3;

	if (decimals < 0)
		return 0;
	return decimals < 9 ? decimals : 9;
}

const char *load_rate_text(const struct load_rate *rate, const struct load_unit *unit)
{
	double scale = unit->seconds / 1e9, mean = rate->summary.mean_ns * scale;
	int decimals = load_rate_decimals(rate, unit);

	if (rate->summary.n == 0)
		return "-";
	if (rate->summary.n < 2 || mean <= 0)
		return text_brief("%.*f", decimals, mean);
	return text_brief("%.*f ± %.*f", decimals, mean, decimals, rate->summary.sd_ns * scale);
}

const char *load_rate_interval_text(const struct load_rate *rate, const struct load_unit *unit)
{
	double scale = unit->seconds / 1e9;
	int decimals = load_rate_decimals(rate, unit);

	if (rate->summary.n < 2 || rate->summary.mean_ns <= 0)
		return NULL;
	return text_brief("%.*f … %.*f", decimals, rate->interval.low_ns * scale, decimals,
		rate->interval.high_ns * scale);
}
