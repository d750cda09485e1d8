/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine that a run is from. */
#pragma once

#include "lib/book/book.h"

/* Whether it is the one of this id (struct machine). The run's environment names it; without one (an import) the machine is
 * unknown, and the answer no. */
int run_is_from(struct book *book, const struct run *run, const char *machine, bool *ret, struct error *err);
