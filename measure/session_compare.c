/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparisons of a session: see session_compare.h. */
#include "measure/session_compare.h"

#include "lib/report/results.h"

/* Compares a command with the first, by PT in c[0] and by ET in c[n], unless that clock is not
 * compared. Only with --order sequence, samples are not taken in turn: then the means of separate
 * runs vary, too. */
static int compare_with_first(
	const struct session *s, size_t command, struct comparison *c, struct error *err)
{
	const struct task *of_a = &s->tasks[0], *of_b = &s->tasks[command];
	const struct run_result *result_a = &of_a->result, *result_b = &of_b->result;
	struct comparison_side a[N_COMPARISON_CLOCKS], b[N_COMPARISON_CLOCKS];
	enum comparison_clock clock;
	unsigned clocks;
	int r = 0;

	for (clock = 0; clock < N_COMPARISON_CLOCKS; clock++) {
		a[clock] = comparison_side_make(
			&result_a->discarding, result_a->samples, result_a->n_samples, clock);
		b[clock] = comparison_side_make(
			&result_b->discarding, result_b->samples, result_b->n_samples, clock);
	}
	clocks = comparison_clocks(s->options->compare, a, b);
	for (clock = 0; clock < N_COMPARISON_CLOCKS; clock++) {
		struct run_variation variation = {};
		bool compared = clocks >> clock & 1;

		if (r == 0 && compared && s->order == ORDER_SEQUENCE)
			r = run_variation_load(s->base.book, of_a->run.id, of_b->run.id,
				clock == COMPARISON_ET, &variation, err);
		if (r == 0 && compared)
			r = comparison_make(
				&a[clock], &b[clock], &variation, &c[clock * s->n], err);
		comparison_side_clear(&a[clock]);
		comparison_side_clear(&b[clock]);
	}
	return r;
}

static int compare_in_duet(
	const struct session *s, const struct duet_report *duet, size_t command, struct error *err)
{
	unsigned clocks = duet_report_clocks(duet, s->options->compare);
	int r = 0;

	for (enum comparison_clock clock = 0; r >= 0 && clock < N_COMPARISON_CLOCKS; clock++)
		if (clocks >> clock & 1)
			r = duet_report_compare(duet, 0, command, clock,
				&s->comparisons[clock * s->n + command], err);
	return r;
}

int session_compare(const struct session *s, struct error *err)
{
	size_t n = N_COMPARISON_CLOCKS * s->n, n_made = 0;
	_cleanup_(freep) struct comparison **made = xcalloc(n, sizeof(struct comparison *));
	_cleanup_(duet_report_clear) struct duet_report duet = {};
	struct comparison *all = s->comparisons;
	bool by_duet = s->order == ORDER_DUET;
	int r = 0;

	memset(all, 0, n * sizeof(*all));
	if (by_duet && session_n_shown(s) > 1)
		r = session_duet(s, &duet, err);
	for (size_t i = 1; r >= 0 && i < session_n_shown(s); i++) {
		if (by_duet && i < duet.n)
			r = compare_in_duet(s, &duet, i, err);
		else if (!by_duet && s->tasks[0].result.n_samples > 0 &&
			 s->tasks[i].result.n_samples > 0)
			r = compare_with_first(s, i, &all[i], err);
	}
	if (r < 0) {
		memset(all, 0, n * sizeof(*all));
		return r;
	}
	for (size_t i = 0; i < n; i++)
		if (comparison_is_made(&all[i])) {
			all[i].rules = s->options->rules;
			all[i].work = comparison_work(&s->tasks[0].run, &s->tasks[i % s->n].run);
			made[n_made++] = &all[i];
		}
	comparisons_adjust(made, n_made);
	return (int)n_made;
}

bool session_compared_alone(const struct session *s)
{
	bool alone = false;

	for (size_t i = 0; i < N_COMPARISON_CLOCKS * s->n; i++)
		alone |= s->comparisons[i].of_runs_alone;
	return alone;
}

struct duet_advice session_advice(const struct session *s)
{
	_cleanup_(freep) struct duet_program *programs = xcalloc(s->n, sizeof(*programs));
	const struct measure_options *o = s->options;

	if (o->order != ORDER_INTERLEAVE || o->order_auto || o->affine ||
		measure_options_why_in_turn(o, s->n) ||
		!alternation_slicing(DEFAULT_SLICE_NS, o->cpu, s->base.observer.cgroup))
		return (struct duet_advice){false, NAN, NAN};
	for (size_t i = 0; i < s->n; i++) {
		const struct run_result *run = &s->tasks[i].result;

		programs[i] = (struct duet_program){
			run->samples, run->discarding.out, run->n_samples};
	}
	return duet_advise(programs, s->n, DEFAULT_SLICE_NS);
}
