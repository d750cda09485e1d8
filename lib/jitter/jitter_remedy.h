/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keeps a source from interrupting a CPU: a command, an option of the kernel, or nothing. A pure function of what is
 * known of the source; it looks nothing up. */
#pragma once

#include "lib/base/error.h"
#include "lib/record/run.h"

enum remedy_kind {
	REMEDY_NONE,
	REMEDY_POLICY,  /* the policy of emp-setup stops the unit */
	REMEDY_UNIT,    /* to stop by hand */
	REMEDY_ISOLATE, /* processes are kept off the CPU */
	REMEDY_IRQ,     /* interrupts go to another CPU */
	REMEDY_SETTING, /* of the kernel, by emp-setup */
	REMEDY_BOOT,    /* an option at boot */
	REMEDY_PROGRAM, /* in the measured program itself */
	N_REMEDY_KINDS
};

extern const char *const remedy_kind_names[N_REMEDY_KINDS];

struct remedy_facts {
	const struct source *source;
	int cpu;           /* that was interrupted; -1: several */
	const char *never; /* why the policy says that the unit must not be stopped; NULL: it does not */
	bool listed;       /* the policy stops the unit */
};

enum { REMEDY_SIZE = 512 }; /* names of units have at most 255 bytes */

struct remedy {
	enum remedy_kind kind;
	char how[REMEDY_SIZE]; /* a command, a boot option, or a sentence (REMEDY_NONE, REMEDY_PROGRAM) */
};

struct remedy jitter_remedy(const struct remedy_facts *facts);
