/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's lock: one tool at a time uses a host, because two calibrations would disturb each
 * other, and settings must not change during one. The kernel releases the lock however its holder
 * ends. The file is empty and stays; the kernel tells the holder's process id, and /proc its name.
 *
 * It is /run/emp/lock. Only root and the group emp, if there is one, can open it, since whoever can
 * open a file can lock it. Who cannot takes BOOK.lock instead, and only if nobody holds the host's.
 * EMP_LOCK names another file. */
#pragma once

#include "lib/base/base.h"

#include <sched.h>
#include <sys/types.h>

/* Gives a descriptor, until whose closing the lock is held. Also removes what killed owners left
 * (leftovers_remove). -EBUSY with a sentence that names the holder. `book` is without ".lock". */
int lock_take(int *ret_fd, const char *book, struct error *err);

/* Does not take a lock: -EBUSY with the same sentence if another process holds the one that `book`
 * would need. */
int lock_look(const char *book, struct error *err);

/* Measurements, which do not need the whole host, take turns on its cores (CPUs that share one, SMT
 * siblings, count as one): those on different cores may run at the same time. The file is
 * /run/emp/measuring, or that of EMP_LOCK with ".measuring". Who cannot open it waits for those who
 * can, and takes turns in BOOK.measuring. The kernel releases a turn however its owner ends. */

/* cpus NULL: on all cores. *fd is -1 at first, and is kept from one try to the next; the turn ends
 * when it is closed. 1: taken; or a process that this one descends from has it, so that waiting
 * would be for ever. 0: another process has it, of which err says "emp-measure (process 12, since
 * 2026-11-21 14:03:59)". -errno with a sentence. */
int turn_take(int *fd, const char *book, const cpu_set_t *cpus, struct error *err);

/* /run/emp, where root keeps what lasts until the machine is shut down: this lock, and resolved BPF
 * programs. */
#define RUN_DIRECTORY "/run/emp"

/* Its descriptor; root makes it if it is not there. -ENOENT without a sentence: there is none;
 * -EPERM with a sentence: others than root can write to it. */
int run_directory_open(const char *path, struct error *err);
