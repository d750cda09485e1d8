/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of an audit, one row each, in the order of the protocol: what is wanted, why, how to
 * get there, and the setting that apply makes for it. */
#pragma once

#include "setup/audit/finding.h"
#include "setup/audit/setting_want.h"
#include "lib/host/system/kernel_setting.h"

typedef void check_decider(
	const struct check *check, const struct facts *facts, struct finding *ret);

/* Begins the function that decides a check: `check` is its row, `f` the facts, `ret` takes what it
 * finds. checks.c alone calls such functions, and declares them above its table. */
#define DECIDER(name)       \
	check_decider name; \
	void name(const struct check *check, const struct facts *f, struct finding *ret)

/* Order of setting: services first (tuned and others restore their own values when they stop), then
 * limits from the outside in: governor, frequencies, preferences, turbo, perf, the rest. Order of
 * restoring: SMT, since CPUs come back with default values; the governor, since it changes turbo
 * and preferences; turbo, since it limits the frequencies, that of all policies first: while it is
 * off, that of a policy cannot be written; then the rest; services last. */
enum setting_order {
	ORDER_FIRST,
	ORDER_GOVERNOR,
	ORDER_TURBO,
	ORDER_TURBO_POLICY,
	ORDER_LIMITS,
	ORDER_PREFERENCE,
	ORDER_PERF,
	ORDER_REST,
	ORDER_KEPT, /* files that are only restored */
	N_ORDERS,
};

/* What apply can set: a file of the kernel, or many of one kind, and the value they should hold. */
struct setting {
	const char *pattern; /* of the files; NULL: nothing can be set */
	enum kernel_setting_kind kind;
	const char *want;
	setting_want_of *want_of; /* where each file has a value of its own */
	const char *no_want;      /* why a file has none, where want_of may find none */
	kernel_setting_writer *write;
	/* in which files are set, and those of one order as the rows stand; and restored */
	enum setting_order order, restore_order;
	bool on_request; /* only where --only names it */
	bool isolates;   /* belongs to an isolated CPU: --isolate implies it */
	bool hardware;   /* a virtual machine does not have it: its host decides */
	/* patterns of files, ended by NULL, that lose their values while the setting is applied:
	 * they are only restored */
	const char *const *keeps;
	const char *costs; /* what others lose meanwhile; NULL: nothing */
	/* the id of a check whose files the kernel changes with these: applied and restored
	 * together */
	const char *coupled_check;
};

/* Ids of the checks that apply asks for. */
#define CHECK_ID_SERVICES "svc.units"
#define CHECK_ID_TIMERS "svc.timers"
#define CHECK_ID_NTP "ntp.on"
#define CHECK_ID_ISOLATED "isolated"

struct check {
	/* Never renamed: journals of what is applied, documents, and the scripts of users have it
	 * (--only, --skip). */
	const char *id;
	char level;       /* A: the protocol's core, B: strongly advised, C: optional */
	const char *step; /* which part of the protocol */
	const char *wanted;
	const char *why;  /* NULL: as difference_rules has it */
	const char *who;  /* advises it */
	const char *how;  /* to get there, where apply does not */
	const char *undo; /* likewise; NULL: restore does it, or there is nothing to undo */
	bool of_policies; /* of cpufreq: absent where there are none */
	/* the id of the check by whose files it shows that a host decides this one; NULL: its own
	 */
	const char *files_of;
	/* NULL: `number` decides, or else the setting's files are compared with what they should
	 * hold. */
	check_decider *decide;
	struct {
		size_t at; /* an int64_t of struct facts */
		struct {
			enum check_state state; /* CHECK_BY_HOST: see finding_set_absent */
			const char *text;
		} found[3]; /* where it is negative, 0, greater */
	} number;
	bool applied; /* apply does it, and it is no setting */
	struct setting setting;
};

extern const struct check check_rows[]; /* ends with {} */
extern const size_t n_check_rows;

/* The id of the i-th row; NULL after the last. */
const char *check_rows_id(size_t i);

/* NULL: there is no such check. */
const struct check *check_rows_find(const char *id);

/* Why it affects times. */
const char *check_why(const struct check *check);
