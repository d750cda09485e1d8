/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the runs of a load that waited for more pages, or for longer ones, were slower. */
#pragma once

#include "lib/base/error.h"
#include "lib/load/page_waits.h"
#include "lib/record/run.h"
#include "lib/stats/time_series.h"

/* The runs that count. */
struct page_wait_runs {
	const struct page_waits *waits;
	const struct sample *samples;
	const int64_t *rates; /* of their work, in any unit */
	size_t n;
	const struct sample_program *slaves; /* what they did, in these samples and others */
	size_t n_slaves;
};

/* Run time is that of a repetition, the reciprocal of the rate; so it is comparable between runs that did more or less work. */
struct page_wait_correlation {
	struct pearson number; /* of run time with the waits of slaves in a repetition */
	struct pearson length; /* with their mean length, without the time in which they waited for a CPU */
};

/* .n is 0 if waits were not measured in all runs, or a rate is 0. -ENOMEM. */
int page_wait_correlation_of(
	struct page_wait_correlation *ret, const struct page_wait_runs *runs, struct error *err);
