/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's side of counters_bpf.c: five counts out of the hundreds that /proc/vmstat and /proc/stat sum
 * up over all CPUs whenever they are read.
 *
 * They are per-CPU variables, whose addresses many kernels do not tell (CONFIG_KALLSYMS_ALL). But the
 * kernel's type information tells how far they are from another, the CPU's runqueue, and to that one leads
 * every task. */
#include "lib/host/bpf/bpf_types.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

enum { MAX_CPUS = 1024 };

/* The numbers are those of one kernel: the one at hand tells its own when the programs are loaded. */
enum vm_event_item { PSWPIN = 2, PSWPOUT = 3, PGMAJFAULT = 28 };
enum cpu_usage_stat { CPUTIME_USER = 0, CPUTIME_STEAL = 7 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct rq {
	int cpu;
};
struct cfs_rq {
	struct rq *rq;
};
struct sched_entity {
	struct cfs_rq *cfs_rq;
};
struct task_struct {
	struct sched_entity se;
};
struct bpf_iter__task {
	struct task_struct *task;
};
#pragma clang attribute pop

__u64 runqueues[MAX_CPUS];             /* their addresses, 0: not found */
__s64 events_distance, times_distance; /* from a CPU's runqueue to its vm_event_states and kernel_cpustat */
int steal_cpu;                         /* -1: all */
__u64 user_ns, steal_ns, swapped_in, swapped_out, major_faults;

/* Some thread of the kernel is bound to each CPU, so all are found. */
SEC("iter/task")
int find_runqueues(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct cfs_rq *cfs_rq;
	struct rq *rq;
	__u32 cpu;

	if (!task)
		return 0;
	cfs_rq = task->se.cfs_rq;
	rq = cfs_rq ? cfs_rq->rq : (void *)0;
	if (!rq)
		return 0;
	cpu = (__u32)rq->cpu;
	if (cpu < MAX_CPUS)
		runqueues[cpu] = (__u64)rq;
	return 0;
}

static __always_inline __u64 count_at(__u64 counts, __u32 at)
{
	__u64 count = 0;

	bpf_probe_read_kernel(&count, sizeof(count), (void *)(counts + at * sizeof(count)));
	return count;
}

static long count_cpu(__u32 cpu, void *context)
{
	__u64 rq, events, times;

	if (cpu >= MAX_CPUS)
		return 1;
	rq = runqueues[cpu];
	if (!rq)
		return 0;
	events = rq + events_distance;
	times = rq + times_distance;
	swapped_in += count_at(events, bpf_core_enum_value(enum vm_event_item, PSWPIN));
	swapped_out += count_at(events, bpf_core_enum_value(enum vm_event_item, PSWPOUT));
	major_faults += count_at(events, bpf_core_enum_value(enum vm_event_item, PGMAJFAULT));
	if (steal_cpu < 0 || steal_cpu == (int)cpu) {
		user_ns += count_at(times, bpf_core_enum_value(enum cpu_usage_stat, CPUTIME_USER));
		steal_ns += count_at(times, bpf_core_enum_value(enum cpu_usage_stat, CPUTIME_STEAL));
	}
	return 0;
}

__u32 n_cpus; /* how many of runqueues to look at */

SEC("syscall")
int read_counts(void *context)
{
	user_ns = steal_ns = swapped_in = swapped_out = major_faults = 0;
	bpf_loop(n_cpus, count_cpu, (void *)0, 0);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
