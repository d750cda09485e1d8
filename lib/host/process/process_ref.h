/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process as text that can be stored: which process runs a calibration, and whether it still exists, also after a
 * kill -9 or a reboot. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PROCESS_REF_SIZE = 96 };

/* This process: boot id, pid, and when it started (pids are reused). Returns `buffer`. */
char *process_ref_self(char buffer[PROCESS_REF_SIZE]);

/* When a process started (ns since 1970, to a clock tick); 0: there is none. */
int64_t process_ref_started_ns(pid_t pid);

/* The same in clock ticks since the machine was started, which setting the clock does not change. */
uint64_t process_ref_start_ticks(pid_t pid);

/* Its pid if it runs, else 0. 0 for NULL and for other text. */
pid_t process_ref_pid(const char *ref);
