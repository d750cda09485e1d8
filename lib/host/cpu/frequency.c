/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How fast the processor may run: see frequency.h. */
#include "lib/host/cpu/frequency.h"

#include "lib/host/cpu/cpus.h"

#include <math.h>

#define POLICY SYS_CPU "cpufreq/policy%d/"

/* The highest frequency in a list of states below `limit`; -1 if there is none. Some drivers list
 * them in descending order, others (cpufreq-dt) in ascending order. */
static int64_t highest_of_list(const char *frequencies, int64_t limit)
{
	int64_t highest = -1;
	char *end;

	for (int64_t khz; khz = strtoll(frequencies, &end, 10), end != frequencies;
		frequencies = end)
		if (khz > highest && khz < limit)
			highest = khz;
	return highest;
}

/* What it runs at without turbo, as the kernel reports it. Intel has base_frequency; firmware
 * with CPPC (AMD, ARM) nominal_freq in MHz; acpi-cpufreq lists its states ("3701000 3700000 …"),
 * with one for turbo, 1 MHz above the highest. */
static int64_t read_base(int root_fd, int number)
{
	_cleanup_(freep) char *list = NULL;
	int64_t khz = path_int(root_fd, POLICY "base_frequency", number), first, second;

	if (khz > 0)
		return khz;
	khz = path_int(root_fd, SYS_CPU "cpu%d/acpi_cppc/nominal_freq", number);
	if (khz > 0)
		return khz * 1000;
	list = path_text(root_fd, POLICY "scaling_available_frequencies", number);
	if (!list)
		return -1;
	first = highest_of_list(list, INT64_MAX);
	second = highest_of_list(list, first);
	return first - second == 1000 && first % 10000 == 1000 ? second : first;
}

/* Of the first processor in /proc/cpuinfo: "Intel(R) Xeon(R) CPU E5-2690 0 @ 2.90GHz"; -1: the
 * name has none. */
static int64_t base_of_name(const char *cpuinfo)
{
	const char *name = cpuinfo ? strstr(cpuinfo, "model name") : NULL;
	const char *end = name ? strchrnul(name, '\n') : NULL,
		   *at = name ? strstr(name, " @ ") : NULL;
	char unit[4] = "";
	double value;

	if (!at || at > end || sscanf(at + 3, "%lf%3s", &value, unit) != 2)
		return -1;
	if (!strcmp(unit, "GHz"))
		return llround(value * 1e6);
	return strcmp(unit, "MHz") ? -1 : llround(value * 1e3);
}

/* intel_pstate without HWP says how many states there are, 100 MHz apart from the lowest on, and
 * how much of them is turbo (in percent, rounded up). */
static int64_t base_of_states(int root_fd, int64_t lowest_khz)
{
	enum { STATE_KHZ = 100000 };
	int64_t n = path_int(root_fd, SYS_CPU "intel_pstate/num_pstates"),
		turbo = path_int(root_fd, SYS_CPU "intel_pstate/turbo_pct");

	if (n <= 0 || n > 1000 || turbo < 0 || turbo > 100 || lowest_khz <= 0)
		return -1;
	return lowest_khz + ((n * (100 - turbo) + 50) / 100 - 1) * STATE_KHZ;
}

/* Where the kernel does not report it: the name of an Intel processor has it; else the number of
 * states; else, while turbo is off, the highest is it; else CPPC, whose highest performance
 * belongs to the highest frequency. */
static int64_t derive_base(int root_fd, const struct frequency *f, const struct frequency_policy *p,
	const char *cpuinfo)
{
	bool cppc = p->driver && !strcmp(p->driver, "cppc_cpufreq"),
	     on = f->boost > 0 || p->boost > 0;
	int64_t most = p->hardware_max_khz > 0 ? p->hardware_max_khz : INT64_MAX;
	int64_t nominal = path_int(root_fd, SYS_CPU "cpu%d/acpi_cppc/nominal_perf", p->number),
		highest = path_int(root_fd, SYS_CPU "cpu%d/acpi_cppc/highest_perf", p->number);
	int64_t named = base_of_name(cpuinfo),
		counted = base_of_states(
			root_fd, path_int(root_fd, POLICY "cpuinfo_min_freq", p->number));

	if (named > 0 && named <= most)
		return named;
	if (counted > 0 && counted <= most)
		return counted;
	if (most == INT64_MAX)
		return -1;
	/* cppc_cpufreq without a switch: it has no turbo */
	if (f->no_turbo == 1 || (!on && (cppc || f->boost == 0 || p->boost == 0)))
		return most;
	if (nominal > 0 && highest >= nominal && highest < INT32_MAX && most < INT32_MAX)
		return most * nominal / highest;
	return -1;
}

static uint64_t frequency_register(int root_fd, int cpu, int64_t number)
{
	_cleanup_(closep) int fd = path_open(root_fd, O_RDONLY, "/dev/cpu/%d/msr", cpu);
	uint64_t value;

	return fd >= 0 && pread(fd, &value, sizeof(value), number) == sizeof(value) ? value : 0;
}

/* Intel's manual, volume 4: MSR_PLATFORM_INFO has the ratio without turbo in bits 15 to 8, in
 * units of 100 MHz; IA32_MISC_ENABLE has "turbo mode disable" in bit 38. AMD's: HWCR has CpbDis
 * in bit 25. A register that can be read is not 0. */
void frequency_read_registers(struct frequency *f, int root_fd, const char *vendor)
{
	enum { PLATFORM_INFO = 0xce, MISC_ENABLE = 0x1a0, RATIO_KHZ = 100000 };
	static const int64_t HWCR = 0xc0010015;
	bool intel = vendor && !strcmp(vendor, "GenuineIntel"),
	     amd = vendor && !strcmp(vendor, "AuthenticAMD");
	uint64_t value = intel ? frequency_register(root_fd, 0, MISC_ENABLE) : 0;

	if (amd)
		value = frequency_register(root_fd, 0, HWCR);
	if (value)
		f->msr_turbo_off = value >> (intel ? 38 : 25) & 1;
	for (size_t i = 0; intel && i < f->n_policies; i++) {
		struct frequency_policy *p = &f->policies[i];
		int64_t khz;

		if (p->base_khz > 0)
			continue;
		khz = (int64_t)(frequency_register(root_fd, p->number, PLATFORM_INFO) >> 8 & 0xff) *
		      RATIO_KHZ;
		if (khz > 0 && (p->hardware_max_khz <= 0 || khz <= p->hardware_max_khz))
			p->base_khz = khz;
	}
}

void frequency_read(struct frequency *ret, int root_fd)
{
	_cleanup_(freep) char *cpuinfo = path_text(root_fd, "/proc/cpuinfo");
	struct frequency f = {
		.no_turbo = path_int(root_fd, SYS_CPU "intel_pstate/no_turbo"),
		.min_perf_pct = path_int(root_fd, SYS_CPU "intel_pstate/min_perf_pct"),
		.max_perf_pct = path_int(root_fd, SYS_CPU "intel_pstate/max_perf_pct"),
		.boost = path_int(root_fd, SYS_CPU "cpufreq/boost"),
		.msr_turbo_off = -1,
		.pstate_status = path_text(root_fd, SYS_CPU "intel_pstate/status")
					 ?: path_text(root_fd, SYS_CPU "amd_pstate/status"),
	};
	_cleanup_(paths_clear) struct paths found = paths_expand(
		root_fd, SYS_CPU "cpufreq/policy[0-9]*");

	for (size_t i = 0; i < found.n; i++) {
		_cleanup_(freep) char *online = NULL;
		struct frequency_policy *p;
		int number, end = 0, r;

		if (sscanf(found.items[i], SYS_CPU "cpufreq/policy%d%n", &number, &end) != 1 ||
			found.items[i][end])
			continue;
		/* where all its CPUs are offline the kernel answers EBUSY for each file (before
		 * Linux 5.19: an empty list) */
		r = path_read_text(root_fd, NULL, &online, POLICY "affected_cpus", number);
		if (r == -EBUSY || (r == 0 && !*online))
			continue;

		p = array_add(f.policies, f.n_policies);
		*p = (struct frequency_policy){
			.number = number,
			.cpus = path_text(root_fd, POLICY "related_cpus", number),
			.driver = path_text(root_fd, POLICY "scaling_driver", number),
			.governor = path_text(root_fd, POLICY "scaling_governor", number),
			.preference = path_text(
				root_fd, POLICY "energy_performance_preference", number),
			.min_khz = path_int(root_fd, POLICY "scaling_min_freq", number),
			.max_khz = path_int(root_fd, POLICY "scaling_max_freq", number),
			.hardware_max_khz = path_int(root_fd, POLICY "cpuinfo_max_freq", number),
			.base_khz = read_base(root_fd, number),
			.boost = path_int(root_fd, POLICY "boost", number),
		};
		if (p->base_khz <= 0)
			p->base_khz = derive_base(root_fd, &f, p, cpuinfo);
	}
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
