/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An event of the kernel's trace that says who has the CPU. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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
