/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's struct taskstats as bytes. It grows with the kernel's version, and was changed in the
 * middle for two releases, so it is read by version and length. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

/* Reads one struct; `version` 0: the version in it. -EBADMSG: too short for its version; -ENOTSUP: older than
 * TASKSTATS_MIN_VERSION. */
int taskstats_read(const void *data, size_t len, unsigned int version, struct taskstats_fields *ret);

/* The content of one message: of a thread, of a whole process, or (at the end of a process that had threads) of
 * both. */
struct taskstats_message {
	bool has_thread, has_process;
	struct taskstats_fields thread, process;
};

/* Reads the attributes of a message, that is what follows its generic netlink header. Errors as above. */
int taskstats_read_message(const void *attributes, size_t len, struct taskstats_message *ret);

/* Generic netlink to the kernel's taskstats: queries for living tasks in batches, and the records of tasks that end,
 * from one socket per CPU. The only file that includes libmnl. */

struct taskstats_link;

/* Called for each thread that ended; with has_process if it was the last of a process that had others. */
typedef int taskstats_ended(void *context, const struct taskstats_message *end);

/* receive_bytes: the buffer of each CPU's socket, 0: by the number of CPUs. ended NULL: for questions only.
 * -ENOTSUP, -EPERM… with a sentence. */
int taskstats_link_new(struct taskstats_link **ret, int receive_bytes, taskstats_ended *ended, void *context,
	struct error *err);
void taskstats_link_free(struct taskstats_link *link);
DEFINE_FREEP(taskstats_link)

/* The subject of a query: the thread with that id alone, or the whole process, threads that ended included. Of a whole
 * process the kernel reports only its times. */
enum taskstats_scope { TASKSTATS_THREAD, TASKSTATS_PROCESS };

struct taskstats_question {
	enum taskstats_scope scope;
	const pid_t *pids;
	size_t n;

	/* Called with the answer about pids[i], in order; not at all for one that is gone. A negative
	 * result ends the question. */
	int (*answer)(void *context, size_t i, const struct taskstats_fields *fields);
	void *context;
};

/* `ret_missed`: the number of pids with neither answer nor error. */
int taskstats_link_ask(struct taskstats_link *link, const struct taskstats_question *question,
	size_t *ret_missed, struct error *err);

/* The same about one thread. -ESRCH: it is gone. */
int taskstats_link_ask_one(
	struct taskstats_link *link, pid_t pid, struct taskstats_fields *ret, struct error *err);

/* Calls `ended` for all that has come since the last call; CPU by CPU, in order on each. */
int taskstats_link_receive(struct taskstats_link *link, struct error *err);

/* Records that did not arrive, since the link was made. Call it after taskstats_link_receive. */
uint64_t taskstats_link_lost(const struct taskstats_link *link);
