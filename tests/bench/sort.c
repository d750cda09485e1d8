/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sort [ROUNDS]: sorts 262,144 numbers (Shell 1959), three times unless told, as a program to be
 * timed. duet.py and duet_pairs.py compile it with -O1 and -O2. */
#include <stdint.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 3;
	uint32_t n = 1 << 18, x = 1, *a = malloc(n * sizeof(*a));

	for (int round = 0; round < rounds; round++) {
		for (uint32_t i = 0; i < n; i++)
			a[i] = x = x * 1664525 + 1013904223;
		for (uint32_t gap = n / 2; gap; gap /= 2)
			for (uint32_t i = gap; i < n; i++) {
				uint32_t v = a[i], k = i;

				for (; k >= gap && a[k - gap] > v; k -= gap)
					a[k] = a[k - gap];
				a[k] = v;
			}
	}
	return a[0] > a[n - 1];
}
