/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine can resolve: measurements of an environment, two for each number of samples. */
#include "lib/record/book/query.h"

static const struct {
	const char *name; /* and the number of samples */
	size_t offset;
} figures[] = {
	{"resolves_interleaved_", offsetof(struct resolving, interleaved)},
	{"resolves_separate_", offsetof(struct resolving, separate)},
};

static double *figure(struct resolving *row, size_t which)
{
	return (double *)((char *)row + figures[which].offset);
}

static int put_row(struct book *book, int64_t environment, struct resolving row, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book, "INSERT OR REPLACE INTO measurement VALUES (?1, ?2 || ?3, ?4, '1')", err);
	for (size_t k = 0; r >= 0 && k < ELEMENTS(figures); k++) {
		query_int(&q, environment);
		query_text(&q, figures[k].name);
		query_int(&q, row.samples);
		query_real(&q, *figure(&row, k));
		r = query_run(&q, err);
	}
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
	if (r > 0)
		*ret = sqlite3_column_double(q.stmt, 0);
	return r;
}

int book_get_resolving(
	struct book *book, int64_t environment, struct resolving ret[N_RESOLVING], struct error *err)
{
	for (size_t i = 0; i < N_RESOLVING; i++) {
		struct resolving row = {.samples = resolving_sizes[i]};
		int r = 1;

		for (size_t k = 0; r > 0 && k < ELEMENTS(figures); k++)
			r = get_figure(
				book, environment, figures[k].name, resolving_sizes[i], figure(&row, k), err);
		if (r < 0)
			return r;
		ret[i] = r > 0 ? row : (struct resolving){};
	}
	return 0;
}
