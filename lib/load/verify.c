/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How accurate a load is: see verify.h. */
#include "lib/load/verify.h"

#include "lib/load/handicap.h"

#include "lib/base/array.h"
#include "lib/base/progress.h"
#include "lib/base/table.h"
#include "lib/host/process/signals.h"

#include <errno.h>
#include <math.h>

const double handicaps[N_HANDICAPS] = {0, 0.02, 0.05, 0.1};

/* The runs under one handicap. */
struct under {
	struct sample *samples;
	struct sample_program *parts;
	size_t n_samples, n_parts;
	double taken; /* the sum of shares */
};

static int keep(struct under *u, const struct load_result *result, struct error *err)
{
	struct sample *sample = array_add(u->samples, u->n_samples);

	*sample = (struct sample){.n = (uint32_t)u->n_samples, .et_ns = result->observation.spawned.et_ns};
	for (size_t k = 0; k < result->n; k++) {
		struct sample_program *part = array_add(u->parts, u->n_parts);

		*part = load_result_part(result, k, sample->n);
	}
	return 0;
}

static int run_under(struct under *u, struct load_session *s, double share, struct error *err)
{
	const struct drive drive = {.load = &s->load,
		.text = s->text,
		.observer = &s->observer,
		.controllers = s->controllers,
		.show_output = s->options->show_output};
	_cleanup_(load_result_clear) struct load_result result = {};
	_cleanup_(handicap_freep) struct handicap *handicap = NULL;
	double taken = 0;
	cpu_set_t cpus;
	int r = drive_cpus(&s->load, &cpus, err);

	if (r == 0 && share > 0)
		r = handicap_begin(&handicap, &cpus, share, err);
	if (r == 0)
		r = drive_once(&drive, &result, err);
	if (r < 0)
		return r;
	if (handicap)
		handicap_end(handicap, &taken);
	u->taken += taken;
	return keep(u, &result, err);
}

static int run_rounds(struct under *under, struct load_session *s, int rounds, struct error *err)
{
	_cleanup_(progress_end) struct progress progress;
	uint64_t done = 0;
	int r = 0;

	progress_begin(&progress, s->load.name, (uint64_t)rounds * N_HANDICAPS, s->options->quiet);
	for (int round = 0; r == 0 && round < rounds; round++)
		for (size_t i = 0; r == 0 && i < N_HANDICAPS; i++) {
			/* each round begins with another one */
			size_t which = (i + (size_t)round) % N_HANDICAPS;

			r = interrupt_pending() ? -EINTR : run_under(&under[which], s, handicaps[which], err);
			progress_step(&progress, ++done, NULL);
		}
	return r;
}

static int judge(
	struct verified *v, size_t i, const struct under *u, const struct load_session *s, struct error *err)
{
	static const struct compare_plan pairs = {.design = DESIGN_PAIRS};
	const struct load_rate *rate, *free_rate;
	const struct load_work work = {s->load.coordination, s->programs, load_slaves(&s->load), u->parts,
		u->n_parts, s->text, NULL};
	int r = load_rates_of(&v->rates[i], &work, u->samples, u->n_samples, err);

	if (r < 0)
		return r;
	v->taken[i] = u->taken / (double)u->n_samples;
	rate = &v->rates[i].items[0];
	free_rate = &v->rates[0].items[0];
	return compare(free_rate->nano, free_rate->summary.n, rate->nano, rate->summary.n, &pairs,
		&v->compared[i], err);
}

int verify_load(struct verified *ret, struct load_session *session, int rounds, struct error *err)
{
	_cleanup_(verified_clear) struct verified v = {.rounds = rounds};
	struct under under[N_HANDICAPS] = {};
	int r = run_rounds(under, session, rounds, err);

	for (size_t i = 0; i < N_HANDICAPS; i++) {
		if (r == 0)
			r = judge(&v, i, &under[i], session, err);
		free(under[i].samples);
		free(under[i].parts);
	}
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(v);
	return 0;
}

void verified_clear(struct verified *verified)
{
	for (size_t i = 0; i < N_HANDICAPS; i++)
		load_rates_clear(&verified->rates[i]);
	*verified = (struct verified){};
}

/* How many pairs of runs tell a difference of that share from none, in four cases of five; NAN: not known. */
static double pairs_needed(const struct verified *v, size_t i)
{
	double resolved = v->compared[i].smallest_difference / v->taken[i];

	return isnan(resolved) ? NAN : fmax(2, ceil((double)v->rounds * resolved * resolved));
}

/* No handicap makes a load faster, so that the interval of its loss does not begin below 0. */
int verified_print(FILE *file, const struct verified *v, const struct load *load, struct error *err)
{
	static const struct column columns[] = {{"TAKEN", COLUMN_NUMBER}, {"LOST", COLUMN_NUMBER},
		{"95 % CI", COLUMN_NUMBER}, {"PAIRS NEEDED", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 1; i < N_HANDICAPS; i++) {
		const struct comparison *c = &v->compared[i];
		double needed = pairs_needed(v, i);

		table_row(table);
		table_cell(table, "%.2f %%", 100 * v->taken[i]);
		table_cell(table, "%.2f %%", 100 * (1 - c->ratio));
		if (isnan(c->ratio_low))
			table_cell_text(table, "-");
		else
			table_cell(table, "%.2f … %.2f %%", 100 * fmax(0, 1 - c->ratio_high),
				100 * fmax(0, 1 - c->ratio_low));
		if (isnan(needed))
			table_cell_text(table, "-");
		else
			table_cell(table, "%.0f", needed);
	}
	fprintf(file, "%s: %d round%s of %d runs, %s\n", terminal_text(load->name), v->rounds,
		v->rounds == 1 ? "" : "s", N_HANDICAPS, coordination_names[load->coordination]);
	table_print(table, file);
	return 0;
}
