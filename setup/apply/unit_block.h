/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeping units from being started by anybody, and letting them go again. */
#pragma once

#include "lib/host/systemd/units.h"
#include "setup/apply/journal.h"

/* As entry->block says; needs units_reload after it. 0 if it is so already. */
int unit_block(struct units *units, const struct entry *entry, struct error *err);
/* Takes away what unit_block made; 0 if it is not there. */
int unit_unblock(struct units *units, const struct entry *entry, struct error *err);
