/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One check of an audit: what is looked at, what is wanted, why, and how to get there; and the setting that apply
 * makes for it. The rows are in check_rows.h. The functions that decide are pure; they see gathered facts only. */
#pragma once

#include "lib/host/system/kernel_setting.h"
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
	char *items; /* the units that are not as wanted, with blanks between; NULL if there are none */
	const char *how, *undo; /* where the row's ways do not work on this machine; else NULL */
};

typedef void check_decider(const struct facts *facts, struct finding *ret);

/* What apply can set: a file of the kernel, or many of one kind, and the value they should hold. */
struct setting {
	const char *pattern; /* of the files; NULL: nothing can be set */
	enum kernel_setting_kind kind;
	const char *want;
	/* Where each file has a value of its own; the caller frees it; NULL: not known. */
	char *(*want_of)(const struct facts *facts, const char *path);
	kernel_setting_writer *write;
	int order;         /* lower ones are set first; equal ones in the order of the rows */
	int restore_order; /* lower ones are restored first */
	bool on_request;   /* only where --only names it */
	bool isolates;     /* belongs to an isolated CPU: --isolate implies it */
	bool hardware;     /* a virtual machine does not have it: its host decides */
	const char *const
		*keeps;    /* patterns of files, ended by NULL, that lose their values while the setting is
				     applied: they are only restored */
	const char *along; /* the id of a check whose files the kernel changes with these: applied and
			      restored together */
};

struct check {
	const char *id;
	char level;       /* A: the protocol's core, B: strongly advised, C: optional */
	const char *step; /* which part of the protocol */
	const char *wanted;
	const char *why;
	const char *who;       /* advises it */
	const char *how;       /* to get there, where apply does not; %s in it is replaced by the items */
	const char *undo;      /* likewise, where restore does not */
	check_decider *decide; /* NULL: the setting's files are compared with what it wants */
	bool applied;          /* apply does it, and it is no setting */
	struct setting setting;
};

/* The files of a setting as they are now. */
struct setting_files {
	struct setting_file {
		char *path;
		char *value; /* NULL: it could not be read */
		int error;   /* why, negative */
	} * items;
	size_t n;
};

/* What a file of a setting should hold; NULL: not known. The caller frees it. */
char *setting_want(const struct setting *setting, const struct facts *facts, const char *path);

/* The word for JSON. */
const char *check_state_name(enum check_state state);

/* Decides by the check's function, or by the files of its setting. */
void check_decide(const struct check *check, const struct setting_files *files, const struct facts *facts,
	struct finding *ret);

bool check_can_be_applied(const struct check *check);

/* For the functions that decide. */
void finding_set(struct finding *finding, enum check_state state, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Absent on a real machine, for which `words` are; a virtual one may have a host with what is not visible here. */
void finding_set_absent(struct finding *finding, const struct facts *facts, const char *words);
void finding_clear(struct finding *finding);

/* Lists as text: whether one has the item, and adding one ("" or NULL: an empty list). Without memory the list is
 * as before. */
bool list_has(const char *list, char separator, const char *item);
void list_add(char **list, const char *separator, const char *item);
