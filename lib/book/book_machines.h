/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Environments in the lab book, which are fingerprints of machines, and what was measured of them.
 */
#pragma once

#include "lib/record/profile.h"
#include "lib/record/run.h"

struct book;

/* Stores a fingerprint document (JSON text) under its digest; if the book has that digest, its
 * first document is kept. *ret is the id. Each of the three texts may be NULL if an imported
 * document does not have it. */
int book_put_environment(struct book *book, const char *digest, const char *machine,
	const char *document, int64_t *ret, struct error *err);
/* The caller frees the texts; each is NULL if it is not known, and a pointer may be NULL. -ENOENT:
 * the book does not have it. id 0: nothing is known and nothing written. */
int book_get_environment(struct book *book, int64_t id, char **ret_digest, char **ret_machine,
	char **ret_document, struct error *err);
/* The id of the environment with that digest. 1: found; 0: the book does not have it. */
int book_find_environment(struct book *book, const char *digest, int64_t *ret, struct error *err);

/* What INC showed of the machine of an environment. It belongs to the INC of that digest (NULL: an
 * INC that is not known), and is not known of another. */

/* How many times INC increments in a second: set once, never changed. get: 1 found, 0 not stored;
 * put: -EEXIST if another value is stored. */
int book_get_inc(struct book *book, int64_t environment, const char *inc_digest,
	double *ret_per_second, struct error *err);
int book_put_inc(struct book *book, int64_t environment, const char *inc_digest, double per_second,
	struct error *err);
/* The minimum detectable differences on the machine, by its last profile: a row for each number of
 * samples; its .samples is 0 if they are not known. */
int book_get_mdd(struct book *book, int64_t environment, const char *inc_digest,
	struct mdd ret[N_MDD], struct error *err);
/* The correlation of neighbouring samples, by the last profile; .samples 0: it is not known. */
int book_get_correlation(struct book *book, int64_t environment, const char *inc_digest,
	struct correlation *ret, struct error *err);
/* 1: neither of these two is known of this INC, but of another INC it is: *ret_profile is the
 * latest profile that has it, which the caller frees. 0: otherwise. */
int book_find_other_inc(struct book *book, int64_t environment, const char *inc_digest,
	char **ret_profile, struct error *err);

/* All measurements of an environment, also those above: a name and a value each. */
struct measurement {
	char *name;
	double value;
	char *unit;       /* "": a bare number */
	char *inc_digest; /* NULL: not known */
};
extern const struct field_table measurement_table;

/* For book_profiles.c: the figures of a profile become those of its environment, unless a later
 * profile has set them. Results that are not measured with the profile use them. */
int book_put_figures(struct book *book, const struct profile *profile, struct error *err);
