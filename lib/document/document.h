/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs and profiles as JSON documents, emp-run and emp-profile version 1, and between them and the
 * book. Unknown members are ignored. If a member is wrong, the message names it and its location,
 * and nothing is stored. A run may be larger than memory. */
#pragma once

#include "lib/base/json.h"
#include "lib/book/book.h"

/* A document to be read. */
struct document_stream;

/* "-" is standard input; see input.h. What is no regular file, or compressed, is first copied to a
 * file without a name in TMPDIR (otherwise /var/tmp). */
int document_stream_open(struct document_stream **ret, const char *path, struct error *err);
void document_stream_free(struct document_stream *s);
DEFINE_FREEP(document_stream)

/* Stores a run, with the other runs that it belongs with, its profile and its environment; or a
 * document of a feature. All as one transaction, or as a part of the caller's. *ret is the number
 * of the run, or what the feature gives it. */
int document_import(
	struct book *book, struct document_stream *document, int64_t *ret, struct error *err);

/* Whether the run that was imported names a profile that the document does not have. */
bool document_names_profile(const struct document_stream *document);

struct document_parts {
	bool no_profile, no_environment; /* are left out */
};

int document_export_run(struct book *book, int64_t run, const struct document_parts *parts,
	FILE *file, struct error *err);

/* What a feature adds to documents. */
struct document_feature {
	const struct run_rows *
		/* of its runs, in the order in which they can be stored; the last has no member.
		 * NULL: none */
		rows;
	/* The document of a run has, under this member, the other runs without which it cannot be
	 * understood: all of them, by their numbers. Without a member: there are none. */
	struct run_rows companions;
	/* Documents of its own, which are not runs; NULL: none. *ret: the number that the book
	 * gives it */
	const char *format;
	int (*import)(struct book *book, const json_t *document, int64_t *ret, struct error *err);
};
/* lib/features.c; NULL ends them */
extern const struct document_feature *const document_features[];

/* The numbers of the runs that a run belongs with, its own included; none: it belongs with none.
 * The caller frees the array. */
int document_companions(
	struct book *book, int64_t run, int64_t **ret, size_t *ret_n, struct error *err);

/* The i-th of the tables with rows of a run, of the core and of the features; NULL: there are no
 * more. */
const struct run_rows *document_run_rows(size_t i);

int document_parse_profile(const json_t *document, struct profile *ret, struct error *err);
int document_make_profile(const struct profile *profile, json_t **ret, struct error *err);
/* *ret: an equal profile of the book, the current one first; *ret_current: the current one of that
 * name. 0: there is none. */
int document_find_profile(struct book *book, const struct profile *profile, int64_t *ret,
	int64_t *ret_current, struct error *err);
/* on standard output */
int document_print_profile(const struct profile *profile, struct error *err);

/* The fingerprint of an environment of the book, which the caller frees. NULL: 0 is asked for, or
 * it has none. */
int document_read_environment(
	struct book *book, int64_t environment, json_t **ret, struct error *err);
/* Where and when something was measured: the "context" of documents, with the members of Google
 * Benchmark's where it has them. environment: 0: not known; when_ns: since 1970, 0: not known. What
 * the fingerprint does not have is missing. */
int document_make_context(
	struct book *book, int64_t environment, int64_t when_ns, json_t **ret, struct error *err);
/* Adds the context; and the machine, the fingerprint and the measurements of the environment,
 * unless it is 0. */
int document_add_origin(struct book *book, int64_t environment, int64_t when_ns, json_t *document,
	struct error *err);
/* The reverse: stores the environment. *ret: 0 if the document says nothing of it. *ret_profile: of
 * the profile in it, which is stored, too; 0: there is none. ret_profile NULL: without it. */
int document_put_environment(struct book *book, const json_t *document, int64_t *ret,
	int64_t *ret_profile, struct error *err);

/* The members of a JSON object that a table of fields describes. Reads into `object`, whose old
 * content is dropped; missing members become unknown. */
void document_read_fields(struct json_fields *f, const struct field_table *table, void *object);
/* Writes the members, each after a comma, the first one after `separator`. -1: text that is not
 * UTF-8. */
int document_write_fields(
	FILE *file, const char *separator, const struct field_table *table, const void *object);
/* A new object with the members; NULL: text that is not UTF-8. */
json_t *document_new(const struct field_table *table, const void *object);
/* Adds a time since 1970 as RFC 3339 text. */
void document_add_moment(json_t *json, const char *name, int64_t ns);
