/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a task at one moment. The BPF programs write these records, so this header includes
 * no other, and their layout is fixed. */
#pragma once

enum {
	RECORD_COMM_SIZE = 16,
	RECORD_PATH_SIZE = 256,
	RECORD_CGROUP_NAME_SIZE = 64,
};

enum {
	RECORD_KIND_TASK = 1, /* struct task_record */
	RECORD_KIND_EXEC = 2, /* struct exec_record */
};

enum {
	RECORD_KERNEL = 1 << 0,  /* a kernel thread */
	RECORD_DEAD = 1 << 1,    /* it has exited, and may be a zombie */
	RECORD_FORKED = 1 << 2,  /* has not executed a program since it was forked */
	RECORD_PROGRAM = 1 << 3, /* in the cgroup of the program under test, or below it */
};

enum { RECORD_PROGRAMS = 64 }; /* as many at once have figures of their own */

#define RECORD_NO_CPU (~0U)    /* not known */
#define RECORD_UNKNOWN (~0ULL) /* a time that this kernel does not have */

/* A thread (bpf), or a process as a whole (taskstats). */
struct task_record {
	unsigned int kind;
	unsigned int flags;
	unsigned int pid;                    /* of the thread */
	unsigned int tgid;                   /* of the process */
	unsigned int ppid;                   /* the process that waits for it */
	unsigned int cpu;                    /* that it ran on last */
	unsigned long long key;              /* unique among the tasks that exist at one time */
	unsigned long long start_ns;         /* CLOCK_MONOTONIC; of the thread */
	unsigned long long process_start_ns; /* of the process */
	unsigned long long run_ns;           /* the scheduler's run time since start */
	unsigned long long tick_ns;          /* user + system as accounted */
	/* of its run time since the first snapshot, on the watched CPU */
	unsigned long long watched_ns;
	unsigned long long
		/* ready to run and not running, since start; of a task that ended, or (taskstats)
		 * of a process with one thread; or RECORD_UNKNOWN */
		wait_ns;
	unsigned long long cgroup;   /* id in the v2 hierarchy, 0: not known */
	unsigned long long tag;      /* of the process (lib/host/process/tag.h); 0: not known */
	char comm[RECORD_COMM_SIZE]; /* of the process */
};

/* What is known of one of several programs, on the watched CPU. */
struct part_record {
	unsigned long long interrupts_ns; /* while it ran */
	/* how often it got the CPU after another one of them, or as the first one */
	unsigned long long turns;
};

/* A process has executed a program. */
struct exec_record {
	unsigned int kind;
	unsigned int tgid;
	unsigned long long cgroup;
	char cgroup_name[RECORD_CGROUP_NAME_SIZE]; /* the last part of its path */
	char path[RECORD_PATH_SIZE];               /* as the caller gave it; cut if longer */
};
