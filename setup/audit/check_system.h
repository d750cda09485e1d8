/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What else may disturb a run: load, swap, tracers, package managers, SMT, idle states. */
#pragma once

#include "setup/audit/check.h"

void check_system_packagers(const struct facts *facts, struct finding *ret);
void check_system_load(const struct facts *facts, struct finding *ret);
void check_system_clocksource(const struct facts *facts, struct finding *ret);
void check_system_swap(const struct facts *facts, struct finding *ret);
void check_system_tracer(const struct facts *facts, struct finding *ret);
void check_system_mains(const struct facts *facts, struct finding *ret);
void check_system_latency(const struct facts *facts, struct finding *ret);
void check_system_delayacct(const struct facts *facts, struct finding *ret);
void check_system_smt(const struct facts *facts, struct finding *ret);
