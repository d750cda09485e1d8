/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a call of each source costs (Hines, Wyatt & Chang, test_cycles, Table 1): cycles before and after, many times.
 *
 * The sources are called in blocks, in turn. What an empty call takes in the same turn is subtracted. */
#include "lib/clocks/bench.h"
#include "lib/base/xalloc.h"
#include "lib/clocks/cycles.h"

#include "lib/stats/summary.h"

#include <math.h>
#include <string.h>

enum {
	BLOCK = 100, /* calls in a turn */
	WARM_UP = 5, /* before each block: the other sources have used the caches */
	TURNS = 100,
	TURNS_FULL = 1000,
	INTERRUPTED = 10, /* a call that takes ten times the median was interrupted */
};

struct calls {
	int64_t *cycles;  /* of each call; ascending at the end */
	int64_t *medians; /* of the blocks, without the empty call, in thousandths of a cycle */
	size_t n, n_blocks;
};

static size_t turns(const struct clock_bench *b)
{
	return b->full ? TURNS_FULL : TURNS;
}

uint64_t clock_cost_steps(const struct clock_bench *b)
{
	return turns(b);
}

static double block_median(const int64_t block[BLOCK], int64_t quantum)
{
	int64_t sorted[BLOCK];

	memcpy(sorted, block, sizeof(sorted));
	sort_ascending(sorted, BLOCK);
	return grouped_median_of(sorted, BLOCK, quantum);
}

static int64_t read_nothing(struct time_reader *reader)
{
	return 0;
}

static void call(struct time_reader *reader, int64_t block[BLOCK])
{
	int64_t (*read)(struct time_reader *) = reader->source->read;

	for (int i = -WARM_UP; i < BLOCK; i++) {
		int64_t before = cycles_now(), after;

		read(reader);
		after = cycles_now();
		if (i >= 0)
			block[i] = after - before;
	}
}

static void summarize(struct calls *calls, int64_t quantum, double empty, struct clock_source *ret)
{
	struct bounds bounds;
	double sum = 0, squares = 0, median;
	size_t kept = 0;

	sort_ascending(calls->cycles, calls->n);
	sort_ascending(calls->medians, calls->n_blocks);
	bounds = median_interval(calls->medians, calls->n_blocks, 0.95);
	median = grouped_median_of(calls->cycles, calls->n, quantum);
	ret->low = bounds.low / 1000;
	ret->high = bounds.high / 1000;
	ret->median = quantile_of(calls->medians, calls->n_blocks, 0.5) / 1000;
	ret->min = (double)calls->cycles[0] - empty;
	while (kept < calls->n && (double)calls->cycles[kept] <= INTERRUPTED * median)
		sum += (double)calls->cycles[kept++];
	ret->mean = sum / (double)kept - empty;
	for (size_t i = 0; i < kept; i++)
		squares += pow((double)calls->cycles[i] - empty - ret->mean, 2);
	ret->sd = sqrt(squares / (double)(kept - 1));
	ret->calls = (double)calls->n;
	ret->interrupted = (double)(calls->n - kept);
}

static void free_calls(struct calls *calls, size_t n)
{
	for (size_t i = 0; calls && i < n; i++) {
		free(calls[i].cycles);
		free(calls[i].medians);
	}
	free(calls);
}

static struct calls *new_calls(const struct clock_bench *b)
{
	struct calls *calls = xcalloc(b->n + 1, sizeof(*calls));

	for (size_t i = 0; calls && i <= b->n; i++) {
		calls[i].cycles = xcalloc(turns(b) * BLOCK, sizeof(int64_t));
		calls[i].medians = xcalloc(turns(b), sizeof(int64_t));
		if (!calls[i].cycles || !calls[i].medians) {
			free_calls(calls, b->n + 1);
			return NULL;
		}
	}
	return calls;
}

int clock_cost(struct clock_bench *b, struct error *err)
{
	struct calls *calls = new_calls(b);
	int64_t quantum;
	int r = calls ? 0 : error_oom(err);
	int64_t block[BLOCK];

	/* Some counters advance in steps of many cycles. */
	for (int i = 0; i < BLOCK; i++)
		block[i] = cycles_now();
	for (int i = BLOCK - 1; i > 0; i--)
		block[i] -= block[0];
	quantum = quantum_of(block + 1, BLOCK - 1);

	for (size_t turn = 0; r == 0 && turn < turns(b); turn++) {
		static const struct time_source nothing = {.name = "nothing", .read = read_nothing};
		struct calls *empty = &calls[b->n];
		int64_t *turn_block = &empty->cycles[empty->n];
		double empty_median;

		/* calls[b->n] are those of nothing. */
		call(&(struct time_reader){.source = &nothing}, turn_block);
		empty_median = block_median(turn_block, quantum);
		empty->n += BLOCK;
		for (size_t k = 0; k < b->n; k++) {
			size_t source = (turn + k) % b->n;
			struct calls *of = &calls[source];

			turn_block = &of->cycles[of->n];
			call(&b->readers[source], turn_block);
			of->n += BLOCK;
			of->medians[of->n_blocks++] = llround(
				1000 * (block_median(turn_block, quantum) - empty_median));
		}
		r = clock_bench_step(b);
	}
	if (r == 0) {
		struct calls *empty = &calls[b->n];

		sort_ascending(empty->cycles, empty->n);
		for (size_t i = 0; i < b->n; i++)
			summarize(&calls[i], quantum, grouped_median_of(empty->cycles, empty->n, quantum),
				&b->result->sources[i]);
	}
	free_calls(calls, b->n + 1);
	return r;
}
