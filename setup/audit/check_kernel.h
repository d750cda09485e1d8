/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EMPv4: the running kernel is the newest of this system. */
#pragma once

#include "setup/audit/check.h"

void check_kernel_version(const struct facts *facts, struct finding *ret);
void check_kernel_pending(const struct facts *facts, struct finding *ret);
