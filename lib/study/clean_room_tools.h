/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tools of the study clean-room: how each is asked to compare two programs, as its own
 * documents say it, and which of its words or numbers counts as a claim that they differ. */
#pragma once

#include "lib/base/base.h"

/* What is claimed of the second program. */
enum room_claim { ROOM_NO_CLAIM, ROOM_FASTER, ROOM_SLOWER, N_ROOM_CLAIMS };
extern const char *const room_claim_words[N_ROOM_CLAIMS];

/* Two programs that a tool is to compare. */
struct room_pair {
	char *const *first, *const *second; /* their commands; each ends with NULL */
	int cpu;
	uint32_t samples;      /* of each program */
	const char *directory; /* for files of the tool */
	const char *db;        /* the lab book of emp-measure */
};

enum { ROOM_RULES_MAX = 2 };

struct room_answer {
	enum room_claim claims[ROOM_RULES_MAX]; /* by each of the tool's rules */
	double ratios[ROOM_RULES_MAX];          /* second / first; NAN: not known */
	int64_t runs[2];                        /* of the lab book; 0: none */
};

struct room_rule {
	const char *name;  /* in the lab book; NULL: the tool has no more rules */
	const char *label; /* in tables */
	const char *text;  /* what counts as a claim */
};

struct room_tool {
	const char *name;
	const char *program; /* that must be in PATH; NULL: EMP's own */
	const char *command; /* what is typed to compare A and B, N samples of each */
	struct room_rule rules[ROOM_RULES_MAX + 1];
	int (*compare)(const struct room_pair *pair, struct room_answer *ret, struct error *err);
};

enum { N_ROOM_TOOLS = 6 };
extern const struct room_tool room_tools[N_ROOM_TOOLS];

/* NULL: there is none of that name. */
const struct room_tool *room_tool_find(const char *name);
