/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the programs of a session read and write: the file of --input, the places of --output, and
 * standard error, which is kept in memory for messages. */
#pragma once

#include "measure/session.h"

/* /dev/null, the file of --input and standard error: session->null, .in and .errors. */
int streams_open(struct session *session, struct error *err);

/* Where the command writes, as for --output. */
const char *streams_place(const struct session *session, const struct command *command);

/* That place, opened once, also for several commands. *ret is -1: where this process
 * does. */
int streams_open_output(
	struct session *session, const struct command *command, int *ret, struct error *err);

/* A file in memory for standard error: the message about a program that failed shows its end. */
int streams_open_errors(int *ret_fd, struct error *err);

int streams_open_input(const char *file, int *ret_fd, struct error *err);
