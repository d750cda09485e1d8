/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A backend of the accounting: it takes snapshots and collects exits. Comparing the snapshots and identifying the
 * processes is the same for both. Only for lib/host/accounting and its tests. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"
#include "lib/host/accounting/accounting_record.h"
#include "lib/host/accounting/accounting.h"
#include "lib/host/accounting/identity.h"
#include "lib/host/accounting/keymap.h"
#include "lib/host/process/process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Records of the kernel's tasks from BPF programs: snapshots of all tasks, and records of those that end or execute a
 * program. */

struct task_records_options {
	size_t events_bytes;   /* buffer of events: a power of two, at least a page; 0: the default */
	bool no_watch;         /* no program is pinned: interrupts are not timed */
	bool read;             /* take snapshots as on kernels before Linux 6.7 */
	const char *directory; /* where resolved programs are kept: see bpf_programs.h; NULL: /run/emp */
	size_t capacity; /* tasks in a snapshot before it is taken that way; 0: many times the present number */
};

/* Of the program under test. */
struct task_scope {
	uint64_t cgroup; /* tasks in it and below it get RECORD_PROGRAM; 0: none */
	int cpu; /* that the program is pinned to, which is watched from one snapshot to the next; -1: none */
};

struct snapshot_diff;

/* The difference between two snapshots: the CPU time of every process between them (EMP, Figure 5). A pure function
 * from arrays of records to processes.
 *
 * Times are compared for each task and then added to processes, because threads start and end separately:
 *   - a task counts with its time in the second snapshot, or at its end, minus its time in the first;
 *   - with all of its time, if it started after the first snapshot began;
 *   - with 0, if it started earlier and is missing in the first: it was being released;
 *   - a zombie that is in the second snapshot and among the exits counts once;
 *   - never with less than 0. */

struct snapshots {
	const struct task_record *before, *after;
	const struct task_record *exits; /* in the order in which the tasks ended */
	size_t n_before, n_after, n_exits;
	uint64_t before_ns;    /* CLOCK_MONOTONIC when the first snapshot began */
	unsigned int observer; /* process id of the observer, which is excluded */
	bool has_shares;       /* the records' watched_ns are known */
};

struct process_diff {
	pid_t pid, ppid;
	char name[RECORD_COMM_SIZE];
	uint64_t start_ns; /* of the process */
	uint64_t cgroup;
	int64_t pt_ns, tick_ns;
	int64_t watched_ns; /* of pt_ns, on the watched CPU; -1: not known */
	int cpu;            /* that one of its tasks ran on last; -1: not known */
	unsigned int flags; /* RECORD_*, of its last task */
	bool started, ended;
};

struct process_diffs {
	struct process_diff *items; /* owned by the snapshot_diff until its next run */
	size_t n;
	size_t n_missing; /* tasks of the first snapshot that are neither in the second nor among the exits */
};

struct snapshot_diff *snapshot_diff_new(void);
void snapshot_diff_free(struct snapshot_diff *diff);
DEFINE_FREEP(snapshot_diff)

/* All processes that used time, in order of pid. */
struct process_diffs snapshot_diff_run(struct snapshot_diff *diff, const struct snapshots *snapshots);

struct accounting_options {
	enum accounting_backend backend;
	struct task_records_options tasks; /* bpf */
	int receive_bytes;                 /* taskstats: buffer of each CPU; 0: the default */
};

/* A backend begins with this. */
struct backend {
	const struct backend_operations *operations;
};

struct backend_operations {
	enum accounting_backend id;
	int poll_ms;
	bool reports_all_exits; /* each task of the first snapshot is in the second or among the exits */
	bool sees_cgroups;      /* records have `cgroup` and RECORD_PROGRAM; else descent decides */

	void (*free)(struct backend *backend);
	int (*poll_fd)(const struct backend *backend);
	int (*before)(struct backend *backend, const struct task_scope *scope, struct error *err);
	int (*drain)(struct backend *backend, struct error *err);

	/* `ret` is valid until the next `before`. Sets all of `usages` but the items and the wait. */
	int (*after)(
		struct backend *backend, struct snapshots *ret, struct usages *usages, struct error *err);

	/* The parent of a living process, 0 if it is not known. */
	pid_t (*parent)(struct backend *backend, pid_t pid);

	/* See accounting_own_wait; NULL: not known. */
	int64_t (*own_wait)(const struct backend *backend);

	/* Adds what only this backend knows about a process to `process` and `ret`. */
	void (*describe)(struct backend *backend, struct process_diff *process, struct identified *ret);
};

/* `identity` outlives the backend. */
int accounting_bpf_new(struct backend **ret, struct identity *identity,
	const struct accounting_options *options, struct error *err);
int accounting_taskstats_new(struct backend **ret, struct identity *identity,
	const struct accounting_options *options, struct error *err);

int accounting_new_with(struct accounting **ret, const struct accounting_options *options, struct error *err);

/* Taskstats matching: which records are of the same process. Taskstats has no precise start times. Records of what
 * was listed before the first snapshot get 0, others a time after it; and processes that had the same pid get
 * different keys. Then snapshot_diff_run can compare them. Pure. */

/* A record is a process. An exit whose `kind` is 0 is not the end of a process, but of its first thread, whose
 * name the process has. */
struct taskstats_match {
	const struct pid_list *listed;    /* when the first snapshot began */
	const struct task_record *before; /* in order of pid; without those that ended meanwhile */
	struct task_record *exits;
	struct task_record *after;
	size_t n_before, n_exits, n_after;
	size_t n_early; /* exits during the first snapshot */
	uint64_t before_ns;
	bool (*is_ending)(unsigned int pid); /* whether a process is between its record and its release */
};

/* Sets start times and keys of exits and after. `ret_last_exit`: pid -> index of the last exit with that pid.
 * -ENOMEM. */
void taskstats_match(const struct taskstats_match *match, struct keymap *ret_last_exit);
