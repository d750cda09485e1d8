/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Helper programs, as opposed to programs under test (program.h): hooks, other tools of the suite,
 * programs of the system that answer a question, gnuplot; and how their files are found. Processes
 * that a helper leaves running are not waited for. Capabilities of an executable's file
 * (privilege.h) do not pass on to them. */
#pragma once

#include "lib/base/base.h"

struct subprocess {
	char *const *argv;                  /* ends with NULL */
	const char *path;                   /* the file; NULL: argv[0], looked up in PATH */
	char *const *environment;           /* NULL: the user's */
	int stdin_fd, stdout_fd, stderr_fd; /* 0: as ours; -1: /dev/null */
	/* how much standard output may be, where it is asked for */
	size_t output_max;
	int timeout_ms; /* 0: none */
	/* HUP, INT and TERM that other processes send to this one (see interrupt_init): they go to
	 * it alone, which may go on; or to it and all that it has started, which are killed if they
	 * go on. */
	bool forward_signals, ends_on_signals;
	/* with forward_signals: this process notes them, too, for interrupt_pending() */
	bool notes_signals;
};

/* Runs it to its end. ret_output NULL: its standard output is not captured; else the caller frees
 * it. A status as wait(2) gives it. -ENOENT, -EACCES and others: it cannot be started; -EMSGSIZE:
 * it wrote more than output_max; -ETIMEDOUT: it ran longer than timeout_ms (it was killed in both
 * cases); -EINTR: a signal ended it. */
int subprocess_run(const struct subprocess *subprocess, char **ret_output, int *ret_wait_status,
	struct error *err);

/* Asks a program of the system, looked up in the system's own directories: no shell, no PATH of the
 * caller's, no input, no standard error, 1 MiB of output at most. *ret_status is an exit status as
 * a shell gives it. -ENOENT: it is not installed. The caller frees the output. */
int subprocess_ask(const char *const *argv, int timeout_ms, char **ret_output, int *ret_status,
	struct error *err);

/* Runs a shell command of the user's between samples (--prepare and others); it is not measured.
 * -ECANCELED with a sentence that names `what` if it fails, -EINTR if a signal ends it. Its
 * standard output is shown on request, its errors always. shell: its words, such as "bash",
 * "--norc"; NULL: /bin/sh. Processes that it leaves running (a server) keep running. */
int hook_run(const char *command, char *const *shell, bool show_output, const char *what,
	struct error *err);

/* The file of the command `name`, looked up in PATH as a shell would; the caller frees it. -ENOENT,
 * -EACCES… with a sentence. */
int executable_find(const char *name, char **ret, struct error *err);

/* The file in `place` of the build tree that this program is in, or else in the folder `installed`
 * (NULL: that of this program), whether it exists or not; the caller frees it. A tree that was moved
 * after the installation, such as that of the tarball, has its own folder `installed`. */
char *suite_path(const char *place, const char *installed, const char *name);

/* The file of another tool of the suite ("emp-setup"), of a program that it measures ("emp-sort") or
 * of a library ("libemp-clock-preload.so"): in the folder of this executable, where it is installed,
 * or in the build tree; the caller frees it. -ENOENT with a
 * sentence. Tools are separate programs because the licences of their libraries must not meet in
 * one binary (GPL-2-only libcpupower in emp-setup, GPL-3 GSL in the others). */
int suite_file_find(const char *name, char **ret, struct error *err);

/* A guard is a process that cleans up if this one is killed. It sleeps until this one ends or frees
 * it, and then calls this. `fd` is its own copy, and the only descriptor that it has; the copy
 * shares a lock that `fd` has. */
typedef void guard_act(int fd, const void *data);

/* Gives a descriptor, at whose end the guard acts. `data` is copied with the process: what this one
 * changes later, the guard does not see. */
int guard_new(guard_act *act, int fd, const void *data, struct error *err);

/* Returns when the guard has acted. -1: there is none. */
void guard_free(int guard);
