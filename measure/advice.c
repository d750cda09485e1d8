/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See advice.h. */
#include "measure/advice.h"

#include "lib/base/xalloc.h"

#include <math.h>

static bool duet_is_possible(const struct session *s)
{
	const struct measure_options *o = s->options;

	return o->order == ORDER_INTERLEAVE && !o->affine && !o->perf && !o->trace && s->n > 1 &&
	       duet_has_slices(DEFAULT_SLICE_NS, o->cpu, s->observer.cgroup);
}

int advice_of(const struct session *s, struct duet_advice *ret, struct error *err)
{
	_cleanup_(freep) struct duet_candidate *programs = xcalloc(s->n + 1, sizeof(*programs));

	*ret = (struct duet_advice){false, NAN, NAN};
	if (!duet_is_possible(s))
		return 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct run_result *run = &s->tasks[i].result.run;

		programs[i] = (struct duet_candidate){run->samples, run->discarding.out, run->n_samples};
	}
	return duet_advise(programs, s->n, DEFAULT_SLICE_NS, ret) < 0 ? error_oom(err) : 0;
}
