/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the disturbance counters counted in one sample. */
#pragma once

#include "lib/host/system/counters.h"

struct sample_counters {
	uint32_t sample; /* its n */
	struct counters changes;
};
