/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of an audit as table rows: what is looked at, what is wanted, why, and how to get there. The
 * functions that decide are pure; they see gathered facts only. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/host/cpu/kernel_setting.h"
#include "setup/audit/facts.h"

enum check_state {
	CHECK_OK,
	CHECK_OFF,     /* not as wanted, and it can be helped */
	CHECK_ABSENT,  /* this machine has no such thing, or its host decides it */
	CHECK_UNKNOWN, /* it could not be found out */
	CHECK_REFUSED, /* the kernel does not let us look */
};

struct finding {
	enum check_state state;
	char *value; /* what was found, in words */
	char *items; /* the units that are not as wanted, with blanks between; NULL where there are none */
	const char *how,
		*undo; /* where the row's ways do not lead there and back on this machine; else NULL */
};

/* What apply can do about a check that is a file, or many of one kind. */
struct setting {
	const char *pattern; /* of the files; NULL: nothing can be set */
	enum kernel_setting_kind kind;
	const char *want;
	/* Where it is another value for each file; the caller frees it; NULL: not known. */
	char *(*want_of)(const struct facts *facts, const char *path);
	kernel_setting_writer *write;
	int order;         /* lower ones are set first, and with equal ones the order of the rows counts */
	int restore_order; /* lower ones are put back first */
	bool on_request;   /* only where --only names it */
	const char *along; /* the id of a check whose files the kernel changes with these: applied and put
			      back too */
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

extern const struct check checks[]; /* in the order of the protocol; ends with {} */
extern const size_t n_checks;

const char *check_state_word(enum check_state state);

/* Used by the functions that decide. */
void finding_set(struct finding *finding, enum check_state state, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void finding_add_item(struct finding *finding, const char *item);
void finding_clear(struct finding *finding);

/* What decides for row `i` of checks[], by its function or by its files. */
void check_decide(size_t i, const struct facts *facts, struct finding *ret);

/* What a file of a setting should hold; NULL: not known. The caller frees it. */
char *setting_want(const struct setting *setting, const struct facts *facts, const char *path);

/* The limits that hold a policy at its base frequency. */
char *frequency_limits_wanted(const struct facts *facts, const char *path);

void check_services(const struct facts *facts, struct finding *ret);
void check_timers(const struct facts *facts, struct finding *ret);
void check_ntp(const struct facts *facts, struct finding *ret);
void check_frequency_driver(const struct facts *facts, struct finding *ret);
void check_governor(const struct facts *facts, struct finding *ret);
void check_min_frequency(const struct facts *facts, struct finding *ret);
void check_turbo_intel(const struct facts *facts, struct finding *ret);
void check_turbo_boost(const struct facts *facts, struct finding *ret);
void check_turbo_policy(const struct facts *facts, struct finding *ret);
void check_speedstep(const struct facts *facts, struct finding *ret);
void check_kernel_version(const struct facts *facts, struct finding *ret);
void check_kernel_pending(const struct facts *facts, struct finding *ret);
void check_max_frequency(const struct facts *facts, struct finding *ret);
void check_smt(const struct facts *facts, struct finding *ret);
void check_strangers(const struct facts *facts, struct finding *ret);
void check_due(const struct facts *facts, struct finding *ret);
void check_packagers(const struct facts *facts, struct finding *ret);
void check_load(const struct facts *facts, struct finding *ret);
void check_clocksource(const struct facts *facts, struct finding *ret);
void check_swap(const struct facts *facts, struct finding *ret);
void check_tracer(const struct facts *facts, struct finding *ret);
void check_mains(const struct facts *facts, struct finding *ret);
void check_latency(const struct facts *facts, struct finding *ret);
void check_delayacct(const struct facts *facts, struct finding *ret);
