/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One sample (EMP, Figure 5): the before image of every process, the program from start to end, the after
 * image. What the observer itself cost is part of it. */
#pragma once

#include "lib/host/accounting.h"
#include "lib/host/spawn.h"

struct observation {
	struct spawned spawned;
	struct usages usages; /* without the program's own; owned by the accounting until the next sample */
	int64_t observer_ns;  /* CPU time this process took from the before image to the after image */
};

/* `spawn->accounting` may be NULL: then there are no usages. -EINTR (without a sentence) if a signal came for
 * us: the program was ended and the sample must not be used. */
int observe_sample(const struct spawn *spawn, struct observation *ret, struct error *err);
