/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of an audit as table rows: what is looked at, what is wanted, why, and how to get there. The
 * functions that decide are pure; they see gathered facts only. */
#pragma once

#include "lib/base/cleanup.h"
#include "setup/facts.h"

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
	const char
		*how; /* to get there, where the row's way does not lead there on this machine; else NULL */
};

struct check {
	const char *id;
	char level;       /* A: the protocol's core, B: strongly advised, C: optional, R: only recorded */
	const char *step; /* which part of the protocol */
	const char *wanted;
	const char *why;
	const char *how;  /* to get there; %s in it is replaced by the items */
	const char *undo; /* likewise */
	const char *who;  /* advises it */
	void (*decide)(const struct facts *facts, struct finding *ret);
};

extern const struct check checks[]; /* in the order of the protocol; ends with {} */

const char *check_state_word(enum check_state state);

/* Used by the functions that decide. */
void finding_set(struct finding *finding, enum check_state state, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void finding_add_item(struct finding *finding, const char *item);
void finding_clear(struct finding *finding);

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
void check_delayacct(const struct facts *facts, struct finding *ret);
