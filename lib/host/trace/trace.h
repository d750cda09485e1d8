/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A private instance of the kernel's trace (tracefs) on some CPUs: what others trace meanwhile is not changed, and
 * nothing remains. The trace of a process that was killed is removed when the next trace is opened. */
#pragma once

#include "lib/host/trace/trace_decode.h"

struct trace;

struct trace_request {
	const int *cpus;
	size_t n_cpus;
	const char *clock;    /* of tracefs: "x86-tsc" */
	int64_t buffer_bytes; /* for each CPU */
	bool of_program;      /* with forks, and without page faults, which are the program's own */
	const char *keep;     /* a file for trace-cmd and KernelShark; NULL: none */
};

/* Recording has not begun. -EPERM, -ENOENT and -ENOTSUP have a sentence that says what is missing. */
int trace_open(struct trace **ret, const struct trace_request *request, struct error *err);
/* Removes the instance. */
void trace_free(struct trace *trace);
DEFINE_FREEP(trace)

int trace_start(struct trace *trace, struct error *err);
int trace_stop(struct trace *trace, struct error *err);

/* What was recorded on the i-th of the CPUs since the last call, in order: all of it, or as much as the buffer holds if
 * events come as fast as they are read. */
int trace_read(struct trace *trace, size_t i, trace_each *each, void *data, struct error *err);
/* Events that the buffer of that CPU did not keep, all in all. */
int64_t trace_lost(const struct trace *trace, size_t i);

/* Of the kernel; see trace_decode.h. */
const char *trace_symbol(struct trace *trace, uint64_t address);

/* Completes the file to keep. */
int trace_keep(struct trace *trace, struct error *err);

/* The kernel's file system of traces. */

/* A descriptor of its directory. Where it is not mounted, this mounts it without a path: other processes do not see it, and
 * the kernel removes the mount with the last descriptor. -errno without a sentence; -ENOENT: the kernel has none. */
int tracefs_open(void);

/* The instances that record something, EMP's and others', as "a, b"; NULL: none. The caller frees it. */
char *tracefs_recording(int tracing_fd);
