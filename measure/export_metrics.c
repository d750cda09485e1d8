/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results for services that keep figures: see export_metrics.h. */
#include "measure/export_metrics.h"

#include "measure/session_compare.h"

static void add_means(struct metrics *metrics, const struct task *t, bool only_pt)
{
	const struct discarding *d = &t->result.discarding;
	const struct {
		const char *measure;
		const struct clock_discarding *times;
	} clocks[] = {{"cpu-time", &d->pt}, {"latency", &d->et}};

	for (size_t i = 0; i < ELEMENTS(clocks) - only_pt; i++) {
		const struct clock_discarding *times = clocks[i].times;

		if (times->kept.n > 0)
			*array_add(metrics->items, metrics->n) = (struct metric){t->name,
				clocks[i].measure, "ns", times->kept.mean_ns,
				times->interval.low_ns, times->interval.high_ns, times->kept.n};
	}
}

static void add_ratio(struct metrics *metrics, const struct task *t, const struct comparison *c)
{
	const char *measure = c->clock == COMPARISON_PT ? "cpu-time-ratio" : "latency-ratio";

	if (comparison_is_made(c) && !isnan(c->ratio))
		*array_add(metrics->items, metrics->n) = (struct metric){
			t->name, measure, "times", c->ratio, c->ratio_low, c->ratio_high, c->b.n};
}

int export_metrics_write(
	const struct session *s, enum metric_format format, FILE *file, struct error *err)
{
	struct metrics metrics = {.started_ns = s->tasks[0].run.started_ns};
	int r = session_compare(s, err);

	for (size_t i = 0; r >= 0 && i < session_n_shown(s); i++) {
		if (s->tasks[i].result.n_samples == 0)
			continue;
		add_means(&metrics, &s->tasks[i], s->order == ORDER_DUET && s->options->cpu >= 0);
		if (i == 0)
			continue;
		add_ratio(&metrics, &s->tasks[i], &s->comparisons[i]);
		add_ratio(&metrics, &s->tasks[i], &s->comparisons[s->n + i]);
	}
	if (r >= 0)
		r = metric_export_write(&metrics, format, file, err);
	free(metrics.items);
	return r < 0 ? r : 0;
}
