/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EMPv3: governor, frequency limits, turbo, SpeedStep. */
#pragma once

#include "setup/audit/check.h"

void check_frequency_driver(const struct facts *facts, struct finding *ret);
void check_frequency_governor(const struct facts *facts, struct finding *ret);
void check_frequency_min(const struct facts *facts, struct finding *ret);
void check_frequency_max(const struct facts *facts, struct finding *ret);
void check_frequency_turbo_intel(const struct facts *facts, struct finding *ret);
void check_frequency_turbo_boost(const struct facts *facts, struct finding *ret);
void check_frequency_turbo_policy(const struct facts *facts, struct finding *ret);
void check_frequency_speedstep(const struct facts *facts, struct finding *ret);

/* The limits that hold a policy at its base frequency; NULL: not known. The caller frees it. */
char *check_frequency_limits(const struct facts *facts, const char *path);
