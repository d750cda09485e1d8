/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --fast-clock: the programs read their own CPU time through libemp-clock, see emp-clock(3). */
#pragma once

#include "lib/base/error.h"

/* Puts the preload object into LD_PRELOAD of the programs' environment, behind what is there. -ENOENT with a sentence. */
int fast_clock_init(struct error *err);
