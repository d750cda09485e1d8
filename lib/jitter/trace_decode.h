/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes events of pages of the kernel's trace. It is apart from the trace, so that recorded pages
 * can be decoded anywhere. */
#pragma once

#include "lib/jitter/trace_page.h"

#include <sys/types.h>

enum trace_what {
	TRACE_SWITCH, /* from one task to another */
	TRACE_BEGIN,
	TRACE_END,
	TRACE_SPAN,  /* ends now, and took length_ns */
	TRACE_FORK,  /* prev has made next */
	TRACE_POINT, /* begins, and nothing says when it ends */
};

enum trace_kind {
	TRACE_TASK,
	TRACE_IRQ,
	TRACE_SOFTIRQ,
	TRACE_VECTOR,
	TRACE_NMI,
	TRACE_FAULT,
	TRACE_WORK
};

/* An event of the kernel's trace that says who has the CPU. */
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

/* `tracing_fd`: the directory tracefs is mounted at, or a copy: what an event looks like is read
 * from the kernel's description of it (events/SYSTEM/NAME/format). Events that this kernel does not
 * have are left out; -ENOTSUP, with a sentence, if it has no sched_switch. `kallsyms`: the text of
 * /proc/kallsyms; NULL: functions have no names. */
int trace_decoder_new(
	struct trace_decoder **ret, int tracing_fd, const char *kallsyms, struct error *err);
void trace_decoder_free(struct trace_decoder *decoder);

/* The next event of a page, whatever its bytes are; false: there are no more. */
bool trace_decode(struct trace_decoder *decoder, struct trace_page *page, struct trace_event *ret);

/* The system ("irq") and the name of the i-th of the events that it decodes; NULL: there are no
 * more. */
const char *trace_decoder_event(
	const struct trace_decoder *decoder, size_t i, const char **ret_system);
/* The kernel's function at an address; NULL: not known. */
const char *trace_decoder_function(struct trace_decoder *decoder, uint64_t address);
