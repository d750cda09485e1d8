/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many samples would have been enough: see sample_size.h. The papers halve 800 down to 100 and continue
 * with 40, 30, 20 and 10. They choose the size by eye; CLOSE_SD and CLOSE_SHARE reproduce their choice. */
#include "lib/protocol/sample_size.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const double CLOSE_SD = 0.10, CLOSE_SHARE = 0.025;

enum { LEAST_HALF = 60, MOST_SIZES = 40 };

static size_t choose_sizes(size_t n, size_t *sizes)
{
	static const size_t last[] = {40, 30, 20, 10};
	size_t count = 0;

	for (size_t size = n; size > LEAST_HALF && count < MOST_SIZES - ELEMENTS(last); size /= 2)
		sizes[count++] = size;
	if (count == 0)
		sizes[count++] = n;
	for (size_t i = 0; i < ELEMENTS(last); i++)
		if (last[i] < n)
			sizes[count++] = last[i];
	return count;
}

/* times: those that the first check keeps, in order; n: of all samples. */
static struct sample_size size_of(const int64_t *times, size_t left, size_t n, int64_t *scratch)
{
	struct summary s = summary_of(times, left);
	size_t kept = 0;

	for (size_t i = 0; i < left; i++)
		if (!beyond_two_sd(&s, times[i]))
			scratch[kept++] = times[i];
	s = summary_of(scratch, kept);
	return (struct sample_size){
		.n = n,
		.by_cutoff = n - left,
		.by_two_sd = left - kept,
		.mean_ns = s.mean_ns,
		.sd_ns = s.sd_ns,
	};
}

static double outlier_share(const struct sample_size *s)
{
	return (double)(s->by_cutoff + s->by_two_sd) / (double)s->n;
}

static void suggest(struct sample_sizes *sizes)
{
	const struct sample_size *whole = &sizes->rows[0];
	bool close = true;

	for (size_t i = 0; i < sizes->n; i++) {
		struct sample_size *s = &sizes->rows[i];

		s->close = fabs(s->sd_ns - whole->sd_ns) <= CLOSE_SD * whole->sd_ns &&
			   fabs(outlier_share(s) - outlier_share(whole)) <=
				   fmax(CLOSE_SHARE, 1 / (double)s->n);
		close = close && s->close;
		if (close)
			sizes->suggested = s->n;
	}
}

int sample_sizes_find(struct sample_sizes *ret, const struct discarding *d, const struct sample *samples,
	size_t n, bool et, struct error *err)
{
	_cleanup_(freep) int64_t *times = reallocarray(NULL, n + 1, sizeof(*times));
	_cleanup_(freep) int64_t *scratch = reallocarray(NULL, n + 1, sizeof(*scratch));
	_cleanup_(sample_sizes_clear) struct sample_sizes sizes = {};
	size_t chosen[MOST_SIZES], left = 0, row;

	if (n == 0)
		return error_say(err, -EINVAL, "the run has no samples");
	row = sizes.n = choose_sizes(n, chosen);
	sizes.rows = calloc(sizes.n, sizeof(*sizes.rows));
	if (!times || !scratch || !sizes.rows)
		return error_oom(err);
	for (size_t i = 0; i < n; i++) {
		if (!d->out || !d->out[i])
			times[left++] = et ? samples[i].et_ns : samples[i].pt_ns;
		if (row > 0 && chosen[row - 1] == i + 1) {
			row--;
			sizes.rows[row] = size_of(times, left, i + 1, scratch);
		}
	}
	suggest(&sizes);
	*ret = TAKE_STRUCT(sizes);
	return 0;
}

void sample_sizes_clear(struct sample_sizes *sizes)
{
	free(sizes->rows);
	*sizes = (struct sample_sizes){};
}
