/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparisons of a session: see comparisons.h. */
#include "measure/comparisons.h"

#include "lib/base/xalloc.h"
#include "lib/report/run_result.h"

struct sides {
	struct comparison_side of[N_COMPARISON_CLOCKS];
};

static void sides_clear(struct sides *s)
{
	for (size_t clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
		comparison_side_clear(&s->of[clock]);
}

static int make_sides(const struct task *t, struct sides *ret, struct error *err)
{
	const struct run_result *run = &t->result.run;

	for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
		ret->of[clock] = comparison_side_make(&run->discarding, run->samples, run->n_samples, clock);
	return 0;
}

/* The samples of a session are taken in turn; those of --order sequence are not. */
static int compare_with_first(
	const struct session *s, size_t command, struct comparisons *c, struct error *err)
{
	_cleanup_(sides_clear) struct sides a = {}, b = {};
	const struct task *of_a = &s->tasks[0], *of_b = &s->tasks[command];
	unsigned clocks = 0;
	int r;

	r = make_sides(of_a, &a, err);
	if (r == 0)
		r = make_sides(of_b, &b, err);
	if (r == 0)
		clocks = comparison_clocks(s->options->compare, a.of, b.of);
	for (enum comparison_clock clock = 0; r == 0 && clock < N_COMPARISON_CLOCKS; clock++) {
		struct run_variation variation = {};

		if (!(clocks >> clock & 1))
			continue;
		if (s->options->order == ORDER_SEQUENCE)
			r = run_variation_load(s->book, of_a->run.id, of_b->run.id, clock == COMPARISON_ET, &variation, err);
		if (r == 0)
			r = comparison_make(&a.of[clock], &b.of[clock], &variation,
				&c->all[clock * c->n + command], err);
	}
	return r;
}

/* By the duet, or by the programs alone if that is in doubt. */
static int compare_duet(const struct session *s, struct comparisons *c, struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report report = {};
	const struct discard_rules rules = session_rules(s);
	enum duet_doubt doubt;
	int r = duet_report_load(s->book, s->tasks[0].run.id, &rules, &report, err);

	for (size_t i = 1; r >= 0 && i < session_n_shown(s) && i < report.n; i++)
		r = duet_report_compare(&report, 0, i, &c->all[i], &doubt, err);
	return r < 0 ? r : 0;
}

static int compare_all(const struct session *s, struct comparisons *c, struct error *err)
{
	int r = 0;

	if (s->options->order == ORDER_DUET)
		return session_n_shown(s) > 1 ? compare_duet(s, c, err) : 0;
	for (size_t i = 1; r == 0 && i < session_n_shown(s); i++)
		if (s->tasks[0].result.run.discarding.pt.kept.n > 0 &&
			s->tasks[i].result.run.discarding.pt.kept.n > 0)
			r = compare_with_first(s, i, c, err);
	return r;
}

static int adjust(struct comparisons *c, struct error *err)
{
	_cleanup_(freep) struct comparison **made = xcalloc(
		N_COMPARISON_CLOCKS * c->n + 1, sizeof(struct comparison *));
	size_t n = 0;

	for (size_t i = 0; i < N_COMPARISON_CLOCKS * c->n; i++)
		if (c->all[i].a.n > 0)
			made[n++] = &c->all[i];
	c->n_made = n;
	comparisons_adjust(made, n);
	return 0;
}

int comparisons_make(const struct session *s, struct comparisons *ret, struct error *err)
{
	_cleanup_(comparisons_clear) struct comparisons c = {
		.all = xcalloc(N_COMPARISON_CLOCKS * s->n + 1, sizeof(*c.all)), .n = s->n};
	int r = c.all ? compare_all(session_judged(s), &c, err) : error_oom(err);

	if (r == 0)
		r = adjust(&c, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(c);
	return 0;
}

void comparisons_clear(struct comparisons *c)
{
	free(c->all);
	*c = (struct comparisons){};
}
