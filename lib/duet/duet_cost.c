/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a duet costs: see duet_cost.h. */
#include "lib/duet/duet_cost.h"

enum { LINE_BYTES = 64 };
/* To read a cache line from memory, at most. */
static const double LINE_NS = 100;

const int64_t duet_slices_ns[N_DUET_SLICES] = {
	3 * NS_PER_MS, 10 * NS_PER_MS, 30 * NS_PER_MS, 100 * NS_PER_MS};

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

struct duet_cost duet_cost_of(const struct duet_program *p)
{
	double kept = 0, elapsed = 0, together = 0, all = 0, pt, slice_ns;
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
	slice_ns = p->switches > 0 ? pt / (double)p->switches : NAN;
	return (struct duet_cost){
		.pt_ns = n > 0 ? kept / (double)n : NAN,
		.last = elapsed > 0 ? fmax(0, 1 - together / elapsed) : NAN,
		.slice_ns = slice_ns,
		.shared = shared_of(p, slice_ns),
	};
}

double duet_dearest(const struct duet_candidate *programs, size_t n, int64_t slice_ns, size_t *ret)
{
	double greatest = -1;

	for (size_t i = 0; i < n; i++) {
		const struct duet_candidate *p = &programs[i];
		double bytes = working_set_bytes(&p->set, slice_ns);
		double per_slice = p->switches > 0 ? (double)p->switches * (double)slice_ns /
							     (double)p->pt_ns
						   : 0;
		double share = fmin(1, (1 + per_slice) * duet_refill_share(bytes, slice_ns));

		if (!(bytes < INFINITY) || p->pt_ns < DUET_LEAST_SLICES * slice_ns)
			share = INFINITY;
		if (share <= greatest)
			continue;
		greatest = share;
		*ret = i;
	}
	return greatest;
}

int64_t duet_slice_for(int64_t pt_ns)
{
	return (pt_ns < 100 * NS_PER_MS ? 3 : 10) * NS_PER_MS;
}
