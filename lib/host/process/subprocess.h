/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program of the system, asked a question: chronyc, ntpq, apt-cache. No shell, no PATH of the caller's, no
 * terminal, a limit in time. */
#pragma once

#include "lib/base/error.h"

/* Runs argv (argv[0] is looked up in the system's own directories) and gives what it wrote to standard
 * output, 64 KiB at most, and its exit status; its standard error goes nowhere. The caller frees the text.
 * -ENOENT: it is not installed. -ETIMEDOUT: it had to be ended after timeout_ms. */
int command_ask(
	const char *const *argv, int timeout_ms, char **ret_output, int *ret_status, struct error *err);
