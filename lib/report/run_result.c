/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a run: see run_result.h. */
#include "lib/report/run_result.h"

#include "lib/book/book.h"
#include "lib/report/disturbances_load.h"
#include "lib/protocol/names.h"

#include <inttypes.h>

struct walk {
	struct discarder *discarder;
	const struct sources *daemons;
	struct error *err;
};

static int add_execution(const struct execution *e, void *data)
{
	struct walk *walk = data;

	if (e->source < 1 ||
		e->source > walk->daemons->n) /* added after the daemons were read, while the run continues */
		return 0;
	return discarder_add(walk->discarder, &walk->daemons->items[e->source - 1], e, walk->err);
}

static int add_executions(struct book *book, int64_t run, struct discarder *discarder, struct error *err)
{
	_cleanup_(sources_clear) struct sources daemons = {};
	int r = book_sources(book, &daemons, err);

	if (r < 0)
		return r;
	r = book_each_time(book, run, add_execution, &(struct walk){discarder, &daemons, err}, err);
	return r < 0 ? error_prefix(err, r, "run %" PRId64, run) : 0;
}

/* walk: add the executions; otherwise nothing is discarded by name, and there are no others. */
static int discard(struct book *book, int64_t run, const struct discard_rules *given, bool walk,
	const struct sample *samples, size_t n, struct discarding *ret, struct error *err)
{
	_cleanup_(discarder_freep) struct discarder *discarder = NULL;
	_cleanup_(names_clear) struct names names = {};
	_cleanup_(run_clear) struct run of = {};
	struct discard_rules rules = *given;
	int r;

	r = book_get_run(book, run, &of, err);
	if (r == 0 && !rules.patterns)
		r = names_load_of(&of, &names, err);
	if (r < 0)
		return r;
	if (!rules.correlation.values)
		rules.correlation = (struct known_correlation){
			of.correlation.lag1, (size_t)of.correlation.samples};
	if (!rules.patterns)
		rules.patterns = names.rows;
	discarder = discarder_new(&rules);
	for (size_t i = 0; i < n; i++)
		discarder_add_sample(discarder, &samples[i]);
	r = walk ? add_executions(book, run, discarder, err) : 0;
	if (r < 0)
		return r;
	*ret = discarder_finish(discarder);
	ret->run = TAKE_STRUCT(of);
	return 0;
}

int run_result_read(struct book *book, int64_t run, const struct discard_rules *rules, struct run_result *ret,
	struct error *err)
{
	_cleanup_(run_result_clear) struct run_result result = {};
	int r;

	r = book_samples(book, run, &result.samples, &result.n_samples, err);
	if (r == 0)
		r = discard(
			book, run, rules, true, result.samples, result.n_samples, &result.discarding, err);
	if (r == 0)
		r = book_counters(book, run, &result.counters, &result.n_counters, err);
	if (r == 0)
		result.disturbances = disturbances_find(
			result.counters, result.n_counters, (int64_t)result.discarding.et.raw.median_ns);
	result.disturbances.pt_ns = result.discarding.pt.raw.mean_ns;
	if (r == 0)
		r = interrupts_in_pt_load(
			book, result.discarding.run.environment, &result.disturbances.interrupts, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(result);
	return 0;
}

void run_result_clear(struct run_result *r)
{
	discarding_clear(&r->discarding);
	free(r->samples);
	free(r->counters);
	disturbances_clear(&r->disturbances);
	*r = (struct run_result){};
}

int discard_run(struct book *book, int64_t run, const struct discard_rules *rules, struct discarding *ret,
	struct error *err)
{
	_cleanup_(discarding_clear) struct discarding d = {};
	_cleanup_(freep) struct sample *samples = NULL;
	size_t n;
	int r;

	r = book_samples(book, run, &samples, &n, err);
	if (r == 0)
		r = discard(book, run, rules, discard_rules_by_name(rules), samples, n, &d, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(d);
	return 0;
}

static int begin(struct clean_samples *c, const struct discard_rules *given, struct error *err)
{
	struct discard_rules rules = *given;
	int r = names_load(&c->names, err);

	if (r < 0)
		return r;
	rules.patterns = rules.patterns ?: c->names.rows;
	c->discarder = discarder_new(&rules);
	return 0;
}

static int know_daemons(
	struct clean_samples *c, struct book *book, const struct execution *e, size_t n, struct error *err)
{
	uint32_t last = 0;

	for (size_t i = 0; i < n; i++)
		last = e[i].source > last ? e[i].source : last;
	if (last <= c->daemons.n)
		return 0;
	sources_clear(&c->daemons);
	return book_sources(book, &c->daemons, err);
}

int clean_samples_add(struct clean_samples *c, struct book *book, const struct discard_rules *rules,
	const struct sample *sample, const struct execution *executions, size_t n, struct error *err)
{
	int r = c->discarder ? 0 : begin(c, rules, err);

	if (r == 0)
		r = know_daemons(c, book, executions, n, err);
	if (r == 0)
		discarder_add_sample(c->discarder, sample);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = add_execution(&executions[i], &(struct walk){c->discarder, &c->daemons, err});
	return r;
}

int clean_samples_count(struct clean_samples *c, size_t *ret, struct error *err)
{
	_cleanup_(discarding_clear) struct discarding d = {};

	if (c->discarder)
		d = discarder_judge(c->discarder);
	*ret = d.pt.kept.n;
	return 0;
}

void clean_samples_clear(struct clean_samples *c)
{
	discarder_free(c->discarder);
	names_clear(&c->names);
	sources_clear(&c->daemons);
	*c = (struct clean_samples){};
}
