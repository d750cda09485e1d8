/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs under test: starts them without copying this process, each in a cgroup if possible, on a
 * chosen CPU; waits for them by pidfd; measures their elapsed and process time. Several may run at
 * once. */
#pragma once

#include "lib/host/accounting/accounting.h"
#include "lib/host/process/cgroup.h"
#include "lib/host/process/process.h"

#include <sched.h>
#include <sys/resource.h>

struct command_spec {
	char *const *argv;        /* ends with NULL */
	const char *path;         /* the file to execute: executable_find's answer */
	char *const *environment; /* NULL: the user's */
	/* -1: where affinity, or else the caller's mask, allows */
	int cpu;
	const cpu_set_t *affinity;          /* NULL: as the caller's */
	bool survives;                      /* it goes on if this process is killed */
	bool new_session;                   /* it leads a session of its own, without a terminal */
	int stdin_fd, stdout_fd, stderr_fd; /* -1: as the caller's */
	/* stderr_fd is a file in memory, of which only the end is kept if it grows long */
	bool short_stderr;
	/* its own; NULL: PT comes from wait4, waited-for processes only */
	struct cgroup *cgroup;
	struct accounting *accounting; /* drained while the program runs; may be NULL */
	int64_t timeout_ns;            /* 0: none; then the program and all it started are killed */
	int64_t linger_ns;             /* how long processes that the program left behind may run */
	/* of the scheduler, where it can be set (program.h); 0: its own */
	int64_t slice_ns;
	bool frozen_at_times; /* the caller freezes and thaws the cgroup */
	bool wait_unused;     /* nobody asks how long it waits for a CPU */
	/* its tag (tag.h): of programs that run at once, each has another */
	unsigned int number;
	/* others run beside it: what has no tag is none of its own, but the caller's to end */
	bool has_partners;
};

enum spawn_end {
	SPAWN_ENDED,       /* by itself: see wait_status */
	SPAWN_TIMED_OUT,   /* killed after timeout_ns */
	SPAWN_STOPPED,     /* killed because it stopped itself and there was nothing to resume it */
	SPAWN_FROZEN,      /* killed because it froze its cgroup */
	SPAWN_INTERRUPTED, /* killed because a signal came for this process */
};

struct exec_result {
	enum spawn_end end;
	pid_t pid;                      /* of its first process */
	int wait_status;                /* as wait(2) */
	int64_t start_ns, start_raw_ns; /* at the start: CLOCK_REALTIME, and CLOCK_MONOTONIC_RAW */
	/* CLOCK_MONOTONIC_RAW around the program, from its start to its end */
	int64_t et_ns;
	int64_t end_delay_ns; /* how much later this process ran again; not in et_ns */
	/* the end may have been up to this much before that of et_ns; 0: it is exact; -1: not
	 * known */
	int64_t late_ns;
	int64_t pt_ns, user_ns, system_ns; /* since the start */
	/* CPU time of its first process before the start, in none of the above */
	int64_t before_ns;
	/* some of the program ran outside its cgroup. PT is at least this: the greater of the
	 * cgroup's and that of wait4 */
	bool escaped;
	int64_t max_rss_bytes;
	long voluntary_switches, involuntary_switches;
	int64_t wait_before_ns; /* that it waited for a CPU before start_ns; -1: not known */
	/* that it waited for one since; -1: not known. Only where its first thread has all of PT,
	 * and where the accounting is not BPF, which counts all threads */
	int64_t wait_ns;
	int left_behind; /* processes that outlived it */
	int killed;      /* of those, how many were killed after linger_ns */
};

struct program;

/* Starts a program; when this returns, it has been executed. A failure of execve (-ENOENT, -EACCES,
 * -ENOEXEC, -E2BIG) is an error with a sentence. What `spawn` points to must outlive the program,
 * and its cgroup must have no other program. Makes this process a child subreaper. */
int program_start(struct program **ret, const struct command_spec *spec, struct error *err);

/* Kills its remaining processes. */
void program_free(struct program *program);
DEFINE_FREEP(program)

/* Waits until one of the programs is over, that is, it has ended and so have all processes that it
 * left behind; but not beyond until_ns (CLOCK_MONOTONIC; 0: for ever). *ret is its index, or n
 * where none is over. NULL entries are skipped. Several have a number each and has_partners, and
 * share the accounting. -EBUSY, with a sentence: a process was killed and does not end. */
int program_wait_any(struct program *const *programs, size_t n, int64_t until_ns, size_t *ret,
	struct error *err);

/* The CPU time that its processes have used so far; of those that have ended, up to a clock tick
 * less without a cgroup. */
int program_used(const struct program *program, int64_t *ret_ns, struct error *err);

/* Replaces its time-out while it runs: it is killed at that moment (CLOCK_MONOTONIC; 0: never). */
void program_set_deadline(struct program *program, int64_t at_ns);

/* The result, once it is over. */
const struct exec_result *program_result(const struct program *program);

/* Starts one program and waits until it is over. A program that fails is not an error. */
int program_run(const struct command_spec *spec, struct exec_result *ret, struct error *err);

/* For program.c and its test, once the program has ended. Subtracts what its first process used
 * until it was executed (before_ns), which is not its own work. Sets how long it waited for a CPU
 * since then, if its first thread (`first`, at its end; NULL: not known) has all of PT: a second
 * one would have waited, too. */
void program_times(struct exec_result *exec, const struct schedstat *first);

/* The process of a program under test, from clone to execve. For program.c, and for the workers of
 * a load, which start commands and need no more. */

/* The program has been executed when this returns. Sets what is known of it then, its process id
 * and what was so just before execve; the other members are 0. The caller closes the pidfd. */
int start_program(const struct command_spec *spec, struct exec_result *ret, int *ret_pidfd,
	struct error *err);

/* The time slice that the scheduler gives a process of the fair class before another's turn. A
 * process may choose its own since Linux 6.12, without privileges (sched_setattr(2)); what it
 * starts inherits it. */

/* Of the calling process, 0.1 to 100 ms; 0: the kernel's own again. System calls only, so that a
 * child that shares its parent's memory may call it. -ENOTSUP: the kernel has one slice for all, or
 * the process is not of the fair class. */
int slice_set(int64_t slice_ns);

/* Orphans of a program under test: processes that outlive their parent become children of this
 * process, the nearest child subreaper. The program's are those in its cgroup, and others with
 * its tag. Without partners, those without a tag of this process are its own, too, unless they
 * are in the cgroup of another program, or there were children before, which may leave orphans
 * themselves. */

struct orphans {
	struct cgroup *cgroup; /* NULL: none */
	/* children that are not the program's, ascending; to be freed with pid_list_free */
	struct pid_list before;
	int number; /* the program's tag; -1: any, also none */
	bool has_partners;
	const struct accounting *accounting; /* may know when they ended; may be NULL */
	/* of the program itself (CLOCK_MONOTONIC); 0: not known */
	int64_t end_ns;
};

/* Before the program starts: makes this process a child subreaper. */
int orphans_begin(struct orphans *orphans, struct cgroup *cgroup, struct error *err);

/* After the program itself has been reaped: reaps those that have ended, one by one, and adds what
 * each used to `sum`, unless that is NULL; those that are known to have outlived the program also
 * to its left_behind. 1: some still run, 0: none. */
int orphans_reap(const struct orphans *orphans, struct exec_result *sum, struct error *err);

/* For orphans.c: adds what wait4 reports of a process, and of those that it has waited for. */
void exec_result_add(struct exec_result *exec, const struct rusage *ru);

/* The CPU time of a process (0: none), of the orphans and of all below them. */
int orphans_used(const struct orphans *orphans, pid_t program, int64_t *ret_ns, struct error *err);

/* How many there are. */
int orphans_count(const struct orphans *orphans, struct error *err);

/* SIGKILL to all of them and to all below them, until there are no new ones. Without a cgroup, a
 * process may be missed that forks and ends within some microseconds; a caller that repeats this
 * reaches it. -EPERM if none may be killed (a setuid program). */
int orphans_kill(const struct orphans *orphans, struct error *err);

/* A duet: several programs that start together and alternate on one CPU until all have ended, so
 * that whatever changes the speed of the machine changes it for all of them (after Bulej and
 * others, "Duet benchmarking", ICPE 2020, who use a CPU for each).
 *
 * They alternate in one of two ways: the scheduler's slices (program.h), which cost nothing and
 * need no privileges; or the freezer of cgroup v2, driven by this process on another CPU, which
 * works on older kernels and for slices below a tick. */

enum slicing { SLICING_AUTO, SLICING_SCHEDULER, SLICING_FREEZER, N_SLICINGS };

/* "auto", "scheduler", "freezer". */
extern const char *const slicing_names[N_SLICINGS];

struct duet_plan {
	enum slicing slicing; /* not SLICING_AUTO: see duet_choose */
	int64_t slice_ns;
	int cpu;
	bool repeat;  /* programs that have ended start again until all have ended once */
	size_t first; /* which one starts first; the others follow in their order */
};

struct duet_part {
	struct exec_result exec; /* of repetitions: means, and the sums of left_behind and killed */
	int repetitions;         /* complete ones; 0: another program did not end by itself */
	int64_t together_ns;     /* of its elapsed time, while there was another program */
	int position;            /* that it started in, from 1 */
	bool cut_short;          /* one more repetition was under way, and was killed */
};

/* What AUTO means here, or whether the given way works. `cgroup`: one that a program would run in;
 * NULL: there are none. -ENOTSUP with a sentence. */
int duet_choose(enum slicing wanted, int64_t slice_ns, int cpu, const struct cgroup *cgroup,
	enum slicing *ret, struct error *err);

/* The way that gives slices of that length here; SLICING_AUTO: none does. */
enum slicing duet_slicing(int64_t slice_ns, int cpu, const struct cgroup *cgroup);

/* Runs n programs, each in a cgroup of its own, or all without. Their spawn->cpu must be the
 * plan's, and they must outlive this. If one does not end by itself (SPAWN_TIMED_OUT and the like),
 * the others are killed. Failures as for program_run. */
int duet_run(const struct duet_plan *plan, const struct command_spec *const *specs, size_t n,
	struct duet_part *ret, struct error *err);
