/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order in which units are stopped. */
#pragma once

#include "lib/host/systemd/units.h"
#include "setup/apply/plan.h"

/* Sorts the units of a plan, its only entries so far. */
int plan_order(struct plan *plan, struct units *units, struct error *err);
