/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A worker: a process of its own that follows one script of a load ("slave" in emp-load(1) and in
 * documents, where the coordinator is the "driver"). The coordinator starts it as
 *
 * emp-load slave NUMBER DIRECTORY
 *
 * with a socket as its standard input, from which it gets the memory that all of them share: the
 * barrier, and what each worker tells. On that socket it also tells, by a byte, that something
 * changed there. Moments are CLOCK_MONOTONIC_RAW, 0: not yet. */
#pragma once

#include "lib/load/load_file.h"

struct worker_state {
	int64_t started_ns;                  /* it was released, and ran */
	int64_t finished_ns;                 /* its repetitions were done */
	int64_t repetitions;                 /* complete ones */
	int64_t last_ns[2];                  /* the end of the last of them, in [repetitions % 2] */
	bool is_set_up, is_torn_down;        /* by its own setup, and teardown */
	int64_t major_faults, max_rss_bytes; /* of the commands that have ended */
	char failure[sizeof(((struct error *)NULL)->text)]; /* "": it has not failed */
};

struct worker_memory {
	uint32_t go;              /* a futex: 0, then 1 */
	uint32_t ready, finished; /* how many workers are */
	enum coordination coordination;
	pid_t coordinator;
	bool show_output;
	size_t n; /* workers; the text of the load's file follows them */
	struct worker_state workers[];
};

/* What this process does as a worker; it returns only with a failure. */
int worker_verb(int argc, char **argv, struct error *err);
