/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples whose PT cannot be right. The kernel makes PT from its clock, and takes away what the hypervisor says that it gave to
 * others (steal). If that is too much, PT is too short; but PT, W and steal add up to ET all the same, because PT was made from
 * them. So a PT that is too short only shows beside those of the other samples. */
#pragma once

#include "lib/record/run.h"
#include "lib/record/counters.h"

struct impossible_pt {
	uint32_t sample;
	int64_t pt_ns;
	int64_t limit_ns; /* PT above ET: that; otherwise the least PT of the samples without steal */
};

/* In the order of samples. Longer than ET, by more than a program of one CPU needs to start and to end; or less than half of the least PT of
 * at least ten samples without steal, where the steal of the sample explains what is missing, and its ET without W is long enough for
 * the usual PT. Counters in the order of samples; a sample without steal of its own is not judged by it. The caller frees *ret. -ENOMEM */
int impossible_pt_find(const struct run *run, const struct sample *samples, size_t n,
	const struct sample_counters *counters, size_t n_counters, struct impossible_pt **ret, size_t *ret_n);
