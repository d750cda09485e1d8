/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate jitter: what is printed of a run. */
#pragma once

#include "lib/jitter/jitter_load.h"

/* As text with the largest sources or all of them, or as the document of emp-analyze jitter (json). kept: the file with the trace; NULL: none. */
int jitter_show(const struct jitter_run *run, const char *kept, bool json, bool all, struct error *err);
