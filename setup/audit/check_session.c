/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of what programs inherit from the shell that starts them: CPUs, priority, memory.
 * See checks.h.
 *
 * What is read about this process holds for them, since emp-measure is started from the same
 * shell. */
#include "setup/audit/checks.h"

#include "lib/host/process/cgroup.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>

/* A line of /proc/self/status: "Cpus_allowed_list:\t0-3"; the caller frees it. */
static char *status_value(int root_fd, const char *key)
{
	_cleanup_(freep) char *status = path_text(root_fd, "/proc/self/status");
	const char *line = status ? strstr(status, key) : NULL;

	if (!line || line == status || line[-1] != '\n' || line[strlen(key)] != ':')
		return NULL;
	line += strlen(key) + 1;
	line += strspn(line, " \t");
	return xstrndup(line, strcspn(line, "\n"));
}

/* The CPUs that tasks get without being placed there: those that are online, but not isolated. */
static char *usual_cpus(const struct facts *f)
{
	_cleanup_(freep) int *isolated = NULL;
	size_t n = 0;

	if (!f->online)
		return NULL;
	if (f->isolated && *f->isolated)
		text_parse_cpu_list(f->isolated, &isolated, &n);
	return cpu_list_without(f->online, isolated, n);
}

DECIDER(check_session_affinity)
{
	_cleanup_(freep) char *allowed = status_value(f->root_fd, "Cpus_allowed_list"),
			      *usual = usual_cpus(f), *rest = NULL;
	_cleanup_(freep) int *cpus = NULL;
	size_t n = 0;

	if (!allowed || !usual || text_parse_cpu_list(allowed, &cpus, &n) < 0) {
		finding_set(ret, CHECK_UNKNOWN, "not reported by the kernel");
		return;
	}
	rest = cpu_list_without(usual, cpus, n);
	if (f->cpu >= 0 && cpu_list_has(allowed, f->cpu))
		finding_set(ret, CHECK_OK, "%s, and CPU %d is among them", allowed, f->cpu);
	else if (!rest || !*rest)
		finding_set(ret, CHECK_OK, "%s", allowed);
	else if (f->cpu >= 0 && !cpu_list_has(f->isolated, f->cpu))
		finding_set(ret, CHECK_OFF, "CPU %d is not among %s", f->cpu, allowed);
	else
		finding_set(ret, CHECK_OFF, "%s of %s", allowed, usual);
}

/* Numbers behind the name in /proc/PID/stat, as proc(5) counts them. */
enum { STAT_NICE = 19, STAT_RT_PRIORITY = 40, STAT_POLICY = 41 };

static int64_t stat_number(const char *stat, int field)
{
	const char *p = strrchr(stat, ')');

	for (int i = 3; p && i <= field; i++) {
		p = strchr(p + 1, ' ');
		if (p && i == field)
			return strtoll(p, NULL, 10);
	}
	return 0;
}

DECIDER(check_session_priority)
{
	static const char *const policies[] = {"SCHED_OTHER", "SCHED_FIFO", "SCHED_RR",
		"SCHED_BATCH", "policy 4", "SCHED_IDLE", "SCHED_DEADLINE", "SCHED_EXT"};
	_cleanup_(freep) char *stat = path_text(f->root_fd, "/proc/self/stat"),
			      *group = path_text(f->root_fd, "/proc/self/autogroup");
	const char *of_group = group ? strstr(group, " nice ") : NULL;
	int64_t nice = stat ? stat_number(stat, STAT_NICE) : 0,
		policy = stat ? stat_number(stat, STAT_POLICY) : 0,
		group_nice = of_group ? strtoll(of_group + strlen(" nice "), NULL, 10) : 0;

	if (!stat || !strrchr(stat, ')') || policy < 0 || policy >= (int64_t)ELEMENTS(policies))
		finding_set(ret, CHECK_UNKNOWN, "not reported by the kernel");
	else if (policy == 1 || policy == 2)
		finding_set(ret, CHECK_OFF, "%s, priority %" PRId64, policies[policy],
			stat_number(stat, STAT_RT_PRIORITY));
	else if (policy != 0)
		finding_set(ret, CHECK_OFF, "%s", policies[policy]);
	else if (group_nice > 0 &&
		 path_int(f->root_fd, "/proc/sys/kernel/sched_autogroup_enabled") > 0)
		finding_set(ret, CHECK_OFF,
			"SCHED_OTHER, nice %" PRId64 " for its session (autogroup)", group_nice);
	else
		finding_set(
			ret, nice > 0 ? CHECK_OFF : CHECK_OK, "SCHED_OTHER, nice %" PRId64, nice);
}

/* The lowest limit of the groups that this process is in, of cgroup v2; *ret_of becomes its
 * file. -1: there is none. */
static int64_t memory_limit(int root_fd, char **ret_of)
{
	static const char *const files[] = {"memory.high", "memory.max"};
	_cleanup_(freep) char *mount = NULL, *groups = path_text(root_fd, "/proc/self/cgroup"),
			      *directory = NULL;
	const char *own = groups ? strstr(groups, "0::/") : NULL;
	int64_t least = -1;

	if (!own || cgroup_mount(root_fd, &mount, NULL) < 0)
		return -1;
	directory = text_format("%s%.*s", mount, (int)strcspn(own + 3, "\n"), own + 3);
	for (;;) {
		for (size_t i = 0; i < ELEMENTS(files); i++) {
			/* -1: "max" */
			int64_t bytes = path_int(root_fd, "%s/%s", directory, files[i]);

			if (bytes < 0 || (least >= 0 && bytes >= least))
				continue;
			least = bytes;
			free(*ret_of);
			*ret_of = text_format("%s/%s", directory, files[i]);
		}
		if (strlen(directory) <= strlen(mount))
			return least;
		*strrchr(directory, '/') = '\0';
	}
}

DECIDER(check_session_memory)
{
	_cleanup_(freep) char *of = NULL;
	int64_t limit = memory_limit(f->root_fd, &of);

	if (limit < 0)
		finding_set(ret, CHECK_OK, "no limit");
	else if (f->machine.memory_bytes > 0 && limit >= f->machine.memory_bytes)
		finding_set(ret, CHECK_OK, "more than this machine has: %s", of);
	else
		finding_set(ret, CHECK_OFF, "%" PRId64 " MiB: %s", limit >> 20, of);
}

/* The NUMA nodes that have CPUs; and the one of a CPU, -1: not known. */
static size_t count_nodes(const struct facts *f, int *ret_of_cpu)
{
	_cleanup_(paths_clear) struct paths nodes = paths_expand(
		f->root_fd, "/sys/devices/system/node/node[0-9]*");
	size_t n = 0;

	*ret_of_cpu = -1;
	for (size_t i = 0; i < nodes.n; i++) {
		_cleanup_(freep) char *cpus = path_text(f->root_fd, "%s/cpulist", nodes.items[i]);

		n += cpus && *cpus;
		if (f->cpu >= 0 && cpu_list_has(cpus, f->cpu))
			*ret_of_cpu = atoi(strrchr(nodes.items[i], '/') + strlen("/node"));
	}
	return n;
}

DECIDER(check_session_numa)
{
	static const char *const modes[] = {"default", "preferred", "bind", "interleave", "local",
		"preferred-many", "weighted-interleave"};
	_cleanup_(freep) char *allowed = status_value(f->root_fd, "Mems_allowed_list");
	int node, mode = MPOL_DEFAULT;
	size_t n = count_nodes(f, &node);

	if (n < 2) {
		finding_set(ret, CHECK_ABSENT, "this machine has one NUMA node");
		return;
	}
	if (f->root_fd == AT_FDCWD)
		syscall(SYS_get_mempolicy, &mode, NULL, 0, NULL, 0);
	if (mode != MPOL_DEFAULT && mode != MPOL_LOCAL && mode != MPOL_BIND)
		finding_set(ret, CHECK_OFF, "%zu nodes, and the memory policy of this shell is %s",
			n, mode > 0 && mode < (int)ELEMENTS(modes) ? modes[mode] : "not known");
	else if (node < 0)
		finding_set(ret, CHECK_OFF, "%zu nodes, and no CPU is chosen", n);
	else if (allowed && !cpu_list_has(allowed, node))
		finding_set(ret, CHECK_OFF, "CPU %d is on node %d, and memory comes from node %s",
			f->cpu, node, allowed);
	else
		finding_set(ret, CHECK_OK, "CPU %d and its memory are on node %d", f->cpu, node);
}
