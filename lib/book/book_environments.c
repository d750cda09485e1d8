/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Environments in the lab book: fingerprints, their machines, and the constant of INC. */
#include "lib/book/query.h"

#include <errno.h>
#include <inttypes.h>

/* *ret = 0 for no machine. */
static int put_machine(struct book *book, const char *name, int64_t *ret, struct error *err)
{
	_cleanup_(query_end) struct query put = {}, get = {};
	int r;

	*ret = 0;
	if (!name)
		return 0;
	query_begin(&put, book, "INSERT INTO machine(name) VALUES (?) ON CONFLICT DO NOTHING", err);
	query_text(&put, name);
	r = query_run(&put, err);
	if (r < 0)
		return r;
	query_begin(&get, book, "SELECT id FROM machine WHERE name = ?", err);
	query_text(&get, name);
	r = query_step(&get, err);
	if (r < 0)
		return r;
	*ret = query_column(&get, 0);
	return 0;
}

/* 1: found. Without a digest, environments are the same if their machines and documents are. */
static int find(struct book *book, const char *digest, int64_t machine, const char *document, int64_t *ret,
	struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_begin(&q, book,
		"SELECT id FROM environment WHERE digest IS ?1 AND (?1 IS NOT NULL OR (machine IS ?2 AND document IS ?3))",
		err);
	query_text(&q, digest);
	query_unless(&q, machine, 0);
	query_text(&q, document);
	r = query_step(&q, err);
	if (r > 0)
		*ret = query_column(&q, 0);
	return r;
}

int book_find_environment(struct book *book, const char *digest, int64_t *ret, struct error *err)
{
	return digest ? find(book, digest, 0, NULL, ret, err) : 0;
}

static int put(struct book *book, const char *digest, const char *machine, const char *document, int64_t *ret,
	struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int64_t machine_id;
	int r;

	r = put_machine(book, machine, &machine_id, err);
	if (r < 0)
		return r;
	r = find(book, digest, machine_id, document, ret, err);
	if (r != 0)
		return r;
	query_begin(&q, book, "INSERT INTO environment(digest, machine, document) VALUES (?, ?, ?)", err);
	query_text(&q, digest);
	query_unless(&q, machine_id, 0);
	query_text(&q, document);
	r = query_run(&q, err);
	if (r < 0)
		return r;
	*ret = sqlite3_last_insert_rowid(book->db);
	return 0;
}

int book_put_environment(struct book *book, const char *digest, const char *machine, const char *document,
	int64_t *ret, struct error *err)
{
	int64_t id = 0;
	int r = BOOK_ATOMIC(book, put(book, digest, machine, document, &id, err), err);

	if (r < 0)
		return r;
	*ret = id;
	return 0;
}

static int not_there(struct book *book, int64_t id, struct error *err)
{
	return error_say(err, -ENOENT, "environment %" PRId64 " is not in the lab book '%s'", id, book->path);
}

int book_get_environment(
	struct book *book, int64_t id, char **ret_digest, char **ret_document, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(freep) char *digest = NULL, *document = NULL;
	int r;

	query_begin(&q, book, "SELECT digest, document FROM environment WHERE id = ?", err);
	query_int(&q, id);
	r = query_step(&q, err);
	if (r < 0)
		return r;
	if (r == 0)
		return not_there(book, id, err);
	digest = query_column_text(&q, 0);
	document = query_column_text(&q, 1);
	r = query_done(&q, err);
	if (r < 0)
		return r;
	if (ret_digest)
		*ret_digest = TAKE(digest);
	if (ret_document)
		*ret_document = TAKE(document);
	return 0;
}

int book_get_machine(struct book *book, int64_t environment, char **ret, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(freep) char *name = NULL;
	int r;

	query_begin(&q, book,
		"SELECT name FROM environment LEFT JOIN machine ON machine.id = machine WHERE environment.id = ?",
		err);
	query_int(&q, environment);
	r = query_step(&q, err);
	if (r < 0)
		return r;
	if (r == 0)
		return not_there(book, environment, err);
	name = query_column_text(&q, 0);
	r = query_done(&q, err);
	if (r < 0)
		return r;
	*ret = TAKE(name);
	return 0;
}

int book_get_inc(struct book *book, int64_t environment, double *ret_per_second, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_begin(&q, book,
		"SELECT value FROM measurement WHERE environment = ? AND name = 'inc_per_second'", err);
	query_int(&q, environment);
	r = query_step(&q, err);
	return r > 0 ? query_measurement(&q, ret_per_second, err) : r;
}

int book_put_inc(struct book *book, int64_t environment, double per_second, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	double stored;
	int r;

	query_begin(&q, book,
		"INSERT INTO measurement VALUES (?, 'inc_per_second', ?, '1/s') ON CONFLICT DO NOTHING", err);
	query_int(&q, environment);
	query_real(&q, per_second);
	r = query_run(&q, err);
	if (r < 0 && sqlite3_extended_errcode(book->db) == SQLITE_CONSTRAINT_FOREIGNKEY)
		return not_there(book, environment, err);
	if (r < 0 || sqlite3_changes(book->db) == 1)
		return r;
	r = book_get_inc(book, environment, &stored, err);
	if (r < 0)
		return r;
	return error_say(err, -EEXIST,
		"the lab book '%s' already has the constant of INC for this environment (%.0f iterations a second), and runs that were made with it",
		book->path, stored);
}
