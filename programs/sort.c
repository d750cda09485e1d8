/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SORT, a program of the papers (EMP, Figure 19): sorts random integers, by insertion as theirs, or
 * by merging. It checks that the result is ascending and has the same integers. */
#include "lib/base/tool.h"

enum algorithm { INSERTION, MERGE };

static enum algorithm algorithm;
static int seed = 1;

/* n^2 / 4 moves. */
static void sort_by_insertion(uint32_t *values, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint32_t value = values[i];
		size_t k = i;

		for (; k > 0 && values[k - 1] > value; k--)
			values[k] = values[k - 1];
		values[k] = value;
	}
}

/* Merges from[0 .. n_left) and from[n_left .. n), which are ascending, to `to`. */
static void merge_halves(const uint32_t *from, size_t n_left, size_t n, uint32_t *to)
{
	size_t left = 0, right = n_left;

	for (size_t i = 0; i < n; i++) {
		bool take_left = left < n_left && (right == n || from[left] <= from[right]);

		to[i] = take_left ? from[left++] : from[right++];
	}
}

/* n log2 n comparisons: merges runs of 1, of 2, of 4 and so on, there and back again. */
static void sort_by_merging(uint32_t *values, size_t n)
{
	_cleanup_(freep) uint32_t *merged = xcalloc(n, sizeof(*merged));
	uint32_t *from = values, *to = merged;

	for (size_t run = 1; run < n; run *= 2) {
		uint32_t *sorted = to;

		for (size_t i = 0; i < n; i += 2 * run) {
			size_t rest = n - i;

			merge_halves(from + i, run < rest ? run : rest,
				2 * run < rest ? 2 * run : rest, to + i);
		}
		to = from;
		from = sorted;
	}
	if (from != values)
		memcpy(values, from, n * sizeof(*values));
}

/* A sum that is the same for the same integers in any order; others hardly have it. */
static uint64_t sum_of(const uint32_t *values, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t state = values[i];

		sum += random_next(&state);
	}
	return sum;
}

static int sort_run(int argc, char **argv, struct error *err)
{
	_cleanup_(freep) uint32_t *values = NULL;
	uint64_t state = (uint64_t)seed, sum;
	int64_t n;
	int r = text_parse_count(argv[0], "SIZE", 1000000000, &n, err);

	if (r < 0)
		return r;
	values = xcalloc((size_t)n, sizeof(*values));
	for (int64_t i = 0; i < n; i++)
		values[i] = (uint32_t)random_next(&state);
	sum = sum_of(values, (size_t)n);

	if (algorithm == MERGE)
		sort_by_merging(values, (size_t)n);
	else
		sort_by_insertion(values, (size_t)n);

	for (int64_t i = 1; i < n; i++)
		if (values[i - 1] > values[i])
			return error_say(err, -EIO, "the integers are not sorted");
	if (sum_of(values, (size_t)n) != sum)
		return error_say(err, -EIO, "the integers are not the same as before");
	return 0;
}

static const struct option_row options[] = {
	{'a', "algorithm", "NAME", "insertion, which is the default, or merge:", NULL, &algorithm,
		CHOICES("insertion", "merge")},
	{'s', "seed", "N", "other integers: 1, 2, … (1)", option_count, &seed},
	{},
};

static const struct verb sort = {
	.args = "SIZE", .min_args = 1, .max_args = 1, .options = options, .run = sort_run};

static const struct tool tool = {
	.name = "emp-sort",
	.summary = "Sorts SIZE random integers: a program to measure, see emp-sort(1).",
	.options = (const struct option_row[]){{}},
	.verbs = (const struct verb *const[]){&sort, NULL},
};

int main(int argc, char **argv)
{
	return tool_main(&tool, argc, argv);
}
