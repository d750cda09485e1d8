/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which shape the scatter of a run's dual executions has. shape.h finds it. */
#pragma once

enum verdict {
	VERDICT_L,        /* rare long samples, in the arms of an L, that daemons explain */
	VERDICT_CLEAN,    /* one cluster, and no daemon that explains what lies outside it */
	VERDICT_FREQUENT, /* long samples that daemons explain are so many that they meet in the upper right */
	VERDICT_DRIFT,    /* the speed of the machine wanders from beginning to end */
	VERDICT_STEP,     /* two speeds: it changed in between, or goes back and forth */
};

const char *verdict_name(enum verdict verdict); /* "L", "clean", "frequent", "drift", "step" */
