/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MATR and MATC, programs of the papers (EMP, Figure 19): multiply two matrices of random integers,
 * whose rows lie one behind the other in memory. MATR goes along rows, so that memory is read in
 * order; MATC (COLUMNS) goes down columns. Integers are modulo 2^32. The product is checked with a
 * random vector (Freivalds 1977), which takes n^2 steps. */
#include "lib/base/tool.h"

#ifdef COLUMNS
#define NAME "emp-matc"
#define ORDER "column by column"
#else
#define NAME "emp-matr"
#define ORDER "row by row"
#endif

static int seed = 1;

/* product += left * right, all of n x n */
static void multiply(const uint32_t *restrict left, const uint32_t *restrict right,
	uint32_t *restrict product, size_t n)
{
#ifdef COLUMNS
	for (size_t column = 0; column < n; column++)
		for (size_t k = 0; k < n; k++)
			for (size_t row = 0; row < n; row++)
				product[row * n + column] += left[row * n + k] *
							     right[k * n + column];
#else
	for (size_t row = 0; row < n; row++)
		for (size_t k = 0; k < n; k++)
			for (size_t column = 0; column < n; column++)
				product[row * n + column] += left[row * n + k] *
							     right[k * n + column];
#endif
}

static uint32_t *random_integers(size_t n, uint64_t *state)
{
	uint32_t *values = xcalloc(n, sizeof(*values));

	for (size_t i = 0; i < n; i++)
		values[i] = (uint32_t)random_next(state);
	return values;
}

/* ret = matrix * vector */
static void multiply_vector(const uint32_t *matrix, const uint32_t *vector, size_t n, uint32_t *ret)
{
	for (size_t row = 0; row < n; row++) {
		ret[row] = 0;
		for (size_t k = 0; k < n; k++)
			ret[row] += matrix[row * n + k] * vector[k];
	}
}

static bool product_is_right(const uint32_t *left, const uint32_t *right, const uint32_t *product,
	size_t n, uint64_t *state)
{
	_cleanup_(freep) uint32_t *vector = random_integers(n, state);
	_cleanup_(freep) uint32_t *first = xcalloc(n, sizeof(*first));
	_cleanup_(freep) uint32_t *second = xcalloc(n, sizeof(*second));

	multiply_vector(right, vector, n, first);
	multiply_vector(left, first, n, second);
	multiply_vector(product, vector, n, first);
	return !memcmp(first, second, n * sizeof(*first));
}

static int multiply_run(int argc, char **argv, struct error *err)
{
	_cleanup_(freep) uint32_t *left = NULL, *right = NULL, *product = NULL;
	uint64_t state = (uint64_t)seed;
	int64_t size;
	size_t n;
	int r = text_parse_count(argv[0], "SIZE", 100000, &size, err);

	if (r < 0)
		return r;
	n = (size_t)size;
	left = random_integers(n * n, &state);
	right = random_integers(n * n, &state);
	product = xcalloc(n * n, sizeof(*product));

	multiply(left, right, product, n);
	if (!product_is_right(left, right, product, n, &state))
		return error_say(err, -EIO, "the product is wrong");
	return 0;
}

static const struct option_row options[] = {
	{'s', "seed", "N", "other integers: 1, 2, … (1)", option_count, &seed},
	{},
};

static const struct verb matrices = {
	.args = "SIZE", .min_args = 1, .max_args = 1, .options = options, .run = multiply_run};

static const struct tool tool = {
	.name = NAME,
	.summary = "Multiplies two matrices of SIZE x SIZE random integers " ORDER
		   ": a program to\nmeasure, see emp-sort(1).",
	.options = (const struct option_row[]){{}},
	.verbs = (const struct verb *const[]){&matrices, NULL},
};

int main(int argc, char **argv)
{
	return tool_main(&tool, argc, argv);
}
