/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the analyses of two runs to a profile: see cutoffs.h. EMP's step 8 says "average", but its example, its tables
 * and SEDONA use maximum and minimum, as this does. */
#include "lib/protocol/cutoffs.h"

#include "lib/base/array.h"
#include "lib/base/text.h"
#include "lib/protocol/name_families.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Programs shorter than this share of the period get the cutoff of the short run. */
static const double TASK_SHARE = 0.05;

/* The cutoff of the long run for a daemon that is infrequent in the short run, but runs only in the central cluster
 * of the long run: what it hardly ever exceeds there. */
static int64_t long_only(const struct daemon_statistics *long_daemon, int64_t resolution_ns)
{
	double most = (double)long_daemon->central_max_ns + 2 * long_daemon->central_sd_ns;

	return (int64_t)floor(most / (double)resolution_ns + 0.5) * resolution_ns;
}

static int64_t long_cutoff(const struct daemon_statistics *short_daemon,
	const struct daemon_statistics *long_daemon, int64_t resolution_ns)
{
	if (!long_daemon)
		return -1;
	if (long_daemon->cutoff_ns >= 0)
		return long_daemon->cutoff_ns;
	if (short_daemon && short_daemon->cutoff_ns >= 0 && long_daemon->n_central > 0)
		return long_only(long_daemon, resolution_ns);
	return -1;
}

static void finish(
	struct cutoff *c, const struct daemon_statistics *short_daemon, const struct analysis *short_run)
{
	int64_t larger = c->short_ns > c->long_ns ? c->short_ns : c->long_ns;

	if (short_daemon && short_daemon->period.samples > 0) {
		double period = analysis_period_ns(short_run, short_daemon);

		c->period_ns = llround(period);
		c->task_time_ns = llround(TASK_SHARE * period);
		c->firm = short_daemon->period.firm;
	}
	c->below_ns = c->atleast_ns = larger;
	if (c->period_ns > 0 && c->short_ns >= 0 && c->long_ns >= 0) {
		c->below_ns = c->short_ns;
		c->atleast_ns = c->long_ns;
	}
}

static int64_t share_ppm(const struct daemon_statistics *daemon)
{
	return daemon && !isnan(daemon->share) ? llround(daemon->share * PPM) : -1;
}

static uint32_t names_of(const struct daemon_statistics *daemon)
{
	return daemon ? daemon->names : 0;
}

/* Adds the cutoff of one daemon, if it is infrequent in either run. */
static int add_cutoff(struct profile *profile, const struct daemon_statistics *short_daemon,
	const struct daemon_statistics *long_daemon, const struct analysis *short_run)
{
	struct cutoff c = {
		.short_ns = short_daemon ? short_daemon->cutoff_ns : -1,
		.long_ns = long_cutoff(short_daemon, long_daemon, profile->resolution_ns),
		.short_share_ppm = share_ppm(short_daemon),
		.long_share_ppm = share_ppm(long_daemon),
	};
	const struct daemon_statistics *named = short_daemon ?: long_daemon;
	const char *unit = named->unit ?: long_daemon ? long_daemon->unit : NULL;
	struct cutoff *added;

	if (c.short_ns < 0 && c.long_ns < 0)
		return 0;
	finish(&c, short_daemon, short_run);
	added = array_add(profile->cutoffs, profile->n_cutoffs);
	if (!added)
		return -ENOMEM;
	*added = c;
	added->daemon = strdup(named->name);
	added->names = names_of(short_daemon) > names_of(long_daemon) ? names_of(short_daemon)
								      : names_of(long_daemon);
	added->unit = text_copy(unit);
	return added->daemon && (!unit || added->unit) ? 0 : -ENOMEM;
}

static int add_run(struct profile_run *ret, const struct analysis *analysis)
{
	ret->program = strdup(analysis->run.program ?: "");
	ret->run = analysis->run.id;
	ret->samples = (int64_t)analysis->n_samples;
	ret->l_samples = reallocarray(NULL, analysis->n_l_samples + 1, sizeof(uint32_t));
	if (!ret->program || !ret->l_samples)
		return -ENOMEM;
	for (size_t i = 0; i < analysis->n_l_samples; i++)
		ret->l_samples[i] = analysis->l_samples[i];
	ret->n_l_samples = analysis->n_l_samples;
	return 0;
}

/* Both lists of statistics are in the order of names. */
static int merge(struct profile *profile, const struct analysis *short_run, const struct analysis *long_run)
{
	size_t s = 0, l = 0;
	int r = 0;

	while (r == 0 && (s < short_run->n_statistics || l < long_run->n_statistics)) {
		const struct daemon_statistics *a = s < short_run->n_statistics ? &short_run->statistics[s]
										: NULL;
		const struct daemon_statistics *b = l < long_run->n_statistics ? &long_run->statistics[l]
									       : NULL;
		int order = !a ? 1 : !b ? -1 : strcmp(a->name, b->name);

		if (order > 0)
			a = NULL;
		if (order < 0)
			b = NULL;
		s += a != NULL;
		l += b != NULL;
		r = add_cutoff(profile, a, b, short_run);
	}
	return r;
}

int cutoffs_make(const char *name, const struct analysis *short_run, const struct analysis *long_run,
	struct profile *ret, struct error *err)
{
	_cleanup_(profile_clear) struct profile profile = {.resolution_ns = short_run->resolution_ns,
		.cpu = short_run->run.cpu,
		.by_wait = short_run->by_wait && long_run->by_wait};
	int r;

	if (short_run->resolution_ns != long_run->resolution_ns)
		return error_say(err, -EINVAL,
			"the resolution of the short run is %" PRId64 " ns, that of the long run %" PRId64
			" ns; they must be the same",
			short_run->resolution_ns, long_run->resolution_ns);
	profile.name = strdup(name ?: "unnamed");
	r = profile.name ? 0 : -ENOMEM;
	if (r == 0)
		r = add_run(&profile.short_run, short_run);
	if (r == 0)
		r = add_run(&profile.long_run, long_run);
	if (r == 0)
		r = merge(&profile, short_run, long_run);
	if (r < 0)
		return error_oom(err);
	*ret = TAKE_STRUCT(profile);
	return 0;
}

int cutoffs_leave_out(struct profile *profile, int64_t least_ppm, struct cutoffs *left_out)
{
	struct cutoff *out = reallocarray(NULL, profile->n_cutoffs + 1, sizeof(*out));
	size_t kept = 0, n = 0;

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < profile->n_cutoffs; i++) {
		const struct cutoff *c = &profile->cutoffs[i];
		int64_t share_ppm = cutoff_share_ppm(c);

		if (share_ppm >= 0 && share_ppm < least_ppm)
			out[n++] = *c;
		else
			profile->cutoffs[kept++] = *c;
	}
	profile->n_cutoffs = kept;
	*left_out = (struct cutoffs){out, n};
	return 0;
}

void cutoffs_clear(struct cutoffs *cutoffs)
{
	for (size_t i = 0; i < cutoffs->n; i++) {
		free(cutoffs->items[i].daemon);
		free(cutoffs->items[i].unit);
	}
	free(cutoffs->items);
	*cutoffs = (struct cutoffs){};
}

const struct cutoff *profile_cutoff_of(
	const struct profile *profile, const struct name_pattern *patterns, const struct source *source)
{
	const struct cutoff *cutoff = profile_cutoff(profile, name_group(patterns, source->name));

	for (size_t i = 0; !cutoff && i < profile->n_cutoffs; i++)
		if (profile->cutoffs[i].names > 0 && name_family_has(profile->cutoffs[i].daemon, source))
			cutoff = &profile->cutoffs[i];
	return cutoff;
}

const struct cutoff *profile_cutoff(const struct profile *profile, const char *daemon)
{
	for (size_t i = 0; i < profile->n_cutoffs; i++)
		if (!strcmp(profile->cutoffs[i].daemon, daemon))
			return &profile->cutoffs[i];
	return NULL;
}
