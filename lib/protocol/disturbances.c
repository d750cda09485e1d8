/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disturbance counters that changed in a run: see disturbances.h. */
#include "lib/protocol/disturbances.h"

#include "lib/base/xalloc.h"
#include "lib/base/saturate.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdbool.h>

enum kind { COUNT, TIME, RATE };

static const struct {
	const char *name;
	const char *what; /* what happened */
	enum kind kind;
	const char *unit;    /* of a COUNT, in the singular */
	int64_t from;        /* the minimum that is reported; 0: never */
	int per_mille_of_et; /* and at least this much of the sample's time */
	double scale;        /* of a RATE: how many make a unit */
} rows[N_COUNTERS] = {
	[COUNTER_STEAL] = {"stolen CPU time", "CPU time stolen by the hypervisor", TIME, NULL, 1, 1},
	[COUNTER_THROTTLES] = {"heat", "a CPU throttled for heat", COUNT, "time", 1, 0},
	[COUNTER_SWAPPED_IN] = {"swapping", "memory swapped in", COUNT, "page", 1, 0},
	[COUNTER_SWAPPED_OUT] = {"swapping", "memory swapped out", COUNT, "page", 1, 0},
	[COUNTER_MAJOR_FAULTS] = {"page faults", "pages read from disk", COUNT, "page", 1, 0},
	[COUNTER_SUSPENDED] = {"sleep", "the machine was suspended", TIME, NULL, 1, 0},
	[COUNTER_CLOCK_RATE] = {"clock rate", "NTP changed the clock rate", RATE, "ppm", 1000, 0, 1e3},
	[COUNTER_CPU_PRESSURE] = {"waiting for CPUs", "processes waited for a CPU", TIME, NULL, 1, 50},
	[COUNTER_VOLUNTARY] = {"context switches", NULL, COUNT, NULL, 0, 0},
	[COUNTER_INVOLUNTARY] = {"context switches", NULL, COUNT, NULL, 0, 0},
	[COUNTER_SMIS] = {"firmware", "the firmware interrupted the CPU", COUNT, "time", 1, 0},
	/* krun's bounds for both */
	[COUNTER_TEMPERATURE] = {"temperature", "the temperature changed", RATE, "°C", 3000, 0, 1e3},
	[COUNTER_SPEED] = {"clock speed", "the CPU's clock was not at its base frequency", RATE, "%", 5000, 0,
		1e4},
	[COUNTER_INTERRUPTS] = {"interrupts", "interrupts took time", TIME, NULL, 1, 10},
};

const char *disturbance_name(enum counter which)
{
	return rows[which].name;
}

static int64_t magnitude(int64_t value)
{
	return value < 0 ? -value : value;
}

static bool is_notable(const struct counters *s, enum counter which, int64_t et_ns)
{
	int64_t value = magnitude(s->value[which]);

	return rows[which].from > 0 && counters_know(s, which) && value >= rows[which].from &&
	       value >= et_ns / 1000 * rows[which].per_mille_of_et;
}

static int find_one(struct disturbances *found, enum counter which, const struct sample_counters *samples,
	size_t n, int64_t et_ns)
{
	struct disturbance item = {.which = which, .samples = xreallocarray(NULL, n + 1, sizeof(uint32_t))};

	for (size_t i = 0; i < n; i++) {
		int64_t value = magnitude(samples[i].changes.value[which]);

		if (!is_notable(&samples[i].changes, which, et_ns))
			continue;
		item.samples[item.n++] = samples[i].sample;
		if (rows[which].kind != RATE)
			item.total = saturate_add(item.total, value);
		else if (value > item.total)
			item.total = value;
	}
	if (item.n > 0)
		found->items[found->n++] = item;
	else
		free(item.samples);
	return 0;
}

int disturbances_find(struct disturbances *ret, const struct sample_counters *samples, size_t n,
	int64_t et_ns, struct error *err)
{
	struct disturbances found = {.n_samples = n};

	for (int i = 0; i < N_COUNTERS; i++)
		if (find_one(&found, i, samples, n, et_ns) < 0) {
			disturbances_clear(&found);
			return error_oom(err);
		}
	*ret = found;
	return 0;
}

void disturbances_clear(struct disturbances *found)
{
	for (size_t i = 0; i < found->n; i++)
		free(found->items[i].samples);
	*found = (struct disturbances){};
}

static void write_total(FILE *file, const struct disturbance *item)
{
	char time[TEXT_TIME_SIZE];

	switch (rows[item->which].kind) {
	case COUNT:
		fprintf(file, "%lld %s%s", (long long)item->total, rows[item->which].unit,
			item->total == 1 ? "" : "s");
		break;
	case TIME:
		fprintf(file, "%s", text_duration(time, item->total));
		break;
	case RATE:
		fprintf(file, "by up to %.1f %s", (double)item->total / rows[item->which].scale,
			rows[item->which].unit);
		break;
	}
}

/* Of interrupts: how much a sample that has them has, and what that means for PT. */
static void write_interrupts(FILE *file, const struct disturbances *found, const struct disturbance *item)
{
	static const char *const texts[] = {
		[INTERRUPTS_NOT_KNOWN] = "interrupts took",
		[INTERRUPTS_IN_PT] = "PT contains interrupts:",
		[INTERRUPTS_NOT_IN_PT] = "PT does not contain interrupts:",
	};
	double each_ns = (double)item->total / (double)item->n;
	char time[TEXT_TIME_SIZE], percent[TEXT_TIME_SIZE];

	fprintf(file, "%s %s a sample", texts[found->interrupts], text_precise(time, each_ns, each_ns));
	if (found->interrupts == INTERRUPTS_IN_PT && found->pt_ns > 0)
		fprintf(file, " (%s)", text_percent(percent, each_ns / found->pt_ns));
	fputc(',', file);
}

char *disturbance_description(const struct disturbances *found, const struct disturbance *item)
{
	enum { SHOWN = 4 };
	char *text = NULL;
	size_t size;
	FILE *file = xopen_memstream(&text, &size);

	if (item->which == COUNTER_INTERRUPTS)
		write_interrupts(file, found, item);
	else
		fputs(rows[item->which].what, file);
	fprintf(file, " in %zu of %zu samples (", item->n, found->n_samples);
	for (size_t i = 0; i < item->n && i < SHOWN; i++)
		fprintf(file, "%s%u", i ? ", " : "", item->samples[i]);
	fprintf(file, "%s)", item->n > SHOWN ? ", …" : "");
	if (item->which != COUNTER_INTERRUPTS) {
		fputs(", ", file);
		write_total(file, item);
	}
	return text_stream_close(file, &text);
}
