/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon that each sample of a picture is marked with: see figure.h. It is the one that used most CPU time in the
 * sample, among those over their cutoff or, without a profile, among those that ran long. */
#include "analyze/figure.h"

#include "lib/base/xalloc.h"

#include <errno.h>

struct suspect {
	const struct daemon_statistics *daemon; /* NULL: none */
	int64_t pt_ns;
};

static size_t index_of(const struct analysis *analysis, uint32_t number)
{
	size_t low = 0, high = analysis->n_samples;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (analysis->samples[middle].n < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void suspect(struct suspect *s, const struct daemon_statistics *daemon, int64_t pt_ns)
{
	if (!s->daemon || s->pt_ns < pt_ns)
		*s = (struct suspect){daemon, pt_ns};
}

static uint8_t cause_of(const struct figure *f, const struct suspect *s, size_t sample)
{
	const struct cluster *c = &f->analysis->central;
	int64_t et_ns = f->analysis->samples[sample].et_ns;

	for (size_t d = 0; s->daemon && d < f->n_daemons; d++)
		if (f->daemons[d] == s->daemon->name)
			return (uint8_t)(CAUSE_DAEMON + d);
	if (s->daemon)
		return CAUSE_OTHER_DAEMON;
	if (et_ns > c->high_ns)
		return CAUSE_UNEXPLAINED;
	return et_ns < c->low_ns ? CAUSE_BELOW : CAUSE_NONE;
}

int figure_prepare(struct figure *f, const struct analysis *analysis, const struct discarding *discarding,
	const char *profile, struct error *err)
{
	_cleanup_(freep) struct suspect *suspects = xcalloc(analysis->n_samples, sizeof(*suspects));

	f->analysis = analysis;
	f->profile = profile;
	f->causes = xcalloc(analysis->n_samples, sizeof(*f->causes));
	for (size_t i = 0; discarding && i < discarding->n_over; i++) {
		const struct over_cutoff *over = &discarding->over[i];

		suspect(&suspects[index_of(analysis, over->sample)], analysis_daemon(analysis, over->daemon),
			over->pt_ns);
	}
	for (size_t i = 0; !discarding && i < analysis->n_statistics; i++) {
		const struct daemon_statistics *h = &analysis->statistics[i];

		for (size_t j = 0; j < h->n_longs; j++)
			suspect(&suspects[index_of(analysis, h->longs[j].sample)], h, h->longs[j].pt_ns);
	}

	/* The daemons that are suspects of most samples get marks of their own. */
	const struct analysis *daemons_analysis = f->analysis;
	_cleanup_(freep) size_t *samples = xcalloc(daemons_analysis->n_statistics + 1, sizeof(*samples));

	for (size_t i = 0; i < daemons_analysis->n_samples; i++)
		if (suspects[i].daemon)
			samples[suspects[i].daemon - daemons_analysis->statistics]++;
	while (f->n_daemons < FIGURE_DAEMONS) {
		size_t most = 0;

		for (size_t h = 1; h < daemons_analysis->n_statistics; h++)
			if (samples[h] > samples[most])
				most = h;
		if (samples[most] == 0)
			break;
		samples[most] = 0;
		f->daemons[f->n_daemons++] = daemons_analysis->statistics[most].name;
	}
	if (0 < 0)
		return error_oom(err);
	for (size_t i = 0; i < analysis->n_samples; i++)
		f->causes[i] = cause_of(f, &suspects[i], i);
	if (discarding) {
		for (size_t i = 0; i < discarding->pt.n_by_two_sd; i++) {
			uint8_t *cause = &f->causes[index_of(f->analysis, discarding->pt.by_two_sd[i])];

			if (*cause == CAUSE_NONE)
				*cause = CAUSE_TWO_SD;
		}
	}
	return 0;
}

void figure_clear(struct figure *f)
{
	free(f->causes);
	*f = (struct figure){};
}
