/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The session of a tool that takes samples: the lab book, the host's lock, the fingerprint of the
 * machine (emp-setup takes it), the observer, and the end of runs. */
#pragma once

#include "lib/book/book.h"
#include "lib/host/system/lock.h"
#include "lib/run/observer.h"

struct run_session {
	struct book *book;
	int lock_fd;           /* of the host's lock; -1: not held */
	int turn_fd;           /* see turn_take; -1: not taken */
	const cpu_set_t *cpus; /* that programs run on, to be set before it is opened; NULL: all */
	/* who measures at the same time, on the same CPUs, with RUN_LOCK_IGNORED; NULL: nobody */
	char *beside;
	int64_t environment; /* today's, in the book */
	char *environment_digest;
	char *inc_digest; /* of the INC that is beside the tools; NULL: there is none */
	struct observer observer;
	struct environment_question *question; /* while the fingerprint is taken */
};

#define RUN_SESSION_NEW ((struct run_session){.lock_fd = -1, .turn_fd = -1})

enum run_lock {
	RUN_LOCK_IGNORED,
	RUN_LOCK_FREE, /* another tool that holds it is an error; the message names --ignore-lock */
	RUN_LOCK_TAKEN,
};

/* Opens the book (NULL: the user's) and looks at the lock. Unless that is ignored, waits until
 * nobody else measures on the same CPUs, and says so on standard error; -EINTR, with a sentence,
 * after INT, TERM or HUP. A run of several days does not end because another program has locked its
 * book: from now on all users of the book wait until the lock is gone, or until INT, TERM or HUP.
 * After 10 s, a message on standard error says what they wait for. */
int run_session_open(struct run_session *session, const char *db, enum book_mode mode,
	enum run_lock lock, struct error *err);
void run_session_close(struct run_session *session);

/* Starts taking the fingerprint, while the caller prepares other things. */
void run_session_ask_environment(struct run_session *session);

/* Waits for it, or takes it now, and stores it. Also finds inc_digest. No sample may run before. */
int run_session_environment(struct run_session *session, struct error *err);

/* Of a new run of that command: the environment and what the observer says. The caller frees the
 * run. */
void run_session_describe(const struct run_session *session, char *const *argv, struct run *run);

/* Runs emp-setup's audit. *ret_off: the ids of its level A checks that are off, with ", " between,
 * which the caller frees; NULL: the machine is fit. */
int environment_audit(char **ret_off, struct error *err);
