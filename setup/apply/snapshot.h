/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state before the first change, which a restore must leave as it was: of all units, of their
 * files, masks and drop-ins, and the files of cpufreq, SMT and CPUs. It is only for the report:
 * what restore does is in the journal. */
#pragma once

#include "lib/host/systemd/units.h"
#include "setup/apply/report.h"

/* Takes it before the first change, and writes it beside the journal. `list`: NULL where systemd
 * does not answer. */
int snapshot_save(const struct unit_list *list, struct error *err);

/* Reports everything that is not as it was, with OUTCOME_DIFFERENT; nothing if there is no snapshot
 * of this boot. What the report has explained is left out, and so are units that come and go by
 * themselves. `units`: NULL where systemd does not answer. */
int snapshot_compare(struct units *units, struct report *report, struct error *err);
