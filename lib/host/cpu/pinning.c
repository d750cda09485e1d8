/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pinning to a CPU: see pinning.h. */
#include "lib/host/cpu/pinning.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"
#include "lib/host/cpu/cpu_list.h"
#include "lib/host/cpu/partition.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

int pinning_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) < 0 ? -errno : 0;
}

/* The kernel's own answer, which knows of cpusets: pins this process and undoes it. */
static bool try_pinning(int cpu)
{
	cpu_set_t before;
	bool done;

	if (sched_getaffinity(0, sizeof(before), &before) < 0)
		return true; /* more CPUs than a cpu_set_t holds: the start of a program will show it */
	done = pinning_pin(cpu) == 0;
	sched_setaffinity(0, sizeof(before), &before);
	return done;
}

int pinning_check_online(int cpu, int root_fd, struct error *err)
{
	_cleanup_(freep) char *online = NULL, *present = NULL;

	if (text_read_file(root_fd, "/sys/devices/system/cpu/online", &online) < 0 ||
		cpu_list_has(online, cpu))
		return 0;
	text_read_file(root_fd, "/sys/devices/system/cpu/present", &present);
	return error_say(err, -EINVAL, "CPU %d %s: choose one of %s", cpu,
		cpu_list_has(present, cpu) ? "is offline" : "does not exist", online);
}

int pinning_check(int cpu, int root_fd, struct error *err)
{
	int r = pinning_check_online(cpu, root_fd, err);

	if (r < 0 || root_fd != AT_FDCWD || cpu >= CPU_SETSIZE || try_pinning(cpu))
		return r;
	if (partition_has(root_fd, cpu) && geteuid() == 0)
		return 0; /* programs are started in the partition: cgroup.h */
	if (partition_has(root_fd, cpu))
		return error_say(err, -EPERM,
			"CPU %d is in the isolated partition of emp-setup: only root can start programs there",
			cpu);
	return error_say(err, -EINVAL, "CPU %d cannot be used here: a cpuset keeps programs from it", cpu);
}

int pinning_option(const char *value, const char *name, void *into, struct error *err)
{
	int cpu, r;

	r = option_count0(value, name, &cpu, err);
	if (r == 0)
		r = pinning_check(cpu, AT_FDCWD, err);
	if (r == 0)
		*(int *)into = cpu;
	return r < 0 ? r : 0;
}
