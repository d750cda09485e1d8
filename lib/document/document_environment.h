/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where and when something was measured, in documents: the machine, its fingerprint, and what was
 * measured of it. */
#pragma once

#include "lib/base/json.h"

struct book;

/* The fingerprint of an environment of the book, which the caller frees. NULL: the environment is
 * 0, or has none. */
int document_read_environment(
	struct book *book, int64_t environment, json_t **ret, struct error *err);
/* The "context" of documents, which says where and when something was measured; its members have
 * the names that Google Benchmark gives them. environment 0: not known; when_ns: since 1970, 0: not
 * known. What the fingerprint does not have is missing. */
int document_make_context(
	struct book *book, int64_t environment, int64_t when_ns, json_t **ret, struct error *err);
/* Adds the context; and the machine, the fingerprint and the measurements of the environment,
 * unless that is 0. */
int document_add_origin(struct book *book, int64_t environment, int64_t when_ns, json_t *document,
	struct error *err);
/* Stores the environment that a document has, and its profile. *ret: the id of the environment; 0:
 * the document does not have it. *ret_profile: the id of the profile; 0: the document does not have
 * it; ret_profile NULL: the profile is not stored. */
int document_put_environment(struct book *book, const json_t *document, int64_t *ret,
	int64_t *ret_profile, struct error *err);

/* Adds the machine of an environment, its fingerprint, and what was measured of it. */
int document_add_environment(struct book *book, int64_t id, json_t *document, struct error *err);
/* The digest of a fingerprint, which is the member 'environment'. */
void document_read_digest(struct json_fields *f, const json_t *environment, const char **ret);
