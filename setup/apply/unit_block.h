/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps units from being started by anybody, and ends that. */
#pragma once

#include "lib/host/systemd/units.h"
#include "setup/apply/journal.h"

/* As entry->block says; needs units_reload after it. 0 if it is blocked already. */
int unit_block_add(struct units *units, const struct entry *entry, struct error *err);
/* Removes what unit_block_add made; 0 if there is nothing. */
int unit_block_remove(struct units *units, const struct entry *entry, struct error *err);
