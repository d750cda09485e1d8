/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chase KIB STEPS [INCREMENTS]: follows a random cycle of pointers through so much memory, so that
 * its time depends on what the caches hold; with INCREMENTS, computes between two steps. For
 * duet_signs.py. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	size_t n = argc > 2 ? strtoul(argv[1], NULL, 10) * 1024 / sizeof(uint32_t) : 0;
	long steps = argc > 2 ? strtol(argv[2], NULL, 10) : 0,
	     increments = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
	uint32_t *next = n > 1 ? malloc(n * sizeof(*next)) : NULL, random = 1, at = 0;
	volatile long counter = 0;

	if (!next) {
		fprintf(stderr, "Usage: chase KIB STEPS [INCREMENTS]\n");
		return 1;
	}
	for (size_t i = 0; i < n; i++)
		next[i] = (uint32_t)i;
	for (size_t i = n - 1; i > 0; i--) { /* one cycle through all (Sattolo 1986) */
		uint32_t k, other = next[i];

		random = random * 1664525 + 1013904223;
		k = (uint32_t)((uint64_t)random * i >> 32);
		next[i] = next[k];
		next[k] = other;
	}
	for (long step = 0; step < steps; step++) {
		at = next[at];
		for (long i = 0; i < increments; i++)
			counter++;
	}
	return at == n; /* never */
}
