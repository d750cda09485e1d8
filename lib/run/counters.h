/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the disturbance counters (lib/record/run.h): once in 100 ms, not with every short sample.
 * The first sample that ends 100 ms or more after the last reading gets what they counted since
 * then. A sample of 100 ms or more therefore has its own counts; of shorter samples, the last of
 * each 100 ms has the counts of all, and of the time between them. The others have none. */
#pragma once

#include "lib/host/process/holdback.h"
#include "lib/record/run.h"

/* the files, open; and those of holdback.h, which are read with every sample */
struct counter_reader;

/* cpu -1: the program may run on any. root_fd as in lib/base/paths.h. */
struct counter_reader *counters_open(int root_fd, int cpu);
void counter_reader_free(struct counter_reader *reader);
DEFINE_FREEP(counter_reader)

/* Before and after a sample. They do not include those of the program itself: its context switches
 * and interrupts. */
void counters_begin(struct counter_reader *reader);
struct counters counters_end(struct counter_reader *reader);

/* What control groups did since counters_begin. */
const struct holdback *counters_holdback(const struct counter_reader *reader);
