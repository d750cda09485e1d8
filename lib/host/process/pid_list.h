/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process ids in /proc. A zeroed struct is an empty list; it keeps its memory from one reading to the
 * next. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct pid_list {
	pid_t *items; /* ascending */
	size_t n, capacity;
};

/* proc_fd: /proc as a directory. -errno. */
int pid_list_read(struct pid_list *list, int proc_fd);
void pid_list_free(struct pid_list *list);

bool pid_list_has(const struct pid_list *list, pid_t pid);
