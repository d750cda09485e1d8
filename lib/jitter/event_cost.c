/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time of a page fault: see event_cost.h. */
#include "lib/jitter/event_cost.h"

#include "lib/base/clock.h"
#include "lib/host/process/pinning.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 128, TRIES = 100 };

/* Of all pages together; the shortest of several tries has no interruption in it. */
static int64_t touch(char *memory, long page)
{
	int64_t shortest_ns = INT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		int64_t before_ns, took_ns;

		madvise(memory, (size_t)(PAGES * page), MADV_DONTNEED);
		before_ns = clock_ns(CLOCK_MONOTONIC_RAW);
		for (int k = 0; k < PAGES; k++)
			*(volatile char *)(memory + k * page) = 1;
		took_ns = clock_ns(CLOCK_MONOTONIC_RAW) - before_ns;
		shortest_ns = took_ns < shortest_ns ? took_ns : shortest_ns;
	}
	return shortest_ns / PAGES;
}

int64_t event_cost_fault_ns(int cpu)
{
	long page = sysconf(_SC_PAGESIZE);
	char *memory = mmap(
		NULL, (size_t)(PAGES * page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cpu_set_t before;
	int64_t ns;

	if (memory == MAP_FAILED)
		return 0;
	madvise(memory, (size_t)(PAGES * page), MADV_NOHUGEPAGE);
	sched_getaffinity(0, sizeof(before), &before);
	ns = pinning_pin(cpu) == 0 ? touch(memory, page) : 0;
	sched_setaffinity(0, sizeof(before), &before);
	munmap(memory, (size_t)(PAGES * page));
	return ns;
}
