/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampling loop: see sampling.h. */
#include "lib/run/sampling.h"

#include "lib/base/xalloc.h"
#include "lib/base/clock.h"
#include "lib/base/progress.h"
#include "lib/base/random.h"
#include "lib/base/text.h"
#include "lib/run/book_duet.h"
#include "lib/run/sample.h"
#include "lib/run/together.h"

#include <errno.h>
#include <stdio.h>

enum { MAX_ESTIMATES = 3, ESTIMATE_SIZE = MAX_ESTIMATES * (TEXT_TIME_SIZE + 3) };

/* The runs that are sampled in turn: all of them, or one after another of a sequence. */
struct group {
	const struct sampling_plan *plan;
	struct sampling *items;
	size_t n;
	uint64_t random;
	struct progress *progress;
	uint64_t *done; /* warm-ups and samples of all groups */
};

static void order_round(struct group *g, size_t *order)
{
	for (size_t i = 0; i < g->n; i++)
		order[i] = i;
	if (g->plan->order != ORDER_SHUFFLE)
		return;
	for (size_t i = g->n; i > 1; i--) { /* Fisher and Yates */
		size_t k = random_next(&g->random) % i, other = order[k];

		order[k] = order[i - 1];
		order[i - 1] = other;
	}
}

static int call(int (*hook)(struct sampling *, struct error *), struct sampling *s, struct error *err)
{
	return hook ? hook(s, err) : 0;
}

/* The mean PT of each run so far, if they fit on a line; NULL: not known, or too many. */
static const char *estimate(const struct group *g, char text[ESTIMATE_SIZE])
{
	char time[TEXT_TIME_SIZE];
	int used = 0;

	if (g->n > MAX_ESTIMATES)
		return NULL;
	for (size_t i = 0; i < g->n; i++) {
		const struct sampling *s = &g->items[i];

		if (s->taken == 0)
			return NULL;
		used += snprintf(text + used, ESTIMATE_SIZE - (size_t)used, "%s%s", i ? " / " : "",
			text_duration(time, s->pt_ns / s->taken));
	}
	return text;
}

static void step(struct group *g, size_t n)
{
	char text[ESTIMATE_SIZE];

	*g->done += n;
	if (progress_is_due(g->progress, *g->done))
		progress_step(g->progress, *g->done, estimate(g, text));
}

/* One warm-up or sample; repeated if it was stopped. */
static int take(struct group *g, struct sampling *s, struct error *err)
{
	const struct sampling_hooks *hooks = &g->plan->hooks;
	int tries = 0, r;
	bool stopped;

	do {
		r = call(hooks->prepare, s, err);
		if (r == 0)
			r = sample_take(g->plan, s, err);
		stopped = r > 0;
		if (r >= 0)
			r = call(hooks->conclude, s, err);
		if (r == 0 && stopped)
			r = sample_again(s, ++tries, err);
	} while (r == 0 && stopped);
	step(g, 1);
	return r;
}

/* The known number of samples still to be taken. */
static uint32_t count_missing(const struct sampling *s)
{
	return s->run->n_samples < s->samples ? s->samples - s->run->n_samples : 0;
}

static int begin_duet(struct group *g, struct error *err)
{
	const struct duet_plan *plan = g->plan->duet;
	int r = call(g->plan->hooks.ready, &g->items[0], err);

	for (size_t i = 0; r == 0 && i < g->n; i++)
		r = book_add_duet(g->plan->book, g->items[i].run->id,
			&(struct duet_row){g->items[0].run->id, plan->slicing == SLICING_FREEZER,
				plan->slice_ns, g->items[i].increments},
			err);
	return r;
}

static int begin(struct group *g, struct sampling *s, struct error *err)
{
	int r = call(g->plan->hooks.begin, s, err);

	if (r == 0 && !s->run->id)
		r = book_begin_run(g->plan->book, s->run, err);
	if (count_missing(s) > 0)
		for (s->warm_up = 1; r == 0 && s->warm_up <= s->warm_ups; s->warm_up++)
			r = take(g, s, err);
	s->warm_up = 0;
	return r;
}

static int wants_more(const struct group *g, struct sampling *s, struct error *err)
{
	return count_missing(s) > 0 ? 1 : call(g->plan->hooks.more, s, err);
}

static int take_alone(struct group *g, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < g->n; i++) {
		g->items[i].alone = true;
		r = take(g, &g->items[i], err);
		g->items[i].alone = false;
	}
	return r;
}

/* As take_round, for a duet: a sample of all runs if any needs one. */
static int take_duet(struct group *g, struct error *err)
{
	bool any = false;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < g->n; i++) {
		r = wants_more(g, &g->items[i], err);
		any |= r > 0;
	}
	if (r < 0 || !any)
		return r < 0 ? r : 0;
	r = 0;
	while (r == 0 && together_alone_is_due(g->plan, &g->items[0]))
		r = take_alone(g, err);
	if (r == 0)
		r = together_take(g->plan, g->items, g->n, err);
	step(g, g->n);
	return r < 0 ? r : 1;
}

/* One sample of each run that needs one. 1: at least one was taken, 0: none. */
static int take_round(struct group *g, size_t *order, struct error *err)
{
	int any = 0;

	if (g->plan->order == ORDER_DUET)
		return take_duet(g, err);
	order_round(g, order);
	for (size_t i = 0; i < g->n; i++) {
		struct sampling *s = &g->items[order[i]];
		int r = wants_more(g, s, err);

		if (r > 0) {
			any = 1;
			s->begun_ns = s->begun_ns ?: clock_ns(CLOCK_MONOTONIC);
			r = take(g, s, err);
		}
		if (r < 0)
			return r;
	}
	return any;
}

static int take_rounds(struct group *g, struct error *err)
{
	_cleanup_(freep) size_t *order = xcalloc(g->n, sizeof(*order));
	int r = 0;

	for (size_t i = 0; r == 0 && i < g->n; i++)
		r = begin(g, &g->items[i], err);
	if (r == 0 && g->plan->order == ORDER_DUET)
		r = begin_duet(g, err);
	while (r == 0 && (r = take_round(g, order, err)) > 0)
		r = 0;
	return r;
}

/* What PT is then: program.c, and with bpf accounting observer.c. */
static int note_escape(const struct sampling *s, struct error *err)
{
	_cleanup_(freep) char *before = TAKE(s->run->notes);

	s->run->notes = text_format("%s%sin %d sample%s, %s left the program's cgroup", before ?: "",
		before ? "; " : "", s->escaped, s->escaped == 1 ? "" : "s",
		s->escapee[0] ? s->escapee : "a process");
	return 0;
}

static int end(const struct group *g, struct sampling *s, int outcome, struct error *err)
{
	enum run_state state = outcome == 0 ? RUN_DONE : outcome == -EINTR ? RUN_INTERRUPTED : RUN_FAILED;
	struct error second = {};
	int r, called;

	r = s->escaped ? note_escape(s, err) : 0;
	if (r < 0)
		return r;
	r = book_end_run(g->plan->book, s->run->id, state, s->run->notes, err);
	called = call(g->plan->hooks.end, s, r < 0 ? &second : err);
	return r < 0 ? r : called;
}

/* Ends all runs that were begun, also after a failure; the first failure is returned. */
static int sample_group(struct group *g, struct error *err)
{
	struct error second = {};
	int taken = take_rounds(g, err), outcome = taken;

	for (size_t i = 0; i < g->n; i++) {
		int r = g->items[i].run->id ? end(g, &g->items[i], taken, outcome ? &second : err) : 0;

		outcome = outcome ?: r;
	}
	return outcome;
}

static uint64_t count_planned(const struct sampling_plan *plan)
{
	uint64_t n = 0;

	for (size_t i = 0; i < plan->n; i++) {
		const struct sampling *s = &plan->items[i];

		n += count_missing(s) > 0 ? count_missing(s) + (uint64_t)s->warm_ups + plan->alone : 0;
	}
	return n;
}

int sampling_run(const struct sampling_plan *plan, struct error *err)
{
	_cleanup_(progress_end) struct progress progress;
	size_t size = plan->order == ORDER_SEQUENCE ? 1 : plan->n;
	uint64_t done = 0;
	int r = 0;

	progress_begin(
		&progress, plan->label ?: plan->items[0].run->program, count_planned(plan), plan->quiet);
	for (size_t i = 0; r == 0 && i < plan->n; i += size) {
		struct group g = {plan, &plan->items[i], size, plan->seed, &progress, &done};

		r = sample_group(&g, err);
	}
	return r;
}
