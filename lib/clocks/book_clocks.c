/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calibrations of the clocks: one for each time, as emp-clocks documents. */
#include "lib/book/query.h"

#include "lib/clocks/document_clocks.h"

#include <errno.h>
#include <inttypes.h>

int book_put_clocks(struct book *book, struct clocks *clocks, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(json_decrefp) json_t *json = clocks_as_json(clocks);
	_cleanup_(freep) char *text = json ? json_dumps(json, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
	int r;

	if (!text)
		return error_oom(err);
	query_begin(&q, book, "INSERT INTO clock_calibration(environment, made_ns, document) VALUES (?, ?, ?)",
		err);
	query_int(&q, clocks->environment);
	query_int(&q, clocks->made_ns);
	query_text(&q, text);
	r = query_run(&q, err);
	if (r == 0)
		clocks->id = sqlite3_last_insert_rowid(book->db);
	return r;
}

static int read_row(struct query *q, struct clocks *ret, struct error *err)
{
	int64_t id = query_column(q, 0), environment = query_column(q, 1);
	_cleanup_(freep) char *text = query_column_text(q, 2);
	_cleanup_(json_decrefp) json_t *json = NULL;
	json_error_t e;
	int r = query_done(q, err);

	if (r < 0)
		return r;
	json = json_loads(text ?: "", JSON_REJECT_DUPLICATES, &e);
	if (json)
		r = clocks_from_json(json, ret, err);
	else
		r = error_say(err, -EBADMSG, "%s", e.text);
	if (r < 0)
		return error_prefix(err, r, "calibration %" PRId64 " of the clocks in the lab book '%s'", id,
			q->book->path);
	ret->id = id;
	ret->environment = environment;
	return 1;
}

int book_get_clocks(struct book *book, int64_t id, struct clocks *ret, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_begin(&q, book,
		"SELECT id, environment, document FROM clock_calibration WHERE ?1 IS NULL OR id = ?1"
		" ORDER BY id DESC LIMIT 1",
		err);
	query_unless(&q, id, 0);
	r = query_step(&q, err);
	return r > 0 ? read_row(&q, ret, err) : r;
}

int book_get_clocks_before(struct book *book, int64_t id, struct clocks *ret, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_begin(&q, book,
		"SELECT b.id, b.environment, b.document FROM clock_calibration AS a"
		" JOIN environment AS ea ON ea.id = a.environment JOIN clock_calibration AS b ON b.id < a.id"
		" JOIN environment AS eb ON eb.id = b.environment"
		" WHERE a.id = ? AND ea.machine IS eb.machine ORDER BY b.id DESC LIMIT 1",
		err);
	query_int(&q, id);
	r = query_step(&q, err);
	return r > 0 ? read_row(&q, ret, err) : r;
}
