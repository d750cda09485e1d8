/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The BPF programs of the bpf backend. They write a record of every task on request (the snapshots;
 * there are two programs for this, the second for older kernels), one of each task at its last
 * context switch, when its run time is final (the exits: a record made earlier in the exit would
 * miss up to a tick and all of the teardown), and one of each exec. Another one, which a child
 * calls just before it executes the program under test, reads how long that has waited already.
 * They also count, on one CPU that is watched (that of the program under test), how long each task
 * had it, and how long others had it while the program was ready to run. */
#include "lib/host/accounting/accounting_record.h"
#include "lib/host/bpf/kernel.h"

/* The CPU that is watched, because the program under test is pinned to it: how long each task had
 * it, how long others and interrupts took it from the program, and how much of its time the
 * hypervisor gave to others. */

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
/* in all samples so far, in which the program was interrupted */
__u64 interrupts_ns;
/* of the programs that the observer starts; the others' descend */
__u64 first_tag;
/* the program that is, by its tag, and the one that had the CPU last; RECORD_PROGRAMS: any other */
__u32 interrupted, had_cpu;
__u64 had_cpu_cgroup; /* of that one, if it is any other: each has a cgroup of its own */
struct part_record parts[RECORD_PROGRAMS]; /* likewise in all samples so far */
__u64 unknown_turns; /* of programs that are not told apart, because they have changed their tag */
/* Of the watched CPU, up to its last context switch; 0: none since the machine started, or not
 * known. */
__u64 steal_ns;

/* When others had the watched CPU, between two tasks of the program. As many as can pass while a
 * task of the program waits. */
struct gap {
	__u64 begin_ns;
	__u64 ready_ns; /* from here to its end, a task of the program was ready to run */
};
enum { GAPS = 16 };
static struct gap gaps[GAPS];
__u32 n_gaps; /* since the start; the latest GAPS are kept */
bool program_runs;
/* when others got the CPU from it, and when it got it back */
__u64 program_left_ns, program_came_ns;
__s64 taken_ns; /* others had the CPU while a task of the program was ready to run; -1: not known */

static __always_inline bool is_watched(void)
{
	return (__s32)bpf_get_smp_processor_id() == watched_cpu;
}

/* The entry of a task, or a free one if it has none; NULL: there is no free one. A few tasks
 * compete for an entry: those whose pids are multiples of SHARES apart, and the next ones. */
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

static __always_inline bool is_in_state(const struct task_struct *task, long state)
{
	if (bpf_core_field_exists(task->__state))
		return READ(task->__state) == state;
	return ((const struct task_struct___before_5_14 *)task)->state == state;
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

/* Whether the caller is. */
static __always_inline bool current_is_programs(void)
{
	int level = program_level;
	struct task_struct *task;
	struct cgroup *cgroup;

	if (!program_cgroup)
		return 0;
	if (level <= 0)
		return bpf_get_current_cgroup_id() == program_cgroup;
	/* Programs of this kind may call it since Linux 5.15; this field is there since 5.16. */
	if (bpf_core_field_exists(((struct task_struct *)0)->thread_info.cpu))
		return bpf_get_current_ancestor_cgroup_id(level) == program_cgroup;
	task = (void *)bpf_get_current_task();
	cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	return BPF_CORE_READ(cgroup, level) >= level &&
	       ancestor_id(cgroup, level) == program_cgroup;
}

/* When the task got the CPU. */
static __always_inline __u64 arrival_of(struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.last_arrival) ? task->sched_info.last_arrival
								    : 0;
}

/* The program gets the CPU back from others. */
static __always_inline void end_others_turn(__u64 at_ns)
{
	gaps[n_gaps++ % GAPS] = (struct gap){program_left_ns, at_ns};
	program_came_ns = at_ns;
}

enum { RLIMIT_LOCKS = 10 };

static __always_inline __u64 tag_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, signal, rlim[RLIMIT_LOCKS].rlim_max);
}

/* Which of several programs the task belongs to; RECORD_PROGRAMS: not known. */
static __always_inline __u32 number_of(struct task_struct *task)
{
	__u64 number = first_tag - tag_of(task);

	return number < RECORD_PROGRAMS ? number : RECORD_PROGRAMS;
}

/* A task of a program gets the watched CPU. */
static __always_inline void count_turn(struct task_struct *task)
{
	__u32 number = number_of(task);
	__u64 cgroup = number < RECORD_PROGRAMS ? 0 : task->cgroups->dfl_cgrp->kn->id;

	if (number == had_cpu && cgroup == had_cpu_cgroup)
		return;
	if (number < RECORD_PROGRAMS)
		parts[number].turns++;
	else
		unknown_turns++;
	had_cpu = number;
	had_cpu_cgroup = cgroup;
}

/* At a context switch of the watched CPU. Only a task that was ready before the program got the CPU
 * adds time. */
static __always_inline void count_taken(
	struct task_struct *prev, struct task_struct *next, __u64 now_ns)
{
	bool ran = program_runs;
	__u64 since_ns;

	if (!program_cgroup || !now_ns)
		return;
	if (taken_ns < 0)
		taken_ns = 0;
	/* unseen: see add_share */
	if (!ran && arrival_of(prev) && is_programs(prev->cgroups->dfl_cgrp)) {
		end_others_turn(arrival_of(prev));
		ran = 1;
	}

	program_runs = is_programs(next->cgroups->dfl_cgrp);
	if (program_runs)
		count_turn(next);
	if (ran && !program_runs)
		program_left_ns = now_ns;
	if (!program_runs)
		return;
	if (!ran)
		end_others_turn(now_ns);
	if (!bpf_core_field_exists(next->sched_info.last_queued))
		return;

	/* `next` has been ready since then: adds the time in which others had the CPU. */
	since_ns = next->sched_info.last_queued;
	if (!since_ns || since_ns >= program_came_ns)
		return;
#pragma clang loop unroll(full)
	for (int i = 0; i < GAPS; i++) {
		__u64 from_ns = since_ns > gaps[i].begin_ns ? since_ns : gaps[i].begin_ns;

		if (from_ns >= gaps[i].ready_ns)
			continue;
		taken_ns += gaps[i].ready_ns - from_ns;
		gaps[i].ready_ns = from_ns;
	}
}

/* How long a quota held the program back while it was ready to run, since it started. That is no
 * time that others took from it. -1: it has not started, or the kernel does not tell. */
__s64 throttled_ns;

/* How long the group of a task of the program had been held back on a CPU, when a task of the
 * program had that last, and which task was seen to get it. */
struct hold {
	__u64 cfs_rq, throttled_ns;
	__u32 pid; /* 0: it has left */
};

/* The latest task of the program that lost a CPU, although it was ready: it may move to another one
 * meanwhile. */
static struct {
	struct hold hold;
	__u64 at_ns;
	__u32 pid;
} latest;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hold);
} holds SEC(".maps");

static __always_inline bool knows_throttled(void)
{
	return bpf_core_field_exists(((struct cfs_rq *)0)->throttled_clock_self_time) &&
	       bpf_core_field_exists(((struct cfs_rq *)0)->rq) &&
	       bpf_core_field_exists(((struct task_struct *)0)->sched_info.last_queued) &&
	       program_cgroup;
}

/* What has been added to a group's time on a CPU since, but no more than `most_ns`. */
static __always_inline __u64 held_since(const struct hold *hold, __u64 now_ns, __u64 most_ns)
{
	if (now_ns <= hold->throttled_ns || (__s64)most_ns < 0)
		return 0;
	return now_ns - hold->throttled_ns < most_ns ? now_ns - hold->throttled_ns : most_ns;
}

static __always_inline void add_held(__u64 held_ns)
{
	if (throttled_ns >= 0 && held_ns)
		__sync_fetch_and_add(&throttled_ns, held_ns);
}

/* Of a task that moved here while it was held back on another CPU. */
static __always_inline __u64 held_elsewhere(__u32 pid, __u64 cfs_rq, __u64 now_ns)
{
	__u64 throttled = 0;

	if (latest.pid != pid || latest.hold.cfs_rq == cfs_rq)
		return 0;
	latest.pid = 0;
	bpf_probe_read_kernel(&throttled, sizeof(throttled),
		(void *)(unsigned long)(latest.hold.cfs_rq + bpf_core_field_offset(struct cfs_rq,
								     throttled_clock_self_time)));
	return held_since(&latest.hold, throttled, now_ns - latest.at_ns);
}

/* Of a task whose arrival was not seen (see add_share), when it leaves the CPU. */
static __always_inline __u64 held_before(struct task_struct *task, struct cfs_rq *cfs_rq)
{
	__u64 arrival_ns = arrival_of(task);

	if (latest.pid != (__u32)task->pid || !arrival_ns)
		return 0;
	if (latest.hold.cfs_rq != (unsigned long)cfs_rq)
		return held_elsewhere(task->pid, (unsigned long)cfs_rq, arrival_ns);
	return held_since(
		&latest.hold, cfs_rq->throttled_clock_self_time, arrival_ns - latest.at_ns);
}

/* At a context switch of any CPU. While a group is held back, none of its tasks gets the CPU, and
 * what the kernel adds up since one left is the time that the next one has been held back; but not
 * from before it was ready. */
static __always_inline void count_throttled(struct task_struct *prev, struct task_struct *next)
{
	struct cfs_rq *of_prev = prev->se.cfs_rq, *of_next = next->se.cfs_rq;
	__u64 now_ns, since_ns, held_ns = 0;
	struct hold *hold;
	__u32 zero = 0;

	if (!knows_throttled())
		return;
	hold = bpf_map_lookup_elem(&holds, &zero);
	if (!hold)
		return;
	if (is_programs(prev->cgroups->dfl_cgrp) && of_prev) {
		if (hold->pid != (__u32)prev->pid)
			add_held(held_before(prev, of_prev));
		*hold = (struct hold){
			(unsigned long)of_prev, of_prev->throttled_clock_self_time, 0};
		latest.pid = is_in_state(prev, 0) ? prev->pid : 0; /* ready */
		latest.hold = *hold;
		latest.at_ns = of_prev->rq->clock;
	}
	if (!is_programs(next->cgroups->dfl_cgrp) || !of_next)
		return;
	now_ns = of_next->rq->clock;
	since_ns = next->sched_info.last_queued;
	if (hold->cfs_rq == (unsigned long)of_next && since_ns)
		held_ns = held_since(hold, of_next->throttled_clock_self_time, now_ns - since_ns);
	held_ns += held_elsewhere(next->pid, (unsigned long)of_next, now_ns);
	add_held(held_ns);
	*hold = (struct hold){
		(unsigned long)of_next, of_next->throttled_clock_self_time, next->pid};
}

/* At a context switch of the watched CPU, when the run time of `prev` is up to date. */
static __always_inline void add_share(struct task_struct *prev, struct task_struct *next)
{
	struct cfs_rq *cfs_rq = prev->se.cfs_rq;
	__u64 now_ns = 0, run_ns = 0;

	if (!is_watched())
		return;
	if (bpf_core_field_exists(cfs_rq->rq) && cfs_rq)
		now_ns = cfs_rq->rq->clock;
	/* How long `prev` had it. Its arrival was not seen if it followed a task that the kernel
	 * hides from BPF, as a sandbox's hides those of its first process. */
	if ((__u32)prev->pid != running_pid) {
		if (arrival_of(prev) && now_ns > arrival_of(prev))
			run_ns = now_ns - arrival_of(prev);
	} else if (prev->se.sum_exec_runtime > running_since_ns) {
		run_ns = prev->se.sum_exec_runtime - running_since_ns;
	}
	if (prev->pid && run_ns) {
		struct share *share = find_share(prev->pid, 1);

		if (share)
			share->run_ns += run_ns;
		else
			shares_full++;
	}
	if (bpf_core_field_exists(cfs_rq->rq) &&
		bpf_core_field_exists(cfs_rq->rq->prev_steal_time_rq) && cfs_rq)
		steal_ns = cfs_rq->rq->prev_steal_time_rq;
	count_taken(prev, next, now_ns);
	running_pid = next->pid;
	running_since_ns = next->se.sum_exec_runtime;
}

static __always_inline __u64 watched_share_of(__u32 pid, bool ended)
{
	struct share *share = find_share(pid, 0);

	if (!share)
		return 0;
	if (ended)
		share->pid = 0;
	return share->run_ns;
}

/* Its time on the watched CPU, in the second snapshot. It may be running there at this moment. */
static __always_inline void describe_share(struct task_record *record)
{
	record->watched_ns = watched_share_of(record->pid, 0);
	if (record->pid == running_pid && record->run_ns > running_since_ns)
		record->watched_ns += record->run_ns - running_since_ns;
}

/* Counts interrupts of the program, and interrupts of those. */
static __always_inline int begin_interrupt(void)
{
	if (!is_watched() || !program_cgroup)
		return 0;
	if (interrupts_depth == 0 && (program_level == 0 || !current_is_programs()))
		return 0;
	if (interrupts_depth++ > 0)
		return 0;
	interrupted = number_of((struct task_struct *)bpf_get_current_task());
	interrupts_begin_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int end_interrupt(void)
{
	__u32 number = interrupted;
	__u64 ns;

	if (!is_watched() || !interrupts_depth || --interrupts_depth > 0)
		return 0;
	ns = bpf_ktime_get_ns() - interrupts_begin_ns;
	interrupts_ns += ns;
	if (number < RECORD_PROGRAMS)
		parts[number].interrupts_ns += ns;
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} events SEC(".maps");

/* Both snapshots of walk_tasks, one after the other, which the observer reads in place. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct task_record);
} snapshots SEC(".maps");

enum { DEEPEST = 32 }; /* nested cgroups */

__u32 walk_from, walk_capacity; /* the records to fill; from 0: the first snapshot */
/* how many tasks there were; more than walk_capacity: the rest is missing */
__u32 walk_n;
__u64 walked; /* the task of walk_task */
__u64 lost;   /* exits that did not fit into the buffer */
__u64 exits_begun, exits_done;
__u64 programs_exits_begun, programs_exits_done; /* the program's tasks among them */
__u32 observer_tgid;                             /* filled in by a snapshot */
__s64 scheduler_lead; /* scheduler's clock - CLOCK_MONOTONIC, at the latest exit */
bool has_scheduler_lead;
__u64 own_wait_ns; /* of the caller of read_own_wait */

/* Peak resident memory of the program's processes since the first snapshot: the most of those that
 * ended on some of the CPUs. */
enum { PEAKS = 64 };
__u64 observer_mm; /* as observer_tgid */
__u64 peak_pages[PEAKS];

/* When children of the observer ended, the latest in each place. */
enum { ENDS = 64 };
__u32 end_pids[ENDS];
__u64 end_times[ENDS];

static __always_inline void note_observer(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	observer_tgid = bpf_get_current_pid_tgid() >> 32;
	observer_mm = (unsigned long)BPF_CORE_READ(task, mm);
}

static __always_inline __u32 cpu_of(const struct task_struct *task)
{
	if (bpf_core_field_exists(task->thread_info.cpu))
		return READ(task->thread_info.cpu);
	return ((const struct task_struct___before_5_16 *)task)->cpu;
}

/* What a task has used, and what identifies it. */
static __always_inline void describe_times(struct task_record *record, struct task_struct *task)
{
	record->kind = RECORD_KIND_TASK;
	record->flags = READ(task->exit_state) ? RECORD_DEAD : 0;
	record->pid = task->pid;
	record->tgid = task->tgid;
	record->key = (unsigned long)task;
	record->start_ns = task->start_time;
	record->run_ns = READ(task->se.sum_exec_runtime);
	record->tick_ns = task->utime + task->stime;
}

static __always_inline void describe_process(struct task_record *record, struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;
	struct cgroup *cgroup = task->cgroups->dfl_cgrp;
	unsigned int flags = 0;

	if (task->flags & PF_KTHREAD)
		flags |= RECORD_KERNEL;
	if (task->flags & PF_FORKNOEXEC)
		flags |= RECORD_FORKED;
	if (READ(task->exit_state))
		flags |= RECORD_DEAD;
	if (program_cgroup && is_programs(cgroup))
		flags |= RECORD_PROGRAM;
	record->flags = flags;
	record->ppid = task->real_parent->tgid;
	record->cpu = cpu_of(task);
	record->watched_ns = record->wait_ns = 0;
	record->process_start_ns = leader->start_time;
	record->cgroup = cgroup->kn->id;
	record->tag = tag_of(leader);
	bpf_probe_read_kernel(record->comm, sizeof(record->comm), &leader->comm);
}

/* How long it was ready to run and did not. */
static __always_inline __u64 wait_of(const struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.run_delay) ? task->sched_info.run_delay
								 : RECORD_UNKNOWN;
}

static __always_inline bool is_on_cpu(struct task_struct *task)
{
	return bpf_core_field_exists(task->on_cpu) && READ(task->on_cpu);
}

/* The time of a task that is running on another CPU, including what it has run since the scheduler
 * last updated it, up to a tick ago (or a second, on a CPU without ticks). The scheduler's clock on
 * that CPU was also read some time ago, so it is computed from CLOCK_MONOTONIC with scheduler_lead.
 * Reads twice until both agree, because that CPU may be writing. Unrolled: before Linux 6.7 the
 * verifier accepts only loops that end with a jump, which the compiler does not promise. */
static __always_inline void catch_up(struct task_record *record, struct task_struct *task)
{
	struct cfs_rq *cfs_rq = task->se.cfs_rq;
	struct rq *rq;

	if (!is_on_cpu(task) || !bpf_core_field_exists(cfs_rq->rq) || !has_scheduler_lead ||
		!cfs_rq)
		return;
	rq = cfs_rq->rq;
#pragma clang loop unroll(full)
	for (int i = 0; i < 8; i++) {
		__s64 run_ns = READ(task->se.sum_exec_runtime), clock_ns = READ(rq->clock);
		__s64 more_ns = READ(rq->clock_task) - READ(task->se.exec_start);
		__s64 since_ns = bpf_ktime_get_ns() + scheduler_lead - clock_ns;

		if (clock_ns != READ(rq->clock) || run_ns != READ(task->se.sum_exec_runtime))
			continue;
		if (since_ns > 0)
			more_ns += since_ns;
		record->run_ns = run_ns + (more_ns > 0 ? more_ns : 0);
		return;
	}
}

/* In the first snapshot: from now on, the time of a task that is running on the watched CPU
 * counts. */
static __always_inline void begin_share(const struct task_record *record, struct task_struct *task)
{
	if (!is_on_cpu(task) || (__s32)cpu_of(task) != watched_cpu)
		return;
	running_pid = record->pid;
	running_since_ns = record->run_ns;
}

/* Since Linux 6.4, the verifier compares each pointer field of a trusted structure with the names
 * of all the kernel's types. For walk_tasks that takes 0.1 s. It does not for an untrusted pointer,
 * whose loads it guards like those of older kernels. */
static __always_inline struct task_struct *untrusted(struct task_struct *task)
{
	return bpf_rdonly_cast(task, bpf_core_type_id_kernel(struct task_struct));
}

/* A global function, of walked: the verifier checks it once, by itself, and not in each of the
 * states that the loop can be in. */
__noinline int walk_task(void)
{
	struct task_struct *task = untrusted((void *)READ(walked));
	__u32 n = walk_n++, at = walk_from + n;
	struct task_record *record;

	record = n < walk_capacity ? bpf_map_lookup_elem(&snapshots, &at) : (void *)0;
	if (!record)
		return 0;
	describe_times(record, task);
	catch_up(record, task);
	if (!walk_from) {
		begin_share(record, task);
		return 0;
	}
	/* It is as before if it has used no CPU time since the first snapshot. If tasks have ended
	 * in between, another record is compared, and it is described in vain. One branch instead
	 * of four saves the verifier most of its work. */
	if (program_cgroup) {
		__u32 same = n;
		const struct task_record *before = bpf_map_lookup_elem(&snapshots, &same);

		if (before &&
			!((before->key ^ record->key) | (before->start_ns ^ record->start_ns) |
				(before->run_ns ^ record->run_ns) |
				(before->tick_ns ^ record->tick_ns)))
			return 0;
	}
	describe_process(record, task);
	describe_share(record);
	return 0;
}

/* A snapshot in one call; several times as fast as the next program. Records of the first snapshot
 * have times only. So have records in the second of tasks that used nothing, unless descent
 * identifies the program (without a cgroup). */
SEC("syscall")
int walk_tasks(void *context)
{
	struct bpf_iter_task it;
	struct task_struct *next;

	note_observer();
	walk_n = 0;
	bpf_rcu_read_lock();
	bpf_iter_task_new(&it, (void *)0, BPF_TASK_ITER_ALL_THREADS);
	while ((next = bpf_iter_task_next(&it)))
		if (next->pid) { /* the first CPU's idle task heads the list */
			WRITE(walked, (unsigned long)next);
			walk_task();
		}
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	return 0;
}

static __always_inline int write_task(struct bpf_iter__task *ctx, struct task_struct *task)
{
	struct task_record record = {};

	note_observer();
	describe_times(&record, task);
	catch_up(&record, task);
	describe_process(&record, task);
	if (walk_from)
		describe_share(&record);
	else
		begin_share(&record, task);
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}

SEC("iter/task")
int read_tasks(struct bpf_iter__task *ctx)
{
	return ctx->task ? write_task(ctx, untrusted(ctx->task)) : 0;
}

SEC("iter/task")
int read_tasks_before_6_7(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	return task ? write_task(ctx, task) : 0;
}

/* Of /proc/self/schedstat it is the second number; but a file there takes tens of us to make and to
 * remove. */
SEC("syscall")
int read_own_wait(void *context)
{
	own_wait_ns = wait_of(bpf_get_current_task_btf());
	if (taken_ns > 0)
		taken_ns = 0; /* it begins with W */
	if (throttled_ns < 0 && knows_throttled())
		throttled_ns = 0; /* likewise; of several programs, with the first one */
	return 0;
}

/* The observer is woken only when the buffer is half full. */
static __always_inline __u64 wake_flags(void)
{
	__u64 filled = bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA);

	return filled > bpf_ringbuf_query(&events, BPF_RB_RING_SIZE) / 2 ? BPF_RB_FORCE_WAKEUP
									 : BPF_RB_NO_WAKEUP;
}

/* `which` must be a constant: the kernel's elements are larger than those that are declared
 * here. */
#define PAGES(mm, which)                                              \
	({                                                            \
		__s64 n = BPF_CORE_READ(mm, rss_stat[(which)].count); \
		n > 0 ? n : 0;                                        \
	})

/* The caller is about to give up its address space. What the kernel reports of a process
 * (getrusage) begins with the peak of the one that started it. */
static __always_inline int note_peak(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u32 at = bpf_get_smp_processor_id() % PEAKS;
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	__u64 now, peak;

	if (!mm || (unsigned long)mm == observer_mm || !current_is_programs())
		return 0;
	now = PAGES(mm, MM_FILEPAGES) + PAGES(mm, MM_ANONPAGES) + PAGES(mm, MM_SHMEMPAGES);
	peak = BPF_CORE_READ(mm, hiwater_rss);
	if (now > peak)
		peak = now;
	if (peak > peak_pages[at])
		peak_pages[at] = peak;
	return 0;
}

/* A parent can release a task before its last context switch. Then the task is in no snapshot, and
 * its record comes later; these counts show whether to wait for it. */
SEC("tp_btf/sched_process_exit")
int task_exits(void *context)
{
	__sync_fetch_and_add(&exits_begun, 1);
	if (current_is_programs())
		__sync_fetch_and_add(&programs_exits_begun, 1);
	return bpf_core_field_exists(((struct mm_struct *)0)->rss_stat[0].count) ? note_peak() : 0;
}

/* It executes another file. For Linux 6.16 and newer, where task_exits still sees the memory. */
SEC("tp_btf/sched_prepare_exec")
int memory_ends(void *context)
{
	return note_peak();
}

static __always_inline void write_exit(struct task_struct *prev)
{
	struct task_record *record;
	struct cfs_rq *cfs_rq;

	cfs_rq = prev->se.cfs_rq;
	if (bpf_core_field_exists(cfs_rq->rq) && cfs_rq) { /* its clock was read just now */
		scheduler_lead = cfs_rq->rq->clock - bpf_ktime_get_ns();
		has_scheduler_lead = 1;
	}
	record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);
	if (!record) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	describe_times(record, prev);
	describe_process(record, prev);
	record->flags |= RECORD_DEAD;
	record->watched_ns = watched_share_of(record->pid, 1);
	record->wait_ns = wait_of(prev);
	bpf_ringbuf_submit(record, wake_flags());
}

/* The record is there before it is counted: who sees the count can read it. */
static __always_inline int record_exit(struct task_struct *prev)
{
	write_exit(prev);
	if (program_cgroup && is_programs(prev->cgroups->dfl_cgrp))
		__sync_fetch_and_add(&programs_exits_done, 1);
	__sync_fetch_and_add(&exits_done, 1);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(task_dies, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	count_throttled(untrusted(prev), untrusted(next));
	add_share(untrusted(prev), untrusted(next));
	return is_in_state(prev, TASK_DEAD) ? record_exit(untrusted(prev)) : 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(task_dies_before_6_7, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	count_throttled(prev, next);
	add_share(prev, next);
	return is_in_state(prev, TASK_DEAD) ? record_exit(prev) : 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(task_executes, struct task_struct *task, __s32 old_pid, struct linux_binprm *bprm)
{
	/* not followed: see untrusted() */
	struct cgroup *cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	struct kernfs_node *kn = BPF_CORE_READ(cgroup, kn);
	struct exec_record *record;

	/* How deep the program's cgroup is: this is in it or, if the program consists of several,
	 * below it. */
	if (program_cgroup) {
		int deepest = BPF_CORE_READ(cgroup, level);

		for (int level = 1; program_level == 0 && level <= DEEPEST && level <= deepest;
			level++)
			if (ancestor_id(cgroup, level) == program_cgroup)
				program_level = level;
	}
	record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);
	if (!record) /* then only a path is missing; the exit still counts */
		return 0;
	record->kind = RECORD_KIND_EXEC;
	record->tgid = task->tgid;
	record->cgroup = BPF_CORE_READ(kn, id);
	bpf_probe_read_kernel_str(
		record->cgroup_name, sizeof(record->cgroup_name), BPF_CORE_READ(kn, name));
	bpf_probe_read_kernel_str(
		record->path, sizeof(record->path), BPF_CORE_READ(bprm, filename));
	bpf_ringbuf_submit(record, wake_flags());
	return 0;
}

/* The kernel sends SIGCHLD when it tells the parent that a process with all its threads has ended:
 * the observer runs some time after that. */
SEC("tp_btf/signal_generate")
int BPF_PROG(child_ends, int signal, void *info, struct task_struct *to)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (signal == SIGCHLD && (__u32)BPF_CORE_READ(to, tgid) == observer_tgid) {
		end_pids[tgid % ENDS] = tgid;
		end_times[tgid % ENDS] = bpf_ktime_get_ns();
	}
	return 0;
}

#define INTERRUPT(name)                   \
	SEC("tp_btf/" #name "_entry")     \
	int name##_begins(void *context)  \
	{                                 \
		return begin_interrupt(); \
	}                                 \
	SEC("tp_btf/" #name "_exit")      \
	int name##_ends(void *context)    \
	{                                 \
		return end_interrupt();   \
	}

INTERRUPT(irq_handler)
INTERRUPT(softirq)
INTERRUPT(local_timer) /* x86 only; elsewhere it is an irq_handler */

/* Writes the id of each observer's program that is called at every context switch. */
SEC("iter/bpf_prog")
int list_observers(struct bpf_iter__bpf_prog *ctx)
{
	static const char wanted[] = "task_dies";
	struct bpf_prog *prog = ctx->prog;
	char name[sizeof(wanted) - 1] = "";
	__u32 id;

	if (!prog)
		return 0;
	id = prog->aux->id;
	bpf_probe_read_kernel(name, sizeof(name), &prog->aux->name);
	for (unsigned int i = 0; i < sizeof(name); i++)
		if (name[i] != wanted[i])
			return 0;
	bpf_seq_write(ctx->meta->seq, &id, sizeof(id));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
