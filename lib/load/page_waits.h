/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The waits of a load's runs for pages and disks: counts and times by kind, and histograms of them. A wait counts in the
 * sample in which it ends. */
#pragma once

#include "lib/record/fields.h"

enum page_wait_kind {
	PAGE_WAIT_SLAVE, /* a task of a slave slept until a page, a buffer or another transfer was there, and ran again */
	PAGE_WAIT_READ, /* a read request of a block device, whoever caused it: from its issue to its completion */
	PAGE_WAIT_WRITE, /* likewise */
	N_PAGE_WAIT_KINDS
};

extern const char *const page_wait_kind_names[N_PAGE_WAIT_KINDS]; /* "slave", "read", "write" */

/* All of one kind in one sample. There is no such row for a kind that was not measured. */
struct page_wait {
	uint32_t sample; /* its n */
	enum page_wait_kind kind;
	int64_t count, total_ns;
	int64_t ready_ns; /* of these: the page was there, and the task waited for a CPU; -1: not known */
	int64_t lost;     /* waits that were not timed */
};

/* low_ns <= wait < high_ns. Bins that hold nothing are left out. They are narrower than those that are shown, and multiples
 * of 10 us, from 1 ms on of 100 us, from 10 ms on of 1 ms. */
struct page_wait_bin {
	uint32_t sample;
	enum page_wait_kind kind;
	int64_t low_ns;
	int64_t high_ns; /* -1: the last one, which is open-ended */
	int64_t count, total_ns;
};

/* Of a run in the book, or of one sample of it. */
struct page_waits {
	struct page_wait *items; /* by sample and kind */
	size_t n;
	struct page_wait_bin *bins; /* by sample, kind and length */
	size_t n_bins;
};

extern const struct field_table page_wait_table, page_wait_bin_table;

void page_waits_clear(struct page_waits *waits);
