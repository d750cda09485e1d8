/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparisons of a session: see comparisons.h. */
#include "measure/comparisons.h"

#include "lib/report/run_variation_load.h"

static int make_side(const struct task *t, struct comparison_side *ret, struct error *err)
{
	const struct run_result *run = &t->result.run;

	return comparison_side_make(ret, &run->discarding, run->samples, run->n_samples, COMPARISON_PT) < 0
		       ? error_oom(err)
		       : 0;
}

/* The samples of a session are taken in turn; those of --order sequence are not. */
static int compare_with_first(
	const struct session *s, const struct task *b, struct comparison *ret, struct error *err)
{
	_cleanup_(comparison_side_clear) struct comparison_side of_a = {}, of_b = {};
	const struct task *a = &s->tasks[0];
	struct run_variation variation = {};
	int r;

	r = make_side(a, &of_a, err);
	if (r == 0)
		r = make_side(b, &of_b, err);
	if (r == 0 && s->options->order == ORDER_SEQUENCE)
		r = run_variation_load(s->book, a->run.id, b->run.id, COMPARISON_PT, &variation, err);
	return r < 0 ? r : comparison_make(&of_a, &of_b, &variation, ret, err);
}

static int adjust(struct comparisons *c, struct error *err)
{
	_cleanup_(freep) struct comparison **made = calloc(c->n + 1, sizeof(struct comparison *));
	size_t n = 0;

	if (!made)
		return error_oom(err);
	for (size_t i = 1; i < c->n; i++)
		if (c->items[i].a.n > 0)
			made[n++] = &c->items[i];
	c->any = n > 0;
	return comparisons_adjust(made, n) < 0 ? error_oom(err) : 0;
}

int comparisons_make(const struct session *s, struct comparisons *ret, struct error *err)
{
	_cleanup_(comparisons_clear) struct comparisons c = {
		.items = calloc(s->n + 1, sizeof(*c.items)), .n = s->n};
	int r = c.items ? 0 : error_oom(err);

	for (size_t i = 1; r == 0 && i < session_n_shown(s); i++)
		if (s->tasks[0].result.run.discarding.pt.kept.n > 0 &&
			s->tasks[i].result.run.discarding.pt.kept.n > 0)
			r = compare_with_first(s, &s->tasks[i], &c.items[i], err);
	if (r == 0)
		r = adjust(&c, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(c);
	return 0;
}

void comparisons_clear(struct comparisons *c)
{
	free(c->items);
	*c = (struct comparisons){};
}
