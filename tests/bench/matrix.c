/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A matrix product, as a program to be timed: N x N doubles, the plain three loops, along rows or,
 * with a second argument "columns", along columns. Prints nothing. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 300;
	bool columns = argc > 2 && !strcmp(argv[2], "columns");
	double *a = malloc(n * n * sizeof(*a)), *b = malloc(n * n * sizeof(*b)),
	       *c = calloc(n * n, sizeof(*c));
	double trace = 0;

	if (!a || !b || !c)
		return 1;
	for (size_t i = 0; i < n * n; i++) {
		a[i] = (double)(i % 7);
		b[i] = (double)(i % 5);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t x = 0; x < n; x++)
			for (size_t y = 0; y < n; y++) {
				size_t k = columns ? y : x, j = columns ? x : y;

				c[i * n + j] += a[i * n + k] * b[k * n + j];
			}
	for (size_t i = 0; i < n; i++)
		trace += c[i * n + i];
	free(a);
	free(b);
	free(c);
	return trace > 0 ? 0 : 1;
}
