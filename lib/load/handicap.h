/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A known handicap: a process on each CPU that takes a given share of it, in slices of at most a few milliseconds and in
 * real time, so that it gets what it asks for. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <sched.h>

struct handicap;

/* On each of the CPUs. -EPERM, with a sentence: real time needs root. */
int handicap_begin(struct handicap **ret, const cpu_set_t *cpus, double share, struct error *err);
/* Ends it; *ret_share is what it really took. */
void handicap_end(struct handicap *handicap, double *ret_share);
void handicap_free(struct handicap *handicap);
DEFINE_FREEP(handicap)
