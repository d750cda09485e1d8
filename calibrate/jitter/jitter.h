/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate jitter: what is printed of a run. */
#pragma once

#include "lib/record/book/book_jitter.h"

struct jitter_screen {
	int64_t run;
	enum run_state state;
	const struct jitter *jitter;
	const struct sources *sources;
	const char *kept; /* the file with the trace; NULL: none */
};

/* As text, or as a document (--json). */
int jitter_show(const struct jitter_screen *screen, struct error *err);
