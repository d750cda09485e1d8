/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A jitter run of the book on the screen, as the documents of emp-documents(5), and in pictures. */
#pragma once

#include "lib/book/book.h"

struct jitter_view {
	bool json;
	bool all; /* every source, however little it took */
	/* what emp-calibrate prints: the largest sources, and where the trace is */
	bool summary;
	const char *kept;        /* the file with the trace; NULL: none */
	bool combinations;       /* what several sources took together */
	int64_t low_ns, high_ns; /* only interruptions of these lengths; 0, 0: all */
	int64_t baseline;        /* what differs from this run; 0: none */
	double fail_if_new;      /* percent; below 0: not given */
	const char *output;      /* a picture instead, of the densities, or: */
	bool by_source, timeline;
	bool script; /* the gnuplot file is kept */
};

/* STATUS_NOT_FIT, with a sentence: new sources took more than view->fail_if_new. */
int jitter_show(struct book *book, int64_t run, const struct jitter_view *view, struct error *err);
