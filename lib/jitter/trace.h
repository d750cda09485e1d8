/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A private instance of the kernel's trace (tracefs) on some CPUs: what others trace meanwhile is not changed, and
 * nothing remains. The trace of a process that was killed is removed when the next trace is opened. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A page of the kernel's ring buffer, record by record: events/header_page and header_event of tracefs, kernel/trace/ring_buffer.c.
 * libtraceevent's kbuffer believes the lengths in a page; here one that leads out of the page ends it. */

struct trace_page {
	const char *data;
	size_t size, next; /* of the data; of the next record in it */
	uint64_t at;       /* the time of the last record */
	int64_t lost;      /* events before the page: 0, or the number; 1 where the kernel does not say it */
};

struct trace_record {
	uint64_t at;
	const char *data;
	int size;
};

/* Whether `bytes` are enough for a page. It must stay as long as its records are read. */
bool trace_page_open(struct trace_page *ret, const void *page, size_t bytes);
/* The next record; false: there is none. */
bool trace_page_next(struct trace_page *page, struct trace_record *ret);

/* An event of the kernel's trace that says who has the CPU. */

enum trace_what {
	TRACE_SWITCH, /* from one task to another */
	TRACE_BEGIN,
	TRACE_END,
	TRACE_SPAN,  /* ends now, and took length_ns */
	TRACE_FORK,  /* prev has made next */
	TRACE_POINT, /* begins, and nothing says when it ends */
};

enum trace_kind { TRACE_TASK, TRACE_IRQ, TRACE_SOFTIRQ, TRACE_VECTOR, TRACE_NMI, TRACE_FAULT, TRACE_WORK };

struct trace_event {
	uint64_t at; /* as the trace's clock has it */
	enum trace_what what;
	enum trace_kind kind;
	pid_t pid;        /* the thread that had the CPU */
	uint64_t number;  /* of an interrupt, of a softirq; of work the address of its function */
	const char *name; /* of a device, a softirq, a vector; NULL: none. Until the next event */
	int64_t length_ns;
	/* of a switch or a fork; the names until the next event */
	pid_t prev, next;
	const char *prev_name, *next_name;
	bool preempted; /* prev could have gone on */
};

/* Makes events of pages. It is apart from the trace, so that recorded pages can be decoded anywhere. */
struct trace_decoder;

/* `tracing_fd`: the directory tracefs is mounted at, or a copy: what an event looks like is read from the kernel's description
 * of it (events/SYSTEM/NAME/format). Events that this kernel does not have are left out; -ENOTSUP, with a sentence, if it has
 * no sched_switch. */
int trace_decoder_new(struct trace_decoder **ret, int tracing_fd, struct error *err);
void trace_decoder_free(struct trace_decoder *decoder);

/* Calls `each` for the events of a page in order, whatever its bytes are. Returns how many were lost before it: 0, or the number (1 where
 * the kernel does not say it). */
typedef void trace_each(const struct trace_event *event, void *data);
int64_t trace_decode(
	struct trace_decoder *decoder, const void *page, size_t bytes, trace_each *each, void *data);

/* For the trace: the system ("irq") and the name of the i-th of the events that it decodes; NULL: there are no more. The kernel's
 * function at an address; NULL: not known, or it has not been given the text of /proc/kallsyms. */
const char *trace_decoder_event(const struct trace_decoder *decoder, size_t i, const char **ret_system);
void trace_decoder_symbols(struct trace_decoder *decoder, const char *kallsyms);
const char *trace_decoder_function(struct trace_decoder *decoder, uint64_t address);

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

/* The kernel's function at an address; NULL: not known. */
const char *trace_symbol(struct trace *trace, uint64_t address);

/* Completes the file to keep. */
int trace_keep(struct trace *trace, struct error *err);
