/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of the kernel's ring buffer, made events. What an event looks like is read from the kernel's description of it
 * (events/SYSTEM/NAME/format). Apart from trace.h, so that recorded pages can be decoded anywhere. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/host/trace/trace_event.h"

#include "lib/base/error.h"

#include <stddef.h>

struct trace_decoder;

/* `tracing_fd`: the directory tracefs is mounted at, or a copy. Events that this kernel does not have are left out;
 * -ENOTSUP, with a sentence, if it has no sched_switch. */
int trace_decoder_new(struct trace_decoder **ret, int tracing_fd, struct error *err);
void trace_decoder_free(struct trace_decoder *decoder);
DEFINE_FREEP(trace_decoder)

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
