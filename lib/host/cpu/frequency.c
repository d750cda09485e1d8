/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How fast the processor may run: see frequency.h. */
#include "lib/host/cpu/frequency.h"

#include "lib/base/array.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>

#define CPU_ROOT "/sys/devices/system/cpu"

enum { DIRECTORY_SIZE = 64, PATH_SIZE = 128 };

static int64_t read_int(int root_fd, const char *directory, const char *name)
{
	char path[PATH_SIZE];
	int64_t value;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return text_read_int(root_fd, path, &value) < 0 ? -1 : value;
}

static char *read_word(int root_fd, const char *directory, const char *name)
{
	char path[PATH_SIZE];
	char *text = NULL;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return text_read_file(root_fd, path, &text) < 0 ? NULL : text;
}

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
static int64_t read_base(int root_fd, const char *directory, int cpu)
{
	_cleanup_(freep) char *list = NULL;
	char path[DIRECTORY_SIZE];
	int64_t khz = read_int(root_fd, directory, "base_frequency");

	if (khz > 0)
		return khz;
	snprintf(path, sizeof(path), CPU_ROOT "/cpu%d/acpi_cppc", cpu);
	khz = read_int(root_fd, path, "nominal_freq");
	if (khz > 0)
		return khz * 1000;
	list = read_word(root_fd, directory, "scaling_available_frequencies");
	return list ? base_of_list(list) : -1;
}

static void read_policy(struct frequency_policy *p, int root_fd, int number)
{
	char directory[DIRECTORY_SIZE];

	snprintf(directory, sizeof(directory), CPU_ROOT "/cpufreq/policy%d", number);
	*p = (struct frequency_policy){
		.number = number,
		.cpus = read_word(root_fd, directory, "related_cpus"),
		.driver = read_word(root_fd, directory, "scaling_driver"),
		.governor = read_word(root_fd, directory, "scaling_governor"),
		.preference = read_word(root_fd, directory, "energy_performance_preference"),
		.min_khz = read_int(root_fd, directory, "scaling_min_freq"),
		.max_khz = read_int(root_fd, directory, "scaling_max_freq"),
		.hardware_max_khz = read_int(root_fd, directory, "cpuinfo_max_freq"),
		.base_khz = read_base(root_fd, directory, number),
		.boost = read_int(root_fd, directory, "boost"),
	};
}

/* All CPUs of the policy are offline: the kernel answers EBUSY for each of its files (before Linux 5.19: an empty
 * list of CPUs). */
static bool is_offline(int root_fd, int number)
{
	_cleanup_(freep) char *cpus = NULL;
	char path[DIRECTORY_SIZE];
	int r;

	snprintf(path, sizeof(path), CPU_ROOT "/cpufreq/policy%d/affected_cpus", number);
	r = text_read_file(root_fd, path, &cpus);
	return r == -EBUSY || (r == 0 && !*cpus);
}

static int by_number(const void *a, const void *b)
{
	return ((const struct frequency_policy *)a)->number - ((const struct frequency_policy *)b)->number;
}

static int read_policies(struct frequency *f, int root_fd, DIR *directory, struct error *err)
{
	struct frequency_policy *policy;
	struct dirent *entry;

	while ((entry = readdir(directory))) {
		int number, end = 0;

		if (sscanf(entry->d_name, "policy%d%n", &number, &end) != 1 || entry->d_name[end] ||
			is_offline(root_fd, number))
			continue;
		policy = array_add(f->policies, f->n_policies);
		read_policy(policy, root_fd, number);
	}
	if (f->n_policies > 0)
		qsort(f->policies, f->n_policies, sizeof(*f->policies), by_number);
	return 0;
}

int frequency_read(struct frequency *ret, int root_fd, struct error *err)
{
	_cleanup_(frequency_clear) struct frequency f = {};
	_cleanup_(closedirp) DIR *directory = NULL;
	int fd, r;

	f.no_turbo = read_int(root_fd, CPU_ROOT "/intel_pstate", "no_turbo");
	f.min_perf_pct = read_int(root_fd, CPU_ROOT "/intel_pstate", "min_perf_pct");
	f.max_perf_pct = read_int(root_fd, CPU_ROOT "/intel_pstate", "max_perf_pct");
	f.boost = read_int(root_fd, CPU_ROOT "/cpufreq", "boost");
	f.pstate_status = read_word(root_fd, CPU_ROOT "/intel_pstate", "status")
				  ?: read_word(root_fd, CPU_ROOT "/amd_pstate", "status");
	fd = openat(root_fd, text_below(root_fd, CPU_ROOT "/cpufreq"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	directory = fd < 0 ? NULL : fdopendir(fd);
	if (directory) {
		r = read_policies(&f, root_fd, directory, err);
		if (r < 0)
			return r;
	}
	*ret = TAKE_STRUCT(f);
	return 0;
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
