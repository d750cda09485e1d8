/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorts 262,144 numbers three times (Shell 1959), as a program to be timed. duet.py and
 * duet_pairs.py compile it with -O1 and -O2. */
#include <stdint.h>
#include <stdlib.h>

int main(void)
{
	uint32_t n = 1 << 18, x = 1, *a = malloc(n * sizeof(*a));

	for (int round = 0; round < 3; round++) {
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
