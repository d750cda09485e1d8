/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Orphans of a program under test: see orphans.h. */
#include "lib/host/process/orphans.h"

#include "lib/host/process/tag.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { MAX_ROUNDS = 1000 };

/* Also when one of them has ended and was not reaped. */
static bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static bool is_orphan(const struct orphans *o, pid_t pid)
{
	int number;

	if (o->cgroup && cgroup_has(o->cgroup, pid, false))
		return true;
	if (o->number < 0 || (!o->cgroup && !o->has_partners))
		return true;
	if (o->cgroup && cgroup_has(o->cgroup, pid, true))
		return false;
	number = tag_read(pid);
	return number == o->number || (number < 0 && !o->has_partners && o->before.n == 0);
}

/* The children that are this program's orphans, dead ones included. */
static int list_orphans(const struct orphans *o, struct pid_list *ret, struct error *err)
{
	size_t n = 0;
	int r;

	ret->n = 0;
	r = pid_list_add_children(ret, getpid(), getpid(), err);
	for (size_t i = 0; r == 0 && i < ret->n; i++) {
		pid_t pid = ret->items[i];

		if (!pid_list_has(&o->before, pid) && is_orphan(o, pid))
			ret->items[n++] = pid;
	}
	ret->n = n;
	return r;
}

int orphans_begin(struct orphans *o, struct cgroup *cgroup, struct error *err)
{
	int r;

	*o = (struct orphans){.cgroup = cgroup};
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	r = has_children() ? pid_list_add_children(&o->before, getpid(), getpid(), err) : 0;
	pid_list_sort(&o->before);
	return r;
}

int orphans_reap(const struct orphans *o, struct exec_result *sum, struct error *err)
{
	int populated = o->cgroup ? cgroup_is(o->cgroup, "populated", err) : 0, r;
	bool left = false, reaped = populated >= 0 && has_children();
	_cleanup_(pid_list_free) struct pid_list list = {};

	/* The list is read again while some have ended: one that was alive when it was read, and
	 * ended before it was reaped, may have left its own children to this process. */
	while (reaped && !left) {
		r = list_orphans(o, &list, err);
		if (r < 0)
			return r;
		reaped = false;
		for (size_t i = 0; i < list.n; i++) {
			struct rusage ru;
			pid_t pid = wait4(list.items[i], NULL, WNOHANG, &ru);

			if (pid > 0 && sum) {
				exec_result_add_usage(sum, &ru);
				sum->left_behind += o->end_ns &&
						    accounting_end(o->accounting, pid) > o->end_ns;
			}
			reaped |= pid > 0;
			left |= pid == 0;
		}
	}
	return populated < 0 ? populated : populated || left;
}

int orphans_count(const struct orphans *o, struct error *err)
{
	_cleanup_(pid_list_free) struct pid_list list = {};
	int r = list_orphans(o, &list, err), n = 0;

	if (r < 0)
		return r;
	for (size_t i = 0; i < list.n; i++) /* those outside the cgroup */
		n += !o->cgroup || !cgroup_has(o->cgroup, list.items[i], false);
	r = o->cgroup ? cgroup_signal(o->cgroup, 0, err) : 0;
	return r < 0 ? r : n + r;
}

/* Of a process and the children that it has waited for. */
static int64_t cpu_time_of(pid_t pid)
{
	_cleanup_(freep) char *stat = path_text(AT_FDCWD, "/proc/%d/stat", pid);
	struct process process = {};
	struct timespec own = {};
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) == 0)
		clock_gettime(clock, &own);
	if (stat)
		process_parse(stat, &process);
	return timespec_ns(own) + process.waited_ticks * (NS_PER_S / sysconf(_SC_CLK_TCK));
}

int orphans_used(const struct orphans *o, pid_t program, int64_t *ret_ns, struct error *err)
{
	_cleanup_(pid_list_free) struct pid_list list = {};
	int r = list_orphans(o, &list, err);

	*ret_ns = 0;
	pid_list_sort(&list);
	/* its own process has its tag, too */
	if (r == 0 && program > 0 && !pid_list_has(&list, program))
		*(pid_t *)array_add_reused(list.items, list.n, list.capacity) = program;
	for (size_t i = 0; r == 0 && i < list.n; i++) {
		*ret_ns += cpu_time_of(list.items[i]);
		pid_list_add_children_of(&list, list.items[i]);
	}
	return r;
}

/* Kills the processes of the list and all below them, which are added to it. Each is killed before
 * its children are read: it cannot fork after that. The newest come first: the oldest may long have
 * ended. Returns how many of the list's own may not be killed. */
static size_t kill_trees(struct pid_list *list)
{
	size_t n = list->n, refused = 0;

	for (size_t i = n; i > 0; i--)
		refused += kill(list->items[i - 1], SIGKILL) < 0 && errno == EPERM;
	for (size_t i = 0; i < list->n; i++) {
		if (i >= n)
			kill(list->items[i], SIGKILL);
		pid_list_add_children_of(list, list->items[i]);
	}
	return refused;
}

int orphans_kill(const struct orphans *o, struct error *err)
{
	_cleanup_(pid_list_free) struct pid_list now = {}, before = {};
	int r = o->cgroup ? cgroup_kill(o->cgroup, err) : 0;
	size_t refused = 0, n = 0;
	bool more = true;

	/* Until there are no new ones. */
	for (int round = 0; r == 0 && more && round < MAX_ROUNDS; round++) {
		struct pid_list swap = before;

		r = list_orphans(o, &now, err);
		if (r < 0)
			break;
		n = now.n;
		refused = kill_trees(&now);
		more = false;
		for (size_t i = now.n; !more && i > 0; i--)
			more = !pid_list_has(&before, now.items[i - 1]);
		before = now;
		now = swap;
		pid_list_sort(&before);
	}
	if (r == 0 && refused > 0 && refused == n)
		return error_say(err, -EPERM,
			"this user may not kill the %zu process%s that the program left behind",
			refused, refused == 1 ? "" : "es");
	return r;
}
