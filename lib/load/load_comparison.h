/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two loads compared by their rates of work, as emp-analyze compare does it with the times of separate runs: there is a
 * verdict if the book knows how much the rates of such loads vary from one call of emp-load to the next. */
#pragma once

#include "lib/protocol/comparison.h"
#include "lib/load/load_report.h"

/* A script that both have. */
struct load_pair {
	const struct load_rate *a, *b;
	struct run_variation variation;
	struct comparison comparison; /* of rates: above 1, b is the faster one */
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

/* Both must outlive it. between: the sd of the rates of separate runs, as a share; below 0: as the book knows it.
 * -EINVAL, with a sentence: they have no script in common. */
int load_comparison_make(struct load_comparison *ret, struct book *book, const struct load_report *a,
	const struct load_report *b, double between, struct error *err);
void load_comparison_clear(struct load_comparison *comparison);

/* The comparison as one of times, in which above 1 is slower: for the functions of comparison.h. */
struct comparison load_pair_as_times(const struct load_pair *pair);

int load_comparison_print(FILE *file, const struct load_comparison *comparison, struct error *err);
/* The emp-load document of b, with the members `reference` (that of a) and `comparison`; NULL: no memory. */
json_t *load_comparison_as_json(const struct load_comparison *comparison);

/* "run 13 (office.ini)"; the caller frees it. NULL: no memory. */
char *load_report_name(const struct load_report *report);
