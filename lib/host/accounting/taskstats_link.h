/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Generic netlink to the kernel's taskstats: queries for living tasks in batches, and the records of tasks that end,
 * from one socket per CPU. The only file that includes libmnl. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"
#include "lib/host/accounting/taskstats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
