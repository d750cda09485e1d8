/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a thread that only the running system has. */
#pragma once

#include "lib/host/accounting/identity.h"

#include <stdbool.h>

/* Whether it is a kernel thread, and its unit (as long as the identity; NULL: none or not known). A thread that has ended leaves both as they
 * are. */
void jitter_describe_thread(
	struct identity *identity, pid_t pid, const char *name, bool *ret_kernel, const char **ret_unit);
