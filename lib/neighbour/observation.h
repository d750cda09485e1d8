/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs that are observed for a while: an account of the neighbour of each, and what this machine
 * itself knows of the time. */
#pragma once

#include "lib/neighbour/episodes.h"

/* Another thread of the core, which this machine sees. */
struct core_sibling {
	int cpu;
	double busy; /* share of the time; NAN: not known */
};

struct observed_cpu {
	struct neighbour_account account;
	double stolen; /* by the host, as the kernel counts it: share of the time; NAN: not known */
	struct core_sibling *siblings;
	size_t n_siblings;
};

struct neighbour_observation {
	int64_t made_ns;  /* when it began, since 1970 */
	int64_t began_ns; /* the same of CLOCK_MONOTONIC */
	int64_t took_ns;
	bool interrupted; /* before its time was over */
	bool virtual;     /* machine: a host may have other uses for its cores */
	struct observed_cpu *cpus;
	size_t n_cpus;
};

struct neighbour_request {
	const int *cpus;
	size_t n_cpus;
	int64_t for_ns, pause_ns;
	bool quiet; /* no progress */
};

/* `ret` is {}. After ^C it has what was observed until then. */
int neighbour_observe(const struct neighbour_request *request, struct neighbour_observation *ret,
	struct error *err);
void neighbour_observation_clear(struct neighbour_observation *observation);
