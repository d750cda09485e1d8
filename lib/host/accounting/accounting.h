/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What CPU time every other process took between two moments (EMP, Figure 5: the before and the
 * after image). One interface, two backends:
 *
 *   bpf        a BPF program walks all tasks, another sees each task die: exact to a microsecond
 *   taskstats  the kernel's netlink accounting, as in the papers: live processes are behind by up to
 *              one tick, and so are the exit records of short ones
 *
 * Processes are joined on (pid, start time). The observer itself is left out, its cost told apart. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct accounting;

enum accounting_backend { ACCOUNTING_AUTO, ACCOUNTING_BPF, ACCOUNTING_TASKSTATS };

/* One process execution that took CPU time between the images. */
struct usage {
	pid_t pid;
	char name[16];    /* the kernel's comm, the papers' key */
	const char *exe;  /* path of the program, NULL if unknown; lives as long as the accounting */
	const char *unit; /* systemd unit, NULL if none or unknown; likewise */
	int64_t pt_ns;    /* exact clock: the scheduler's run time */
	int64_t tick_ns;  /* tick clock: user + system by ticks; -1 where the backend does not know it */
	bool kernel;      /* a kernel thread */
	bool started;     /* began between the images */
	bool ended;       /* ended between the images */
	bool program;     /* belongs to the program under test: see accounting_before */
};

struct usages {
	struct usage *items; /* owned by the accounting until the next accounting_before */
	size_t n;
	uint64_t lost;   /* records of processes that ended which did not arrive */
	bool incomplete; /* lost > 0, or an image failed in part: this sample proves nothing about daemons */
};

/* AUTO takes bpf where the kernel and the capabilities allow it, else taskstats. -EPERM or -ENOTSUP with
 * a sentence that names the missing capability or kernel part, and what still works without. Where AUTO
 * fell back, accounting_why tells the reason ("bpf: the kernel has no BTF"), else NULL. */
int accounting_new(struct accounting **ret, enum accounting_backend backend, struct error *err);
void accounting_free(struct accounting *a);
DEFINE_FREEP(accounting)

const char *accounting_name(const struct accounting *a); /* "bpf" or "taskstats" */
const char *accounting_why(const struct accounting *a);

/* The before image. `cgroup_id` is the cgroup v2 of the program under test (its inode number; 0: none): its
 * processes, and those below it, come out with `program` set. Without a cgroup, and with taskstats always,
 * all descendants of the calling process do (it should be a child subreaper, so that orphans stay its
 * descendants). */
int accounting_before(struct accounting *a, uint64_t cgroup_id, struct error *err);

/* A descriptor to poll for reading while the program runs (-1: none), and how long the caller may at most
 * wait between two calls of accounting_drain (-1: no limit). bpf wakes nobody until its buffer is half full.
 */
int accounting_poll_fd(const struct accounting *a);
int accounting_poll_ms(const struct accounting *a);
int accounting_drain(struct accounting *a, struct error *err);

/* The after image, and all executions with pt_ns > 0 or tick_ns > 0, in order of pid. (Under taskstats some
 * short ones have neither: no tick fell into them.) */
int accounting_after(struct accounting *a, struct usages *ret, struct error *err);

/* CPU time that this thread has spent in the calls above since the last accounting_before. */
int64_t accounting_cost_ns(const struct accounting *a);
