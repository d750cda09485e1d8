/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a check has found, and how it is decided: by its function, by a number, or by the files of
 * its setting. */
#pragma once

#include "setup/audit/facts.h"

enum check_state {
	CHECK_OK,
	CHECK_OFF,     /* not as wanted, and it can be changed */
	CHECK_ABSENT,  /* this machine has no such thing */
	CHECK_BY_HOST, /* likewise, because the host of this virtual machine or container decides */
	CHECK_UNKNOWN, /* it could not be found out */
	CHECK_REFUSED, /* the kernel does not allow a look */
};

/* The way back where there is none. */
#define CHECK_NO_UNDO "nothing to undo"

struct finding {
	enum check_state state;
	char *value; /* what was found, in words */
	/* the units that are not as wanted, with blanks between; NULL if there are none */
	char *items;
	/* to get there, where the row's way does not work on this machine; else NULL */
	char *how;
	const char *undo; /* likewise */
	bool shown, open; /* by the audit's options; not as wanted, or not known to be */
};

/* Decides a check by its row. */
void check_decide(const struct check *check, const struct facts *facts, struct finding *ret);

/* For the functions that decide: what was found, in words. */
void finding_set(struct finding *finding, enum check_state state, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The thing is absent on a real machine: `words` say so. In a virtual machine, its host may have
 * it. */
void finding_set_absent(struct finding *finding, const struct facts *facts, const char *words);
void finding_clear(struct finding *finding);
