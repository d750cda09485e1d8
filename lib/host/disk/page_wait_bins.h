/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The histograms of page_waits.bpf.c: bins of 10 us up to 1 ms, of 100 us up to 10 ms, of 1 ms up to 1 s, and one for all that
 * is longer. Bins of 1 or 2 ms are sums of them, and so is every coarser division that a disk of today needs. The BPF
 * programs write them. */
#pragma once

#if !defined(__bpf__)
#include <linux/types.h>
#endif

enum page_wait_histogram {
	PAGE_WAITS_OF_TASKS, /* below the cgroup, until they ran again */
	PAGE_WAITS_OF_READS, /* requests of block devices */
	PAGE_WAITS_OF_WRITES,
	N_PAGE_WAIT_HISTOGRAMS
};

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
	struct page_wait_sum bins[N_PAGE_WAIT_HISTOGRAMS][N_PAGE_WAIT_BINS];
	__u64 lost[N_PAGE_WAIT_HISTOGRAMS]; /* that could not be timed: too many at once */
	__u64 ready_ns;                     /* of tasks: the page was there, and others had the CPU */
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
