/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A calibration of the clocks as a screen, a document and a picture; and what has changed since the
 * one before. */
#pragma once

#include "lib/clocks/clocks.h"

/* Prints one that is in the book, for people or as a document. */
int clocks_print(struct book *book, const struct clocks *clocks, bool json, struct error *err);

/* Shows that with the id (0: the latest): prints it or, with `diff`, how it differs from the one
 * before on the same machine; or draws the precision (Hines, Wyatt & Chang, Figure 2) as
 * `output`. */
struct clocks_view {
	bool json, diff;
	const char *output; /* NULL: it is printed */
	bool script;        /* the gnuplot file is kept */
};
int clocks_show(struct book *book, int64_t id, const struct clocks_view *view, struct error *err);
