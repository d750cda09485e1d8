/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the accounting share: a backend takes snapshots and collects exits; comparing
 * the snapshots and identifying the processes is the same for both backends. Only for
 * lib/host/accounting and its tests. */
#pragma once

#include "lib/host/accounting/accounting.h"
#include "lib/host/accounting/accounting_record.h"
#include "lib/host/accounting/identity.h"
#include "lib/base/keymap.h"
#include "lib/host/process/process.h"

struct task_records {
	struct task_record *items;
	size_t n, capacity;
};

struct snapshots {
	struct task_records before, after;
	struct task_records exits; /* in the order in which the tasks ended */
	uint64_t before_ns;        /* CLOCK_MONOTONIC when the first snapshot began */
	unsigned int observer;     /* process id of the observer, which is excluded */
	bool has_shares;           /* the records' watched_ns are known */
};

/* A zeroed struct is ready to use; it keeps its memory from one run to the next. */
struct snapshot_diff {
	struct process_cpu *items; /* all processes that used time, in order of pid */
	size_t n, capacity;
	/* tasks of the first snapshot that are neither in the second nor among the exits */
	size_t n_missing;
	struct keymap before;    /* key -> index into snapshots->before, or "found again" */
	struct keymap exits;     /* key -> index into snapshots->exits, the last with that key */
	struct keymap processes; /* tgid -> index into items, the last with that tgid */
};

/* The difference between two snapshots: the CPU time of every process between them (EMP, Figure 5).
 * A pure function from arrays of records to processes.
 *
 * Times are compared for each task and then added to processes, because threads start and end
 * separately:
 *   - a task counts with its time in the second snapshot, or at its end, minus its time in the
 *     first;
 *   - with all of its time, if it started after the first snapshot began;
 *   - with 0, if it started earlier and is missing in the first: it was being released;
 *   - a zombie that is in the second snapshot and among the exits counts once;
 *   - never with less than 0. */
void snapshot_diff_run(struct snapshot_diff *diff, const struct snapshots *snapshots);
void snapshot_diff_clear(struct snapshot_diff *diff);

/* A backend's own struct begins with this. */
struct accounting {
	const struct accounting_operations *operations;
	struct accounting_state state;
	struct identity *identity;
	struct snapshots snapshots; /* the backend fills it in, and frees what it owns of it */
	struct snapshot_diff diff;
	struct keymap parents; /* pid -> parent, without a cgroup */
	/* descent decides which processes are the program's, not RECORD_PROGRAM */
	bool by_descent;
};

struct accounting_operations {
	/* What the backend has of its own, but not `a`. */
	void (*free)(struct accounting *a);

	int (*before)(struct accounting *a, uint64_t cgroup_id, int cpu, struct error *err);
	int (*drain)(struct accounting *a, struct error *err);

	/* Completes `snapshots`, which are valid until the next `before`, and sets what it knows of
	 * `usages` but the items and the wait. */
	int (*after)(struct accounting *a, struct process_cpus *usages, struct error *err);

	/* Adds what only this backend knows about a process. */
	void (*describe)(struct accounting *a, struct process_cpu *process);

	/* The parent of a living process whose record has none; 0: not known. NULL: all records
	 * have one. */
	pid_t (*parent)(struct accounting *a, pid_t pid);

	/* See accounting_own_wait; NULL: not known. */
	int64_t (*own_wait)(const struct accounting *a);

	/* See accounting_part_of; NULL: not known. */
	struct accounting_part (*part)(const struct accounting *a, unsigned int number);

	/* See accounting_end; NULL: not known. */
	int64_t (*end)(const struct accounting *a, pid_t pid);
};

int accounting_bpf_new(
	struct accounting **ret, const struct accounting_options *options, struct error *err);
int accounting_taskstats_new(
	struct accounting **ret, const struct accounting_options *options, struct error *err);

/* Which records of taskstats are of the same process. Taskstats has no precise start times: records
 * of processes that were listed before the first snapshot get 0, others a time after it, and
 * processes that had the same pid get different keys. Then snapshot_diff_run can compare them.
 * Pure.
 *
 * A record is a process. An exit whose `kind` is 0 is not the end of a process, but of its first
 * thread, whose name the process has. `before` is in order of pid, without those that ended
 * meanwhile.
 *
 * `listed`: when the first snapshot began. `n_early`: exits during the first snapshot. `is_ending`:
 * whether a process is between its record and its release. Sets start times and keys of the exits
 * and the second snapshot, and `last_exit`: pid -> index of the last exit with that pid. */
void taskstats_match(struct snapshots *snapshots, const struct pid_list *listed, size_t n_early,
	bool (*is_ending)(unsigned int pid), struct keymap *last_exit);
