/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Orphans of a program under test: see program.h. */
#include "lib/host/process/program.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { MAX_ROUNDS = 1000 };

static void pids_free(struct pids *pids)
{
	free(pids->items);
	*pids = (struct pids){};
}

static bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Adds the children of a thread. */
static int add_children(struct pids *list, const char *path)
{
	_cleanup_(freep) char *text = NULL;
	char *at, *end;
	int r = text_read_file(AT_FDCWD, path, &text);

	for (at = text; r == 0; at = end) {
		pid_t pid = (pid_t)strtol(at, &end, 10), *item;

		if (end == at || pid <= 0) /* 0: it is in no namespace that is visible here */
			break;
		item = array_add_reused(list->items, list->n, list->capacity);
		*item = pid;
	}
	return r;
}

static int read_own_children(struct pids *list, struct error *err)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	list->n = 0;
	r = add_children(list, path);
	return r < 0 ? error_os(err, r, "cannot read %s", path) : 0;
}

static bool is_orphan(const struct orphans *o, pid_t pid)
{
	for (size_t i = 0; i < o->before.n; i++)
		if (o->before.items[i] == pid)
			return false;
	if (!o->cgroup || cgroup_has(o->cgroup, pid, false))
		return true;
	return o->before.n == 0 && !cgroup_has(o->cgroup, pid, true);
}

/* The children that are this program's orphans, dead ones included. */
static int list_orphans(const struct orphans *o, struct pids *ret, struct error *err)
{
	size_t n = 0;
	int r = o->kept ? 0 : read_own_children(ret, err);

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
	return has_children() ? read_own_children(&o->before, err) : 0;
}

void orphans_clear(struct orphans *o)
{
	pids_free(&o->before);
}

int orphans_reap(const struct orphans *o, void (*add)(void *data, const struct rusage *), void *data,
	struct error *err)
{
	int populated = o->cgroup ? cgroup_populated(o->cgroup, err) : 0, r;
	bool left = false, reaped = populated >= 0 && has_children();
	_cleanup_(pids_free) struct pids list = {};

	/* The list is read again while some have ended: one that was alive when it was read, and ended before it was reaped,
	 * may have left its own children to this process. */
	while (reaped && !left) {
		r = list_orphans(o, &list, err);
		if (r < 0)
			return r;
		reaped = false;
		for (size_t i = 0; i < list.n; i++) {
			struct rusage ru;
			pid_t pid = wait4(list.items[i], NULL, WNOHANG, &ru);

			if (pid > 0)
				add(data, &ru);
			reaped |= pid > 0;
			left |= pid == 0;
		}
	}
	return populated < 0 ? populated : populated || left;
}

int orphans_count(const struct orphans *o, struct error *err)
{
	_cleanup_(pids_free) struct pids list = {};
	int r = list_orphans(o, &list, err), n = 0;

	if (r < 0)
		return r;
	for (size_t i = 0; i < list.n; i++) /* those outside the cgroup */
		n += !o->cgroup || !cgroup_has(o->cgroup, list.items[i], false);
	r = o->cgroup ? cgroup_count(o->cgroup, err) : 0;
	return r < 0 ? r : n + r;
}

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

/* Whether `now` has a process that `before`, which is sorted, has not. */
static bool has_new_pid(const struct pids *now, const struct pids *before)
{
	for (size_t i = now->n; i > 0; i--)
		if (before->n == 0 ||
			!bsearch(&now->items[i - 1], before->items, before->n, sizeof(pid_t), compare_pids))
			return true;
	return false;
}

int orphans_kill(const struct orphans *o, struct error *err)
{
	_cleanup_(pids_free) struct pids now = {}, before = {};
	int r = o->cgroup ? cgroup_kill(o->cgroup, err) : 0;
	size_t refused = 0, n = 0;
	bool more = true;

	for (int round = 0; r == 0 && more && round < MAX_ROUNDS; round++) {
		struct pids swap = before;

		r = list_orphans(o, &now, err);
		if (r < 0)
			break;
		n = now.n;

		/* Kills the processes of the list and all below them, which are added to it, and counts
		 * those that may not be killed. Each is killed before its children are read: it cannot
		 * fork after that. The newest come first: the oldest may long have ended. */
		size_t orphans = now.n, trees_refused = 0;

		for (size_t i = orphans; i > 0; i--)
			trees_refused += kill(now.items[i - 1], SIGKILL) < 0 && errno == EPERM;
		for (size_t i = 0; i < now.n; i++) {
			_cleanup_(closedirp) DIR *threads = NULL;
			pid_t pid = now.items[i];
			struct dirent *entry;
			char path[320];

			if (i >= orphans)
				kill(pid, SIGKILL);
			snprintf(path, sizeof(path), "/proc/%d/task", pid);
			threads = opendir(
				path); /* where it has ended meanwhile, its children are orphans now */
			while (threads && (entry = readdir(threads))) {
				snprintf(path, sizeof(path), "/proc/%d/task/%s/children", pid, entry->d_name);
				add_children(&now, path);
			}
		}
		refused = trees_refused;
		more = has_new_pid(&now, &before);
		before = now;
		now = swap;
		if (before.n > 0)
			qsort(before.items, before.n, sizeof(*before.items), compare_pids);
	}
	if (r == 0 && refused > 0 && refused == n)
		return error_say(err, -EPERM,
			"this user may not kill the %zu process%s that the program left behind", refused,
			refused == 1 ? "" : "es");
	return r;
}
