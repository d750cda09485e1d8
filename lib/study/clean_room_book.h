/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the study clean-room keeps in the lab book beside its blocks: how each comparison was made,
 * and what was claimed. A block is one comparison by one tool: its step is ROOM_DAEMON_STEP or NULL
 * (nothing planted), its subject the tool's name, its size the share by which the copy is slower. */
#pragma once

#include "lib/study/book_study.h"
#include "lib/study/clean_room_tools.h"

#define ROOM_DAEMON_STEP "daemon"

struct room_comparison {
	int64_t block;
	bool copy_first; /* the copy was the first of the two programs */
	double slowed;   /* the share by which the copy was slower, as it said itself */
	double daemon;   /* the share of the CPU that the planted daemon took; NAN: none */
};

/* A claim about the copy, with its comparison and its block. */
struct room_finding {
	uint32_t position;
	int round;
	char *step, *tool;
	double slowdown; /* as planned */
	uint32_t samples;
	int64_t started_ns, finished_ns;
	bool copy_first;
	double slowed, daemon;
	char *rule;
	enum room_claim claim; /* what is said of the copy */
	double ratio;          /* copy / original; NAN: not known */
};

extern const struct field_table room_finding_table;

/* Stores what a tool said of the copy, with its runs, and that the block is finished: all or
 * nothing. */
int book_add_room_comparison(struct book *book, const struct room_comparison *comparison,
	const struct room_tool *tool, const struct room_answer *answer, struct error *err);

/* All of a study, in the order of measuring; fields_free(&room_finding_table, …). */
int book_room_findings(struct book *book, int64_t study, struct room_finding **ret, size_t *ret_n,
	struct error *err);
