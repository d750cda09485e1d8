/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of verdicts: see verdict.h. */
#include "lib/protocol/verdict.h"

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_L] = "L",
		[VERDICT_CLEAN] = "clean",
		[VERDICT_FREQUENT] = "frequent",
		[VERDICT_DRIFT] = "drift",
		[VERDICT_STEP] = "step",
	};

	return names[verdict];
}
