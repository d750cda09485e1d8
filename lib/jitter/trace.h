/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A private instance of the kernel's trace (tracefs) on some CPUs: what others trace meanwhile is
 * not changed, and nothing remains. The trace of a process that was killed is removed when the next
 * trace is opened. */
#pragma once

#include "lib/jitter/trace_decode.h"

struct trace_cpu {
	int cpu;
	int fd;      /* of its raw pages */
	FILE *pages; /* where they are kept; NULL: nowhere */
	/* Events that the buffer did not keep: since trace_forget(), as of the last pass of
	 * trace_next(); and before trace_forget(). */
	int64_t lost, forgotten;
};

struct trace {
	int tracing_fd; /* of tracefs, as long as the process */
	char *path;     /* of the instance below that */
	int guard;      /* removes the instance, however this process ends */
	int fd;         /* of the instance, locked, which tells others that it has an owner */
	int free_fd;    /* once it is closed, the kernel stops the trace and frees its buffer */
	struct trace_decoder *decoder;
	struct trace_cpu *cpus;
	size_t n_cpus;
	int64_t buffer_bytes;  /* for each CPU */
	int64_t event_cost_ns; /* the time that recording one event takes; 0: not known */

	char *page;
	struct trace_page records; /* of it */
	int64_t read_bytes;        /* in this pass */

	struct output_file kept; /* for trace-cmd and KernelShark */
	char *kept_path;         /* NULL: not kept */
	const char *clock;
	size_t page_size; /* of what is kept */
};

struct trace_request {
	const int *cpus;
	size_t n_cpus;
	const char *clock;    /* of tracefs: "x86-tsc" */
	int64_t buffer_bytes; /* for each CPU */
	bool of_program;      /* with forks, and without page faults, which are the program's own */
	const char *keep;     /* a file for trace-cmd and KernelShark; NULL: none */
};

/* Starts recording. -EPERM, -ENOENT and -ENOTSUP have a sentence that says what is missing. The
 * cost of an event is measured by page faults, so not for a trace of_program. */
int trace_open(struct trace **ret, const struct trace_request *request, struct error *err);
/* Removes the instance. */
void trace_free(struct trace *trace);
DEFINE_FREEP(trace)

/* The next event that was recorded on the i-th of the CPUs. 1: there is one; 0: this pass over the
 * buffer is complete. It ends at the latest when as much as the buffer's size was read, in case
 * events come as fast. A pass must be completed before that of another CPU begins. */
int trace_next(struct trace *trace, size_t i, struct trace_event *ret, struct error *err);
/* Drops what was recorded so far. */
int trace_forget(struct trace *trace, struct error *err);

/* Completes the file to keep. */
int trace_keep(struct trace *trace, struct error *err);
