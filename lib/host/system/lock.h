/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's lock: one tool at a time uses a host, because two calibrations would disturb each other, and settings must not change during
 * one. The kernel releases the lock however its holder ends. The file names the holder. */
#pragma once

#include "lib/base/error.h"

struct lock {
	int fd; /* -1: not held */
	char *path;
};

/* The host's lock file: EMP_LOCK, else /run/lock/emp.lock; if that cannot be written, `book` with ".lock"
 * appended (then it only protects that book). The caller frees it. */
int lock_path(const char *book, char **ret, struct error *err);

/* `what` describes the holder: "emp-calibrate run, profile 'lab1'". -EBUSY with a sentence that names the holder. */
int lock_take(struct lock *ret, const char *path, const char *what, struct error *err);

/* Does not take the lock: -EBUSY with the same sentence if another process holds it. */
int lock_look(const char *path, struct error *err);

/* NULL and a lock that is not held are fine. The file is removed. */
void lock_release(struct lock *lock);
