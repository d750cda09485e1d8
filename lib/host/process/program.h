/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs under test: starts them without copying this process, each in a cgroup if possible, on a
 * chosen CPU; waits for them by pidfd; measures their elapsed and process time. Several may run at
 * once. */
#pragma once

#include "lib/host/process/exec_result.h"
#include "lib/host/process/launch.h"
#include "lib/host/process/process.h"

struct program;

/* Starts a program; when this returns, it has been executed. A failure of execve (-ENOENT, -EACCES,
 * -ENOEXEC, -E2BIG) is an error with a sentence. What `spec` points to must outlive the program,
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

/* Sends a signal to its process group, which it leads (spec->own_group), until its first process has
 * ended. */
void program_signal(const struct program *program, int signal);

/* After SIGSTOP: until all threads of its first process have stopped, but not longer. */
void program_await_stop(const struct program *program, int64_t most_ns);

/* The result, once it is over. */
const struct exec_result *program_result(const struct program *program);

/* Starts one program and waits until it is over. A program that fails is not an error. */
int program_run(const struct command_spec *spec, struct exec_result *ret, struct error *err);

/* For program.c and its test, once the program has ended. Subtracts what its first process used
 * until it was executed (before_ns), which is not its own work. Sets how long it waited for a CPU
 * since then, if its first thread (`first`, at its end; NULL: not known) has all of PT: a second
 * one would have waited, too. */
void program_times(struct exec_result *exec, const struct schedstat *first);
