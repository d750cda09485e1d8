/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The working set of a program: the memory that it touches within a window of its CPU time (Denning
 * 1968), in pages. A thread watches the program while it runs, and slows it down: not for samples.
 *
 * The kernel has a mark for each page that says whether it was touched (proc_pid_clear_refs(5)).
 * The processor sets it only when it translates the page's address anew. So the marks are cleared,
 * then the translations that it keeps are, and the pages with a mark are counted at the end of the
 * window. A page of a file has another mark, for all who have mapped it, which it also gets when
 * one of them ends: the thread maps those files, too, and clears that mark before it counts. */
#pragma once

#include "lib/base/base.h"

#include <math.h>

enum { WORKING_SET_WINDOWS = 4 };

/* 3, 10, 30 and 100 ms. */
extern const int64_t working_set_window_ns[WORKING_SET_WINDOWS];

/* A zeroed one is empty. */
struct working_set {
	double bytes[WORKING_SET_WINDOWS]; /* in all windows of that length together */
	size_t n[WORKING_SET_WINDOWS];     /* how many there were */
	/* how often somebody looked at its threads, and how often two or more were ready to run */
	size_t looks, parallel;
};

/* Whether the program would use several CPUs at once, if it had them. */
bool working_set_is_parallel(const struct working_set *set);

/* The mean of windows that are so long; if there were none, the most that it can be by the next
 * shorter ones; and no less than it must be by longer ones, which see more of the program. NAN: not
 * known. */
double working_set_bytes(const struct working_set *set, int64_t window_ns);

struct working_set_watch;

/* Watches all processes that this one starts from now on, and theirs, from any CPU but that one
 * (-1: from any). */
int working_set_watch_new(struct working_set_watch **ret, int cpu, struct error *err);

/* Adds what was seen, and frees it. */
void working_set_watch_end(struct working_set_watch *watch, struct working_set *sum);
