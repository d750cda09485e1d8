/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPU that is watched, because the program under test is pinned to it: how long each task had it, how long others and
 * interrupts took it from the program, and how much of its time the hypervisor gave to others. Part of accounting.bpf.c,
 * and apart because it concerns one CPU only. */
#pragma once

#include "lib/host/accounting/accounting_record.h"
#include "lib/host/bpf/kernel.h"

__s32 watched_cpu = -1; /* -1: none */
__u64 program_cgroup;   /* whose processes get RECORD_PROGRAM; 0: none */
int program_level;      /* of that cgroup, known once a process was seen in it */
__u32 sample;           /* counts first snapshots */

/* Who had the watched CPU since the first snapshot. Only that CPU writes it. */
struct share {
	__u32 pid;
	__u32 sample; /* an entry of an earlier sample is free */
	__u64 run_ns;
};
enum { SHARES = 4096, MAX_PROBES = 4 };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SHARES);
	__type(key, __u32);
	__type(value, struct share);
} shares SEC(".maps");

__u32 shares_full;      /* entries that were missing in this sample */
__u32 running_pid;      /* on the watched CPU */
__u64 running_since_ns; /* its run time then; at the first snapshot, if it was running already */

__u32 interrupts_depth; /* on the watched CPU: they interrupt each other */
__u64 interrupts_begin_ns;
__u64 interrupts_ns; /* in all samples so far, in which the program was interrupted */
/* Of the watched CPU, up to its last context switch; 0: none since the machine started, or not known. */
__u64 steal_ns;

/* When others had the watched CPU, between two tasks of the program. As many as can pass while a task of the program
 * waits. */
struct gap {
	__u64 begin_ns;
	__u64 ready_ns; /* from here to its end, a task of the program was ready to run */
};
enum { GAPS = 16 };
static struct gap gaps[GAPS];
__u32 n_gaps; /* since the start; the latest GAPS are kept */
bool program_runs;
__u64 program_left_ns, program_came_ns; /* when others got the CPU from it, and when it got it back */
__s64 taken_ns; /* others had the CPU while a task of the program was ready to run; -1: not known */

static __always_inline bool is_watched(void)
{
	return (__s32)bpf_get_smp_processor_id() == watched_cpu;
}

/* The entry of a task, or a free one if it has none; NULL: there is no free one. A few tasks compete for an entry: those
 * whose pids are multiples of SHARES apart, and the next ones. */
static __always_inline struct share *find_share(__u32 pid, bool add)
{
	struct share *free = (void *)0;

	for (__u32 i = 0; i < MAX_PROBES; i++) {
		__u32 at = (pid + i) % SHARES;
		struct share *share = bpf_map_lookup_elem(&shares, &at);

		if (!share)
			return (void *)0;
		if (share->sample == sample && share->pid == pid)
			return share;
		if (add && !free && (share->sample != sample || share->pid == 0))
			free = share;
	}
	if (free)
		*free = (struct share){.pid = pid, .sample = sample};
	return free;
}

static __always_inline void read_steal(struct cfs_rq *cfs_rq)
{
	if (bpf_core_field_exists(cfs_rq->rq) && bpf_core_field_exists(cfs_rq->rq->prev_steal_time_rq) &&
		cfs_rq)
		steal_ns = cfs_rq->rq->prev_steal_time_rq;
}

static __always_inline __u64 ancestor_id(struct cgroup *cgroup, int level)
{
	unsigned long at = (unsigned long)cgroup;
	struct cgroup *ancestor = (void *)0;
	__u64 id = 0;

	if (bpf_core_field_exists(cgroup->ancestors)) {
		at += bpf_core_field_offset(struct cgroup, ancestors) + level * sizeof(ancestor);
		bpf_probe_read_kernel(&ancestor, sizeof(ancestor), (void *)at);
		return BPF_CORE_READ(ancestor, kn, id);
	}
	at += bpf_core_field_offset(struct cgroup___before_6_1, ancestor_ids) + level * sizeof(id);
	bpf_probe_read_kernel(&id, sizeof(id), (void *)at);
	return id;
}

/* Whether it is the cgroup of the program under test, or below it, however deep. */
static __always_inline bool is_programs(struct cgroup *cgroup)
{
	int level = program_level;

	if (cgroup->kn->id == program_cgroup)
		return 1;
	return level > 0 && cgroup->level > level && ancestor_id(cgroup, level) == program_cgroup;
}

/* A task of the program gets the CPU, and was ready since then. */
static __always_inline void add_taken(__u64 since_ns)
{
#pragma clang loop unroll(full)
	for (int i = 0; i < GAPS; i++) {
		__u64 from_ns = since_ns > gaps[i].begin_ns ? since_ns : gaps[i].begin_ns;

		if (from_ns >= gaps[i].ready_ns)
			continue;
		taken_ns += gaps[i].ready_ns - from_ns;
		gaps[i].ready_ns = from_ns;
	}
}

/* When the task got the CPU. */
static __always_inline __u64 arrival_of(struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.last_arrival) ? task->sched_info.last_arrival : 0;
}

static __always_inline void end_gap(__u64 at_ns)
{
	gaps[n_gaps++ % GAPS] = (struct gap){program_left_ns, at_ns};
	program_came_ns = at_ns;
}

/* At a context switch of the watched CPU. Only a task that was ready before the program got the CPU adds time. */
static __always_inline void count_taken(struct task_struct *prev, struct task_struct *next, __u64 now_ns)
{
	bool ran = program_runs;
	__u64 since_ns;

	if (!program_cgroup || !now_ns)
		return;
	if (taken_ns < 0)
		taken_ns = 0;
	if (!ran && arrival_of(prev) && is_programs(prev->cgroups->dfl_cgrp)) { /* unseen: see ran_for */
		end_gap(arrival_of(prev));
		ran = 1;
	}
	program_runs = is_programs(next->cgroups->dfl_cgrp);
	if (ran && !program_runs)
		program_left_ns = now_ns;
	if (!program_runs)
		return;
	if (!ran)
		end_gap(now_ns);
	if (!bpf_core_field_exists(next->sched_info.last_queued))
		return;
	since_ns = next->sched_info.last_queued;
	if (since_ns && since_ns < program_came_ns)
		add_taken(since_ns);
}

/* Of the task that leaves the watched CPU. Its arrival was not seen if it followed a task that the kernel hides from BPF, as a sandbox's
 * hides those of its first process. */
static __always_inline __u64 ran_for(struct task_struct *prev, __u64 now_ns)
{
	__u64 run_ns = prev->se.sum_exec_runtime;

	if ((__u32)prev->pid == running_pid)
		return run_ns > running_since_ns ? run_ns - running_since_ns : 0;
	return arrival_of(prev) && now_ns > arrival_of(prev) ? now_ns - arrival_of(prev) : 0;
}

/* At a context switch of the watched CPU, when the run time of `prev` is up to date. */
static __always_inline void add_share(struct task_struct *prev, struct task_struct *next)
{
	struct cfs_rq *cfs_rq = prev->se.cfs_rq;
	__u64 now_ns = 0, run_ns;

	if (!is_watched())
		return;
	if (bpf_core_field_exists(cfs_rq->rq) && cfs_rq)
		now_ns = cfs_rq->rq->clock;
	run_ns = ran_for(prev, now_ns);
	if (prev->pid && run_ns) {
		struct share *share = find_share(prev->pid, 1);

		if (share)
			share->run_ns += run_ns;
		else
			shares_full++;
	}
	read_steal(cfs_rq);
	count_taken(prev, next, now_ns);
	running_pid = next->pid;
	running_since_ns = next->se.sum_exec_runtime;
}

static __always_inline __u64 share_of(__u32 pid, bool ended)
{
	struct share *share = find_share(pid, 0);

	if (!share)
		return 0;
	if (ended)
		share->pid = 0;
	return share->run_ns;
}

/* In the first snapshot, of a task that is running: from now on, its time on the watched CPU counts. */
static __always_inline void begin_share(const struct task_record *record, __u32 cpu)
{
	if ((__s32)cpu != watched_cpu)
		return;
	running_pid = record->pid;
	running_since_ns = record->run_ns;
}

/* In the second. The task may be running there at this moment. */
static __always_inline void describe_share(struct task_record *record)
{
	record->watched_ns = share_of(record->pid, 0);
	if (record->pid == running_pid && record->run_ns > running_since_ns)
		record->watched_ns += record->run_ns - running_since_ns;
}

/* Of the program, and not of what interrupts it already. */
static __always_inline bool is_programs_time(void)
{
	return interrupts_depth > 0 ||
	       (program_level > 0 && bpf_get_current_ancestor_cgroup_id(program_level) == program_cgroup);
}

static __always_inline int begin_interrupt(void)
{
	if (is_watched() && program_cgroup && is_programs_time() && interrupts_depth++ == 0)
		interrupts_begin_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int end_interrupt(void)
{
	if (is_watched() && interrupts_depth && --interrupts_depth == 0)
		interrupts_ns += bpf_ktime_get_ns() - interrupts_begin_ns;
	return 0;
}
