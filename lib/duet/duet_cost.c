/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a duet costs: see duet_cost.h. */
#include "lib/duet/duet_cost.h"

enum { LINE_BYTES = 64 };
/* From memory; from the core's own cache, or the next one. */
static const double LINE_NS = 100, NEAR_LINE_NS = 50;
/* For a switch between two programs, at most, of the one that gets the CPU. */
static const double SWITCH_NS = 40000;

const int64_t duet_slices_ns[N_DUET_SLICES] = {
	3 * NS_PER_MS, 10 * NS_PER_MS, 25 * NS_PER_MS, 50 * NS_PER_MS, 100 * NS_PER_MS};

/* How long it takes at most to read a cache line again, if all programs together touch so much in a
 * turn. */
static double line_ns_of(double all_bytes, int64_t own_cache)
{
	return all_bytes <= (double)own_cache ? NEAR_LINE_NS : LINE_NS;
}

/* The share of a turn that refilling caches takes at most, of a program that touches so much in
 * it. */
static double refill_share(double bytes, double line_ns, double turn_ns)
{
	return fmin(1, bytes / LINE_BYTES * line_ns / fmax(1, turn_ns));
}

/* A turn may be shorter than requested. In a longer one, the program touches more, but no more than
 * in slices that are as long together. */
static double shared_of(const struct duet_program *p, double line_ns, double mean_slice_ns)
{
	const struct duet_row *row = p->row;
	double turn_ns = fmin((double)row->slice_ns, mean_slice_ns); /* not NAN, if one is */

	return row->working_set < 0 ? NAN
				    : refill_share((double)row->working_set, line_ns, turn_ns);
}

/* On several CPUs: nobody else has turns, and a turn is worth `on_cpus` times its length of PT. */
static double shared_on_cpus(const struct duet_row *row, double line_ns, double on_cpus)
{
	double turn_ns = (double)row->slice_ns * on_cpus;

	return row->working_set < 0 || !(on_cpus > 0)
		       ? NAN
		       : refill_share((double)row->working_set * row->cpus, line_ns, turn_ns);
}

/* How many turns its samples have; NAN: not known. Each switch may have been to another program, if
 * the turns were not counted. */
static double count_turns(const struct duet_program *p)
{
	double turns = 0;

	for (size_t i = 0; i < p->n_together; i++)
		turns += p->together[i].turns < 0 ? NAN
						  : fmax(1, (double)p->together[i].turns /
								    p->together[i].repetitions);
	if (turns > 0)
		return turns;
	return p->switches > 0 ? (double)p->switches : NAN;
}

/* One of n. */
static struct duet_cost one_cost(const struct duet_program *p, size_t n_programs, double line_ns)
{
	double kept = 0, elapsed = 0, together = 0, all = 0, of_pt, slice_ns, turn_ns, shared;
	int cpus = p->row->cpus;
	size_t n = 0;

	for (size_t i = 0; i < p->n_samples; i++) {
		bool is_kept = !p->out[i] && p->samples[i].pt_ns > 0;

		elapsed += (double)p->samples[i].et_ns;
		all += (double)p->samples[i].pt_ns;
		kept += is_kept ? (double)p->samples[i].pt_ns : 0;
		n += is_kept;
	}
	for (size_t i = 0; i < p->n_together; i++)
		together += (double)p->together[i].together_ns;
	together = fmin(together, elapsed);
	/* the share of its PT while others ran, too, who had as much of the CPU each */
	of_pt = elapsed > 0 ? together / (together + (double)n_programs * (elapsed - together)) : 1;
	slice_ns = cpus == 0 ? all * of_pt / count_turns(p) : NAN;
	turn_ns = isnan(slice_ns) ? (double)p->row->slice_ns : slice_ns;
	shared = cpus > 0 ? shared_on_cpus(p->row, line_ns, all / elapsed)
			  : shared_of(p, line_ns, slice_ns) * of_pt;
	return (struct duet_cost){
		.pt_ns = n > 0 ? kept / (double)n : NAN,
		.last = elapsed > 0 ? 1 - together / elapsed : NAN,
		.slice_ns = slice_ns,
		.et_ns = cpus > 0 && p->n_samples > 0 ? elapsed / (double)p->n_samples : NAN,
		.shared = shared,
		.switching = cpus == 0 && turn_ns > 0 ? SWITCH_NS / turn_ns * of_pt : 0,
	};
}

void duet_costs_of(const struct duet_program *programs, size_t n, struct duet_cost *ret)
{
	double all_bytes = 0, line_ns;

	for (size_t i = 0; i < n; i++)
		all_bytes += programs[i].row->working_set < 0
				     ? INFINITY
				     : (double)programs[i].row->working_set;
	line_ns = line_ns_of(all_bytes, programs[0].row->own_cache);
	for (size_t i = 0; i < n; i++)
		ret[i] = one_cost(&programs[i], n, line_ns);
}

void duet_shares_of_pair(const struct duet_cost *a, const struct duet_cost *b, double ret[2])
{
	double more = a->switching - b->switching;

	ret[0] = a->shared + fmax(0, more);
	ret[1] = b->shared + fmax(0, -more);
	for (size_t i = 0; i < 2; i++)
		if (ret[i] > 1) /* not if it is not known */
			ret[i] = 1;
}

double duet_turn_bytes(const struct duet_candidate *p, int64_t slice_ns, int cpus)
{
	return working_set_bytes(&p->set, slice_ns * cpus);
}

/* The share of its PT that refilling caches takes at most. */
static double candidate_share(
	const struct duet_candidate *p, double line_ns, int64_t slice_ns, int cpus)
{
	double bytes = duet_turn_bytes(p, slice_ns, cpus), turn_ns = (double)slice_ns;

	if (!(bytes < INFINITY) || p->pt_ns < DUET_LEAST_SLICES * slice_ns * cpus)
		return INFINITY;
	if (cpus > 1 && p->pt_ns < p->et_ns) /* while it waits, a turn is worth less */
		turn_ns *= (double)p->pt_ns / (double)p->et_ns;
	return refill_share(bytes * cpus, line_ns, turn_ns);
}

double duet_dearest(const struct duet_candidate *programs, size_t n, int64_t slice_ns,
	const struct duet_place *place, size_t *ret)
{
	double all_bytes = 0, greatest = -1, line_ns;
	int64_t longest_ns = 1;

	for (size_t i = 0; i < n; i++) {
		all_bytes += duet_turn_bytes(&programs[i], slice_ns, place->cpus);
		if (programs[i].pt_ns > longest_ns)
			longest_ns = programs[i].pt_ns;
	}
	line_ns = line_ns_of(all_bytes, place->own_cache);
	for (size_t i = 0; i < n; i++) {
		double share = candidate_share(&programs[i], line_ns, slice_ns, place->cpus);

		if (place->cpus == 1 && !place->repeat) /* it has as many turns as a longer one */
			share += SWITCH_NS / (double)slice_ns *
				 (1 - (double)programs[i].pt_ns / (double)longest_ns);
		if (share <= greatest)
			continue;
		greatest = share;
		*ret = i;
	}
	return greatest;
}

bool duet_computes(const struct duet_candidate *p)
{
	const double COMPUTES = 0.8; /* the share of its time */
	int64_t on_cpu_ns = p->pt_ns + (p->wait_ns > 0 ? p->wait_ns : 0);

	return (double)on_cpu_ns >= COMPUTES * (double)p->et_ns;
}

int64_t duet_slice_for(int64_t pt_ns)
{
	return (pt_ns < 100 * NS_PER_MS ? 3 : 10) * NS_PER_MS;
}
