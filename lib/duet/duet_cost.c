/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a duet costs: see duet_cost.h. */
#include "lib/duet/duet_cost.h"

enum { LINE_BYTES = 64 };
/* To read a cache line from memory, at most. */
static const double LINE_NS = 100;

const int64_t duet_slices_ns[N_DUET_SLICES] = {
	3 * NS_PER_MS, 10 * NS_PER_MS, 25 * NS_PER_MS, 50 * NS_PER_MS, 100 * NS_PER_MS};

double duet_refill_share(double bytes, int64_t turn_ns)
{
	return fmin(1, bytes / LINE_BYTES * LINE_NS / (double)turn_ns);
}

/* A turn may be shorter than requested. In a longer one, the program touches more, but no more than
 * in slices that are as long together. */
static double shared_of(const struct duet_program *p, double mean_slice_ns)
{
	const struct duet_row *row = p->row;
	double turn_ns = fmin((double)row->slice_ns, mean_slice_ns); /* not NAN, if one is */

	return row->working_set < 0
		       ? NAN
		       : duet_refill_share((double)row->working_set, (int64_t)fmax(1, turn_ns));
}

/* On several CPUs: nobody else has turns, and a turn is worth `on_cpus` times its length of PT. */
static double shared_on_cpus(const struct duet_row *row, double on_cpus)
{
	double turn_ns = (double)row->slice_ns * on_cpus;

	return row->working_set < 0 || !(on_cpus > 0)
		       ? NAN
		       : duet_refill_share(
				 (double)row->working_set * row->cpus, (int64_t)fmax(1, turn_ns));
}

/* How often another one can have had the CPU after it. A program that runs alone for most of its
 * time is switched away from more often. */
static int64_t most_turns(const struct duet_program *p)
{
	bool fewer = p->partners_turns >= 0 && p->partners_turns < p->switches;

	return fewer ? p->partners_turns : p->switches;
}

struct duet_cost duet_cost_of(const struct duet_program *p)
{
	double kept = 0, elapsed = 0, together = 0, all = 0, pt, slice_ns, shared;
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
	pt = elapsed > 0 ? all * fmin(1, together / elapsed) : all; /* while both ran */
	slice_ns = p->switches > 0 && cpus == 0 ? pt / (double)most_turns(p) : NAN;
	shared = cpus > 0 ? shared_on_cpus(p->row, all / elapsed)
			  : shared_of(p, slice_ns) * (all > 0 ? pt / all : 1);
	return (struct duet_cost){
		.pt_ns = n > 0 ? kept / (double)n : NAN,
		.last = elapsed > 0 ? fmax(0, 1 - together / elapsed) : NAN,
		.slice_ns = slice_ns,
		.et_ns = cpus > 0 && p->n_samples > 0 ? elapsed / (double)p->n_samples : NAN,
		.shared = shared,
	};
}

double duet_turn_bytes(const struct duet_candidate *p, int64_t slice_ns, int cpus)
{
	return working_set_bytes(&p->set, slice_ns * cpus);
}

/* The share of its PT that refilling caches takes at most. */
static double candidate_share(const struct duet_candidate *p, int64_t slice_ns, int cpus)
{
	double bytes = duet_turn_bytes(p, slice_ns, cpus), per_slice = 0, turn_ns;

	if (!(bytes < INFINITY) || p->pt_ns < DUET_LEAST_SLICES * slice_ns * cpus)
		return INFINITY;
	if (cpus > 1) { /* while it waits, a turn is worth less */
		turn_ns = (double)slice_ns;
		if (p->pt_ns < p->et_ns)
			turn_ns *= (double)p->pt_ns / (double)p->et_ns;
		return duet_refill_share(bytes * cpus, (int64_t)fmax(1, turn_ns));
	}
	if (p->switches > 0)
		per_slice = (double)p->switches * (double)slice_ns / (double)p->pt_ns;
	return fmin(1, (1 + per_slice) * duet_refill_share(bytes, slice_ns));
}

double duet_dearest(
	const struct duet_candidate *programs, size_t n, int64_t slice_ns, int cpus, size_t *ret)
{
	double greatest = -1;

	for (size_t i = 0; i < n; i++) {
		double share = candidate_share(&programs[i], slice_ns, cpus);

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
