/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the kernel clears the mark: see kernel_mark.h. */
#include "lib/host/cpu/kernel_mark.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 64, TRIES = 1000 };

static int count_cleared_by_faults(char *memory, long page)
{
	int cleared = 0;

	for (int i = 0; i < PAGES; i++) {
		kernel_mark_set();
		*(volatile char *)(memory + i * page) = 1;
		cleared += !kernel_mark_is_set();
	}
	return cleared;
}

/* Interrupts clear some. */
static int count_kept(void)
{
	int kept = 0;

	for (int i = 0; i < TRIES; i++) {
		kernel_mark_set();
		kept += kernel_mark_is_set();
	}
	return kept;
}

bool kernel_mark_works(void)
{
	long page = sysconf(_SC_PAGESIZE);
	size_t size = (size_t)(PAGES * page);
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool works;

	if (memory == MAP_FAILED)
		return false;
	madvise(memory, size, MADV_NOHUGEPAGE);
	works = count_cleared_by_faults(memory, page) == PAGES && count_kept() > TRIES / 2;
	munmap(memory, size);
	return works;
}
