/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory that the driver shares with its slaves: the barrier, and what each slave tells. Moments are
 * CLOCK_MONOTONIC_RAW, 0: not yet.
 *
 * A slave gets the memory through the socket that is its standard input. On that socket it also tells, by a byte, that
 * something changed here. */
#pragma once

#include "lib/load/load_file.h"

struct slave_state {
	int64_t started_ns;                  /* it was released, and ran */
	int64_t finished_ns;                 /* its repetitions were done */
	int64_t repetitions;                 /* complete ones */
	int64_t last_ns[2];                  /* the end of the last of them, in [repetitions % 2] */
	bool is_set_up, is_torn_down;        /* by its own setup, and teardown */
	int64_t major_faults, max_rss_bytes; /* of the commands that have ended */
	char failure[sizeof(((struct error *)NULL)->text)]; /* "": it has not failed */
};

struct shared {
	uint32_t go;              /* a futex: 0, then 1 */
	uint32_t ready, finished; /* how many slaves are */
	enum coordination coordination;
	pid_t driver;
	bool show_output;
	size_t n, file_size; /* slaves; bytes of the load's file, which follows them */
	struct slave_state slaves[];
};

/* A new one, with its descriptor. `text`: the load's file. -errno with a sentence. */
int shared_new(
	struct shared **ret, int *ret_fd, const struct load *load, const char *text, struct error *err);
/* The same memory, from its descriptor. */
int shared_open(struct shared **ret, int fd, struct error *err);
void shared_free(struct shared *shared);
DEFINE_FREEP(shared)

const char *shared_text(const struct shared *shared);

/* Waits until the futex is 1. Sets it, and wakes all who wait. */
void shared_wait(uint32_t *futex);
void shared_set(uint32_t *futex);
