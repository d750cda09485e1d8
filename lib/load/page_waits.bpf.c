/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The BPF programs that time page waits. A task that waits for a page, a buffer or a direct
 * transfer sleeps in io_schedule, whatever the file system, which marks it with in_iowait until it
 * runs again. Block devices are timed from the issue of a request to its completion, as biolatency
 * does. */
#include "lib/load/page_wait_meter.h"

enum { MOST_AT_ONCE = 16384 };

struct sleep {
	__u64 since_ns, run_delay;
};

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} workers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MOST_AT_ONCE);
	__type(key, __u64); /* the task */
	__type(value, struct sleep);
} sleeps SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MOST_AT_ONCE);
	__type(key, __u64); /* the request */
	__type(value, __u64);
} issued_ns SEC(".maps");

struct page_wait_sums waits;

static __always_inline void count(enum page_wait_kind kind, __u64 ns)
{
	__u32 bin = page_wait_bin_of(ns);

	barrier_var(bin); /* the verifier does not know how great it can be, as the compiler does */
	if (bin >= N_PAGE_WAIT_BINS)
		return;
	__sync_fetch_and_add(&waits.bins[kind][bin].count, 1);
	__sync_fetch_and_add(&waits.bins[kind][bin].total_ns, ns);
}

static __always_inline bool is_runnable(const struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return task->__state == 0;
	return ((const struct task_struct___before_5_14 *)task)->state == 0;
}

/* How long the task has waited for its CPU, as far as its run_delay does not say it yet. The clock
 * of the CPU was read just now. */
static __always_inline __u64 queued_ns(const struct task_struct *task)
{
	struct cfs_rq *cfs_rq = (void *)0;
	__u64 since_ns, now_ns;

	if (!bpf_core_field_exists(task->sched_info.last_queued) ||
		!bpf_core_field_exists(task->se.cfs_rq) || !bpf_core_field_exists(cfs_rq->rq))
		return 0;
	since_ns = task->sched_info.last_queued;
	cfs_rq = task->se.cfs_rq;
	if (!since_ns || !cfs_rq)
		return 0;
	now_ns = cfs_rq->rq->clock;
	return now_ns > since_ns ? now_ns - since_ns : 0;
}

static __always_inline __u64 run_delay_of(const struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.run_delay) ? task->sched_info.run_delay : 0;
}

/* The task is still the current one. */
static __always_inline void fall_asleep(struct task_struct *task)
{
	struct sleep sleep = {.run_delay = run_delay_of(task)};
	__u64 key = (unsigned long)task;

	if (bpf_current_task_under_cgroup(&workers, 0) != 1)
		return;
	sleep.since_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&sleeps, &key, &sleep, 0) < 0)
		__sync_fetch_and_add(&waits.lost[PAGE_WAIT_WORKER], 1);
}

static __always_inline void run_again(struct task_struct *task)
{
	__u64 key = (unsigned long)task, wait_ns, ready_ns;
	struct sleep *sleep = bpf_map_lookup_elem(&sleeps, &key);

	if (!sleep)
		return;
	wait_ns = bpf_ktime_get_ns() - sleep->since_ns;
	ready_ns = run_delay_of(task) - sleep->run_delay + queued_ns(task);
	count(PAGE_WAIT_WORKER, wait_ns);
	__sync_fetch_and_add(&waits.ready_ns, ready_ns < wait_ns ? ready_ns : wait_ns);
	bpf_map_delete_elem(&sleeps, &key);
}

/* A task that is preempted does not wait for a page, though it may be about to, or have waited.
 * What is left of a wait then belongs to a switch that this program was not called for. */
SEC("tp_btf/sched_switch")
int BPF_PROG(slave_switches, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	if (BPF_CORE_READ_BITFIELD(prev, in_iowait)) {
		__u64 key = (unsigned long)prev;

		if (!preempt && !is_runnable(prev))
			fall_asleep(prev);
		else
			bpf_map_delete_elem(&sleeps, &key);
	}
	if (BPF_CORE_READ_BITFIELD(next, in_iowait))
		run_again(next);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(request_is_issued, struct request *request)
{
	__u64 key = (unsigned long)request, now_ns = bpf_ktime_get_ns();
	__u32 operation = request->cmd_flags & REQUEST_OPERATION;

	if (operation > OPERATION_WRITE)
		return 0;
	if (bpf_map_update_elem(&issued_ns, &key, &now_ns, 0) < 0)
		__sync_fetch_and_add(&waits.lost[PAGE_WAIT_READ + operation], 1);
	return 0;
}

/* Its last part, if it is completed in several. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(request_is_complete, struct request *request, int error, unsigned int bytes)
{
	__u64 key = (unsigned long)request, *since_ns;
	__u32 operation;

	if (bytes < request->__data_len)
		return 0;
	since_ns = bpf_map_lookup_elem(&issued_ns, &key);
	if (!since_ns)
		return 0;
	operation = request->cmd_flags & REQUEST_OPERATION;
	count(operation == OPERATION_READ ? PAGE_WAIT_READ : PAGE_WAIT_WRITE,
		bpf_ktime_get_ns() - *since_ns);
	bpf_map_delete_elem(&issued_ns, &key);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
