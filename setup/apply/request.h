/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What options.only, .skip and .isolate request of the checks. */
#pragma once

#include "setup/audit/checks.h"

/* Whether options.only, .skip and .isolate have an apply make this check. */
bool request_takes(const struct check *check);
/* -EINVAL if a name in these lists is no check that can be applied. */
int request_validate(struct error *err);
