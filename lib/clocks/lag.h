/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A child process that shows something while it is observed: it runs a function of this program, and has a page of
 * memory in common with it. It ends with its parent, however that ends. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <sys/types.h>

struct child {
	pid_t pid;
	void *page; /* zeros at first */
};

/* run(page, data) is called in the child, pinned to `cpu`; the child ends when it returns. */
int child_start(struct child *ret, int cpu, void (*run)(void *page, const void *data), const void *data,
	struct error *err);
/* -ECHILD with a sentence: it has ended. */
int child_check(const struct child *child, struct error *err);
/* Kills it. A child that was not started is fine. */
void child_end(struct child *child);
