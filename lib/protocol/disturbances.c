/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disturbance counters that changed in a run, and PTs that cannot be right: see disturbances.h. */
#include "lib/protocol/disturbances.h"

#include "lib/stats/summary.h"
#include "lib/stats/time_series.h"

enum disturbance_kind { COUNT, TIME, RATE };

static const struct {
	const char *name;
	const char *what; /* what happened */
	enum disturbance_kind kind;
	const char *unit;    /* of a COUNT, in the singular */
	int64_t from;        /* the minimum that is reported; 0: never */
	int per_mille_of_et; /* and at least this much of the sample's time */
	double scale;        /* of a RATE: how many make a unit */
} rows[N_COUNTERS] = {
	[COUNTER_STEAL] = {"stolen CPU time", "CPU time stolen by the hypervisor", TIME, NULL, 1,
		1},
	[COUNTER_THROTTLES] = {"heat", "a CPU throttled for heat", COUNT, "time", 1, 0},
	[COUNTER_SWAPPED_IN] = {"swapping", "memory swapped in", COUNT, "page", 1, 0},
	[COUNTER_SWAPPED_OUT] = {"swapping", "memory swapped out", COUNT, "page", 1, 0},
	[COUNTER_MAJOR_FAULTS] = {"page faults", "pages read from disk", COUNT, "page", 1, 0},
	[COUNTER_SUSPENDED] = {"sleep", "the machine was suspended", TIME, NULL, 1, 0},
	[COUNTER_CLOCK_RATE] = {"clock rate", "NTP changed the clock rate", RATE, "ppm", 1000, 0,
		1e3},
	[COUNTER_CPU_PRESSURE] = {"waiting for CPUs", "processes waited for a CPU", TIME, NULL, 1,
		50},
	[COUNTER_VOLUNTARY] = {"context switches", NULL, COUNT, NULL, 0, 0},
	[COUNTER_INVOLUNTARY] = {"context switches", NULL, COUNT, NULL, 0, 0},
	[COUNTER_SMIS] = {"firmware", "the firmware interrupted the CPU", COUNT, "time", 1, 0},
	/* krun's bounds for both */
	[COUNTER_TEMPERATURE] = {"temperature", "the temperature changed", RATE, "°C", 3000, 0,
		1e3},
	[COUNTER_SPEED] = {"clock speed", "the CPU's clock was not at its base frequency", RATE,
		"%", 5000, 0, 1e4},
	[COUNTER_INTERRUPTS] = {"interrupts", "interrupts took time", TIME, NULL, 1, 10},
};

enum { LEAST_OTHERS = 10 };
/* A PT is too short if it is this many times shorter than the least of the others, and further
 * below that than SPREADS times the distance from there to their median. */
static const double FASTEST = 2, SPREADS = 3;
/* The hypervisor took little from a sample if its steal is below this share of its PT. */
static const double UNDISTURBED = 0.1;

const char *disturbance_name(enum counter which)
{
	return rows[which].name;
}

/* Whether it is reported that the counter changed by this in a sample of et_ns. */
static bool is_reported(enum counter which, int64_t value, int64_t et_ns)
{
	return rows[which].from > 0 && value >= rows[which].from &&
	       value >= et_ns / 1000 * rows[which].per_mille_of_et;
}

struct disturbances disturbances_find(const struct counters *samples, size_t n, int64_t et_ns)
{
	struct disturbances found = {.n_samples = n};

	for (enum counter which = 0; which < N_COUNTERS; which++) {
		struct disturbance item = {.which = which, .samples = xcalloc(n, sizeof(uint32_t))};

		for (size_t i = 0; i < n; i++) {
			int64_t value;

			if (!counters_know(&samples[i], which))
				continue;
			value = llabs(samples[i].value[which]);
			if (!is_reported(which, value, et_ns))
				continue;
			item.samples[item.n++] = samples[i].sample;
			if (rows[which].kind != RATE)
				item.total = saturate_add(item.total, value);
			else if (value > item.total)
				item.total = value;
		}
		if (item.n > 0)
			found.items[found.n++] = item;
		else
			free(item.samples);
	}
	return found;
}

void disturbances_clear(struct disturbances *found)
{
	for (size_t i = 0; i < found->n; i++)
		free(found->items[i].samples);
	*found = (struct disturbances){};
}

/* " in 12 of 400 samples (3, 17, 18, 21, …)" */
static void append_samples(char **text, const struct disturbance *item, size_t n_samples)
{
	enum { SHOWN = 4 };

	text_append(text, "", " in %zu of %zu samples (", item->n, n_samples);
	for (size_t i = 0; i < item->n && i < SHOWN; i++)
		text_append(text, i ? ", " : "", "%u", item->samples[i]);
	text_append(text, "", item->n > SHOWN ? ", …)" : ")");
}

/* How much time a sample with interrupts has in them, and what that means for PT. */
static char *interrupts_description(
	const struct disturbances *found, const struct disturbance *item)
{
	static const char *const interrupts[] = {
		[INTERRUPTS_NOT_KNOWN] = "interrupts took",
		[INTERRUPTS_IN_PT] = "PT contains interrupts:",
		[INTERRUPTS_NOT_IN_PT] = "PT does not contain interrupts:",
	};
	double each_ns = (double)item->total / (double)item->n;
	char *text = text_format(
		"%s %s a sample", interrupts[found->interrupts], text_precise(each_ns, each_ns));

	if (found->interrupts == INTERRUPTS_IN_PT && found->pt_ns > 0)
		text_append(&text, " ", "(%s)", text_percent(each_ns / found->pt_ns));
	text_append(&text, "", ",");
	append_samples(&text, item, found->n_samples);
	return text;
}

char *disturbance_description(const struct disturbances *found, size_t index)
{
	const struct disturbance *item = &found->items[index];
	enum counter which = item->which;
	char *text;

	if (which == COUNTER_INTERRUPTS)
		return interrupts_description(found, item);
	text = xstrdup(rows[which].what);
	append_samples(&text, item, found->n_samples);
	switch (rows[which].kind) {
	case COUNT:
		text_append(&text, ", ", "%s", text_count(item->total, rows[which].unit));
		break;
	case TIME:
		text_append(&text, ", ", "%s", text_duration(item->total));
		break;
	case RATE:
		text_append(&text, ", ", "by up to %.1f %s",
			(double)item->total / rows[which].scale, rows[which].unit);
		break;
	}
	return text;
}

struct held_time held_time_of(const struct sample *samples, size_t n)
{
	double all_ns = 0;
	struct held_time held = {};

	for (size_t i = 0; i < n; i++) {
		int64_t held_ns = samples[i].held_back_ns > 0 ? samples[i].held_back_ns : 0;

		held.ns = saturate_add(held.ns, held_ns);
		all_ns += fmax(
			(double)samples[i].et_ns, (double)samples[i].pt_ns + (double)held_ns);
	}
	held.share = all_ns > 0 ? (double)held.ns / all_ns : 0;
	return held;
}

struct neighbour_time neighbour_time_of(const struct sample *samples, size_t n, int64_t limit_ppm)
{
	struct neighbour_time time = {};
	double beside_ns = 0, all_ns = 0;

	for (size_t i = 0; i < n; i++) {
		const struct sample *s = &samples[i];

		if (s->neighbour_ppm < 0)
			continue;
		time.n_probed++;
		time.n_beside += sample_has_neighbour(s, limit_ppm);
		beside_ns += (double)s->neighbour_ppm / PPM * (double)s->et_ns;
		all_ns += (double)s->et_ns;
		if (s->probe_ns > 0)
			time.probe_ns = saturate_add(time.probe_ns, s->probe_ns);
	}
	time.share = beside_ns / all_ns;
	return time;
}

/* Of the clock's deviations from its base frequency: whether nearly all of their variance is one
 * change of level. */
static bool speed_steps(const struct counters *counters, size_t n)
{
	const double STEP = 0.88, LEAST = 20000; /* 2 % */
	_cleanup_(freep) int64_t *speeds = xcalloc(n + 1, sizeof(*speeds));
	struct trend trend;

	for (size_t i = 0; i < n; i++) {
		if (!counters_know(&counters[i], COUNTER_SPEED))
			return false;
		speeds[i] = counters[i].value[COUNTER_SPEED];
	}
	trend = trend_of(speeds, n, INT64_MIN, INT64_MAX);
	return trend.step >= STEP && fabs(trend.after - trend.before) >= LEAST;
}

enum unmeasurable_cause counters_unmeasurable(
	const struct counters *counters, size_t n, const struct sample *samples, size_t n_samples)
{
	double stolen_ns = 0, et_ns = 0, pt_ns = 0;

	for (size_t i = 0; i < n; i++)
		if (counters_know(&counters[i], COUNTER_STEAL))
			stolen_ns += (double)counters[i].value[COUNTER_STEAL];
	for (size_t i = 0; i < n_samples; i++) {
		et_ns += (double)samples[i].et_ns;
		pt_ns += (double)samples[i].pt_ns;
	}
	/* a load runs on several CPUs, and is stolen from on each */
	if (stolen_ns > STOLEN_TOO_LONG * fmax(et_ns, pt_ns + stolen_ns))
		return UNMEASURABLE_STOLEN;
	return speed_steps(counters, n) ? UNMEASURABLE_SPEED_STEP : MEASURABLE;
}

/* The steal of a sample, from counters[*at] on; -1: not known. */
static int64_t steal_of(
	const struct sample *s, const struct counters *counters, size_t n, size_t *at)
{
	while (*at < n && counters[*at].sample < s->n)
		++*at;
	if (*at == n || counters[*at].sample != s->n)
		return -1;
	if (!counters_know(&counters[*at], COUNTER_STEAL))
		return -1;
	return counters[*at].value[COUNTER_STEAL];
}

/* The PTs of the samples from which the hypervisor took little. */
static struct summary undisturbed_pts(
	const struct sample *samples, size_t n, const struct counters *counters, size_t n_counters)
{
	_cleanup_(freep) int64_t *times = xcalloc(n, sizeof(*times));
	size_t kept = 0, at = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t steal_ns = steal_of(&samples[i], counters, n_counters, &at);

		if (steal_ns >= 0 && (double)steal_ns < UNDISTURBED * (double)samples[i].pt_ns)
			times[kept++] = samples[i].pt_ns;
	}
	return summary_of(times, kept);
}

/* Where W is not known, some of the program may have run on other CPUs. */
static bool pt_is_too_long(const struct run *run, const struct sample *s)
{
	return run->cpu >= 0 && run_wait_is_exact(run) && s->wait_ns >= 0 && s->left_behind == 0 &&
	       s->pt_ns > s->et_ns + NS_PER_MS + s->et_ns / 50;
}

static bool pt_is_too_short(const struct sample *s, int64_t steal_ns, const struct summary *usual)
{
	double pt_ns = (double)s->pt_ns, least_ns = (double)usual->min_ns;
	int64_t wait_ns = s->wait_ns > 0 ? s->wait_ns : 0;

	if (usual->n < LEAST_OTHERS || pt_ns * FASTEST >= least_ns ||
		pt_ns >= least_ns - SPREADS * (usual->median_ns - least_ns))
		return false;
	return (double)steal_ns >= least_ns - pt_ns && (double)(s->et_ns - wait_ns) >= least_ns;
}

struct impossible_pt impossible_pt_find(const struct run *run, const struct sample *samples,
	size_t n, const struct counters *counters, size_t n_counters)
{
	const struct summary usual = undisturbed_pts(samples, n, counters, n_counters);
	struct impossible_pt found = {};
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		const struct sample *s = &samples[i];
		int64_t steal_ns = steal_of(s, counters, n_counters, &at);
		bool too_long = pt_is_too_long(run, s);

		if (!too_long && !pt_is_too_short(s, steal_ns, &usual))
			continue;
		if (found.n++ > 0)
			continue;
		found.sample = s->n;
		found.pt_ns = s->pt_ns;
		found.limit_ns = too_long ? s->et_ns : usual.min_ns;
	}
	return found;
}
