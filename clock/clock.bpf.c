/* SPDX-License-Identifier: GPL-2.0-or-later */
/* At each context switch: shows the thread that gets the CPU to its user, and no longer the one
 * before. A user is shown threads in the PID namespace of the clients, by their ids there, and none
 * that has taken another user's rights. */
#include "lib/host/bpf/kernel.h"
#include "clock/clock_state.h"
#include "lib/clock/slots.h"

enum { MAX_USERS = 1024 };

/* A copy of the kernel's struct upid on the stack, where no offset may be relocated. */
struct task_id {
	__u32 nr;
	struct pid_namespace *ns;
};

/* A user's slots, one for each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
	__uint(max_entries, MAX_USERS);
	__type(key, struct user);
	__type(value, __u32);
} users SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* the service puts in the number of CPUs */
	__type(key, __u32);
	__type(value, struct cpu_state);
} cpus SEC(".maps");

static __always_inline struct slot *find_slot(const struct user *user, __u32 cpu)
{
	void *slots = bpf_map_lookup_elem(&users, user);

	return slots ? bpf_map_lookup_elem(slots, &cpu) : (void *)0;
}

/* The id in the namespace in which the task was made, and that namespace. */
static __always_inline struct task_id own_id(struct task_struct *task)
{
	struct pid *pid = task->thread_pid;
	unsigned long at = (unsigned long)pid + bpf_core_field_offset(struct pid, numbers);
	struct task_id id = {};

	bpf_probe_read_kernel(&id, sizeof(id), (void *)(at + pid->level * sizeof(id)));
	return id;
}

static __always_inline bool identify(
	struct task_struct *task, struct user *user, __u32 *tid, __u32 *pid)
{
	const struct cred *cred = task->cred;
	struct pid_namespace *namespace;
	struct task_id id;

	user->uid = cred->uid.val;
	if (user->uid != cred->euid.val || user->uid != cred->suid.val ||
		user->uid != cred->fsuid.val)
		return 0;
	if (task->thread_pid->level == 0) {
		user->pid_namespace = INITIAL_PID_NAMESPACE;
		*tid = task->pid;
		*pid = task->tgid;
		return 1;
	}
	id = own_id(task);
	namespace = id.ns;
	user->pid_namespace = BPF_CORE_READ(namespace, ns.inum);
	*tid = id.nr;
	*pid = own_id(task->group_leader).nr;
	return 1;
}

/* Only this CPU writes its slots. */
static __always_inline void follow(struct cpu_state *state, __u32 cpu, struct task_struct *next)
{
	struct user user = {}, *before = &state->shown_to;
	__u32 tid = 0, pid = 0;
	bool has_user = !(next->flags & PF_KTHREAD) && identify(next, &user, &tid, &pid);
	bool is_same = has_user && before->uid == user.uid &&
		       before->pid_namespace == user.pid_namespace;
	volatile struct slot *slot = (void *)0;

	/* Hides the thread before. */
	if (before->pid_namespace && !is_same)
		slot = find_slot(before, cpu);
	if (slot) {
		slot->tid = 0;
		slot->seq += 2;
	}
	before->pid_namespace = 0;
	slot = has_user ? find_slot(&user, cpu) : (void *)0;
	if (!slot)
		return;
	__sync_fetch_and_add(&slot->seq, 1);
	slot->tid = tid;
	slot->pid = pid;
	slot->since_ns = bpf_ktime_get_ns();
	slot->run_ns = next->se.sum_exec_runtime;
	slot->switches = next->nvcsw + next->nivcsw;
	__sync_fetch_and_add(&slot->seq, 1);
	*before = user;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(clock_switches, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_state *state = bpf_map_lookup_elem(&cpus, &cpu);
	__u64 begin_ns = 0;

	if (!state)
		return 0;
	if (state->switches++ % TIMED_EACH == 0)
		begin_ns = bpf_ktime_get_ns();
	follow(state, cpu, next);
	if (begin_ns) {
		state->timed_ns += bpf_ktime_get_ns() - begin_ns;
		state->timed++;
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
