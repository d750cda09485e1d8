/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run keeps of each source: see source_statistics.h. */
#include "lib/jitter/source_statistics.h"

#include "lib/base/array.h"

#include <errno.h>
#include <stdlib.h>

enum { PERIOD_LEAST = 5 /* distances */ };

void source_rows_clear(struct source_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		histogram_clear(&rows->items[i].lengths);
		histogram_clear(&rows->items[i].spacings);
	}
	free(rows->items);
	*rows = (struct source_rows){};
}

static int add(struct source_statistics *s, int64_t start_ns, int64_t length_ns, bool resumed)
{
	histogram_add(&s->lengths, length_ns);
	if (s->count > 0 && !resumed && start_ns > s->last_start_ns)
		histogram_add(&s->spacings, start_ns - s->last_start_ns);
	if (!resumed || s->count == 0)
		s->last_start_ns = start_ns;
	s->min_ns = s->count == 0 || length_ns < s->min_ns ? length_ns : s->min_ns;
	s->max_ns = length_ns > s->max_ns ? length_ns : s->max_ns;
	s->total_ns += length_ns;
	s->round_ns += length_ns;
	s->squares_ns2 += (double)length_ns * (double)length_ns;
	s->count++;
	return 0;
}

int source_rows_add(
	struct source_rows *rows, uint32_t source, int64_t start_ns, int64_t length_ns, bool resumed)
{
	while (rows->n <= source)
		if (!array_add(rows->items, rows->n))
			return -ENOMEM;
	return add(&rows->items[source], start_ns, length_ns, resumed);
}

void source_rows_end_round(struct source_rows *rows, bool first)
{
	for (struct source_statistics *s = rows->items; s < rows->items + rows->n; s++) {
		double ns = (double)s->round_ns, step = ns - (double)s->last_round_ns;

		s->rounds += s->round_ns > 0;
		s->round_squares_ns2 += ns * ns;
		s->round_steps_ns2 += first ? 0 : step * step;
		s->last_round_ns = s->round_ns;
		s->round_ns = 0;
	}
}

int64_t source_period(const struct source_statistics *s)
{
	int64_t quarter = histogram_quantile(&s->spacings, 0.25),
		half = histogram_quantile(&s->spacings, 0.5), most = histogram_quantile(&s->spacings, 0.75);

	return s->spacings.count >= PERIOD_LEAST && (double)(most - quarter) <= 0.05 * (double)half ? half
												    : 0;
}
