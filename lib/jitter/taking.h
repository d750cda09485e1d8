/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds what takes a CPU from a program that is pinned to it, from the events of that CPU: interrupts while the program runs, and other
 * tasks while it is ready to run, that is, preempted or just forked. Whatever runs while the program waits for
 * something takes nothing from it. */
#pragma once

#include "lib/jitter/intervals.h"
#include "lib/jitter/taken.h"

struct taking {
	struct intervals intervals;
	pid_t program;         /* all its threads are this one to the intervals */
	struct keymap threads; /* of the program: 1 if ready */
	size_t n_ready;
	bool running;
	struct taken_sample sample;
	int failed; /* -ENOMEM */
};

/* `program`: its first process. What it forks belongs to it. */
void taking_begin(struct taking *taking, pid_t program, struct jitter_sources *sources);
void taking_add(struct taking *taking, const struct trace_event *event, int64_t at_ns);
/* -ENOMEM. */
int taking_end(struct taking *taking, struct taken_sample *ret);
void taking_clear(struct taking *taking);
