/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cluster detection: see cluster.h.
 *
 * A person who zooms into the scatter of dual executions cuts at empty space that the cluster
 * itself does not explain. spacings_gaps finds the same: in the sorted ETs, a gap that is too long
 * compared with the gaps next to it on the inside (Rényi 1953; Burridge & Taylor 2006; Wilkinson
 * 2018). The innermost such gap bounds the central cluster; those further out are the zooms before.
 * One gap in a hundred clean runs is found by chance (ALPHA). Gaps narrower than the robust sd of
 * the ETs do not count.
 *
 * It assumes that more than half of the samples are undisturbed or equally disturbed, and that the
 * samples of the cluster have a tail no heavier than exponential. With a heavier tail, its
 * outermost samples are excluded from the cluster; whether they are L-samples then depends on the
 * daemons.
 *
 * Long samples that adjoin the cluster without such a gap are beyond its core: five robust sd from
 * the middle of the shortest half (Rousseeuw & Leroy 1988; Davies & Gather 1993 call such a bound
 * an outlier identifier), which normal ETs exceed once in three million samples. Heavy tails exceed
 * it too, so the core, or the widest gap beyond it, bounds the cluster only if daemons explain most
 * of the samples beyond. */
#include "lib/protocol/cluster.h"

#include "lib/stats/summary.h"

static const double ALPHA = 0.01;
static const double CORE_SD = 5;
/* A zoom must at least halve the view. */
static const double ZOOM_FACTOR = 2;

struct view {
	int64_t *ets; /* ascending, the samples in view */
	size_t n;
	int64_t quantum;
};

static void add_zoom(struct cluster *c, const struct view *v, struct zoom zoom)
{
	struct zoom *added = array_add(c->zooms, c->n_zooms);

	*added = zoom;
	added->low_ns = v->ets[0];
	added->high_ns = v->ets[v->n - 1];
	added->left = v->n;
}

/* Zooms in on one side, from the outermost break to the innermost. */
static void zoom_side(struct cluster *c, struct view *v, enum tail tail)
{
	double sd = shorth_of(v->ets, v->n).sd;
	size_t n, breaks = 0, gone = 0;
	_cleanup_(freep) struct tail_gap *gaps = spacings_gaps(
		v->ets, v->n, tail, v->quantum, ALPHA, &n);

	for (size_t i = 0; i < n; i++)
		if (gaps[i].size > gaps[i].longest && gaps[i].size > sd)
			gaps[breaks++] = gaps[i];
	for (size_t i = breaks; i-- > 0;) {
		size_t beyond = gaps[i].beyond - gone;
		struct view next = {
			v->ets + (tail == TAIL_LOW ? beyond : 0), v->n - beyond, v->quantum};
		double width = (double)(v->ets[v->n - 1] - v->ets[0]);

		if (i > 0 && width <= ZOOM_FACTOR * (double)(next.ets[next.n - 1] - next.ets[0]))
			continue;
		add_zoom(c, v,
			(struct zoom){.end = ZOOM_GAP,
				.below = tail == TAIL_LOW,
				.beyond = beyond,
				.gap_ns = llround(gaps[i].size),
				.longest_ns = llround(gaps[i].longest)});
		*v = next;
		gone = gaps[i].beyond;
	}
}

static void count_samples(struct cluster *c, const struct sample *samples, size_t n)
{
	c->n_samples = n;
	c->n_central = c->n_above = c->n_below = c->n_arms = c->n_corners = 0;
	for (size_t i = 0; i < n; i++) {
		bool above = samples[i].et_ns > c->high_ns;
		bool mate = i % 2 == 1 && samples[i - 1].et_ns > c->high_ns;

		c->n_above += above;
		c->n_below += samples[i].et_ns < c->low_ns;
		c->n_central += cluster_holds(c, samples[i].et_ns);
		if (i % 2 == 1) {
			c->n_corners += above && mate;
			c->n_arms += above != mate;
		}
	}
}

/* The widest gap beyond the core, relative to what the samples explain; NULL: there is none. */
static const struct tail_gap *widest_gap(
	const struct view *v, int64_t core_high_ns, const struct tail_gap *gaps, size_t n)
{
	const struct tail_gap *widest = NULL;

	for (const struct tail_gap *gap = gaps; gap < gaps + n; gap++) {
		if (v->ets[v->n - 1 - gap->beyond] < core_high_ns)
			continue;
		if (!widest || gap->size * widest->longest > widest->size * gap->longest)
			widest = gap;
	}
	return widest;
}

/* The bounds of the cluster: all in view, its core, and the widest gap beyond the core. */
static void find_bounds(struct cluster *c, const struct view *v)
{
	struct shorth core = shorth_of(v->ets, v->n);
	double reach = core.middle + CORE_SD * core.sd + (double)v->quantum;
	size_t i = v->n, n;
	_cleanup_(freep) struct tail_gap *gaps = spacings_gaps(
		v->ets, v->n, TAIL_HIGH, v->quantum, ALPHA, &n);
	const struct tail_gap *widest;

	c->low_ns = v->ets[0];
	c->high_ns = c->core_high_ns = c->near_high_ns = v->ets[v->n - 1];
	c->median_ns = llround(quantile_of(v->ets, v->n, 0.5));
	if (c->by_hand)
		return;

	while (i > 1 && (double)v->ets[i - 1] > reach)
		i--;
	c->core_high_ns = v->ets[i - 1];
	widest = widest_gap(v, c->core_high_ns, gaps, n);
	if (widest)
		c->near_high_ns = v->ets[v->n - 1 - widest->beyond];
}

/* Excludes what is longer than the bound that was set by hand. */
static void zoom_by_hand(struct cluster *c, struct view *v, int64_t by_hand_ns)
{
	size_t left = v->n;

	while (v->ets[left - 1] > by_hand_ns)
		left--;
	if (left < v->n)
		add_zoom(c, v, (struct zoom){.end = ZOOM_HAND, .beyond = v->n - left});
	v->n = left;
}

/* The step in which ETs were recorded. A few different ETs may share a larger one by chance; that
 * of the PTs, or a millisecond, is the most. */
static int64_t et_quantum(const int64_t *ets, size_t n, int64_t resolution_ns)
{
	const int64_t steps_ns[] = {
		quantum_of(ets, n), resolution_ns > 1 ? resolution_ns : NS_PER_MS};

	return quantum_of(steps_ns, ELEMENTS(steps_ns));
}

int cluster_find(struct cluster *ret, const struct sample *samples, size_t n, int64_t resolution_ns,
	int64_t by_hand_ns, struct error *err)
{
	_cleanup_(freep) int64_t *ets = xcalloc(n, sizeof(*ets));
	struct cluster c = {.by_hand = by_hand_ns > 0};
	struct view v = {.ets = ets, .n = n};

	if (n == 0)
		return error_say(err, -EINVAL, "the run has no samples");
	for (size_t i = 0; i < n; i++)
		ets[i] = samples[i].et_ns;
	sort_ascending(ets, n);
	if (c.by_hand && by_hand_ns < ets[0])
		return error_say(err, -EINVAL,
			"no sample is within the given bound of the central cluster: the "
			"shortest took %.9g s",
			(double)ets[0] / 1e9);

	v.quantum = et_quantum(ets, n, resolution_ns);
	if (c.by_hand)
		zoom_by_hand(&c, &v, by_hand_ns);
	else
		zoom_side(&c, &v, TAIL_HIGH);
	zoom_side(&c, &v, TAIL_LOW);
	add_zoom(&c, &v, (struct zoom){.end = ZOOM_LAST});
	find_bounds(&c, &v);
	count_samples(&c, samples, n);
	*ret = c;
	return 0;
}

void cluster_tighten(struct cluster *c, const struct sample *samples, size_t n, int64_t high_ns,
	double explained)
{
	struct zoom *last = &c->zooms[c->n_zooms - 1];
	_cleanup_(freep) int64_t *ets = xreallocarray(NULL, n, sizeof(*ets));
	struct view v = {.ets = ets};

	for (size_t i = 0; i < n; i++)
		if (samples[i].et_ns >= c->low_ns && samples[i].et_ns <= high_ns)
			ets[v.n++] = samples[i].et_ns;
	sort_ascending(ets, v.n);
	last->end = ZOOM_DAEMONS;
	last->explained = explained;
	last->beyond = c->n_central - v.n;
	add_zoom(c, &v, (struct zoom){.end = ZOOM_LAST});
	c->high_ns = c->core_high_ns = c->near_high_ns = high_ns;
	c->median_ns = llround(quantile_of(ets, v.n, 0.5));
	count_samples(c, samples, n);
}

void cluster_clear(struct cluster *c)
{
	free(c->zooms);
	*c = (struct cluster){};
}

const char *zoom_why(const struct zoom *z)
{
	const char *samples = text_count((int64_t)z->beyond,
		z->end == ZOOM_GAP && z->below ? "shorter sample" : "longer sample");

	switch (z->end) {
	case ZOOM_GAP:
		return text_brief("%s beyond a gap of %s (at most %s expected)", samples,
			text_duration(z->gap_ns), text_duration(z->longest_ns));
	case ZOOM_DAEMONS:
		return text_brief("%s without such a gap, %.0f %% explained by daemons", samples,
			100 * z->explained);
	case ZOOM_HAND:
		return text_brief("%s beyond the given bound", samples);
	case ZOOM_LAST:
		break;
	}
	return "no unusual gap left";
}
