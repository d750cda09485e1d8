/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf's counters: see perf_counters.h. */
#include "lib/host/perf/perf_counters.h"

#include "lib/host/process/privilege.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>

/* What perf_event_open(2) calls it. */
struct perf_kind {
	const char *name;
	uint32_t type;
	uint64_t config;
	bool of_kernel; /* occurs in the kernel only: user mode would count 0 */
};

#define CACHE(cache, op, result)                                                    \
	(PERF_COUNT_HW_CACHE_##cache | (uint64_t)PERF_COUNT_HW_CACHE_OP_##op << 8 | \
		(uint64_t)PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct perf_kind kinds[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
	{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
	{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"L1-dcache-loads", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, ACCESS)},
	{"L1-dcache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS)},
	{"LLC-loads", PERF_TYPE_HW_CACHE, CACHE(LL, READ, ACCESS)},
	{"LLC-load-misses", PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS)},
	{"dTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS)},
	{"iTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, MISS)},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true},
	{"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true},
	{"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true},
};

static void close_events(struct perf_counters *p)
{
	for (size_t i = 0; i < p->n; i++) {
		closep(&p->items[i].fd);
		p->items[i].fd = -1;
	}
}

void perf_counters_clear(struct perf_counters *p)
{
	close_events(p);
	for (size_t i = 0; i < p->n; i++)
		free(p->items[i].name);
	free(p->items);
	*p = (struct perf_counters){};
}

int perf_event_open(struct perf_event_attr *attr, pid_t pid)
{
	long fd;

	privilege_raise();
	fd = syscall(SYS_perf_event_open, attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	privilege_lower();
	return (int)fd;
}

static int open_event(const struct perf_kind *kind, bool user_only)
{
	struct perf_event_attr attr = {
		.type = kind->type,
		.size = sizeof(attr),
		.config = kind->config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.exclude_kernel = user_only,
		.exclude_hv = user_only,
	};

	return perf_event_open(&attr, 0);
}

/* Why the event cannot be counted, `r` of perf_event_open(2). */
static int refuse_event(const struct perf_event *event, int r, struct error *err)
{
	int cycles;

	if (r == -EACCES || r == -EPERM) {
		_cleanup_(freep) char *paranoid = path_text(
			AT_FDCWD, "/proc/sys/kernel/perf_event_paranoid");

		if (!paranoid)
			return error_os(err, r,
				"--perf: cannot count %s: this kernel has no perf events",
				event->name);
		return error_say(err, -EACCES,
			"--perf: counting %s is not permitted (kernel.perf_event_paranoid is %s); "
			"an administrator can allow it with "
			"'sysctl kernel.perf_event_paranoid=%d', or with CAP_PERFMON%s",
			event->name, paranoid, event->kind->of_kernel && !event->user_only ? 1 : 2,
			atoi(paranoid) <= 2 ? "; a container may also forbid it" : "");
	}
	if (r == -ENOSYS)
		return error_os(err, r, "--perf: cannot count %s: this kernel has no perf events",
			event->name);
	if (event->kind->type == PERF_TYPE_SOFTWARE)
		return error_os(err, r, "--perf: cannot count %s", event->name);

	/* whether it is the event or the machine */
	cycles = open_event(&kinds[0], true);
	closep(&cycles);
	if (cycles >= 0 || cycles == -EACCES || cycles == -EPERM)
		return error_say(err, -ENOTSUP, "--perf: this CPU does not count %s (%s)",
			event->name, strerror(-r));
	return error_say(err, -ENOTSUP,
		"--perf: this machine has no hardware counters: %s is not supported (%s); "
		"virtual machines often have none, and can count page-faults or context-switches",
		event->name, strerror(-r));
}

int perf_counters_open(struct perf_counters *ret, const char *events, struct error *err)
{
	_cleanup_(perf_counters_clear) struct perf_counters p = {};
	_cleanup_(freep) char *copy = xstrdup(events);
	char *rest = copy, *name;

	while ((name = strsep(&rest, ","))) {
		char *mode = strchr(name, ':');
		struct perf_event *event = array_add(p.items, p.n);
		int fd;

		event->fd = -1;
		event->user_only = mode && !strcmp(mode, ":u");
		if (event->user_only)
			*mode = '\0';
		event->name = xstrdup(name);
		for (size_t i = 0; i < ELEMENTS(kinds) && !event->kind; i++)
			if (!strcmp(kinds[i].name, name))
				event->kind = &kinds[i];
		if (!event->kind) {
			_cleanup_(freep) char *all = NULL;

			for (size_t i = 0; i < ELEMENTS(kinds); i++)
				text_append(&all, ", ", "%s", kinds[i].name);
			return error_say(
				err, -EINVAL, "--perf: there is no event '%s' among %s", name, all);
		}
		/* If only user mode is permitted, in user mode. */
		fd = open_event(event->kind, event->user_only);
		if ((fd == -EACCES || fd == -EPERM) && !event->user_only &&
			!event->kind->of_kernel) {
			fd = open_event(event->kind, true);
			event->user_only = fd >= 0;
		}
		if (fd < 0)
			return refuse_event(event, fd, err);
		close(fd);
		if (event->user_only)
			text_append(&event->name, "", ":u");
	}
	*ret = TAKE_STRUCT(p);
	return 0;
}

int perf_counters_start(struct perf_counters *p, struct error *err)
{
	close_events(p);
	for (size_t i = 0; i < p->n; i++) {
		p->items[i].fd = open_event(p->items[i].kind, p->items[i].user_only);
		if (p->items[i].fd < 0)
			return error_os(
				err, p->items[i].fd, "--perf: cannot count %s", p->items[i].name);
	}
	return 0;
}

int perf_counters_stop(struct perf_counters *p, int64_t *ret, struct error *err)
{
	for (size_t i = 0; i < p->n; i++) {
		struct {
			uint64_t value, enabled_ns, running_ns;
		} count;

		if (read(p->items[i].fd, &count, sizeof(count)) != (ssize_t)sizeof(count))
			return error_os(err, -errno, "--perf: cannot read %s", p->items[i].name);
		if (count.running_ns == 0)
			ret[i] = -1;
		else if (count.running_ns < count.enabled_ns)
			ret[i] = (int64_t)((double)count.value * (double)count.enabled_ns /
					   (double)count.running_ns);
		else
			ret[i] = (int64_t)count.value;
	}
	close_events(p);
	return 0;
}
