/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The means of the runs of one program in one environment, to see how much runs vary. */
#include "lib/book/query.h"

#include "lib/base/array.h"

#include <math.h>

/* Environments are the same here if they are one, or if the identities of their fingerprints are: settings may change. */
#define SAME(a, b)                                                                    \
	"(" a ".id = " b ".id OR (json_valid(" a ".document) AND json_valid(" b       \
	".document) AND json_extract(" a ".document, '$.identity') = json_extract(" b \
	".document, '$.identity')))"

static int read_rows(struct query *q, struct run_means *means, struct error *err)
{
	int r;

	while ((r = query_step(q, err)) > 0) {
		struct run_mean *mean = array_add(means->items, means->n);

		*mean = (struct run_mean){query_column(q, 0), query_column(q, 1), query_column(q, 2),
			sqlite3_column_double(q->stmt, 3), query_column(q, 4)};
	}
	return r < 0 ? r : query_done(q, err);
}

int book_run_means(struct book *book, int64_t run, bool et, struct run_means *ret, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	struct run_means means = {};
	int r;

	query_begin(&q, book,
		"SELECT run.id, min(start_ns), max(start_ns + et_ns), avg(iif(?2, et_ns, pt_ns)) AS mean, count(*)"
		" FROM run AS this JOIN environment AS here ON here.id = this.environment"
		" JOIN run ON run.program = this.program AND run.command IS this.command"
		" AND run.kind = this.kind"
		" JOIN environment AS there ON there.id = run.environment"
		" JOIN sample ON sample.run = run.id WHERE this.id = ?1 AND NOT incomplete AND " SAME(
			"here", "there") " GROUP BY run.id ORDER BY min(start_ns)",
		err);
	query_int(&q, run);
	query_int(&q, et);
	r = read_rows(&q, &means, err);
	if (r < 0) {
		free(means.items);
		return r;
	}
	*ret = means;
	return 0;
}

int book_mean_pt(struct book *book, int64_t run, double *ret_ns, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_begin(&q, book, "SELECT avg(pt_ns) FROM sample WHERE run = ?", err);
	query_int(&q, run);
	r = query_step(&q, err);
	if (r > 0)
		*ret_ns = sqlite3_column_type(q.stmt, 0) == SQLITE_NULL ? NAN : sqlite3_column_double(q.stmt, 0);
	return r < 0 ? r : 0;
}
