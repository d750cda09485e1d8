/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the protocol reads in one run, drawn up from what the reader holds: see analysis.h. */
#include "lib/protocol/daemon_statistics.h"

#include "lib/stats/robust.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Half of the samples beyond a bound: it is daemons that make the bound. */
static const double EXPLAINED = 0.5;

/* The book knows every process that ever ran; the reading has those of this run. */
static void drop_unseen(struct reader *reader)
{
	size_t kept = 0;

	for (size_t i = 0; i < reader->n_watches; i++)
		if (reader->watches[i].longest_ns > 0) /* what was never seen owns nothing */
			reader->watches[kept++] = reader->watches[i];
	reader->n_watches = kept;
}

/* The share of the samples in these zones that daemons account for; 0 where there are none. */
static double share_explained(const struct reader *reader, unsigned zones)
{
	size_t n = 0, explained = 0;

	for (size_t i = 0; i < reader->n_samples; i++)
		if (zones & IN(reader->zones[i])) {
			n++;
			explained += reader_explains(reader, i);
		}
	return n > 0 ? (double)explained / (double)n : 0;
}

static void move(struct reader *reader, enum zone from, enum zone to)
{
	for (size_t i = 0; i < reader->n_samples; i++)
		if (reader->zones[i] == from)
			reader->zones[i] = (uint8_t)to;
	for (struct watch *w = reader->watches; w < reader->watches + reader->n_watches; w++) {
		w->seen[to] = running_join(&w->seen[to], &w->seen[from]);
		w->seen[from] = RUNNING_NONE;
	}
}

/* Where daemons account for most of the samples beyond the core, or beyond the gap further out, that is where
 * the central cluster ends. */
static int settle(struct reader *reader)
{
	struct central *c = &reader->central;
	double beyond_core = share_explained(reader, IN(ZONE_NEAR) | IN(ZONE_FAR));
	double beyond_gap = share_explained(reader, IN(ZONE_FAR));
	bool core = beyond_core > EXPLAINED, gap = core || beyond_gap > EXPLAINED;

	move(reader, ZONE_NEAR, core ? ZONE_ABOVE : ZONE_CORE);
	move(reader, ZONE_FAR, gap ? ZONE_ABOVE : ZONE_CORE);
	if (!gap)
		return 0;
	return central_tighten(c, reader->samples, reader->n_samples,
		core ? c->core_high_ns : c->near_high_ns, core ? beyond_core : beyond_gap);
}

/* Step 4, to the kept executions of one daemon: those in the central cluster, and those that are not long
 * for it, go; the samples of the others are marked as explained. */
static void sift(struct reader *reader, struct watch *w, bool *explained)
{
	const struct running *central = &w->seen[ZONE_CORE];
	size_t kept = 0;

	reader->cursor = 0;
	for (size_t i = 0; i < w->n_longs; i++) {
		size_t sample = reader_sample(reader, w->longs[i].sample);

		if (reader->zones[sample] != ZONE_ABOVE || !running_is_long(central, w->longs[i].pt_ns))
			continue;
		explained[sample] = true;
		w->longs[kept++] = w->longs[i];
	}
	w->n_longs = kept;
}

static int list_samples(struct reader *reader, const bool *explained, struct reading *reading)
{
	size_t above = reader->central.n_above;

	reading->l_samples = reallocarray(NULL, above + 1, sizeof(uint32_t));
	reading->unexplained = reallocarray(NULL, above + 1, sizeof(uint32_t));
	if (!reading->l_samples || !reading->unexplained)
		return -ENOMEM;
	for (size_t i = 0; i < reader->n_samples; i++) {
		if (reader->zones[i] != ZONE_ABOVE)
			continue;
		if (explained[i])
			reading->l_samples[reading->n_l_samples++] = reader->samples[i].n;
		else
			reading->unexplained[reading->n_unexplained++] = reader->samples[i].n;
	}
	return 0;
}

static int find_period(struct habit *habit, const struct reader *reader)
{
	_cleanup_(freep) uint32_t *at = reallocarray(NULL, habit->n_longs + 1, sizeof(*at));
	size_t n = 0;

	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < habit->n_longs; i++)
		if (n == 0 || at[n - 1] != habit->longs[i].sample)
			at[n++] = habit->longs[i].sample;
	habit->period = period_find(at, n, reader->samples[reader->n_samples - 1].n);
	return 0;
}

static int64_t least(const struct long_execution *longs, size_t n)
{
	int64_t least_ns = longs[0].pt_ns;

	for (size_t i = 1; i < n; i++)
		if (longs[i].pt_ns < least_ns)
			least_ns = longs[i].pt_ns;
	return least_ns;
}

static int make_habit(struct habit *habit, struct watch *w, const struct reader *reader)
{
	const struct running *central = &w->seen[ZONE_CORE];
	const char *unit = reader->daemons->items[w->longest].unit;

	habit->n_central = central->n;
	habit->central_max_ns = central->max_ns;
	habit->central_sd_ns = running_sd(central);
	habit->n_outside = w->seen[ZONE_ABOVE].n;
	habit->n_longs = w->n_longs;
	habit->longs = TAKE(w->longs);
	habit->long_min_ns = habit->cutoff_ns = -1;
	habit->name = strdup(w->name);
	habit->unit = unit ? strdup(unit) : NULL;
	if (!habit->name || (unit && !habit->unit))
		return -ENOMEM;
	if (habit->n_longs == 0)
		return 0;
	habit->long_min_ns = least(habit->longs, habit->n_longs);
	habit->cutoff_ns = resolution_midpoint(
		central->n > 0 ? central->max_ns : 0, habit->long_min_ns, reader->resolution_ns);
	return find_period(habit, reader);
}

/* The mean ET and the median pause, rather than the mean distance of starts: a run that was resumed after
 * days must not give its daemons a longer period. */
static double spacing(const struct sample *samples, size_t n)
{
	_cleanup_(freep) int64_t *pauses = reallocarray(NULL, n, sizeof(*pauses));
	double sum = 0, pause;

	for (size_t i = 0; i < n; i++)
		sum += (double)samples[i].et_ns;
	for (size_t i = 1; pauses && i < n; i++)
		pauses[i - 1] = samples[i].start_ns - samples[i - 1].start_ns - samples[i - 1].et_ns;
	pause = n > 1 && pauses ? median_of(pauses, n - 1) : 0;
	return sum / (double)n + fmax(pause, 0);
}

static int make_reading(struct reader *reader, struct reading *reading)
{
	_cleanup_(freep) bool *explained = calloc(reader->n_samples, sizeof(*explained));
	int r;

	reading->habits = calloc(reader->n_watches + 1, sizeof(*reading->habits));
	if (!explained || !reading->habits)
		return -ENOMEM;
	reading->n_habits = reader->n_watches;
	for (size_t i = 0; i < reader->n_watches; i++) {
		sift(reader, &reader->watches[i], explained);
		r = make_habit(&reading->habits[i], &reader->watches[i], reader);
		if (r < 0)
			return r;
	}
	return list_samples(reader, explained, reading);
}

int reader_finish(struct reader *reader, struct reading *ret, struct error *err)
{
	_cleanup_(reading_clearp) struct reading reading = {.resolution_ns = reader->resolution_ns};
	int r;

	drop_unseen(reader);
	reader->divides = find_dividing(reader);
	add_up_extra(reader);
	r = settle(reader);
	if (r == 0)
		r = make_reading(reader, &reading);
	if (r == 0)
		r = shape_judge(reader, &reading);
	if (r < 0)
		return error_os(err, r, "cannot read run %" PRId64, reader->run.id);
	reading.spacing_ns = spacing(reader->samples, reader->n_samples);
	reading.run = reader->run;
	reading.central = reader->central;
	reading.n_samples = reader->n_samples;
	reading.samples = TAKE(reader->samples);
	reader->run = (struct run){};
	reader->central = (struct central){};
	*ret = reading;
	reading = (struct reading){};
	return 0;
}

static int name_to_habit(const void *name, const void *habit)
{
	return strcmp(name, ((const struct habit *)habit)->name);
}

const struct habit *reading_habit(const struct reading *reading, const char *name)
{
	if (reading->n_habits == 0)
		return NULL;
	return bsearch(name, reading->habits, reading->n_habits, sizeof(*reading->habits), name_to_habit);
}

void reading_clear(struct reading *reading)
{
	for (size_t i = 0; i < reading->n_habits; i++) {
		free(reading->habits[i].name);
		free(reading->habits[i].unit);
		free(reading->habits[i].longs);
	}
	free(reading->habits);
	free(reading->l_samples);
	free(reading->unexplained);
	free(reading->samples);
	central_clear(&reading->central);
	run_clear(&reading->run);
	*reading = (struct reading){};
}
