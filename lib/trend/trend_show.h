/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze trend: the levels of a series of runs, as the verb gathers them, and how they are shown. */
#pragma once

#include "lib/report/plot.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/trend/series.h"
#include "lib/stats/time_series.h"

#include <stdio.h>

/* What is different from a level on. */
struct trend_cause {
	char *text; /* "kernel.release was '6.1', is '6.12'; …"; NULL: nothing that is recorded */
	int later;  /* so many runs after the first one of the level; below 0: before it */
};

struct trend_view {
	struct series series;
	struct levels levels;       /* of the logarithms */
	struct trend_cause *causes; /* of each level but the first, which has none */
};

/* What changed at the beginning of each level. */
int trend_find_causes(struct book *book, struct trend_view *view, struct error *err);
void trend_causes_free(struct trend_cause *causes, size_t n);

/* It stands apart from its neighbours of the same level. */
bool trend_is_outlier(const struct trend_view *view, size_t i);

void trend_print(const struct trend_view *view);
json_t *trend_as_json(const struct trend_view *view);
struct drawing trend_drawing(const struct trend_view *view);
void trend_write_csv(FILE *file, const struct trend_view *view);      /* a row for each run */
void trend_write_markdown(FILE *file, const struct trend_view *view); /* the table of levels */

/* A figure in the unit of the series: "471.2" (units of INC), "127.9 ms"; its digits are those of `half`, a share of it. */
const char *trend_value_text(
	char buffer[TEXT_PAIR_SIZE], const struct trend_view *view, double log, double half);

const char *trend_interval_text(
	char buffer[TEXT_PAIR_SIZE], const struct trend_view *view, const struct level *level);

/* "Run 88: kernel.release was '6.1', is '6.12'", for i > 0. */
char *trend_cause_text(const struct trend_view *view, size_t i);

/* "+2.5 ± 0.3 %", of a difference of logarithms. */
const char *trend_change_text(char buffer[TEXT_PAIR_SIZE], struct level_change change);
