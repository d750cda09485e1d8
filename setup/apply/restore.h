/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restores what the journal holds: for the verb restore, and after the command of apply --for. */
#pragma once

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct restore_options {
	bool force;   /* also what somebody else has changed since */
	bool forget;  /* drop what is left alone or cannot be restored */
	size_t first; /* entries before this one stay applied */
};

/* Under the host's lock; shows the result. A status of tool.h. */
int restore_journal(const struct restore_options *how, struct error *err);
