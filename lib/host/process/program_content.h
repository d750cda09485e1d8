/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether two commands of one call are the same program: executable, shared libraries, script,
 * arguments and what else they are given are equal by content, whatever their paths. In doubt they
 * are not: a program that is taken for another one costs a sentence, and one that is taken for the
 * same hides that it is slower. */
#pragma once

#include "lib/base/base.h"

struct program_content_query {
	const char *path;  /* of the executable */
	char *const *argv; /* argv[0] is the name that the program sees */
	/* which its loader sees; the same for all programs of the call */
	char *const *environment;
	/* what else makes a difference, such as commands before each sample; n_beside, NULL:
	 * none */
	const char *const *beside;
	size_t n_beside;
	int64_t call_ns; /* when the call began, which tells it from others */
	/* when the program first ran: a file that has changed since may have been another */
	int64_t since_ns;
};

/* "SHA-256" or "SHA-256 NAME", which the caller frees. NAME: argv[0], if the executable may act by
 * it, as busybox does. call_ns is a part of it, so that commands of two calls are never equal:
 * programs read more files than their command lines name. NULL: it cannot be known. */
char *program_content(const struct program_content_query *query);
