/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What only the running system knows of a thread. */
#pragma once

#include "lib/host/accounting/identity.h"

#include <stdbool.h>

/* Whether it is the kernel's, and its unit (as long as the identity; NULL: none or not known). A thread that has ended leaves both as they
 * are. */
void jitter_describe_thread(
	struct identity *identity, pid_t pid, const char *name, bool *ret_kernel, const char **ret_unit);
