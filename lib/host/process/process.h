/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other processes, as /proc shows them to anybody. accounting.h has their CPU time. It needs
 * lib/base only, because the book links it, to know whether the process that made a run still
 * exists. */
#pragma once

#include "lib/base/base.h"

#include <sys/types.h>
#include <sys/wait.h>

struct process {
	pid_t pid;
	char name[16];
	uint64_t start_ticks; /* since the boot; 0: a zombie, or not known */
	pid_t parent;
	int64_t waited_ticks; /* CPU time of the children that it has waited for */
};

/* All processes below root_fd's /proc but kernel threads, in order of pid; the caller frees the
 * array. */
struct process *processes_read(int root_fd, size_t *ret_n);

/* One line of /proc/PID/stat. 1: a process, 0: a kernel thread, -EINVAL: it is no such line. */
int process_parse(const char *stat, struct process *ret);

/* The exit status that a shell would give: 0 to 255, 128 + signal. */
static inline int process_exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* "ended with exit status 3", "was killed by signal 11 (SIGSEGV)". Valid as a text_brief(). */
const char *process_end_text(int wait_status);

/* A process as text that can be stored: which process runs a calibration, and whether it still
 * exists, also after a kill -9 or a reboot. */
/* Boot id, pid, and when it started (pids are reused); "": there is no such process. Valid as a
 * text_brief(). */
const char *process_ref(pid_t pid);

/* Its pid if it runs, else 0. 0 for NULL and for other text. */
pid_t process_ref_pid(const char *ref);

/* When a process started (ns since 1970, to a clock tick); 0: there is none. */
int64_t process_ref_started_ns(pid_t pid);

/* The same in clock ticks since the machine was started, which setting the clock does not
 * change. */
uint64_t process_ref_start_ticks(pid_t pid);

/* What the scheduler reports about one thread in /proc/PID/schedstat, without privileges. */
struct schedstat {
	int64_t run_ns;  /* up to the thread's last context switch, or a tick ago */
	int64_t wait_ns; /* ready to run and not running, so far */
};

enum { SCHEDSTAT_SIZE = 64 };

/* False: not known, because the kernel does not count it (without CONFIG_SCHED_INFO) or the text is
 * another. */
bool schedstat_parse(const char *text, struct schedstat *ret);

/* Of the first thread of a process, which may be a zombie. */
bool schedstat_read(pid_t pid, struct schedstat *ret);

/* Process ids, such as those in /proc. A zeroed struct is an empty list; it keeps its memory from
 * one reading to the next. */

struct pid_list {
	pid_t *items;
	size_t n, capacity;
};

/* proc_fd: /proc as a directory; ascending. -errno. */
int pid_list_read(struct pid_list *list, int proc_fd);
void pid_list_free(struct pid_list *list);

/* Adds the children of a thread, dead ones included; -errno. */
int pid_list_add_children(struct pid_list *list, pid_t pid, pid_t thread, struct error *err);

/* The same of all threads of a process; where it has ended meanwhile, they are orphans now. */
void pid_list_add_children_of(struct pid_list *list, pid_t pid);

void pid_list_sort(struct pid_list *list);
/* In an ascending list. */
bool pid_list_has(const struct pid_list *list, pid_t pid);
