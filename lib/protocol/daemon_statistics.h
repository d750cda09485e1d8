/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics of a daemon in one run: in the central cluster, and in the L-samples. */
#pragma once

#include "lib/protocol/period.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One execution in an L-sample that is long for its daemon (step 4). */
struct long_execution {
	uint32_t sample;
	int64_t pt_ns;
};

/* One daemon in one run. */
struct daemon_statistics {
	char *name;
	char *unit;             /* of its longest execution; NULL: none or unknown */
	size_t n_central;       /* executions in central samples */
	int64_t central_max_ns; /* -1: none */
	double central_sd_ns;   /* n - 1; 0 for fewer than two */
	size_t n_outside;       /* executions in L-samples, long or not */
	struct long_execution *longs;
	size_t n_longs;
	int64_t long_min_ns; /* the least of them (min of L); -1: not infrequent */
	struct period period;
	int64_t cutoff_ns; /* step 8, of this run alone; -1: not infrequent */
	bool frequent;     /* a cause of VERDICT_FREQUENT */
};

/* Step 4: longer than its maximum in the central cluster plus two sd, or never in the central cluster. */
static inline bool daemon_statistics_is_long(const struct daemon_statistics *daemon, int64_t pt_ns)
{
	return daemon->n_central == 0 ||
	       (double)pt_ns > (double)daemon->central_max_ns + 2 * daemon->central_sd_ns;
}
