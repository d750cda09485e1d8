/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine can resolve: measurements of an environment, three for each number of samples; and how much its samples are
 * alike, for all numbers (size 0). */
#include "lib/book/query.h"

static const struct {
	const char *name; /* and the number of samples */
	size_t offset;
} figures[] = {
	{"resolves_interleaved_", offsetof(struct resolving, interleaved)},
	{"resolves_separate_", offsetof(struct resolving, separate)},
	{"resolves_duet_", offsetof(struct resolving, duet)}, /* not known before 0.3 */
};
enum { REQUIRED = 2 };

static double *figure(struct resolving *row, size_t which)
{
	return (double *)((char *)row + figures[which].offset);
}

static int put_figure(struct book *book, int64_t environment, const char *name, int64_t size, double value,
	struct error *err)
{
	_cleanup_(query_end) struct query q = {};

	query_begin(&q, book, "INSERT OR REPLACE INTO measurement VALUES (?1, ?2 || ?3, ?4, '1')", err);
	query_int(&q, environment);
	query_text(&q, name);
	query_int(&q, size);
	query_real(&q, value);
	return query_run(&q, err);
}

static int put_row(struct book *book, int64_t environment, struct resolving row, struct error *err)
{
	int r = 0;

	for (size_t k = 0; r >= 0 && k < ELEMENTS(figures); k++)
		r = put_figure(book, environment, figures[k].name, row.samples, *figure(&row, k), err);
	return r;
}

int book_put_resolving(
	struct book *book, int64_t environment, const struct resolving rows[N_RESOLVING], struct error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < N_RESOLVING; i++)
		if (rows[i].samples > 0)
			r = put_row(book, environment, rows[i], err);
	return r;
}

static int get_figure(
	struct book *book, int64_t environment, const char *name, int size, double *ret, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_begin(
		&q, book, "SELECT value FROM measurement WHERE environment = ?1 AND name = ?2 || ?3", err);
	query_int(&q, environment);
	query_text(&q, name);
	query_int(&q, size);
	r = query_step(&q, err);
	return r > 0 ? query_measurement(&q, ret, err) : r;
}

int book_get_resolving(
	struct book *book, int64_t environment, struct resolving ret[N_RESOLVING], struct error *err)
{
	for (size_t i = 0; i < N_RESOLVING; i++) {
		struct resolving row = {.samples = resolving_sizes[i]};
		bool known = true;

		for (size_t k = 0; known && k < ELEMENTS(figures); k++) {
			int r = get_figure(
				book, environment, figures[k].name, resolving_sizes[i], figure(&row, k), err);

			if (r < 0)
				return r;
			known = r > 0 || k >= REQUIRED;
		}
		ret[i] = known ? row : (struct resolving){};
	}
	return 0;
}

int book_put_correlation(
	struct book *book, int64_t environment, const struct correlation *correlation, struct error *err)
{
	int r = put_figure(book, environment, "correlation_", 0, correlation->lag1, err);

	return r < 0 ? r
		     : put_figure(book, environment, "correlation_samples_", 0, (double)correlation->samples,
			       err);
}

int book_get_correlation(struct book *book, int64_t environment, struct correlation *ret, struct error *err)
{
	double samples = 0;
	struct correlation correlation = {};
	int r = get_figure(book, environment, "correlation_", 0, &correlation.lag1, err);

	if (r > 0)
		r = get_figure(book, environment, "correlation_samples_", 0, &samples, err);
	if (r < 0)
		return r;
	if (samples >= 1 && samples <= UINT32_MAX && correlation.lag1 >= 0 && correlation.lag1 < 1)
		correlation.samples = (int64_t)samples;
	*ret = correlation;
	return 0;
}
