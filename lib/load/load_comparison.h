/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two loads compared by their rates of work, as emp-analyze compare does it with the times of
 * separate runs: there is a verdict if the book knows how much the rates of such loads vary from
 * one call of emp-load to the next. */
#pragma once

#include "lib/load/load_report.h"
#include "lib/protocol/comparison.h"

/* A script that both loads have. */
struct load_pair {
	const struct load_rate *a, *b;
	struct run_variation variation;
	struct comparison comparison; /* of rates: above 1, b is the faster one */
	/* the same as one of times, above 1 is slower: for the functions of comparison.h */
	struct comparison times;
};

struct load_comparison {
	const struct load_report *a, *b;
	struct load_rates rates_b; /* with the shares of a */
	struct load_pair *items;   /* that of all work first, if both have the same scripts */
	size_t n;
	bool same_scripts;
	char *environment_changes; /* from a's to b's; NULL: none, or not known */
	char *load_changes;        /* likewise of the load; NULL: none */
};

/* Both must outlive it. between: the sd of the rates of separate runs, as a share; below 0: as the
 * book knows it. -EINVAL, with a sentence: they have no script in common. */
int load_comparison_make(struct load_comparison *ret, struct book *book,
	const struct load_report *a, const struct load_report *b, double between,
	struct error *err);
void load_comparison_clear(struct load_comparison *comparison);

void load_comparison_print(FILE *file, const struct load_comparison *comparison);
/* The emp-load document of b, with the members `reference` (that of a) and `comparison`. */
json_t *load_comparison_as_json(const struct load_comparison *comparison);

/* "coordination was constant-load, is before; line 3 of the file was 'slaves = 4', is 'slaves =
 * 5'"; the caller frees it. NULL if they are the same. */
char *load_changes(const struct load_row *before, const struct load_row *now);

/* One load, or two that are compared. */
struct load_reports {
	const struct load_report *items[2]; /* the reference first */
	size_t n;
	const struct load_comparison *comparison; /* NULL: one */
};
