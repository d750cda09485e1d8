/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a person is looking, and how a word may be marked for them. NO_COLOR and TERM=dumb are honoured. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum mark { MARK_GOOD, MARK_BAD, MARK_WARN, MARK_STRONG, MARK_FAINT, MARK_END };

bool terminal_is(FILE *file);

/* The escape sequence for `mark` on `file`, "" where there is no colour. */
const char *terminal_mark(FILE *file, enum mark mark);

/* From now on nobody is looking: no colour, no bar. */
void terminal_be_plain(void);
