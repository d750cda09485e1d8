/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sources of interruptions, by name. Events have numbers and the names that were valid at the time; each is made a source once. */
#pragma once

#include "lib/host/accounting/identity.h"
#include "lib/host/accounting/keymap.h"
#include "lib/host/trace/trace.h"
#include "lib/record/run.h"

struct jitter_source_name {
	char *name;
	char *unit; /* NULL: none or not known */
	enum source_kind kind;
	uint32_t *parts; /* of a combination, in the order of its name */
	size_t n_parts;
};

/* The function at an address: trace_symbol(). */
typedef const char *jitter_symbol(struct trace *trace, uint64_t address);

struct jitter_sources {
	struct jitter_source_name *items;
	size_t n;
	struct keymap known; /* by hashes of what events have */
	size_t n_combinations;
	struct identity *identity; /* NULL: threads have no units */
	jitter_symbol *symbol;     /* NULL: kernel workers go without functions */
	struct trace *trace;       /* of the symbols */
	const char *outside;       /* the name of what stops the CPU below the kernel */
};

void jitter_sources_clear(struct jitter_sources *sources);

/* The index of a source, or -ENOMEM. Kernel workers are grouped by lib/protocol/names.h. */
int64_t jitter_source_of_thread(struct jitter_sources *sources, pid_t pid, const char *name);
/* The source of a thread that the trace does not show. */
int64_t jitter_source_unknown(struct jitter_sources *sources);
/* The source of gaps outside the kernel. */
int64_t jitter_source_outside(struct jitter_sources *sources);
/* The source of an event that is not a switch. */
int64_t jitter_source_of_event(struct jitter_sources *sources, const struct trace_event *event);
/* The source of several in one gap, in any order. A single one is returned as it is. */
int64_t jitter_source_of_parts(struct jitter_sources *sources, const uint32_t *parts, size_t n);
