/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the text of all files of a machine: those of /proc and /sys that the readers below a
 * root directory open. */
#include "lib/base/text.h"
#include "lib/host/accounting/accounting.h"
#include "lib/host/cpu/cpus.h"
#include "lib/host/cpu/frequency.h"
#include "lib/host/process/cgroup.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/process.h"
#include "lib/run/observer.h"
#include "lib/host/system/kernel.h"
#include "lib/host/system/kernel_setting.h"
#include "lib/host/system/machine.h"
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <sys/stat.h>

static const char *const paths[] = {"proc/stat", "proc/vmstat", "proc/pressure/cpu", "proc/cpuinfo",
	"proc/meminfo", "proc/42/stat", "proc/self/cgroup", "proc/self/mountinfo",
	"proc/self/status", "proc/self/uid_map", "proc/sys/kernel/osrelease",
	"proc/sys/kernel/version", "etc/os-release", "run/systemd/container",
	"sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name",
	"sys/kernel/security/lockdown",
	"sys/devices/system/clocksource/clocksource0/available_clocksource",
	"sys/devices/system/cpu/online", "sys/devices/system/cpu/present",
	"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
	"sys/devices/system/cpu/intel_pstate/no_turbo", "sys/devices/system/cpu/cpufreq/boost",
	"sys/devices/system/cpu/cpufreq/policy0/affected_cpus",
	"sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
	"sys/devices/system/cpu/cpufreq/policy0/scaling_driver",
	"sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq",
	"sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq",
	"sys/devices/system/cpu/cpufreq/policy0/base_frequency",
	"sys/kernel/mm/transparent_hugepage/enabled"};

static int root_fd, text_fd;

static void link_path(const char *path)
{
	_cleanup_(freep) char *folder = strdup(path);

	for (char *slash = folder; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdirat(root_fd, folder, 0700);
	}
	FUZZ_MUST(linkat(root_fd, "text", root_fd, path, 0) == 0);
}

/* All files are one. */
static void make_tree(void)
{
	root_fd = open(fuzz_directory(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	text_fd = openat(root_fd, "text", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	FUZZ_MUST(text_fd >= 0);
	for (size_t i = 0; i < ELEMENTS(paths); i++)
		link_path(paths[i]);
}

static void try_system(void)
{
	_cleanup_(machine_clear) struct machine machine;
	_cleanup_(kernel_clear) struct kernel kernel = {};
	const struct accounting_support support = accounting_support_read(root_fd);
	struct error err = {};

	machine_read(&machine, root_fd);
	FUZZ_MUST(*machine_description(&machine));
	text_has_word(machine.flags, "hypervisor");
	if (kernel_read(&kernel, root_fd, &err) < 0)
		FUZZ_REFUSED(&err);
	if (accounting_support_has(&support, ACCOUNTING_BPF, &err) < 0)
		FUZZ_REFUSED(&err);
	if (accounting_support_has(&support, ACCOUNTING_TASKSTATS, &err) < 0)
		FUZZ_REFUSED(&err);
	FUZZ_MUST(accounting_support_missing(&support));
}

static void try_processes(void)
{
	_cleanup_(cgroup_limits_clear) struct cgroup_limits limits = {};
	_cleanup_(freep) char *mount = NULL;
	struct error err = {};
	size_t n;

	free(processes_read(root_fd, &n));
	if (cgroup_mount(root_fd, &mount, &err) < 0)
		FUZZ_REFUSED(&err);
	if (cgroup_limits_read(&limits, root_fd) == 0)
		FUZZ_MUST(limits.quota >= 0 && limits.weight >= -1);
}

static void try_cpu(void)
{
	struct kernel_setting setting = {
		root_fd, "/sys/kernel/mm/transparent_hugepage/enabled", SETTING_BRACKETED, NULL};
	_cleanup_(frequency_clear) struct frequency frequency = {};
	_cleanup_(freep) char *value = NULL;
	struct error err = {};

	frequency_read(&frequency, root_fd);
	if (pinning_check(3, root_fd, &err) < 0)
		FUZZ_REFUSED(&err);
	if (kernel_setting_read(&setting, &value) == 0)
		kernel_setting_description(SETTING_BRACKETED, value);
}

static void try_counters(int cpu)
{
	_cleanup_(counter_reader_freep) struct counter_reader *reader = counters_open(root_fd, cpu);

	counters_begin(reader);
	counters_end(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	if (!root_fd)
		make_tree();
	FUZZ_MUST(ftruncate(text_fd, 0) == 0 && pwrite(text_fd, bytes, n, 0) == (ssize_t)n);
	try_system();
	try_processes();
	try_cpu();
	try_counters(-1);
	try_counters(0);
	return 0;
}
