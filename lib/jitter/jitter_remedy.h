/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keeps a source from interrupting a CPU: a command, an option of the kernel, or nothing. The
 * commands name the checks of emp-setup(1). */
#pragma once

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

struct remedy {
	enum remedy_kind kind;
	/* a command, a boot option, or a sentence (REMEDY_NONE, REMEDY_PROGRAM); names of units
	 * have 255 bytes at most */
	char how[512];
};

/* cpu: that was interrupted; -1: several. never: why the policy says that the unit must not be
 * stopped; NULL: it does not. listed: the policy stops the unit. */
struct remedy jitter_remedy(const struct source *source, int cpu, const char *never, bool listed);
