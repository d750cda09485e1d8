/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the samples of one command come to: see result.h. */
#include "measure/result.h"

#include "lib/protocol/name_groups.h"

#include <errno.h>
#include <string.h>

/* An execution is much where it took this share of its sample's ET. */
static const double MUCH = 0.01;

void result_clear(struct result *r)
{
	discarding_clear(&r->discarding);
	free(r->samples);
	for (size_t i = 0; i < r->n_strangers; i++) {
		free(r->strangers[i].name);
		free(r->strangers[i].unit);
	}
	free(r->strangers);
	free(r->counters);
	disturbances_clear(&r->moves);
	*r = (struct result){};
}

/* What the walk over the executions needs. */
struct search {
	struct result *result;
	const struct profile *profile;
	struct daemons daemons;
	uint32_t counted; /* the sample that the stranger at hand was last counted in */
};

static struct stranger *find(struct result *result, const char *name)
{
	for (size_t i = 0; i < result->n_strangers; i++)
		if (!strcmp(result->strangers[i].name, name))
			return &result->strangers[i];
	return NULL;
}

static struct stranger *add(struct result *result, const char *name)
{
	struct stranger *bigger = reallocarray(result->strangers, result->n_strangers + 1, sizeof(*bigger));
	char *copy = strdup(name);

	if (bigger)
		result->strangers = bigger;
	if (!bigger || !copy) {
		free(copy);
		return NULL;
	}
	result->strangers[result->n_strangers] = (struct stranger){.name = copy};
	return &result->strangers[result->n_strangers++];
}

static int look(const struct execution *e, void *data)
{
	struct search *search = data;
	const struct daemon *daemon = &search->daemons.items[e->daemon - 1];
	const char *name = name_group(names_default, daemon->name);
	struct stranger *stranger;

	if ((double)e->pt_ns < MUCH * (double)search->result->samples[e->sample - 1].et_ns ||
		profile_cutoff(search->profile, name))
		return 0;
	stranger = find(search->result, name) ?: add(search->result, name);
	if (!stranger)
		return -ENOMEM;
	if (e->pt_ns > stranger->most_ns) {
		stranger->most_ns = e->pt_ns;
		if (stranger->sample != e->sample)
			stranger->n_samples++;
		stranger->sample = e->sample;
		free(stranger->unit);
		stranger->unit = daemon->unit ? strdup(daemon->unit) : NULL;
	}
	return 0;
}

static int by_most(const void *x, const void *y)
{
	const struct stranger *a = x, *b = y;

	return (a->most_ns < b->most_ns) - (a->most_ns > b->most_ns);
}

static int find_strangers(struct book *book, int64_t id, const struct profile *profile, struct result *result,
	struct error *err)
{
	struct search search = {.result = result, .profile = profile};
	int r;

	r = book_daemons(book, &search.daemons, err);
	if (r < 0)
		return r;
	r = book_each_time(book, id, look, &search, err);
	daemons_clear(&search.daemons);
	if (r == -ENOMEM)
		return error_os(err, r, "cannot read the run back");
	if (r == 0 && result->n_strangers > 0)
		qsort(result->strangers, result->n_strangers, sizeof(*result->strangers), by_most);
	return r;
}

int result_read(struct book *book, int64_t id, const struct profile *profile, struct result *result,
	struct error *err)
{
	int r;

	r = book_samples(book, id, &result->samples, &result->n_samples, err);
	if (r < 0)
		return r;
	r = book_counters(book, id, &result->counters, &result->n_counters, err);
	if (r == 0)
		r = disturbances_of_run(book, id, &result->moves, err);
	if (r == 0)
		r = discard_run(book, id, profile, &result->discarding, err);
	if (r < 0 || !profile)
		return r;
	return find_strangers(book, id, profile, result, err);
}

struct result_means result_means(const struct result *result)
{
	struct result_means m = {};

	for (size_t i = 0; i < result->n_samples; i++) {
		m.user_ns += (double)result->samples[i].user_ns / (double)result->n_samples;
		m.system_ns += (double)result->samples[i].system_ns / (double)result->n_samples;
	}
	return m;
}

double result_off_cpu(const struct result *result)
{
	double et = 0, pt = 0;

	for (size_t i = 0; i < result->n_samples; i++) {
		et += (double)result->samples[i].et_ns;
		pt += (double)result->samples[i].pt_ns;
	}
	return et > 0 ? 1 - pt / et : 0;
}
