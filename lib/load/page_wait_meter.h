/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times each wait for a page, with BPF: those of the tasks below a cgroup, and the requests of all
 * block devices. The BPF programs (page_waits.bpf.c) include the first half of this: their
 * histograms. */
#pragma once

#if defined(__bpf__)
#include "lib/host/bpf/kernel.h"
#else
#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#endif

enum page_wait_kind {
	/* a task of a worker slept until a page, a buffer or another transfer was there, and ran
	 * again */
	PAGE_WAIT_WORKER,
	/* a read request of a block device, whoever caused it: from its issue to its completion */
	PAGE_WAIT_READ,
	PAGE_WAIT_WRITE, /* likewise */
	N_PAGE_WAIT_KINDS
};

/* The histograms: bins of 10 us up to 1 ms, of 100 us up to 10 ms, of 1 ms up to 1 s, and one for
 * all that is longer. Bins of 1 or 2 ms are sums of them, and so is every coarser division that a
 * disk of today needs. */
enum {
	PAGE_WAIT_US = 1000,
	PAGE_WAIT_MS = 1000 * PAGE_WAIT_US,
	PAGE_WAIT_MIDDLE = 100,                     /* the first bin from 1 ms on */
	PAGE_WAIT_COARSE = PAGE_WAIT_MIDDLE + 90,   /* from 10 ms on */
	PAGE_WAIT_LONGEST = PAGE_WAIT_COARSE + 990, /* from 1 s on */
	N_PAGE_WAIT_BINS
};

struct page_wait_sum {
	__u64 count, total_ns;
};

struct page_wait_sums {
	struct page_wait_sum bins[N_PAGE_WAIT_KINDS][N_PAGE_WAIT_BINS];
	__u64 lost[N_PAGE_WAIT_KINDS]; /* that could not be timed: too many at once */
	__u64 ready_ns;                /* of workers: the page was there, and others had the CPU */
};

static inline __u32 page_wait_bin_of(__u64 ns)
{
	if (ns < PAGE_WAIT_MS)
		return (__u32)(ns / (10 * PAGE_WAIT_US));
	if (ns < 10 * PAGE_WAIT_MS)
		return PAGE_WAIT_MIDDLE + (__u32)((ns - PAGE_WAIT_MS) / (100 * PAGE_WAIT_US));
	if (ns < 1000 * (__u64)PAGE_WAIT_MS)
		return PAGE_WAIT_COARSE + (__u32)((ns - 10 * PAGE_WAIT_MS) / PAGE_WAIT_MS);
	return PAGE_WAIT_LONGEST;
}

/* The first length of a bin. */
static inline __u64 page_wait_bin_from(__u32 bin)
{
	if (bin < PAGE_WAIT_MIDDLE)
		return bin * (__u64)(10 * PAGE_WAIT_US);
	if (bin < PAGE_WAIT_COARSE)
		return PAGE_WAIT_MS + (bin - PAGE_WAIT_MIDDLE) * (__u64)(100 * PAGE_WAIT_US);
	return 10 * PAGE_WAIT_MS + (bin - PAGE_WAIT_COARSE) * (__u64)PAGE_WAIT_MS;
}

#if !defined(__bpf__)

struct page_wait_meter {
	struct page_waits_bpf *programs;
	bool has_devices;                  /* without a block device, requests are not watched */
	const struct page_wait_sums *sums; /* what has ended since the meter was made */
};

/* With the privileges raised (privilege.h). -EPERM, -ENOTSUP…, with a sentence that says what is
 * missing. */
int page_wait_meter_new(struct page_wait_meter **ret, struct error *err);
void page_wait_meter_free(struct page_wait_meter *meter);
DEFINE_FREEP(page_wait_meter)

/* From now on it watches the tasks in the cgroup that is open as `cgroup_fd`, and below it. */
int page_wait_meter_set(const struct page_wait_meter *meter, int cgroup_fd, struct error *err);

/* How many block devices have requests of their own that the kernel traces, below the directory
 * that root_fd is (AT_FDCWD: this machine). Those of no size do not count (loop devices that are
 * not in use, drives without a disk), nor those that hand their requests to others (dm, md) or to
 * memory (zram). */
size_t block_devices_count(int root_fd);
#endif
