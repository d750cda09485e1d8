/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How fast the processor may run: see frequency.h. */
#include "lib/host/cpu/frequency.h"

#include "lib/base/xalloc.h"
#include "lib/base/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>

#define CPU_ROOT "/sys/devices/system/cpu"
#define POLICY CPU_ROOT "/cpufreq/policy%d/"

/* The highest frequency in a list of states below `limit`; -1 if there is none. Some drivers list them in
 * descending order, others (cpufreq-dt) in ascending order. */
static int64_t highest_of_list(const char *frequencies, int64_t limit)
{
	int64_t highest = -1;
	char *end;

	for (int64_t khz; khz = strtoll(frequencies, &end, 10), end != frequencies; frequencies = end)
		if (khz > highest && khz < limit)
			highest = khz;
	return highest;
}

/* The frequency without turbo out of scaling_available_frequencies ("3701000 3700000 …": acpi-cpufreq has a
 * state for turbo, 1 MHz above the highest). -1 if there is none. */
static int64_t base_of_list(const char *frequencies)
{
	int64_t first = highest_of_list(frequencies, INT64_MAX), second = highest_of_list(frequencies, first);

	return first - second == 1000 && first % 10000 == 1000 ? second : first;
}

/* Intel has base_frequency; firmware with CPPC (AMD, ARM) nominal_freq in MHz; acpi-cpufreq lists its
 * states. */
static int64_t read_base(int root_fd, int number)
{
	_cleanup_(freep) char *list = NULL;
	int64_t khz = path_int(root_fd, POLICY "base_frequency", number);

	if (khz > 0)
		return khz;
	khz = path_int(root_fd, CPU_ROOT "/cpu%d/acpi_cppc/nominal_freq", number);
	if (khz > 0)
		return khz * 1000;
	list = path_text(root_fd, POLICY "scaling_available_frequencies", number);
	return list ? base_of_list(list) : -1;
}

/* All CPUs of the policy are offline: the kernel answers EBUSY for each of its files (before Linux 5.19: an empty
 * list of CPUs). */
static bool policy_is_offline(int root_fd, int number)
{
	_cleanup_(freep) char *cpus = NULL;
	int r = path_read_text(root_fd, NULL, &cpus, POLICY "affected_cpus", number);

	return r == -EBUSY || (r == 0 && !*cpus);
}

static int policy_by_number(const void *a, const void *b)
{
	return ((const struct frequency_policy *)a)->number - ((const struct frequency_policy *)b)->number;
}

void frequency_read(struct frequency *ret, int root_fd)
{
	struct frequency f = {
		.no_turbo = path_int(root_fd, CPU_ROOT "/intel_pstate/no_turbo"),
		.min_perf_pct = path_int(root_fd, CPU_ROOT "/intel_pstate/min_perf_pct"),
		.max_perf_pct = path_int(root_fd, CPU_ROOT "/intel_pstate/max_perf_pct"),
		.boost = path_int(root_fd, CPU_ROOT "/cpufreq/boost"),
		.pstate_status = path_text(root_fd, CPU_ROOT "/intel_pstate/status")
					 ?: path_text(root_fd, CPU_ROOT "/amd_pstate/status"),
	};
	int fd = path_open(root_fd, O_RDONLY | O_DIRECTORY, CPU_ROOT "/cpufreq");
	_cleanup_(closedirp) DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		int number, end = 0;

		if (sscanf(entry->d_name, "policy%d%n", &number, &end) != 1 || entry->d_name[end] ||
			policy_is_offline(root_fd, number))
			continue;
		*array_add(f.policies, f.n_policies) = (struct frequency_policy){
			.number = number,
			.cpus = path_text(root_fd, POLICY "related_cpus", number),
			.driver = path_text(root_fd, POLICY "scaling_driver", number),
			.governor = path_text(root_fd, POLICY "scaling_governor", number),
			.preference = path_text(root_fd, POLICY "energy_performance_preference", number),
			.min_khz = path_int(root_fd, POLICY "scaling_min_freq", number),
			.max_khz = path_int(root_fd, POLICY "scaling_max_freq", number),
			.hardware_max_khz = path_int(root_fd, POLICY "cpuinfo_max_freq", number),
			.base_khz = read_base(root_fd, number),
			.boost = path_int(root_fd, POLICY "boost", number),
		};
	}
	if (f.n_policies > 0)
		qsort(f.policies, f.n_policies, sizeof(*f.policies), policy_by_number);
	*ret = f;
}

void frequency_clear(struct frequency *f)
{
	for (size_t i = 0; i < f->n_policies; i++) {
		struct frequency_policy *p = &f->policies[i];

		free(p->cpus);
		free(p->driver);
		free(p->governor);
		free(p->preference);
	}
	free(f->policies);
	free(f->pstate_status);
	*f = (struct frequency){};
}
