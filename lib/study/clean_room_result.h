/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the study clean-room found: by rule, condition and slowdown, how often the claim was wrong;
 * and how this is shown. */
#pragma once

#include "lib/base/table.h"
#include "lib/study/clean_room.h"
#include "lib/study/clean_room_book.h"

enum room_condition { ROOM_QUIET, ROOM_BESIDE_DAEMON, N_ROOM_CONDITIONS };

struct room_count {
	size_t n;
	/* with slowdown 0: a difference was claimed; otherwise: none was, or the copy was said to
	 * be faster */
	size_t wrong;
	size_t reversed; /* of these, how many said that the slower copy is faster */
};

/* One rule. */
struct room_line {
	const struct room_tool *tool;
	const struct room_rule *rule;
	struct room_count counts[N_ROOM_CONDITIONS][N_ROOM_SLOWDOWNS];
	int64_t mean_ns; /* of a comparison, in all conditions */
};

struct room_result {
	struct study_row row;
	char *command;
	int cpu, rounds; /* begun */
	uint32_t samples;
	size_t n_comparisons, n_planned;
	int64_t took_ns;
	struct room_line *lines;
	size_t n_lines;
	/* by which the copies were slower in fact, of all comparisons; NAN: there is none */
	double slowed_low[N_ROOM_SLOWDOWNS], slowed_high[N_ROOM_SLOWDOWNS];
	double daemon; /* the mean share of the CPU that it took; NAN: there is no comparison */
	struct room_finding *findings;
	size_t n_findings;
};

/* Of the study in `row`, which is taken over; -ENOENT with a sentence: nothing was compared. */
int room_result_read(
	struct room_result *ret, struct book *book, struct study_row *row, struct error *err);
void room_result_clear(struct room_result *result);

void room_result_print(FILE *file, const struct room_result *result);
void room_result_write_markdown(FILE *file, const struct room_result *result);
/* The members of a document. */
json_t *room_result_json(const struct room_result *result);
