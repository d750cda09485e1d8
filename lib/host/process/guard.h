/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that cleans up if this one is killed. It sleeps until this one ends or frees it. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

struct guard;

/* What it does then; `fd` is its own copy, and the only descriptor that it has. */
typedef void guard_act(int fd, const void *data);

/* `data` is copied with the process: what this one changes later, the guard does not see. */
int guard_new(struct guard **ret, guard_act *act, int fd, const void *data, struct error *err);
/* Returns when the guard has acted. */
void guard_free(struct guard *guard);
DEFINE_FREEP(guard)
