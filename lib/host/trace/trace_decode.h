/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of the kernel's ring buffer, made events. What an event looks like is read from the kernel's description of it
 * (events/SYSTEM/NAME/format). Apart from trace.h, so that recorded pages can be decoded anywhere. */
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

struct trace_decoder;

/* `tracing_fd`: the directory tracefs is mounted at, or a copy. Events that this kernel does not have are left out;
 * -ENOTSUP, with a sentence, if it has no sched_switch. */
int trace_decoder_new(struct trace_decoder **ret, int tracing_fd, struct error *err);
void trace_decoder_free(struct trace_decoder *decoder);

/* Calls `each` with the name ("irq/irq_handler_entry") of every event that it decodes; ends if that returns other than 0, and
 * returns it. */
int trace_decoder_events(const struct trace_decoder *decoder,
	int (*each)(const char *system, const char *event, void *data), void *data);

/* Calls `each` for the events of a page in order, whatever its bytes are. Returns how many were lost before it: 0, or the number (1 where
 * the kernel does not say it). */
typedef void trace_each(const struct trace_event *event, void *data);
int64_t trace_decode(
	struct trace_decoder *decoder, const void *page, size_t bytes, trace_each *each, void *data);

/* The kernel's function at an address; NULL: not known. The text of /proc/kallsyms must have been given. */
int trace_decoder_symbols(struct trace_decoder *decoder, const char *kallsyms, struct error *err);
const char *trace_function(struct trace_decoder *decoder, uint64_t address);
