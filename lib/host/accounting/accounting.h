/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPU time that every other process took between two snapshots (EMP, Figure 5). One interface,
 * two backends:
 *
 *   bpf        a BPF program walks all tasks, another sees each task end: exact to a microsecond
 *   taskstats  the kernel's netlink accounting, as in the papers: the times of running processes,
 *              and of short ones that ended, can be up to a tick old
 *
 * Processes are told apart by pid and start time. The calling process is excluded. */
#pragma once

#include "lib/base/base.h"

#include <sys/types.h>

struct accounting;

enum accounting_backend { ACCOUNTING_AUTO, ACCOUNTING_BPF, ACCOUNTING_TASKSTATS, ACCOUNTING_NONE };
enum { N_ACCOUNTING_BACKENDS = ACCOUNTING_NONE + 1 };

/* "auto", "bpf", "taskstats", "none"; and NULL. */
extern const char *const accounting_backend_names[];

/* One process that took CPU time between the snapshots. */
struct process_cpu {
	pid_t pid;
	char name[16]; /* the kernel's comm, the papers' key */
	/* path of the program, NULL if unknown; lives as long as the accounting */
	const char *exe;
	const char *unit; /* systemd unit, NULL if none or unknown; likewise */
	int64_t pt_ns;    /* exact clock: the scheduler's run time */
	int64_t tick_ns;  /* tick clock: user + system by ticks */
	bool kernel;      /* a kernel thread */
	bool started;     /* between the snapshots */
	bool ended;       /* likewise */
	bool program;     /* belongs to the program under test: see accounting_before */
	/* so does this, but it is in another cgroup: the program moved it there */
	bool escaped;
	/* of the program that it belongs to, by its tag; -1: not known, as always without bpf */
	int number;
	int cpu;             /* that it ran on last; -1: not known */
	int64_t same_cpu_ns; /* of pt_ns, on the CPU that the program is pinned to; -1: not known */
	/* For the accounting itself. */
	pid_t ppid;
	uint64_t start_ns, cgroup, tag;
	unsigned int flags; /* RECORD_*, of its last task */
	bool alive;         /* one of its tasks */
};

struct process_cpus {
	struct process_cpu *items; /* owned by the accounting until the next accounting_before */
	size_t n;
	uint64_t lost;   /* processes that ended and whose records were lost */
	bool incomplete; /* lost > 0, or a snapshot failed in part: some process may be missing */
	/* Of the program; -1: not known. */
	/* its tasks were ready to run and did not, from the creation of each to its end (bpf), or
	 * to the beginning of its end (taskstats) */
	int64_t wait_ns;
	bool shared_wait; /* of several tasks, which may have waited for each other */
	/* others had its CPU while at least one of its tasks was ready to run */
	int64_t taken_ns;
	/* that a quota of a control group held them back while they were ready to run */
	int64_t throttled_ns;
	int64_t interrupts_ns; /* that interrupts took while it ran on its CPU */
	int64_t steal_ns;      /* that the hypervisor took from its CPU */
	/* resident memory: the most of any of its processes that ended (bpf) */
	int64_t peak_bytes;
};

#define PROCESS_CPUS_NONE                     \
	((struct process_cpus){.wait_ns = -1, \
		.taken_ns = -1,               \
		.throttled_ns = -1,           \
		.interrupts_ns = -1,          \
		.steal_ns = -1,               \
		.peak_bytes = -1})

struct accounting_options {
	enum accounting_backend backend;
	bool no_watch; /* bpf: no program is pinned, so interrupts are not timed */

	/* For tests; 0: the default. */
	bool read;             /* bpf: take snapshots as on kernels before Linux 6.7 */
	size_t capacity;       /* bpf: tasks that fit into a snapshot before it is taken that way */
	size_t events_bytes;   /* bpf: buffer of events, a power of two, at least a page */
	const char *directory; /* bpf: where resolved programs are kept, see bpf_programs.h */
	int receive_bytes;     /* taskstats: buffer of each CPU */
};

/* AUTO takes bpf if the kernel and the capabilities allow it, else taskstats. -EPERM or -ENOTSUP
 * with a sentence that says what each of them needs. Call it, and all functions below, with the
 * privileges raised (privilege.h). */
int accounting_new(
	struct accounting **ret, const struct accounting_options *options, struct error *err);
void accounting_free(struct accounting *a);
DEFINE_FREEP(accounting)

struct accounting_state {
	enum accounting_backend backend; /* BPF or TASKSTATS; NONE: there is no accounting */
	/* Why AUTO did not take bpf ("bpf: the kernel has no BTF"); "": it did, or another one was
	 * requested. */
	struct error why;
	/* While the program runs: a descriptor to poll for reading (-1: none), and the longest time
	 * between two calls of accounting_drain (-1: no limit). The descriptor of bpf is readable
	 * when its buffer is half full. */
	int poll_fd, poll_ms;
};

/* It stays the same as long as `a`, which may be NULL. */
const struct accounting_state *accounting_state(const struct accounting *a);

/* The snapshot before the program. `cgroup_id` is the cgroup v2 of the program under test (its
 * inode number; 0: none): its processes, and those below it, get `program`. Without a cgroup, and
 * with taskstats always, all descendants of the calling process do (it should be a child subreaper,
 * so that orphans remain its descendants). With a cgroup, descendants that started after the
 * snapshot and are not in it have `escaped`. `cpu` is the one that the program is pinned to; -1:
 * none. */
int accounting_before(struct accounting *a, uint64_t cgroup_id, int cpu, struct error *err);

/* How long the calling task has waited for a CPU so far; -1: not known, as always without bpf. For
 * a child that is about to execute the program: it makes system calls only, and needs no
 * privileges. */
int64_t accounting_own_wait(const struct accounting *a);

/* When a child of this process ended, once it has been waited for: CLOCK_MONOTONIC; -1: not known,
 * as always without bpf. It may be that of an earlier child with its pid. */
int64_t accounting_end(const struct accounting *a, pid_t pid);

/* To be called while the program runs: see struct accounting_state. `a` may be NULL. */
int accounting_drain(struct accounting *a, struct error *err);

/* The snapshot after the program, and all processes with pt_ns > 0 or tick_ns > 0 since the one
 * before, in order of pid. (With taskstats some short ones have neither: no tick occurred while
 * they ran.) */
int accounting_after(struct accounting *a, struct process_cpus *ret, struct error *err);

/* What is known of one of several programs that share the CPU that they are pinned to, since
 * accounting_before; -1: not known. */
struct accounting_part {
	int64_t interrupts_ns; /* of those of all */
	int64_t turns; /* how often it got the CPU after another one of them, or as the first */
};

#define ACCOUNTING_PART_NONE ((struct accounting_part){-1, -1})

/* Of the program with this number (struct command_spec). */
struct accounting_part accounting_part_of(const struct accounting *a, unsigned int number);

/* Whether this kernel and this process have what the accounting needs, and what is missing. One
 * function gathers the facts; pure functions judge them. */

struct accounting_support {
	uint64_t capabilities; /* effective, one bit each */
	bool initial_user_namespace, initial_pid_namespace;
	bool has_btf;
	bool lockdown; /* confidentiality: BPF programs may not read kernel memory */
	int kernel_major, kernel_minor;
};

struct accounting_support accounting_support_read(int root_fd);

/* 0, or -EPERM, -ENOTSUP with a sentence that says what is missing. */
int accounting_support_has(const struct accounting_support *support,
	enum accounting_backend backend, struct error *err);

/* What both backends lack, in a few words: "needs root or file capabilities". */
const char *accounting_support_missing(const struct accounting_support *support);
