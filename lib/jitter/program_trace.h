/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's trace of one CPU during the samples of a program. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"
#include "lib/jitter/jitter_sources.h"
#include "lib/jitter/taken.h"

struct program_trace;

/* Starts recording. The error says what is missing: root, tracefs. */
int program_trace_open(struct program_trace **ret, int cpu, struct error *err);
void program_trace_free(struct program_trace *trace);
DEFINE_FREEP(program_trace)

/* Drops what was recorded so far; for use before a sample. */
int program_trace_forget(struct program_trace *trace, struct error *err);

/* What was taken since then from the program with this first process; for use after a sample. */
int program_trace_take(
	struct program_trace *trace, pid_t program, struct taken_sample *ret, struct error *err);

/* The name, unit and kind of a source. */
const struct jitter_source_name *program_trace_source(const struct program_trace *trace, uint32_t source);
int program_trace_cpu(const struct program_trace *trace);
/* The time that recording one event takes; 0: not known. */
int64_t program_trace_event_cost_ns(const struct program_trace *trace);
