/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Duets in the lab book. */
#pragma once

#include "lib/document/document.h"
#include "lib/run/duet.h"

extern const struct document_feature duet_feature;

int book_add_duet(struct book *book, int64_t run, const struct duet_row *row, struct error *err);
int book_add_duet_sample(struct book *book, int64_t run, const struct duet_sample *row, struct error *err);
int book_add_duet_alone(struct book *book, int64_t run, const struct duet_alone *row, struct error *err);

/* 1: the run is of a duet, 0: it is not. */
int book_get_duet(struct book *book, int64_t run, struct duet_row *ret, struct error *err);

/* In their order; the caller frees the arrays. */
int book_duet_samples(
	struct book *book, int64_t run, struct duet_sample **ret, size_t *ret_n, struct error *err);
int book_duet_alone(
	struct book *book, int64_t run, struct duet_alone **ret, size_t *ret_n, struct error *err);

/* The runs of the duet whose first one this is, in their order; the caller frees the array. */
int book_duet_runs(struct book *book, int64_t reference, int64_t **ret, size_t *ret_n, struct error *err);
