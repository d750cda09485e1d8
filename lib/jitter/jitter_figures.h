/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures of jitter runs: the distribution of lengths, what each source took before and after, and
 * when the longest interruptions were. plots/jitter-*.gp draw them. */
#pragma once

#include "lib/jitter/jitter_run.h"
#include "lib/jitter/jitter_show.h"

/* The picture. That of the densities prints the bandwidth; without a baseline they are the
 * user-level and the master distribution. */
int jitter_draw(const struct jitter_pair *pair, const struct jitter_view *view, struct error *err);
