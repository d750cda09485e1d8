/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process ids in /proc: see pid_list.h. It calls getdents64 directly: opendir would allocate
 * memory, and open the directory again. */
#include "lib/host/process/pid_list.h"

#include "lib/base/xalloc.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int add(struct pid_list *list, const char *name)
{
	pid_t *pid;

	if (name[0] < '1' || name[0] > '9')
		return 0;
	pid = array_add_reused(list->items, list->n, list->capacity);
	*pid = atoi(name);
	return 0;
}

/* The kernel lists processes in order of their ids. */
int pid_list_read(struct pid_list *list, int proc_fd)
{
	char buffer[32768] __attribute__((aligned(8)));
	ssize_t n;

	list->n = 0;
	if (lseek(proc_fd, 0, SEEK_SET) < 0)
		return -errno;
	while ((n = getdents64(proc_fd, buffer, sizeof(buffer))) > 0)
		for (char *at = buffer; at < buffer + n; at += ((struct dirent64 *)at)->d_reclen) {
			int r = add(list, ((struct dirent64 *)at)->d_name);

			if (r < 0)
				return r;
		}
	return n < 0 ? -errno : 0;
}

void pid_list_free(struct pid_list *list)
{
	free(list->items);
	*list = (struct pid_list){};
}

static int compare(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

bool pid_list_has(const struct pid_list *list, pid_t pid)
{
	return list->n > 0 && bsearch(&pid, list->items, list->n, sizeof(pid), compare);
}
