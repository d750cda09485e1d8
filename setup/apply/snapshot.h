/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a restore must leave as it was: the states of all units and of their files, masks and drop-ins, and the files of
 * cpufreq, SMT and CPUs. It is taken before the first change, and compared at the end of a restore. It is only for the
 * report: what restore does is in the journal. */
#pragma once

#include "lib/host/systemd/units.h"
#include "setup/apply/report.h"

/* Takes one and writes it beside the journal. `list`: NULL where systemd does not answer. */
int snapshot_save(const struct unit_list *list, struct error *err);

/* Reports everything that is not as it was, with OUTCOME_DIFFERENT; nothing if there is no snapshot of this boot.
 * Names that the report has explained are left out, and so are units that come and go by themselves. */
int snapshot_compare(struct units *units, struct report *report, struct error *err);
