/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A slave: a process of its own that follows one script. The driver starts it as
 *
 *	emp-load slave NUMBER DIRECTORY
 *
 * with a socket as its standard input, from which it gets the shared memory. */
#pragma once

#include "lib/base/error.h"

/* What this process does as a slave; it returns only with a failure. */
int slave_verb(int argc, char **argv, struct error *err);

/* Sends a slave the descriptor of the shared memory. */
int slave_send_memory(int socket, int memory_fd, struct error *err);
