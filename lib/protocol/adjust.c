/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Taking the neighbour out of the times of a run: see adjust.h. */
#include "lib/protocol/adjust.h"

struct neighbour_slope run_neighbour_slope(const struct run *run)
{
	return (struct neighbour_slope){
		.k = (double)run->neighbour_slope_ppm / PPM,
		.error = (double)run->neighbour_slope_error_ppm / PPM,
		.df = NEIGHBOUR_STORED_DF,
	};
}

const char *neighbour_slope_text(const struct neighbour_slope *slope)
{
	const double SMALL = 0.0095;
	int decimals = slope->error < SMALL ? 3 : 2;

	return text_brief("k %.*f ± %.*f", decimals, slope->k, decimals, slope->error);
}

/* The PTs of the samples that are kept, in order, with their shares. Those that were not probed are
 * taken to have the mean share of the others. Returns how many there are; 0: none was probed. */
static size_t probed_samples(const struct discarding *d, const struct sample *samples, size_t n,
	struct neighbour_sample *ret)
{
	struct running shares = RUNNING_NONE; /* ppm */
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (!d->out[i] && samples[i].neighbour_ppm >= 0)
			running_add(&shares, samples[i].neighbour_ppm);
	if (shares.n == 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const struct sample *s = &samples[i];
		bool known = s->neighbour_ppm >= 0;

		if (d->out[i])
			continue;
		ret[m++] = (struct neighbour_sample){
			.time_ns = s->pt_ns,
			.share = (known ? (double)s->neighbour_ppm : shares.mean_ns) / PPM,
			.share_error = (known ? fmax(0, (double)s->neighbour_error_ppm)
					      : running_sd(&shares)) /
				       PPM,
		};
	}
	return m;
}

/* A neighbour slows a program down while it is on the CPU: ET is shorter without it by as much as
 * PT. without_ns[m]: the PTs of the samples kept, without the neighbour. */
static void adjust_clock(struct clock_discarding *c, const bool *out, const struct sample *samples,
	size_t n, const int64_t *without_ns, const struct discard_rules *rules, bool et)
{
	int64_t *times = xcalloc(n, sizeof(*times));
	_cleanup_(freep) int64_t *kept = xcalloc(n, sizeof(*kept));
	struct clock_adjustment *adjusted = &c->adjusted;
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		const struct sample *s = &samples[i];

		if (out[i])
			continue;
		times[i] = et ? s->et_ns - (s->pt_ns - without_ns[m]) : without_ns[m];
		kept[m++] = times[i];
	}
	adjusted->times_ns = times;
	adjusted->before = c->kept;
	c->kept = summary_of(kept, m);
	c->interval = neighbour_interval(&adjusted->by, c->kept.mean_ns,
		interval_of_mean(kept, m, &rules->correlation, et ? 0 : rules->resolution_ns));
}

static bool any_neighbour(const struct neighbour_sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (samples[i].share > 0)
			return true;
	return false;
}

void discarding_adjust(struct discarding *d, const struct sample *samples, size_t n,
	const struct discard_rules *rules)
{
	_cleanup_(freep) struct neighbour_sample *probed = xcalloc(n + 1, sizeof(*probed));
	_cleanup_(freep) int64_t *without_ns = xcalloc(n + 1, sizeof(*without_ns));
	bool is_known = rules->slope.error > 0;
	size_t m;

	if (d->neighbour != NEIGHBOUR_ADJUST)
		return;
	m = probed_samples(d, samples, n, probed);
	if (!any_neighbour(probed, m)) {
		d->neighbour = NEIGHBOUR_OFF;
		return;
	}
	d->pt.adjusted.by = neighbour_adjust(
		probed, m, is_known ? &rules->slope : &neighbour_slope_unknown, without_ns);
	d->et.adjusted.by = d->pt.adjusted.by;
	adjust_clock(&d->pt, d->out, samples, n, without_ns, rules, false);
	adjust_clock(&d->et, d->out, samples, n, without_ns, rules, true);
}
