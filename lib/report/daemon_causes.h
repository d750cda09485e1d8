/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemons that made samples long: for each, its executions in each run, what starts it, and how to stop it. The
 * last two come from this machine (systemd, the policy of emp-setup), and are omitted for runs of another. */
#pragma once

#include "lib/protocol/analysis.h"
#include "lib/book/book.h"

#include <stdio.h>

/* Of one run or several. */
int daemon_causes_print(
	struct book *book, const struct analysis *const analyses[], size_t n, FILE *file, struct error *err);
