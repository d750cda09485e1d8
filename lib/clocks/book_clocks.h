/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calibrations of the clocks as emp-clocks documents, and in the lab book. */
#pragma once

#include "lib/clocks/clocks.h"
#include "lib/document/document.h"

extern const struct document_feature clocks_feature;

/* put sets the id; its environment must be in the book. get: that with the id (0: the latest), or the latest before it on the same
 * machine; 1 found, 0 none. */
int book_put_clocks(struct book *book, struct clocks *clocks, struct error *err);
int book_get_clocks(struct book *book, int64_t id, struct clocks *ret, struct error *err);
int book_get_clocks_before(struct book *book, int64_t id, struct clocks *ret, struct error *err);

json_t *clocks_as_json(const struct clocks *clocks);
/* The reverse. -EINVAL: a member is wrong; -EPROTONOSUPPORT: an unknown version. */
int clocks_from_json(const json_t *json, struct clocks *ret, struct error *err);
/* The same document with what the book has of the environment. */
int clocks_document(struct book *book, const struct clocks *clocks, json_t **ret, struct error *err);
