/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far a jitter run can be relied upon, for one of its CPUs: on standard output. */
#pragma once

#include "lib/jitter/jitter_load.h"

/* The i-th of the run's CPUs. */
void jitter_cpu_print(const struct jitter_run *run, size_t i);
