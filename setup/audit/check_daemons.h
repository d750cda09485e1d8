/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EMPv1: services and timers that are not needed, judged by the policy. */
#pragma once

#include "setup/audit/check.h"

void check_daemons_services(const struct facts *facts, struct finding *ret);
void check_daemons_timers(const struct facts *facts, struct finding *ret);
void check_daemons_unknown(const struct facts *facts, struct finding *ret);
void check_daemons_due(const struct facts *facts, struct finding *ret);
