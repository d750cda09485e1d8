/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program under test: started without copying the parent, in a cgroup of its own where there is one,
 * on a chosen CPU, waited for by pidfd; its elapsed and process time. */
#pragma once

#include "lib/base/error.h"
#include "lib/host/accounting/accounting.h"
#include "lib/host/process/cgroup.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct spawn {
	char *const *argv;                  /* ends with NULL */
	const char *path;                   /* the file to execute: executable_find's answer */
	int cpu;                            /* -1: where affinity, or else the caller's mask, allows */
	const cpu_set_t *affinity;          /* NULL: as the caller's */
	bool new_session;                   /* it leads a session of its own, without a terminal */
	int stdin_fd, stdout_fd, stderr_fd; /* -1: as the caller's */
	struct cgroup *cgroup;              /* NULL: PT comes from wait4, waited-for processes only */
	struct accounting *accounting;      /* drained while the program runs; may be NULL */
	int64_t timeout_ns;                 /* 0: none; then the whole tree is ended */
	int64_t linger_ns;                  /* how long processes that the program left behind may go on */
};

enum spawn_end {
	SPAWN_ENDED,       /* by itself: wait_status tells how */
	SPAWN_TIMED_OUT,   /* we ended it */
	SPAWN_STOPPED,     /* it stopped itself, nobody would have let it go on, and we ended it */
	SPAWN_INTERRUPTED, /* a signal came for us, and we ended it */
};

struct spawned {
	enum spawn_end end;
	int wait_status;  /* as wait(2) */
	int64_t start_ns; /* CLOCK_REALTIME at the start */
	int64_t et_ns;    /* CLOCK_MONOTONIC_RAW around the program, from its start to its end */
	int64_t pt_ns, user_ns, system_ns;
	bool pt_partial; /* PT is wait4's: what the program did not wait for is missing */
	int64_t max_rss_bytes;
	long voluntary_switches, involuntary_switches;
	int left_behind; /* processes that outlived it */
	int killed;      /* of those, how many were ended by us after linger_ns */
};

/* Runs the program once. A failure of execve (-ENOENT, -EACCES, -ENOEXEC, -E2BIG) is an error with a
 * sentence; a program that fails is not. */
int spawn_run(const struct spawn *spawn, struct spawned *ret, struct error *err);

/* Exit status as a shell gives it: 0-255, 128 + signal. */
int spawn_exit_status(int wait_status);
