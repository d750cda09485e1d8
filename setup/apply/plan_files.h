/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of the kernel that apply will set, and those that lose their values meanwhile. */
#pragma once

#include "setup/apply/plan.h"

/* Adds the isolated partition, the settings of all checks that are requested, in their order, and
 * the files that are only restored. */
int plan_files(struct plan *plan, struct error *err);
