/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's types, structures and functions, for the BPF programs only, which take no header of
 * the machine that builds them. The structures are declared with only the members that are used.
 * Their offsets are filled in when the programs are loaded (CO-RE), so that one object works on
 * Linux 5.9 and newer, whatever the build machine. */
#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_CGROUP_ARRAY = 8,
	BPF_MAP_TYPE_HASH_OF_MAPS = 13,
	BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_F_MMAPABLE = 1 << 10 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { BPF_RB_AVAIL_DATA = 0, BPF_RB_RING_SIZE = 1 };
enum { TASK_DEAD = 0x80, PF_FORKNOEXEC = 0x40, PF_KTHREAD = 0x200000 };
enum { BPF_TASK_ITER_ALL_THREADS = 1 };
enum { SIGCHLD = 17 };
enum { MM_FILEPAGES, MM_ANONPAGES, MM_SWAPENTS, MM_SHMEMPAGES };
enum { INITIAL_PID_NAMESPACE = 0xeffffffc }; /* its inode: PROC_PID_INIT_INO */
enum { REQUEST_OPERATION = 0xff, OPERATION_READ = 0, OPERATION_WRITE = 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct kernfs_node {
	__u64 id;
	const char *name;
};
struct cgroup {
	int level;
	struct kernfs_node *kn;
	struct cgroup *ancestors[]; /* by level */
};
struct cgroup___before_6_1 {
	int level;
	__u64 ancestor_ids[];
};
struct css_set {
	struct cgroup *dfl_cgrp;
};
struct rq {
	__u64 clock;
	__u64 clock_task;
	__u64 prev_steal_time_rq; /* of the CPU */
};
struct cfs_rq {
	struct rq *rq;
	/* Linux 6.6 and newer: how long a quota has held back the tasks of this group on this CPU,
	 * up to the last time that it let them run. Also a quota of a group above it. */
	__u64 throttled_clock_self_time;
};
struct sched_entity {
	__u64 exec_start;
	__u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq;
};
struct thread_info {
	__u32 cpu;
};
struct sched_info {
	/* how long it has been ready, and others had the CPU, until it last ran or moved to another
	 * CPU */
	__u64 run_delay;
	__u64 last_arrival; /* rq->clock when it last got a CPU */
	__u64 last_queued;  /* rq->clock when it became ready to run; 0 while it runs or sleeps */
};
struct ns_common {
	__u32 inum;
};
struct pid_namespace {
	struct ns_common ns;
};
struct upid {
	int nr;
	struct pid_namespace *ns;
};
struct pid {
	unsigned int level;
	struct upid numbers[];
};
struct percpu_counter {
	__s64 count;
};
struct mm_struct {
	unsigned long hiwater_rss;
	struct percpu_counter rss_stat[4]; /* since Linux 6.2 */
};
typedef struct {
	__u32 val;
} kuid_t;
struct cred {
	kuid_t uid, euid, suid, fsuid;
};
struct rlimit {
	unsigned long rlim_cur, rlim_max;
};
struct signal_struct {
	struct rlimit rlim[16];
};
struct request {
	__u32 cmd_flags;
	__u32 __data_len; /* that is left */
};
struct task_struct {
	unsigned int __state;
	unsigned int flags;
	unsigned int in_iowait : 1;
	int on_cpu;
	int exit_state;
	__s32 pid;
	__s32 tgid;
	struct thread_info thread_info;
	struct sched_entity se;
	struct sched_info sched_info;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	__u64 utime;
	__u64 stime;
	__u64 start_time;
	struct css_set *cgroups;
	struct mm_struct *mm;
	unsigned long nvcsw, nivcsw;
	const struct cred *cred;
	struct signal_struct *signal;
	struct pid *thread_pid;
	char comm[16];
};
struct task_struct___before_5_14 {
	volatile long state;
};
struct task_struct___before_5_16 {
	unsigned int cpu;
};
struct linux_binprm {
	const char *filename;
};
struct seq_file {
	char *buf;
};
struct bpf_iter_meta {
	struct seq_file *seq;
};
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};
struct bpf_prog_aux {
	__u32 id;
	char name[16];
};
struct bpf_prog {
	struct bpf_prog_aux *aux;
};
struct bpf_iter__bpf_prog {
	struct bpf_iter_meta *meta;
	struct bpf_prog *prog;
};
#pragma clang attribute pop

struct bpf_iter_task {
	__u64 opaque[3];
} __attribute__((aligned(8)));

/* Linux 6.7 and newer. */
extern int bpf_iter_task_new(
	struct bpf_iter_task *it, struct task_struct *task, unsigned int flags) __ksym __weak;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym __weak;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym __weak;
extern void bpf_rcu_read_lock(void) __ksym __weak;
extern void bpf_rcu_read_unlock(void) __ksym __weak;
extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym __weak;

/* A value that another CPU may change between two reads; or that the verifier should not follow. */
#define READ(x) (*(const volatile typeof(x) *)&(x))
#define WRITE(x, value) (*(volatile typeof(x) *)&(x) = (value))
