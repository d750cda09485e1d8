/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Orphans of a program under test: see orphans.h. */
#include "lib/host/process/orphans.h"

#include "lib/base/array.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static int read_children(struct pid_list *list, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	char path[64], *at, *end;
	int r;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	r = text_read_file(AT_FDCWD, path, &text);
	if (r < 0)
		return error_os(err, r, "cannot read %s", path);
	list->n = 0;
	for (at = text;; at = end) {
		pid_t pid = (pid_t)strtol(at, &end, 10), *item;

		if (end == at)
			return 0;
		item = array_add_reused(list->items, list->n, list->capacity);
		if (!item)
			return error_oom(err);
		*item = pid;
	}
}

static bool is_orphan(const struct orphans *o, pid_t pid)
{
	if (o->cgroup)
		return cgroup_has(o->cgroup, pid);
	for (size_t i = 0; i < o->before.n; i++)
		if (o->before.items[i] == pid)
			return false;
	return true;
}

/* The children that are this program's orphans, dead ones included. */
static int list_orphans(const struct orphans *o, struct pid_list *ret, struct error *err)
{
	size_t n = 0;
	int r = read_children(ret, err);

	for (size_t i = 0; r == 0 && i < ret->n; i++)
		if (is_orphan(o, ret->items[i]))
			ret->items[n++] = ret->items[i];
	ret->n = n;
	return r;
}

int orphans_begin(struct orphans *o, struct cgroup *cgroup, struct error *err)
{
	*o = (struct orphans){.cgroup = cgroup};
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return !cgroup && has_children() ? read_children(&o->before, err) : 0;
}

void orphans_clear(struct orphans *o)
{
	pid_list_free(&o->before);
}

/* 1: some have not ended. */
static int reap_each(const struct orphans *o, void (*add)(void *data, const struct rusage *), void *data,
	struct error *err)
{
	_cleanup_(pid_list_free) struct pid_list list = {};
	int r = list_orphans(o, &list, err), left = 0;

	for (size_t i = 0; r == 0 && i < list.n; i++) {
		struct rusage ru;
		pid_t pid = wait4(list.items[i], NULL, WNOHANG, &ru);

		if (pid > 0)
			add(data, &ru);
		left |= pid == 0;
	}
	return r < 0 ? r : left;
}

int orphans_reap(const struct orphans *o, void (*add)(void *data, const struct rusage *), void *data,
	struct error *err)
{
	int populated = o->cgroup ? cgroup_populated(o->cgroup, err) : 0;
	int r = populated >= 0 && has_children() ? reap_each(o, add, data, err) : 0;

	return populated < 0 ? populated : r < 0 ? r : populated || r;
}

int orphans_count(const struct orphans *o, struct error *err)
{
	_cleanup_(pid_list_free) struct pid_list list = {};
	int r;

	if (o->cgroup)
		return cgroup_count(o->cgroup, err);
	r = list_orphans(o, &list, err);
	return r < 0 ? r : (int)list.n;
}

int orphans_kill(const struct orphans *o, struct error *err)
{
	_cleanup_(pid_list_free) struct pid_list list = {};
	size_t refused = 0;
	int r;

	if (o->cgroup)
		return cgroup_kill(o->cgroup, err);
	r = list_orphans(o, &list, err);
	for (size_t i = 0; r == 0 && i < list.n; i++)
		refused += kill(list.items[i], SIGKILL) < 0 && errno == EPERM;
	if (r == 0 && refused > 0 && refused == list.n)
		return error_say(err, -EPERM,
			"this user may not kill the %zu processes that the program left behind", refused);
	return r;
}
