/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process of a program under test, from clone to execve. program.c and the workers of a load
 * start programs by it; waiting for them, and their costs, are not its concern. */
#pragma once

#include "lib/host/accounting/accounting.h"
#include "lib/host/process/cgroup.h"
#include "lib/host/process/exec_result.h"

#include <sched.h>

struct command_spec {
	char *const *argv;        /* ends with NULL */
	const char *path;         /* the file to execute: executable_find's answer */
	char *const *environment; /* NULL: the user's */
	/* -1: where affinity, or else the caller's mask, allows */
	int cpu;
	const cpu_set_t *affinity; /* NULL: as the caller's */
	bool survives;             /* it goes on if this process is killed */
	bool new_session;          /* it leads a session of its own, without a terminal */
	bool own_group; /* it leads a process group, which the caller stops and continues */
	int stdin_fd, stdout_fd, stderr_fd; /* -1: as the caller's */
	/* stderr_fd is a file in memory, of which only the end is kept if it grows long */
	bool short_stderr;
	/* its own; NULL: PT comes from wait4, waited-for processes only */
	struct cgroup *cgroup;
	struct accounting *accounting; /* drained while the program runs; may be NULL */
	struct prober *prober;         /* of its CPU; NULL: nobody looks for a neighbour */
	int64_t timeout_ns;            /* 0: none; then the program and all it started are killed */
	int64_t linger_ns;             /* how long processes that the program left behind may run */
	/* of the scheduler, where it can be set (slices.h); 0: its own */
	int64_t slice_ns;
	bool frozen_at_times; /* the caller freezes and thaws the cgroup */
	bool wait_unused;     /* nobody asks how long it waits for a CPU */
	/* its tag (tag.h): of programs that run at once, each has another */
	unsigned int number;
	/* others run beside it: what has no tag is none of its own, but the caller's to end */
	bool has_partners;
};

/* The program has been executed when this returns. Sets what is known of it then, its process id
 * and what was so just before execve; the other members are those of exec_result_clear. The caller
 * closes the pidfd. */
int program_launch(const struct command_spec *spec, struct exec_result *ret, int *ret_pidfd,
	struct error *err);
