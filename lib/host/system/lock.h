/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One at a time on a host: two calibrations would be in each other's samples, and settings must not change in
 * the middle of one. The kernel holds the lock, and lets go of it however its holder ends; the file says who
 * that is. */
#pragma once

#include "lib/base/error.h"

struct lock {
	int fd; /* -1: not held */
	char *path;
};

/* The host's lock file: EMP_LOCK, else /run/lock/emp.lock; where that cannot be written, beside the file
 * `beside` (then it keeps apart those who share that file). The caller frees it. */
int lock_path(const char *beside, char **ret, struct error *err);

/* `what` is what the holder does, for others to read: "emp-calibrate run, profile 'lab1'". -EBUSY with a
 * sentence that names the holder. */
int lock_take(struct lock *ret, const char *path, const char *what, struct error *err);

/* For those who do not need the host for themselves: -EBUSY with that sentence if somebody has it. */
int lock_look(const char *path, struct error *err);

/* NULL and a lock that is not held are fine. The file is removed. */
void lock_release(struct lock *lock);
