/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One check of an audit: what is looked at, what is wanted, why, and how to get there. The rows are in
 * check_rows.h. The functions that decide are pure; they see gathered facts only. */
#pragma once

#include "lib/base/cleanup.h"
#include "setup/audit/facts.h"
#include "setup/audit/setting.h"

enum check_state {
	CHECK_OK,
	CHECK_OFF,     /* not as wanted, and it can be changed */
	CHECK_ABSENT,  /* this machine has no such thing, or its host decides */
	CHECK_UNKNOWN, /* it could not be found out */
	CHECK_REFUSED, /* the kernel does not allow a look */
};

/* The way back where there is none. */
#define CHECK_NO_UNDO "nothing to undo"

struct finding {
	enum check_state state;
	bool by_host; /* absent, because the host of a virtual machine or container decides */
	char *value;  /* what was found, in words */
	char *items;  /* the units that are not as wanted, with blanks between; NULL if there are none */
	const char *how, *undo; /* where the row's ways do not work on this machine; else NULL */
};

struct check {
	const char *id;
	char level;       /* A: the protocol's core, B: strongly advised, C: optional */
	const char *step; /* which part of the protocol */
	const char *wanted;
	const char *why;
	const char *who;  /* advises it */
	const char *how;  /* to get there, where apply does not; %s in it is replaced by the items */
	const char *undo; /* likewise, where restore does not */
	/* NULL: the setting's files are compared with what it wants. */
	void (*decide)(const struct facts *facts, struct finding *ret);
	bool applied; /* apply does it, and it is no setting */
	struct setting setting;
};

/* The word for JSON. */
const char *check_state_name(enum check_state state);

/* Decides by the check's function, or by the files of its setting. */
void check_decide(const struct check *check, const struct setting_files *files, const struct facts *facts,
	struct finding *ret);

bool check_can_be_applied(const struct check *check);

/* For the functions that decide. */
void finding_set(struct finding *finding, enum check_state state, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Absent, and the host of this virtual machine or container decides. */
void finding_set_by_host(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void finding_add_item(struct finding *finding, const char *item);
void finding_clear(struct finding *finding);
