/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pinning to a CPU, and the isolated partition of emp-setup: see pinning.h. */
#include "lib/host/process/pinning.h"

#include "lib/host/cpu/cpus.h"
#include "lib/host/process/cgroup.h"

#include <signal.h>

int pinning_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) < 0 ? -errno : 0;
}

int pinning_thread(pthread_t *ret, const cpu_set_t *cpus, void *(*run)(void *), void *data)
{
	const struct sched_param priority = {.sched_priority = 1};
	pthread_attr_t attributes;
	sigset_t all, before;
	int r = 0;

	pthread_attr_init(&attributes);
	if (cpus)
		r = pthread_attr_setaffinity_np(&attributes, sizeof(*cpus), cpus);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (r == 0)
		r = pthread_create(ret, &attributes, run, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (r == 0)
		pthread_setschedparam(*ret, SCHED_FIFO, &priority);
	return -r;
}

int pinning_check_online(int cpu, int root_fd, struct error *err)
{
	_cleanup_(freep) char *online = path_text(root_fd, "/sys/devices/system/cpu/online"),
			      *present = NULL;

	if (!online || cpu_list_has(online, cpu))
		return 0;
	present = path_text(root_fd, "/sys/devices/system/cpu/present");
	return error_say(err, -EINVAL, "CPU %d %s: choose one of %s", cpu,
		cpu_list_has(present, cpu) ? "is offline" : "does not exist", online);
}

int pinning_check(int cpu, int root_fd, struct error *err)
{
	int r = pinning_check_online(cpu, root_fd, err);
	cpu_set_t before;

	if (r < 0 || root_fd != AT_FDCWD || cpu >= CPU_SETSIZE)
		return r;
	/* The kernel's own answer, which knows of cpusets: pins this process and undoes it. Where
	 * there are more CPUs than a cpu_set_t holds, the start of a program will show it. */
	if (sched_getaffinity(0, sizeof(before), &before) < 0)
		return 0;
	r = pinning_pin(cpu);
	sched_setaffinity(0, sizeof(before), &before);
	if (r == 0)
		return 0;
	if (!partition_has(root_fd, cpu))
		return error_say(err, -EINVAL,
			"CPU %d cannot be used here: a cpuset keeps programs from it", cpu);
	if (geteuid() == 0)
		return 0; /* programs are started in the partition: cgroup.h */
	return error_say(err, -EPERM,
		"CPU %d is in the isolated partition of emp-setup: "
		"only root can start programs there",
		cpu);
}

int pinning_option(const char *value, const char *name, void *into, struct error *err)
{
	int cpu, r = option_count0(value, name, &cpu, err);

	if (r == 0)
		r = pinning_check(cpu, AT_FDCWD, err);
	if (r == 0)
		*(int *)into = cpu;
	return r;
}

char *partition_directory(int root_fd)
{
	_cleanup_(freep) char *mount = NULL;

	return cgroup_mount(root_fd, &mount, NULL) < 0 ? NULL
						       : text_format("%s/emp-isolated", mount);
}

int partition_read(int root_fd, const char *directory, char **ret)
{
	_cleanup_(freep) char *state = NULL;
	struct stat st;

	if (fstatat(root_fd, text_below(root_fd, directory), &st, 0) < 0) {
		if (errno != ENOENT)
			return -errno;
		*ret = xstrdup("none");
		return 0;
	}
	state = path_text(root_fd, "%s/cpuset.cpus.partition", directory);
	if (state && !strcmp(state, "isolated"))
		return path_read_text(root_fd, NULL, ret, "%s/cpuset.cpus", directory);
	*ret = xstrdup("member");
	return 0;
}

/* The kernel gives the CPUs of a removed partition back later; those of one that is no longer
 * isolated, at once. */
static int partition_remove(const char *directory)
{
	_cleanup_(closep) int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(freep) char *events = NULL;
	int r;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	events = path_text(fd, "cgroup.events");
	if (events && strstr(events, "populated 1"))
		return -EBUSY;
	r = path_write(fd, "member", "cpuset.cpus.partition");
	if (r < 0 && r != -ENOENT)
		return r;
	if (rmdir(directory) == 0)
		return 0;
	r = -errno;
	path_write(fd, "isolated", "cpuset.cpus.partition");
	return r;
}

/* The kernel accepts "isolated" and may say in the same file that it is invalid. */
int partition_write(const char *directory, const char *cpus)
{
	_cleanup_(freep) char *state = NULL;
	_cleanup_(closep) int fd = -1;
	bool made;
	int r;

	if (!strcmp(cpus, "none"))
		return partition_remove(directory);
	made = mkdir(directory, 0755) == 0;
	if (!made && errno != EEXIST)
		return -errno;
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = fd < 0 ? -errno : path_write(fd, cpus, "cpuset.cpus");
	if (r == 0)
		r = path_write(fd, "isolated", "cpuset.cpus.partition");
	if (r == 0)
		r = path_read_text(fd, NULL, &state, "cpuset.cpus.partition");
	if (r == 0 && strcmp(state, "isolated") != 0)
		r = -EINVAL;
	if (r < 0 && made)
		rmdir(directory);
	return r;
}

bool partition_has(int root_fd, int cpu)
{
	_cleanup_(freep) char *directory = partition_directory(root_fd), *cpus = NULL;

	return directory && partition_read(root_fd, directory, &cpus) == 0 &&
	       cpu_list_has(cpus, cpu);
}
