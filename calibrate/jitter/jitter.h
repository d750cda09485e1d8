/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate jitter: what is printed of a run. */
#pragma once

#include "lib/report/jitter_load.h"

/* As text, or as the document of emp-analyze jitter (--json). kept: the file with the trace; NULL: none. */
int jitter_show(const struct jitter_run *run, const char *kept, struct error *err);
