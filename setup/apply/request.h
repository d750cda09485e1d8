/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which checks an apply is to make. */
#pragma once

#include "setup/audit/check_rows.h"

struct request {
	const char *only; /* comma-separated ids; NULL: all of levels A and B that can surely be restored */
	const char *skip; /* likewise; NULL: none */
	bool persistent;  /* services and timers stay stopped after a reboot */
};

/* -EINVAL if a name in the lists is no check that can be applied. */
int request_validate(const struct request *request, struct error *err);
bool request_takes(const struct request *request, const struct check *check);
