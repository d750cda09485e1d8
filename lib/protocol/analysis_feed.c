/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A reader is fed the executions of a run: see analysis.h. Those in the central cluster are summed up as they
 * pass; of those in longer samples only the ones that may turn out long for their daemon are kept. */
#include "lib/protocol/daemon_statistics.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct named {
	const char *name;
	size_t daemon;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* One watch for each group of names, in the order of names. */
static int make_watches(struct reader *reader, const struct name_pattern *patterns)
{
	const struct daemons *daemons = reader->daemons;
	_cleanup_(freep) struct named *names = reallocarray(NULL, daemons->n + 1, sizeof(*names));

	reader->watches = calloc(daemons->n + 1, sizeof(*reader->watches));
	reader->watch_of = calloc(daemons->n + 1, sizeof(*reader->watch_of));
	if (!names || !reader->watches || !reader->watch_of)
		return -ENOMEM;
	for (size_t i = 0; i < daemons->n; i++)
		names[i] = (struct named){name_group(patterns, daemons->items[i].name), i};
	qsort(names, daemons->n, sizeof(*names), by_name);
	for (size_t i = 0; i < daemons->n; i++) {
		if (i == 0 || strcmp(names[i].name, names[i - 1].name)) {
			struct watch *w = &reader->watches[reader->n_watches++];

			w->name = names[i].name;
			for (size_t c = 0; c < N_ZONES; c++)
				w->seen[c] = RUNNING_NONE;
		}
		reader->watch_of[names[i].daemon] = (uint32_t)(reader->n_watches - 1);
	}
	return 0;
}

static enum zone zone_of(const struct central *c, int64_t et_ns)
{
	if (et_ns < c->low_ns)
		return ZONE_BELOW;
	if (et_ns > c->high_ns)
		return ZONE_ABOVE;
	if (et_ns <= c->core_high_ns)
		return ZONE_CORE;
	return et_ns <= c->near_high_ns ? ZONE_NEAR : ZONE_FAR;
}

static int set_zones(struct reader *reader, const struct sample *samples)
{
	reader->zones = malloc(reader->n_samples);
	reader->extra_ns = calloc(reader->n_samples, sizeof(*reader->extra_ns));
	if (!reader->zones || !reader->extra_ns)
		return -ENOMEM;
	for (size_t i = 0; i < reader->n_samples; i++)
		reader->zones[i] = (uint8_t)zone_of(&reader->central, samples[i].et_ns);
	return 0;
}

int reader_new(struct reader **ret, struct run *run, struct sample *samples, size_t n_samples,
	const struct daemons *daemons, const struct reading_options *options, struct error *err)
{
	_cleanup_(reader_freep) struct reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader)
		return error_os(err, -ENOMEM, "cannot read run %" PRId64, run->id);
	reader->n_samples = n_samples;
	reader->daemons = daemons;
	reader->resolution_ns = options->resolution_ns ?: run->resolution_ns > 0 ? run->resolution_ns : 1;
	r = central_find(
		&reader->central, samples, n_samples, run->resolution_ns, options->central_max_ns, err);
	if (r < 0)
		return error_prefix(err, r, "cannot read run %" PRId64, run->id);
	r = set_zones(reader, samples);
	if (r == 0)
		r = make_watches(reader, options->patterns);
	if (r < 0)
		return error_os(err, r, "cannot read run %" PRId64, run->id);
	reader->run = *run;
	*run = (struct run){};
	reader->samples = samples;
	*ret = TAKE(reader);
	return 0;
}

void reader_free(struct reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->n_watches; i++)
		free(reader->watches[i].longs);
	free(reader->watches);
	free(reader->watch_of);
	free(reader->zones);
	free(reader->extra_ns);
	free(reader->samples);
	central_clear(&reader->central);
	run_clear(&reader->run);
	free(reader);
}

static int keep(struct watch *w, uint32_t sample, int64_t pt_ns)
{
	if (w->n_longs == w->room) {
		size_t room = w->room ? 2 * w->room : 4;
		struct long_execution *bigger = reallocarray(w->longs, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		w->longs = bigger;
		w->room = room;
	}
	w->longs[w->n_longs++] = (struct long_execution){.sample = sample, .pt_ns = pt_ns};
	return 0;
}

size_t reader_sample(struct reader *reader, uint32_t number)
{
	while (reader->cursor < reader->n_samples && reader->samples[reader->cursor].n < number)
		reader->cursor++;
	if (reader->cursor < reader->n_samples && reader->samples[reader->cursor].n == number)
		return reader->cursor;
	return reader->n_samples;
}

static void be_present(struct watch *w, const struct sample *sample, int64_t median_ns, int64_t pt_ns)
{
	w->pt_ns += (double)pt_ns;
	if (w->last == sample->n)
		return;
	w->last = sample->n;
	w->n_present++;
	w->et_ns += (double)(sample->et_ns - median_ns);
}

int reader_add(struct reader *reader, const struct execution *e, struct error *err)
{
	int64_t pt_ns = resolution_round(e->pt_ns, reader->resolution_ns);
	enum zone zone;
	struct watch *w;
	size_t sample;
	int r = 0;

	if (e->sample > reader->samples[reader->n_samples - 1].n) /* the run goes on while we read */
		return 0;
	sample = reader_sample(reader, e->sample);
	if (sample == reader->n_samples || e->daemon < 1 || e->daemon > reader->daemons->n)
		return error_say(err, -EINVAL,
			"run %" PRId64 " has an execution in sample %" PRIu32 " by process %" PRIu32
			", one of which the book does not know",
			reader->run.id, e->sample, e->daemon);
	if (pt_ns == 0) /* below the resolution it did not run */
		return 0;
	zone = reader->zones[sample];
	w = &reader->watches[reader->watch_of[e->daemon - 1]];
	running_add(&w->seen[zone], pt_ns);
	if (pt_ns > w->longest_ns) {
		w->longest_ns = pt_ns;
		w->longest = e->daemon - 1;
	}
	if (zone != ZONE_ABOVE)
		be_present(w, &reader->samples[sample], reader->central.median_ns, pt_ns);
	if (zone > ZONE_CORE && pt_ns > w->seen[ZONE_CORE].max_ns)
		r = keep(w, e->sample, pt_ns);
	return r < 0 ? error_os(err, r, "cannot read run %" PRId64, reader->run.id) : 0;
}
