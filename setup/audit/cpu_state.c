/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPU that programs will be timed on: see cpu_state.h. */
#include "setup/audit/cpu_state.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"
#include "lib/host/cpu/cpu_list.h"
#include "lib/host/process/pinning.h"

#include <string.h>

#define CPU "/sys/devices/system/cpu/"

static char *read_text(int root_fd, const char *path)
{
	char *text = NULL;

	return text_read_file(root_fd, path, &text) < 0 ? NULL : text;
}

static int first_of(const char *list)
{
	return list && *list >= '0' && *list <= '9' ? atoi(list) : -1;
}

/* A processor without a list of siblings has one thread for each core. */
static void read_threads(struct cpu_state *s, int root_fd)
{
	_cleanup_(freep) char *path = text_format(CPU "cpu%d/topology/thread_siblings_list", s->cpu);
	_cleanup_(freep) char *list = path ? read_text(root_fd, path) : NULL;
	_cleanup_(freep) char *own = text_format("%d", s->cpu);

	if (!cpu_list_has(list, s->cpu) || text_parse_cpu_list(list, &s->threads, &s->n_threads) < 0)
		text_parse_cpu_list(own ?: "", &s->threads, &s->n_threads);
}

/* CPUs of partitions: what the kernel lists at the top of cgroup v2 (6.8 and later), and the partition of emp-setup. */
static void add_partition(struct cpu_state *s, int root_fd)
{
	_cleanup_(freep) char *directory = partition_directory(root_fd), *cpus = NULL, *path = NULL,
			      *all = NULL;
	char *longer;

	if (!directory || !s->isolated)
		return;
	path = text_format(
		"%.*s/cpuset.cpus.isolated", (int)(strrchr(directory, '/') - directory), directory);
	all = path ? read_text(root_fd, path) : NULL;
	longer = cpu_list_join(s->isolated, all ?: "");
	if (longer && partition_read(root_fd, directory, &cpus) == 0 && *cpus >= '0' && *cpus <= '9') {
		free(s->isolated);
		s->isolated = longer;
		longer = cpu_list_join(longer, cpus);
	}
	if (!longer)
		return;
	free(s->isolated);
	s->isolated = longer;
}

void cpu_state_read(struct cpu_state *ret, int root_fd, int cpu)
{
	struct cpu_state s = {
		.cpu = cpu,
		.online = read_text(root_fd, CPU "online"),
		.isolated = read_text(root_fd, CPU "isolated"),
		.nohz_full = read_text(root_fd, CPU "nohz_full"),
	};

	if (s.nohz_full && !strcmp(s.nohz_full, "(null)")) /* as some kernels write an empty list */
		*s.nohz_full = '\0';
	add_partition(&s, root_fd);
	if (s.cpu < 0)
		s.cpu = first_of(s.isolated);
	if (s.cpu >= 0)
		read_threads(&s, root_fd);
	s.limits_error = cgroup_limits_read(&s.limits, root_fd);
	*ret = s;
}

void cpu_state_clear(struct cpu_state *s)
{
	free(s->threads);
	free(s->online);
	free(s->isolated);
	free(s->nohz_full);
	cgroup_limits_clear(&s->limits);
	*s = (struct cpu_state){};
}

char *cpu_state_irq_list(const struct cpu_state *s, const char *list)
{
	char *less = s->cpu < 0 ? NULL : cpu_list_without(list, s->threads, s->n_threads);

	if (!less || *less)
		return less;
	free(less);
	return s->online ? cpu_list_without(s->online, s->threads, s->n_threads) : NULL;
}

char *cpu_state_irq_mask(const struct cpu_state *s, const char *mask)
{
	_cleanup_(freep) char *less = s->cpu < 0 ? NULL : cpu_mask_without(mask, s->threads, s->n_threads);
	_cleanup_(freep) char *rest = less && s->online
					      ? cpu_list_without(s->online, s->threads, s->n_threads)
					      : NULL;
	_cleanup_(freep) int *cpus = NULL;
	size_t n = 0;

	if (!less || less[strspn(less, "0,")])
		return TAKE(less);
	if (!rest || text_parse_cpu_list(rest, &cpus, &n) < 0 ||
		n == 0) /* the kernel refuses an empty mask */
		return NULL;
	return cpu_mask_of(mask, cpus, n);
}
