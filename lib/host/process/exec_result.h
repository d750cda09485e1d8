/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one execution of a program under test used and how it ended. A value that samples are to
 * have begins here: as a member, and as a row of the table in exec_result.c, which says what it is
 * in a sum, in a mean, and before it is known. */
#pragma once

#include "lib/base/base.h"

#include <sys/types.h>

enum program_end {
	PROGRAM_ENDED,       /* by itself: see wait_status */
	PROGRAM_TIMED_OUT,   /* killed after timeout_ns */
	PROGRAM_STOPPED,     /* killed because it stopped itself and nothing would resume it */
	PROGRAM_FROZEN,      /* killed because it froze its cgroup */
	PROGRAM_INTERRUPTED, /* killed because a signal came for this process */
};

struct exec_result {
	enum program_end end;
	pid_t pid;       /* of its first process */
	int wait_status; /* as wait(2) */
	int left_behind; /* processes that outlived it */
	int killed;      /* of those, how many were killed after linger_ns */
	/* some of the program ran outside its cgroup. PT is at least this: the greater of the
	 * cgroup's and that of wait4 */
	bool escaped;

	/* at the start: CLOCK_REALTIME, and CLOCK_MONOTONIC_RAW */
	int64_t start_ns, start_raw_ns;
	/* CLOCK_MONOTONIC_RAW around the program, from its start to its end */
	int64_t et_ns;
	int64_t end_delay_ns; /* how much later this process ran again; not in et_ns */
	/* the end may have been up to this much before that of et_ns; 0: it is exact; -1: not
	 * known */
	int64_t late_ns;

	int64_t pt_ns, user_ns, system_ns; /* since the start */
	/* CPU time of its first process before the start, in none of the above */
	int64_t before_ns;
	int64_t max_rss_bytes;
	int64_t voluntary_switches, involuntary_switches;

	int64_t wait_before_ns; /* that it waited for a CPU before start_ns; -1: not known */
	/* that it waited for one since; -1: not known. Only where its first thread has all of PT,
	 * and where the accounting is not BPF, which counts all threads */
	int64_t wait_ns;
};

/* Nothing is known yet, and nothing was used. */
void exec_result_clear(struct exec_result *result);

/* Adds another execution of the same program: times and counts add up, peaks are those of the
 * greater, and what only one can have (process id, start) stays that of the first. */
void exec_result_add(struct exec_result *sum, const struct exec_result *one);

/* Makes the mean of n executions of their sum. Processes left behind or killed stay counts of
 * all. */
void exec_result_divide(struct exec_result *sum, int n);

struct rusage;

/* Adds what wait4 reports of a process, and of those that it has waited for. */
void exec_result_add_usage(struct exec_result *result, const struct rusage *usage);
