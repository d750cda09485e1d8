/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One user of a host at a time: two calibrations would disturb each other, and settings must not change during
 * one. The kernel releases the lock however its holder ends; the file says who holds it. */
#pragma once

#include "lib/base/error.h"

struct lock {
	int fd; /* -1: not held */
	char *path;
};

/* The host's lock file: EMP_LOCK, else /run/lock/emp.lock; if that cannot be written, `beside` with ".lock"
 * (then it only protects that file). The caller frees it. */
int lock_path(const char *beside, char **ret, struct error *err);

/* `what` describes the holder: "emp-calibrate run, profile 'lab1'". -EBUSY with a sentence that names the holder. */
int lock_take(struct lock *ret, const char *path, const char *what, struct error *err);

/* Only looks: -EBUSY with that sentence if somebody holds it. */
int lock_look(const char *path, struct error *err);

/* NULL and a lock that is not held are fine. The file is removed. */
void lock_release(struct lock *lock);
