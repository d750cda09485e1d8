/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparisons of a session: see comparisons.h. */
#include "measure/comparisons.h"

#include "lib/base/xalloc.h"
#include "lib/report/run_result.h"

#include <math.h>

struct sides {
	struct comparison_side of[N_COMPARISON_CLOCKS];
};

static void sides_clear(struct sides *s)
{
	for (size_t clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
		comparison_side_clear(&s->of[clock]);
}

static void sides_make(struct sides *ret, const struct task *t)
{
	const struct run_result *run = &t->result.run;

	for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
		ret->of[clock] = comparison_side_make(&run->discarding, run->samples, run->n_samples, clock);
}

/* The samples of a session are taken in turn; those of --order sequence are not. */
static int compare_with_first(
	const struct session *s, size_t command, struct comparisons *c, struct error *err)
{
	_cleanup_(sides_clear) struct sides a = {}, b = {};
	const struct task *of_a = &s->tasks[0], *of_b = &s->tasks[command];
	unsigned clocks;
	int r = 0;

	sides_make(&a, of_a);
	sides_make(&b, of_b);
	clocks = comparison_clocks(s->options->compare, a.of, b.of);
	for (enum comparison_clock clock = 0; r == 0 && clock < N_COMPARISON_CLOCKS; clock++) {
		struct run_variation variation = {};

		if (!(clocks >> clock & 1))
			continue;
		if (s->options->order == ORDER_SEQUENCE)
			r = run_variation_load(
				s->base.book, of_a->run.id, of_b->run.id, clock == COMPARISON_ET, &variation, err);
		if (r == 0)
			r = comparison_make(&a.of[clock], &b.of[clock], &variation,
				&c->all[clock * c->n + command], err);
	}
	return r;
}

static int compare_all(const struct session *s, struct comparisons *c, struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report duet = {};
	enum duet_doubt doubt;
	int r = 0;

	/* by the duet, or by the programs alone if that is in doubt */
	if (s->options->order == ORDER_DUET) {
		if (session_n_shown(s) > 1)
			r = session_duet(s, &duet, err);
		for (size_t i = 1; r >= 0 && i < session_n_shown(s) && i < duet.n; i++)
			r = duet_report_compare(&duet, 0, i, &c->all[i], &doubt, err);
		return r < 0 ? r : 0;
	}
	for (size_t i = 1; r == 0 && i < session_n_shown(s); i++)
		if (s->tasks[0].result.run.discarding.pt.kept.n > 0 &&
			s->tasks[i].result.run.discarding.pt.kept.n > 0)
			r = compare_with_first(s, i, c, err);
	return r;
}

int comparisons_make(const struct session *s, struct comparisons *ret, struct error *err)
{
	size_t n = N_COMPARISON_CLOCKS * s->n;
	_cleanup_(comparisons_clear) struct comparisons c = {.all = xcalloc(n, sizeof(*c.all)), .n = s->n};
	_cleanup_(freep) struct comparison **made = xcalloc(n, sizeof(struct comparison *));
	int r = compare_all(session_judged(s), &c, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		if (c.all[i].a.n > 0)
			made[c.n_made++] = &c.all[i];
	comparisons_adjust(made, c.n_made);
	*ret = TAKE_STRUCT(c);
	return 0;
}

void comparisons_clear(struct comparisons *c)
{
	free(c->all);
	*c = (struct comparisons){};
}

struct duet_advice advice_of(const struct session *s)
{
	_cleanup_(freep) struct duet_candidate *programs = xcalloc(s->n, sizeof(*programs));
	const struct measure_options *o = s->options;

	if (o->order != ORDER_INTERLEAVE || o->affine || o->perf || o->trace || s->n < 2 ||
		!duet_has_slices(DEFAULT_SLICE_NS, o->cpu, s->base.observer.cgroup))
		return (struct duet_advice){false, NAN, NAN};
	for (size_t i = 0; i < s->n; i++) {
		const struct run_result *run = &s->tasks[i].result.run;

		programs[i] = (struct duet_candidate){run->samples, run->discarding.out, run->n_samples};
	}
	return duet_advise(programs, s->n, DEFAULT_SLICE_NS);
}
