/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EMPv2: exactly one daemon disciplines the clock, and both it and the kernel say so. */
#pragma once

#include "setup/audit/check.h"

void check_ntp(const struct facts *facts, struct finding *ret);
