/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemons that made samples long, and what starts them. Apart from results.h, because it asks
 * systemd, and emp-measure, which uses results.h, must not link libsystemd. */
#pragma once

#include "lib/book/book.h"
#include "lib/protocol/analysis.h"

/* The daemons that made samples of one run or several long: for each, its executions in each run,
 * what starts it, and how to stop it. The last two come from this machine (systemd, the policy of
 * emp-setup), and are omitted for runs of another. */
int daemon_causes_print(struct book *book, const struct analysis *analyses, size_t n, FILE *file,
	struct error *err);
