/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's lock: one tool at a time uses a host, because two calibrations would disturb each other, and settings must
 * not change during one. The kernel releases the lock however its holder ends. The file is empty and stays; the kernel
 * tells the holder's process id, and /proc its name.
 *
 * It is /run/emp/lock. Only root and the group emp, if there is one, can open it, since whoever can open a file can
 * lock it. Who cannot takes BOOK.lock instead, and only if nobody holds the host's. EMP_LOCK names another file. */
#pragma once

#include "lib/base/error.h"

struct lock {
	int fd; /* -1: not held */
};

/* Also removes what killed owners left (leftovers.h). -EBUSY with a sentence that names the holder. `book` is without ".lock". */
int lock_take(struct lock *ret, const char *book, struct error *err);

/* Does not take a lock: -EBUSY with the same sentence if another process holds the one that `book` would need. */
int lock_look(const char *book, struct error *err);

/* NULL and a lock that is not held are fine. */
void lock_release(struct lock *lock);

/* /run/emp, where root keeps what lasts until the machine is shut down: this lock, and resolved BPF programs. */
#define RUN_DIRECTORY "/run/emp"

/* Its descriptor; root makes it if it is not there. -ENOENT without a sentence: there is none; -EPERM with a sentence: others
 * than root can write to it. */
int run_directory_open(const char *path, struct error *err);
