/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's struct taskstats as bytes. It grows with the kernel's version, and was changed in
 * the middle for two releases, so it is read by version and length. */
#pragma once

#include "lib/base/base.h"

#include <sys/types.h>

enum {
	TASKSTATS_FORKED = 0x01,    /* in `flags`: no exec since fork (AFORK) */
	TASKSTATS_LAST = 0x20,      /* in `flags`: the last thread of its process (AGROUP) */
	TASKSTATS_MIN_VERSION = 12, /* the first with a thread's process; Linux 5.19 */
};

struct taskstats_fields {
	uint16_t version;
	uint8_t flags;
	uint64_t run_ns;  /* cpu_run_virtual_total: the scheduler's run time */
	uint64_t tick_ns; /* cpu_run_real_total: user + system as accounted */
	uint64_t wait_ns; /* cpu_delay_total: ready to run and not running */
	char comm[16];
	uint32_t pid, tgid, ppid;
	uint64_t exe_device, exe_inode;
};

/* Reads one struct; `version` 0: the version in it. -EBADMSG: too short for its version; -ENOTSUP:
 * older than TASKSTATS_MIN_VERSION. */
int taskstats_read(
	const void *data, size_t len, unsigned int version, struct taskstats_fields *ret);

/* The content of one message: of a thread, of a whole process, or (at the end of a process that had
 * threads) of both. */
struct taskstats_message {
	bool has_thread, has_process;
	struct taskstats_fields thread, process;
};

/* Reads the attributes of a message, that is what follows its generic netlink header. Errors as
 * above. */
int taskstats_read_message(const void *attributes, size_t len, struct taskstats_message *ret);

/* Generic netlink to the kernel's taskstats: questions about living tasks, and the records of tasks
 * that end, from one socket per CPU. The only file that includes libmnl. */

struct taskstats_link;

/* For questions. -ENOTSUP, -EPERM… with a sentence. */
int taskstats_link_new(struct taskstats_link **ret, struct error *err);
void taskstats_link_free(struct taskstats_link *link);
DEFINE_FREEP(taskstats_link)

/* The subject of a question: the thread with that id alone, or the whole process, threads that
 * ended included. Of a whole process the kernel reports only its times. */
enum taskstats_scope { TASKSTATS_THREAD, TASKSTATS_PROCESS };

/* More than 32 at once is not faster; more than 166 answers overflow a default buffer. */
enum { TASKSTATS_BATCH = 128 };

/* Asks about n tasks, TASKSTATS_BATCH at most. ret[i] is the answer about pids[i], with version 0
 * if that is gone. Returns the number of pids with neither answer nor error. */
int taskstats_link_ask(struct taskstats_link *link, enum taskstats_scope scope, const pid_t *pids,
	size_t n, struct taskstats_fields *ret, struct error *err);

/* The same about one thread. -ESRCH: it is gone. */
int taskstats_link_ask_one(
	struct taskstats_link *link, pid_t pid, struct taskstats_fields *ret, struct error *err);

/* Makes the kernel report tasks that end. receive_bytes: the buffer of each CPU's socket, 0: by the
 * number of CPUs. */
int taskstats_link_watch_ends(struct taskstats_link *link, int receive_bytes, struct error *err);

/* The next thread that ended; with has_process if it was the last of a process that had others. CPU
 * by CPU, in order on each. 1; 0: there is none at present. */
int taskstats_link_next_end(
	struct taskstats_link *link, struct taskstats_message *ret, struct error *err);

/* Records that did not arrive, since the link was made. Call it when taskstats_link_next_end has
 * returned 0. */
uint64_t taskstats_link_lost(const struct taskstats_link *link);
