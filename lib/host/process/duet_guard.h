/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that thaws cgroups if this one is killed. Nothing else would: a frozen process does not notice that its
 * parent has died. */
#pragma once

#include "lib/host/process/cgroup.h"

struct duet_guard;

/* For all cgroups below `parent`, also those that are made later. The process sleeps until this one ends or frees it. */
int duet_guard_new(struct duet_guard **ret, const struct cgroup *parent, struct error *err);
void duet_guard_free(struct duet_guard *guard);
DEFINE_FREEP(duet_guard)
