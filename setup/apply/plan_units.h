/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which units apply will stop, and which time daemon it will start. */
#pragma once

#include "setup/apply/plan.h"
#include "setup/apply/report.h"
#include "setup/apply/request.h"

/* Adds them to a plan that has no files yet. `units` may be NULL. */
int plan_units(struct plan *plan, const struct facts *facts, const struct request *request,
	struct units *units, struct report *report, struct error *err);
