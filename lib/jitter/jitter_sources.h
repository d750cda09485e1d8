/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sources of interruptions of a run, by index. Events have numbers and the names that were
 * valid at the time; each is made a source once. What several sources took together in one gap is a
 * source, too: a combination. */
#pragma once

#include "lib/base/keymap.h"
#include "lib/host/accounting/identity.h"
#include "lib/jitter/trace_decode.h"
#include "lib/record/run.h"

struct jitter_source_name {
	char *name;
	char *unit; /* NULL: none or not known */
	enum source_kind kind;
	uint32_t *parts; /* of a combination, in the order of its name */
	size_t n_parts;
};

struct jitter_sources {
	struct jitter_source_name *items;
	size_t n;
	struct keymap known; /* by hashes of what events have */
	size_t n_combinations;
	struct identity *identity;     /* owned; NULL: threads have no units */
	struct trace_decoder *decoder; /* NULL: kernel workers go without functions */
	const char *outside;           /* the name of what stops the CPU below the kernel */
};

void jitter_sources_clear(struct jitter_sources *sources);

/* The index of the source of a thread. Kernel workers are grouped by lib/protocol/names.h. */
uint32_t jitter_source_of_thread(struct jitter_sources *sources, pid_t pid, const char *name);
/* That of an event that is not a switch. */
uint32_t jitter_source_of_event(struct jitter_sources *sources, const struct trace_event *event);
/* The source with these, which may be new. unit: NULL: none. */
uint32_t jitter_source_add(
	struct jitter_sources *sources, const char *name, const char *unit, enum source_kind kind);
/* The source of several in one gap, in any order. A single one is returned as it is. */
uint32_t jitter_source_of_parts(struct jitter_sources *sources, const uint32_t *parts, size_t n);
