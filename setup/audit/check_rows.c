/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of an audit, and of what apply sets: see check_rows.h.
 *
 * Order of setting: services first (tuned and others restore their own values when they stop), then limits from
 * the outside in: governor, frequencies, preferences, turbo, perf, the rest. Order of restoring: SMT, since CPUs
 * come back with default values; the governor, since it changes turbo and preferences; turbo, since it limits
 * the frequencies; then the rest; services last. */
#include "setup/audit/check_rows.h"

#include "lib/host/cpu/cpufreq.h"
#include "setup/audit/check_daemons.h"
#include "setup/audit/check_frequency.h"
#include "setup/audit/check_kernel.h"
#include "setup/audit/check_ntp.h"
#include "setup/audit/check_system.h"

#include <string.h>

#define CPU "/sys/devices/system/cpu/"
#define TURBO_WHY "how long turbo lasts depends on temperature and on the other CPUs"

enum { FIRST, GOVERNOR, TURBO, LIMITS, PREFERENCE, PERF, REST };

/* Settings that nothing else depends on. */
#define AT_LAST(path, value)                                                         \
	{                                                                            \
		.pattern = path, .want = value, .order = REST, .restore_order = REST \
	}
#define ON_REQUEST(what, path, value)                                                               \
	{                                                                                           \
		.pattern = path, .kind = what, .want = value, .order = REST, .restore_order = REST, \
		.on_request = true                                                                  \
	}
/* Switches of the processor or the firmware. */
#define SWITCH(path, value, back)                                                                            \
	{                                                                                                    \
		.pattern = path, .want = value, .order = PREFERENCE, .restore_order = back, .hardware = true \
	}

const struct check check_rows[] = {
	{.id = "svc.units",
		.level = 'A',
		.step = "EMPv1 daemons",
		.wanted = "no running service of the policy's list",
		.why = "a daemon that wakes up during a sample takes the CPU and its caches",
		.who = "EMP, LLVM, krun, tuned",
		.decide = check_daemons_services,
		.applied = true},
	{.id = "svc.timers",
		.level = 'A',
		.step = "EMPv1 daemons",
		.wanted = "no active timer of the policy's list",
		.why = "a timer starts its service in the middle of a long run",
		.who = "EMP, krun",
		.decide = check_daemons_timers,
		.applied = true},
	{.id = "ntp.on",
		.level = 'A',
		.step = "EMPv2 time",
		.wanted = "one time daemon, synchronised",
		.why = "an undisciplined clock drifts by seconds a day, and jumps when somebody sets it",
		.how = "install chrony or another time daemon and give it a server",
		.who = "EMP, BenchExec (krun advises the opposite)",
		.decide = check_ntp,
		.applied = true},
	{.id = "freq.driver",
		.level = 'A',
		.step = "EMPv3 frequency",
		.wanted = "recorded only",
		.why = "the driver decides which of the other switches exist, and what they mean",
		.how = "nothing to do",
		.undo = CHECK_NO_UNDO,
		.who = "pyperf, krun, tuned",
		.decide = check_frequency_driver},
	{.id = "freq.governor",
		.level = 'A',
		.step = "EMPv3 frequency",
		.wanted = "performance on all CPUs",
		.why = "other governors change the clock frequency with the load",
		.who = "pyperf, ReBench, krun, temci, tuned, LLVM",
		.decide = check_frequency_governor,
		.setting = {.pattern = CPU "cpufreq/policy[0-9]*/scaling_governor",
			.want = "performance",
			.write = cpufreq_write_governor,
			.along =
				"epp", /* the governor forces it to performance; not all kernels restore it */
			.order = GOVERNOR,
			.restore_order = GOVERNOR}},
	{.id = "freq.min",
		.level = 'A',
		.step = "EMPv3 frequency",
		.wanted = "at least the base frequency",
		.why = "a clock that may slow down takes time to speed up again",
		.who = "pyperf (which uses the turbo maximum)",
		.decide = check_frequency_min,
		.setting = {.pattern = CPU "cpufreq/policy[0-9]*",
			.kind = SETTING_LIMITS,
			.want_of = check_frequency_limits,
			.write = cpufreq_write_limits,
			.order = LIMITS,
			.restore_order = LIMITS}},
	{.id = "turbo.intel",
		.level = 'A',
		.step = "EMPv3 turbo",
		.wanted = "no_turbo = 1",
		.why = TURBO_WHY,
		.who = "EMP, pyperf, ReBench, temci, LLVM, BenchExec",
		.decide = check_frequency_turbo_intel,
		.setting = SWITCH(CPU "intel_pstate/no_turbo", "1", TURBO)},
	{.id = "turbo.boost",
		.level = 'A',
		.step = "EMPv3 turbo",
		.wanted = "boost = 0",
		.why = TURBO_WHY,
		.who = "EMP, temci, BenchExec",
		.decide = check_frequency_turbo_boost,
		.setting = SWITCH(CPU "cpufreq/boost", "0", TURBO)},
	{.id = "turbo.policy",
		.level = 'A',
		.step = "EMPv3 turbo",
		.wanted = "boost = 0 in every policy",
		.why = TURBO_WHY,
		.who = "EMP (tuned's latency-performance switches it on)",
		.how = "switch turbo off in the firmware setup",
		.decide = check_frequency_turbo_policy,
		.setting = SWITCH(CPU "cpufreq/policy[0-9]*/boost", "0", TURBO)},
	{.id = "speedstep",
		.level = 'A',
		.step = "EMPv3 SpeedStep",
		.wanted = "off in firmware, or a fixed frequency",
		.why = "with a varying clock frequency, equal work takes different times",
		.how = "switch it off in the firmware setup, or apply freq.governor, freq.min and turbo.*",
		.undo = "the firmware setup, or emp-setup restore",
		.who = "EMP",
		.decide = check_frequency_speedstep},
	{.id = "kernel.version",
		.level = 'A',
		.step = "EMPv4 kernel",
		.wanted = "the newest of this system",
		.why = "in the paper, one kernel fix reduced the spread of times from 8.7 ms to 1.8 ms",
		.how = "install the newest kernel and reboot",
		.undo = "boot the old kernel from the boot menu",
		.who = "EMP",
		.decide = check_kernel_version},
	{.id = "kernel.pending",
		.level = 'A',
		.step = "EMPv4 kernel",
		.wanted = "no reboot pending",
		.why = "after the next reboot, times are no longer comparable",
		.how = "reboot",
		.undo = CHECK_NO_UNDO,
		.who = "EMP",
		.decide = check_kernel_pending},
	{.id = "delayacct",
		.level = 'A',
		.step = "accounting",
		.wanted = "0 or 1: CPU times do not need it",
		.why = "while it is 0, only waiting times (disk, swap, interrupts) are missing",
		.how = "sysctl kernel.task_delayacct=1, if waiting times are wanted",
		.undo = "sysctl kernel.task_delayacct=0",
		.who = "EMP",
		.decide = check_system_delayacct},
	{.id = "svc.unknown",
		.level = 'B',
		.step = "daemons",
		.wanted = "no running service that the policy does not list",
		.why = "its CPU time, or a calibration, shows whether a daemon disturbs",
		.how = "list them in [stop] or [never] of a policy in /etc/emp/policies",
		.undo = "remove them from the policy",
		.who = "EMP",
		.decide = check_daemons_unknown},
	{.id = "svc.due",
		.level = 'B',
		.step = "daemons",
		.wanted = "no other timer due soon (--within)",
		.why = "a timer starts its service in the middle of a long run",
		.how = "systemctl stop %s, or list them in [stop] of a policy",
		.undo = "systemctl start %s",
		.who = "EMP",
		.decide = check_daemons_due},
	{.id = "svc.packagers",
		.level = 'B',
		.step = "daemons",
		.wanted = "no package manager at work, no shutdown scheduled",
		.why = "an installation replaces and restarts programs",
		.how = "wait until it is done; 'shutdown -c' cancels a scheduled shutdown",
		.undo = CHECK_NO_UNDO,
		.who = "VirtualClient",
		.decide = check_system_packagers},
	{.id = "load",
		.level = 'B',
		.step = "daemons",
		.wanted = "below 0.1 per CPU in the last minute",
		.why = "other programs take CPU, caches and memory bandwidth",
		.how = "see what runs: top",
		.undo = CHECK_NO_UNDO,
		.who = "pyperf, google/benchmark, BenchExec",
		.decide = check_system_load},
	{.id = "clocksource",
		.level = 'B',
		.step = "time",
		.wanted = "tsc, if the processor has a constant one",
		.why = "other counters take longer to read and are coarser",
		.how = "the kernel's log says why it does not trust the TSC: dmesg | grep -i tsc",
		.undo = CHECK_NO_UNDO,
		.who = "tuned",
		.decide = check_system_clocksource},
	{.id = "freq.max",
		.level = 'B',
		.step = "frequency",
		.wanted = "the base frequency",
		.why = "equal lower and upper limits fix the clock",
		.how = "emp-setup apply --only freq.min (it sets both limits)",
		.who = "nanobench",
		.decide = check_frequency_max},
	{.id = "epp",
		.level = 'B',
		.step = "frequency",
		.wanted = "performance",
		.why = "other values let the processor save energy by itself",
		.who = "tuned, Phoronix",
		.setting = SWITCH(
			CPU "cpufreq/policy[0-9]*/energy_performance_preference", "performance", PREFERENCE)},
	{.id = "epb",
		.level = 'B',
		.step = "frequency",
		.wanted = "0 (performance)",
		.why = "other values let the processor save energy by itself",
		.who = "tuned",
		.setting = SWITCH(CPU "cpu[0-9]*/power/energy_perf_bias", "0", PREFERENCE)},
	{.id = "pstate.boost",
		.level = 'B',
		.step = "frequency",
		.wanted = "0",
		.why = "otherwise the driver raises the clock for a while after disk I/O",
		.who = "tuned",
		.setting = SWITCH(CPU "intel_pstate/hwp_dynamic_boost", "0", TURBO)},
	{.id = "platform",
		.level = 'B',
		.step = "frequency",
		.wanted = "performance",
		.why = "in other profiles the firmware limits the processor's power",
		.who = "tuned, Phoronix",
		.setting = SWITCH("/sys/firmware/acpi/platform_profile", "performance", PREFERENCE)},
	{.id = "power",
		.level = 'B',
		.step = "frequency",
		.wanted = "plugged in",
		.why = "on battery the firmware lowers the clock frequency",
		.how = "plug the machine in",
		.undo = CHECK_NO_UNDO,
		.who = "pyperf",
		.decide = check_system_mains},
	{.id = "cstate.qos",
		.level = 'B',
		.step = "idle",
		.wanted = "no deep idle state during a run",
		.why = "a CPU takes up to some 100 us to wake up from a deep idle state",
		.how = "emp-setup apply --for -- COMMAND (while COMMAND runs)",
		.undo = "ends with COMMAND",
		.who = "rtla, tuned, bencher",
		.decide = check_system_latency},
	{.id = "smt",
		.level = 'B',
		.step = "CPUs",
		.wanted = "off, or the measured CPU's siblings idle",
		.why = "the other thread of a core uses the same units and caches",
		.how = "emp-setup apply --only smt",
		.who = "LLVM, temci, BenchExec, bencher",
		.decide = check_system_smt,
		.setting = {.pattern = CPU "smt/control",
			.want = "off",
			.order = FIRST,
			.restore_order = FIRST,
			.on_request = true}}, /* control groups may not get their CPUs back by themselves */
	{.id = "perf.pct",
		.level = 'B',
		.step = "kernel",
		.wanted = "1",
		.why = "limits the CPU time of a forgotten profiler",
		.who = "ReBench",
		.setting = {.pattern = "/proc/sys/kernel/perf_cpu_time_max_percent",
			.want = "1",
			.order = PERF,
			.restore_order = REST}}, /* while it is 0 or 100 the rate cannot be written */
	{.id = "perf.rate",
		.level = 'B',
		.step = "kernel",
		.wanted = "1",
		.why = "limits the sampling rate of a forgotten profiler",
		.who = "pyperf, krun, ReBench",
		.setting = {.pattern = "/proc/sys/kernel/perf_event_max_sample_rate",
			.want = "1",
			.order = REST,
			.restore_order = PERF}},
	{.id = "nmi",
		.level = 'B',
		.step = "kernel",
		.wanted = "0",
		.why = "the watchdog interrupts every CPU and uses a hardware counter",
		.who = "tuned, bencher, mmtests",
		.setting = AT_LAST("/proc/sys/kernel/nmi_watchdog", "0")},
	{.id = "trace",
		.level = 'B',
		.step = "kernel",
		.wanted = "nop",
		.why = "a tracer writes a record at every event of the kernel",
		.how = "echo nop >/sys/kernel/tracing/current_tracer",
		.undo = "write back the value found",
		.who = "EMP",
		.decide = check_system_tracer},
	{.id = "numa.bal",
		.level = 'B',
		.step = "memory",
		.wanted = "0",
		.why = "the kernel unmaps pages now and then to see who uses them",
		.who = "tuned, bencher",
		.setting = AT_LAST("/proc/sys/kernel/numa_balancing", "0")},
	{.id = "ksm",
		.level = 'B',
		.step = "memory",
		.wanted = "0",
		.why = "the kernel scans memory for pages to merge",
		.who = "bencher, tuned",
		.setting = AT_LAST("/sys/kernel/mm/ksm/run", "0")},
	{.id = "swap",
		.level = 'B',
		.step = "memory",
		.wanted = "none in use",
		.why = "reading a page back from disk takes milliseconds",
		.how = "add memory, or stop what uses it (emp-setup does not switch swap off)",
		.undo = CHECK_NO_UNDO,
		.who = "BenchExec",
		.decide = check_system_swap},
	{.id = "timer.mig",
		.level = 'C',
		.step = "kernel",
		.wanted = "0",
		.why = "timers of idle CPUs move to busy ones",
		.who = "tuned, bencher",
		.setting = ON_REQUEST(SETTING_PLAIN, "/proc/sys/kernel/timer_migration", "0")},
	{.id = "hung",
		.level = 'C',
		.step = "kernel",
		.wanted = "600 s",
		.why = "the kernel looks at all processes once in this interval",
		.who = "tuned",
		.setting = ON_REQUEST(SETTING_PLAIN, "/proc/sys/kernel/hung_task_timeout_secs", "600")},
	{.id = "thp",
		.level = 'C',
		.step = "memory",
		.wanted = "never",
		.why = "the kernel assembles huge pages in the background",
		.who = "bencher; tuned's network-latency (its hpc profile wants always)",
		.setting = ON_REQUEST(
			SETTING_BRACKETED, "/sys/kernel/mm/transparent_hugepage/enabled", "never")},
	{.id = "vmstat",
		.level = 'C',
		.step = "memory",
		.wanted = "10 s",
		.why = "every CPU updates its memory statistics once in this interval",
		.who = "tuned, pyperf",
		.setting = ON_REQUEST(SETTING_PLAIN, "/proc/sys/vm/stat_interval", "10")},
	{.id = "aspm",
		.level = 'C',
		.step = "idle",
		.wanted = "performance",
		.why = "a PCI Express link takes time to wake up",
		.who = "pepc",
		.setting = ON_REQUEST(
			SETTING_BRACKETED, "/sys/module/pcie_aspm/parameters/policy", "performance")},
	{},
};

const size_t n_check_rows = sizeof(check_rows) / sizeof(check_rows[0]) - 1;

const struct check *check_rows_find(const char *id)
{
	for (const struct check *c = check_rows; c->id; c++)
		if (!strcmp(c->id, id))
			return c;
	return NULL;
}

int check_rows_read(struct setting_files **ret, int root_fd, struct error *err)
{
	struct setting_files *files = calloc(n_check_rows, sizeof(*files));
	int r = files ? 0 : error_oom(err);

	for (size_t i = 0; r == 0 && i < n_check_rows; i++)
		if (check_rows[i].setting.pattern)
			r = setting_read(&files[i], root_fd, &check_rows[i].setting, err);
	if (r < 0) {
		check_rows_free(files);
		return r;
	}
	*ret = files;
	return 0;
}

void check_rows_free(struct setting_files *files)
{
	for (size_t i = 0; files && i < n_check_rows; i++)
		setting_files_clear(&files[i]);
	free(files);
}
