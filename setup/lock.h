/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One emp-setup at a time changes a machine. */
#pragma once

#include "lib/base/error.h"

/* *ret is to be given to lock_release. -EBUSY with a sentence that names who has it. */
int lock_take(int *ret, struct error *err);
void lock_release(int *fd);
