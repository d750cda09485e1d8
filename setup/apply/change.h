/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carries out a plan. After a stop at any crash point (crash_point.h), what the journal holds can be restored. */
#pragma once

#include "lib/host/systemd/units.h"
#include "setup/apply/plan.h"
#include "setup/apply/report.h"

/* Carries out plan->order and reports what became of it. Only a failure to write the journal is an error. */
int change_apply(struct plan *plan, struct units *units, struct report *report, struct error *err);
