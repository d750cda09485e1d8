/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of an audit, and of what apply sets; and the values that settings should have where a
 * row's text does not say it. See audit.h. */
#include "setup/audit/audit.h"

#include "lib/host/cpu/cpupower.h"
#include "lib/protocol/environment_diff.h"

#define CPU "/sys/devices/system/cpu/"

/* "inherit": as thp. */
static char *check_memory_mthp_want(const struct facts *f, const struct setting_file *file)
{
	return xstrdup(file->value && !strcmp(file->value, "inherit") ? "inherit" : "never");
}

/* What is better than wanted stays. */
static char *check_no_less(const struct setting_file *file, int64_t least)
{
	int64_t value;

	if (file->value &&
		text_parse_int(file->value, "the file", least, INT64_MAX, &value, NULL) == 0)
		return xstrdup(file->value);
	return text_format("%" PRId64, least);
}

/* 0: it never looks. */
static char *check_kernel_hung_want(const struct facts *f, const struct setting_file *file)
{
	return file->value && !strcmp(file->value, "0") ? xstrdup("0") : check_no_less(file, 600);
}

static char *check_memory_vmstat_want(const struct facts *f, const struct setting_file *file)
{
	return check_no_less(file, 10);
}

/* 2: stopped, and what was merged is apart again. */
static char *check_memory_ksm_want(const struct facts *f, const struct setting_file *file)
{
	return xstrdup(file->value && !strcmp(file->value, "2") ? "2" : "0");
}

/* The best that this machine has. */
static char *check_power_profile_want(const struct facts *f, const struct setting_file *file)
{
	static const char *const best[] = {"performance", "balanced-performance", "balanced"};
	_cleanup_(freep) char *choices = path_text(f->root_fd, "%s_choices", file->path);

	for (size_t i = 0; choices && i < ELEMENTS(best); i++)
		if (text_has_word(choices, best[i]))
			return xstrdup(best[i]);
	return xstrdup(best[0]);
}

/* Order of setting: services first (tuned and others restore their own values when they stop), then
 * limits from the outside in: governor, frequencies, preferences, turbo, perf, the rest. Order of
 * restoring: SMT, since CPUs come back with default values; the governor, since it changes turbo
 * and preferences; turbo, since it limits the frequencies, that of all policies first: while it is
 * off, that of a policy cannot be written; then the rest; services last. */
enum { FIRST, GOVERNOR, TURBO, TURBO_POLICY, LIMITS, PREFERENCE, PERF, REST };

// clang-format off
/* What a governor forgets when another one takes its place, or the last CPU of its policy goes
 * offline: the settings of the governor, for all policies or for each, and the speed chosen by
 * hand. */
#define OF_GOVERNOR \
	CPU "cpufreq/ondemand/*", CPU "cpufreq/conservative/*", CPU "cpufreq/schedutil/*", \
	CPU "cpufreq/policy[0-9]*/ondemand/*", CPU "cpufreq/policy[0-9]*/conservative/*", \
	CPU "cpufreq/policy[0-9]*/schedutil/*", CPU "cpufreq/policy[0-9]*/scaling_setspeed"

static const char *const of_governor[] = {OF_GOVERNOR, NULL},
	/* "on" brings CPUs online that were offline before */
	*const of_smt[] = {OF_GOVERNOR, CPU "cpu[0-9]*/online", NULL};

/* A turbo switch narrows the limits, and some drivers set them anew with it; percents of a passive
 * intel_pstate narrow and raise them. */
static const char *const of_turbo[] = {CPU "cpufreq/policy[0-9]*", NULL};

/* Settings that nothing else depends on. */
#define AT_LAST(path, value) {.pattern = path, .want = value, .order = REST, .restore_order = REST}
#define ON_REQUEST(what, path, value) \
	{.pattern = path, .kind = what, .want = value, .order = REST, .restore_order = REST, .on_request = true}
/* Switches of the processor or the firmware. */
#define SWITCH(path, value, back) \
	{.pattern = path, .want = value, .order = PREFERENCE, .restore_order = back, .hardware = true}

/* id, level, step, wanted, why, who */
const struct check check_rows[] = {
	{"svc.units", 'A', "EMPv1 daemons", "no running service of the policy's list",
		"a daemon that wakes up during a sample takes the CPU and its caches",
		"EMP, LLVM, krun, tuned", .decide = check_daemons_services, .applied = true},
	{"svc.timers", 'A', "EMPv1 daemons", "no active timer of the policy's list",
		"a timer starts its service in the middle of a long run", "EMP, krun",
		.decide = check_daemons_timers, .applied = true},
	{"ntp.on", 'A', "EMPv2 time", "one time daemon, synchronised",
		"an undisciplined clock drifts by seconds a day, and jumps when somebody sets it",
		"EMP, BenchExec (krun advises the opposite)",
		.how = "install chrony or another time daemon and give it a server", .decide = check_ntp,
		.applied = true},
	{"freq.driver", 'A', "EMPv3 frequency", "recorded only",
		NULL,
		"pyperf, krun, tuned", .how = "nothing to do",
		.of_policies = true, .decide = check_frequency_driver},
	{"freq.governor", 'A', "EMPv3 frequency", "performance on all CPUs",
		NULL,
		"pyperf, ReBench, krun, temci, tuned, LLVM", .of_policies = true,
		.decide = check_frequency_governor,
		.setting = {.pattern = CPU "cpufreq/policy[0-9]*/scaling_governor", .want = "performance",
			/* the governor forces it to performance; not all kernels restore it */
			.coupled_check = "epp",
			.keeps = of_governor, .write = cpufreq_write_governor, .order = GOVERNOR, .restore_order = GOVERNOR}},
	{"freq.min", 'A', "EMPv3 frequency", "at least the base frequency",
		NULL,
		"pyperf (which uses the turbo maximum)", .of_policies = true,
		.decide = check_frequency_min,
		.setting = {.pattern = CPU "cpufreq/policy[0-9]*", .kind = SETTING_LIMITS,
			.want_of = check_frequency_limits, .write = cpufreq_write_limits,
			.order = LIMITS, .restore_order = LIMITS}},
	{"turbo.intel", 'A', "EMPv3 turbo", "no_turbo = 1", NULL,
		"EMP, pyperf, ReBench, temci, LLVM, BenchExec",
		.number = {offsetof(struct facts, frequency.no_turbo),
			{{CHECK_BY_HOST, "this machine does not use intel_pstate"},
				{CHECK_OFF, "no_turbo = 0: turbo is on"}, {CHECK_OK, "no_turbo = 1"}}},
		.setting = {.pattern = CPU "intel_pstate/no_turbo", .want = "1", .order = PREFERENCE,
			.restore_order = TURBO, .hardware = true, .keeps = of_turbo,
			.coupled_check = "pstate.pct"}}, /* lowers min_perf_pct */
	{"turbo.boost", 'A', "EMPv3 turbo", "boost = 0", NULL, "EMP, temci, BenchExec",
		.number = {offsetof(struct facts, frequency.boost),
			{{CHECK_BY_HOST, "this machine has no global turbo switch"},
				{CHECK_OK, "boost = 0"}, {CHECK_OFF, "boost = 1: turbo is on"}}},
		.setting = {.pattern = CPU "cpufreq/boost", .want = "0", .hardware = true, .keeps = of_turbo,
			/* the kernel writes it into every policy */
			.coupled_check = "turbo.policy",
			.order = PREFERENCE, .restore_order = TURBO}},
	{"turbo.policy", 'A', "EMPv3 turbo", "boost = 0 in every policy",
		NULL, "EMP (tuned's latency-performance switches it on)",
		.how = "switch turbo off in the firmware setup", .decide = check_frequency_turbo_policy,
		.setting = {.pattern = CPU "cpufreq/policy[0-9]*/boost", .want = "0", .hardware = true,
			.keeps = of_turbo, .order = PREFERENCE, .restore_order = TURBO_POLICY}},
	{"pstate.pct", 'A', "EMPv3 frequency", "max_perf_pct = 100",
		NULL, "tuned",
		.decide = check_frequency_percent,
		.setting = {.pattern = CPU "intel_pstate/m[ai][xn]_perf_pct", .want = "100", .hardware = true,
			.keeps = of_turbo, .order = PREFERENCE, .restore_order = LIMITS}},
	{"speedstep", 'A', "EMPv3 SpeedStep", "off in firmware, or a fixed frequency",
		"with a varying clock frequency, equal work takes different times", "EMP",
		.how = "switch it off in the firmware setup, or apply freq.governor, freq.min, turbo.*, pstate.pct",
		.undo = "the firmware setup, or emp-setup restore", .decide = check_frequency_speedstep},
	{"kernel.version", 'A', "EMPv4 kernel", "the newest of this system",
		"in the paper, one kernel fix reduced the spread of times from 8.7 ms to 1.8 ms", "EMP",
		.how = "install the newest kernel and reboot",
		.undo = "boot the old kernel from the boot menu", .decide = check_kernel_version},
	{"kernel.pending", 'A', "EMPv4 kernel", "no reboot pending",
		"after the next reboot, times are no longer comparable", "EMP",
		.how = "reboot", .decide = check_kernel_pending},
	{"cgroup.quota", 'A', "CPUs", "no quota where programs are started",
		"a quota stops a program for a part of every period", "BenchExec",
		.how = "run outside of it, or: systemctl set-property --runtime UNIT CPUQuota=",
		.decide = check_cpus_quota},
	{"delayacct", 'B', "accounting", "0 or 1: CPU times do not need it",
		NULL, "EMP",
		.how = "sysctl kernel.task_delayacct=1, if waiting times are wanted",
		.undo = "sysctl kernel.task_delayacct=0", 
		.number = {offsetof(struct facts, delayacct),
			{{CHECK_ABSENT, "this kernel has no kernel.task_delayacct"}, {CHECK_OK, "0"}, {CHECK_OK, "1"}}}},
	{"irqtime", 'B', "accounting", "yes: interrupts do not count as process time",
		"without CONFIG_IRQ_TIME_ACCOUNTING, process times contain the interrupts that came meanwhile", "EMP",
		.how = "boot a kernel that has it; or keep interrupts away from the CPU: irq.default, irq.each",
		.undo = "boot the old kernel",
		.number = {offsetof(struct facts, irq_time),
			{{CHECK_UNKNOWN, "the configuration of this kernel is not known"},
				{CHECK_OFF, "no: process time includes interrupts"},
				{CHECK_OK, "yes: interrupts do not count as process time"}}}},
	{"svc.unknown", 'B', "daemons", "no running service that the policy does not list",
		"its CPU time, or a calibration, shows whether a daemon disturbs", "EMP",
		.how = "list them in [stop] or [never] of a policy in /etc/emp/policies",
		.undo = "remove them from the policy", .decide = check_daemons_unknown},
	{"svc.due", 'B', "daemons", "no other timer or job of cron due soon (--within), no desktop session",
		"a timer starts its service in the middle of a long run, as cron does; a desktop works all the time",
		"EMP",
		.how = "list timers in [stop] of a policy; systemctl stop cron; systemctl --user stop, as the user; log out",
		.undo = "systemctl start, systemctl --user start",
		.decide = check_daemons_due},
	{"svc.inhibitors", 'B', "daemons", "nobody holds off a shutdown because work is going on",
		"an update of firmware, a backup or a burning disc takes CPU and memory bandwidth", "EMP",
		.how = "wait until it is done: systemd-inhibit --list", .decide = check_daemons_inhibitors},
	{"svc.packagers", 'B', "daemons", "no package manager running, no shutdown scheduled",
		"an installation replaces and restarts programs", "VirtualClient",
		.how = "wait until it is done; 'shutdown -c' cancels a scheduled shutdown",
		.decide = check_system_packagers},
	{"load", 'B', "daemons", "below 0.1 per CPU in the last minute",
		"other programs take CPU, caches and memory bandwidth", "pyperf, google/benchmark, BenchExec",
		.how = "see what runs: top", .decide = check_system_load},
	{"clocksource", 'B', "time", "tsc, if the processor has a constant one; read without a system call",
		NULL, "tuned",
		.how = "the kernel's log says why it does not trust the TSC: dmesg | grep -i tsc; 'emp-calibrate clocks' measures all clocks",
		.decide = check_system_clocksource},
	{"freq.max", 'B', "frequency", "the base frequency", NULL,
		"nanobench", .how = "emp-setup apply --only freq.min (it sets both limits)",
		.undo = "emp-setup restore",
		.of_policies = true, .decide = check_frequency_max},
	{"epp", 'B', "frequency", "performance",
		NULL, "tuned, Phoronix",
		.setting = SWITCH(CPU "cpufreq/policy[0-9]*/energy_performance_preference", "performance",
			PREFERENCE)},
	{"uncore", 'C', "frequency", "equal limits", NULL, "pepc, tuned", .decide = check_power_uncore,
		.setting = {.pattern = CPU "intel_uncore_frequency/*/min_freq_khz", .want_of = check_power_uncore_want,
			.order = PREFERENCE, .restore_order = PREFERENCE, .on_request = true, .hardware = true}},
	{"nohz.pstate", 'B', "frequency", "no CPU without a tick whose clock follows the tick",
		"intel_pstate chooses the clock at the tick: without one, it stays where it happens to be", "pyperf",
		.how = "emp-setup apply --only freq.governor, or boot without nohz_full or with intel_pstate=disable",
		.undo = "emp-setup restore", .of_policies = true, .decide = check_cpus_tickless_clock},
	{"epb", 'B', "frequency", "0 (performance)", NULL,
		"tuned", .setting = SWITCH(CPU "cpu[0-9]*/power/energy_perf_bias", "0", PREFERENCE)},
	{"pstate.boost", 'B', "frequency", "0",
		"otherwise the driver raises the clock for a while after disk I/O", "tuned",
		.setting = SWITCH(CPU "intel_pstate/hwp_dynamic_boost", "0", TURBO)},
	{"platform", 'B', "frequency", "performance, or the next best that the firmware has",
		NULL, "tuned, Phoronix",
		.setting = {.pattern = "/sys/firmware/acpi/platform_profile", .hardware = true, .want_of = check_power_profile_want,
			.order = PREFERENCE, .restore_order = PREFERENCE}},
	{"power", 'B', "frequency", "plugged in", "on battery the firmware lowers the clock frequency",
		"pyperf", .how = "plug the machine in",
		.decide = check_power_supply},
	{"power.limit", 'B', "frequency", "not below what the processor is made for",
		NULL, "EMP",
		.how = "raise it in the firmware setup, or in /sys/class/powercap", .undo = "set it back",
		.decide = check_power_limits},
	{"cooling", 'B', "frequency", "no device that slows the processor down is active",
		"a processor that is too hot is slowed down or made to idle", "krun",
		.how = "improve the cooling, or wait until it is cool", .decide = check_power_cooling},
	{"throttling", 'B', "frequency", "none since the machine was started",
		"a processor that is too hot lowers its clock", "BenchExec, krun",
		.how = "improve the cooling; runs list it among the disturbances",
		.decide = check_power_throttling},
	{"cstate.qos", 'B', "idle", "no deep idle state during a run",
		"a CPU takes up to some 100 us to wake up from a deep idle state. Where threads share a core, --for lets "
		"CPUs halt in C1 instead of polling, which slows the other thread; EMP does not measure by how much",
		"rtla, tuned, bencher",
		.how = "emp-setup apply --for -- COMMAND (while COMMAND runs)", .undo = "ends with COMMAND",
		.decide = check_cpus_latency},
	{"steal", 'B', "CPUs", "at most 1 % of the CPUs' time",
		"the host gives the CPU to other machines while a program waits; runs count it too", "bencher",
		.how = "ask the host's owner for CPUs of your own, or measure at another time",
		.decide = check_system_steal},
	{"affinity", 'B', "CPUs", "all CPUs that are online and not isolated, or the one that is chosen",
		"programs inherit it from this shell, and share these CPUs with others", "pyperf, BenchExec",
		.how = "taskset -cp 0-N $$ in this shell; of a group: systemctl set-property --runtime UNIT AllowedCPUs=",
		.undo = "leave the shell", .decide = check_session_affinity},
	{"priority", 'B', "CPUs", "SCHED_OTHER, nice 0 or below",
		"programs inherit it from this shell: others go first, or the kernel stops a real-time one for 5 % of each second",
		"krun, ReBench", .how = "renice -n 0 -p $$ and chrt --other -p 0 $$, as root, or a new shell",
		.undo = "leave the shell", .decide = check_session_priority},
	{"cgroup.memory", 'B', "memory", "no limit where programs are started",
		"near its limit a program is stopped while the kernel frees memory", "EMP",
		.how = "run outside of it, or: systemctl set-property --runtime UNIT MemoryHigh=infinity MemoryMax=infinity",
		.undo = "systemctl set-property with the limit found", .decide = check_session_memory},
	{"numa.place", 'B', "memory", "a CPU that is chosen, and memory of its node",
		"memory of another node takes longer to reach; without a chosen CPU, each run may start on another node",
		"BenchExec", .how = "choose a CPU: emp-setup audit --cpu N, emp-measure --cpu N; numactl --localalloc",
		.decide = check_session_numa},
	{"cgroup.weight", 'B', "CPUs", "not below the usual",
		"other groups get more time where they compete", "EMP",
		.how = "run outside of it, or: systemctl set-property --runtime UNIT CPUWeight=100",
		.decide = check_cpus_weight},
	{"irq.balance", 'B', "CPUs", "none runs", "it moves interrupts between CPUs during a run",
		"pyperf, bencher", .how = "systemctl stop irqbalance", .undo = "systemctl start irqbalance",
		.decide = check_cpus_balancer},
	{"irq.default", 'B', "CPUs", "not the core that programs are timed on",
		NULL, "pyperf, bencher",
		.how = "emp-setup apply --isolate N, or --cpu N --only irq.default,irq.each",
		.decide = check_cpus_new_interrupts,
		.setting = {.pattern = "/proc/irq/default_smp_affinity", .want_of = check_cpus_interrupt_want,
			.order = REST, .restore_order = REST, .on_request = true, .isolates = true}},
	{"irq.each", 'B', "CPUs", "not on the core that programs are timed on",
		"an interrupt stops the program, and its time may count as the program's",
		"pyperf, bencher", .how = "emp-setup apply --isolate N, or --cpu N --only irq.default,irq.each",
		.decide = check_cpus_interrupts,
		.setting = {.pattern = "/proc/irq/[0-9]*/smp_affinity_list", .want_of = check_cpus_interrupt_want,
			.write = interrupt_write_list, .order = REST, .restore_order = REST, .on_request = true,
			.isolates = true}},
	{"core.type", 'B', "CPUs", "cores of one type, or a CPU that is chosen",
		NULL,
		"EMP", .how = "choose a CPU: emp-setup audit --cpu N, emp-measure --cpu N",
		.decide = check_cpus_type},
	{"smt", 'B', "CPUs", "off, or the measured CPU's siblings idle",
		NULL,
		"LLVM, temci, BenchExec, bencher", .how = "emp-setup apply --isolate N (keeps them idle), or --only smt",
		.decide = check_cpus_smt,
		.setting = {.pattern = CPU "smt/control", .want = "off", .order = FIRST, .restore_order = FIRST,
			/* control groups may not get their CPUs back by themselves */
			.keeps = of_smt, .on_request = true}},
	{"nmi", 'B', "kernel", "0", NULL,
		"tuned, bencher, mmtests", .setting = AT_LAST("/proc/sys/kernel/nmi_watchdog", "0")},
	{"trace", 'B', "kernel", "nop", "a tracer writes a record at every event of the kernel", "EMP",
		.how = "echo nop >/sys/kernel/tracing/current_tracer", .undo = "write back the value found",
		.decide = check_kernel_tracer},
	{"perf.events", 'B', "kernel", "no process that counts or samples on all CPUs",
		"counters are read at every switch of tasks, and samples interrupt programs", "EMP",
		.how = "end these processes", .undo = "start them again", .decide = check_kernel_perf},
	{"debug", 'B', "kernel", "none", "the kernel checks each lock, allocation or access to memory",
		"EMP", .how = "boot a kernel that is not for debugging, or with init_on_alloc=0 init_on_free=0",
		.undo = "boot the old kernel", .decide = check_kernel_debugging},
	{"left", 'B', "kernel", "nothing", "traces, frozen programs and loads that outlive a killed EMP disturb others",
		"EMP", .how = "emp-setup restore", .decide = check_kernel_leftovers},
	{"bpf", 'B', "kernel", "none but EMP's", "a BPF program runs at each event that it is attached to", "EMP",
		.how = "stop what has loaded them: bpftool prog", .undo = "start it again",
		.decide = check_kernel_programs},
	{"audit", 'B', "kernel", "no rules", "with rules, the kernel keeps a record of every system call",
		"EMP", .how = "auditctl -D", .undo = "augenrules --load", .decide = check_kernel_audit},
	{"numa.bal", 'B', "memory", "0", NULL,
		"tuned, bencher", .setting = AT_LAST("/proc/sys/kernel/numa_balancing", "0")},
	{"ksm", 'B', "memory", "0 or 2: it does not run", NULL,
		"bencher, tuned",
		.setting = {.pattern = "/sys/kernel/mm/ksm/run", .want_of = check_memory_ksm_want, .order = REST,
			.restore_order = REST}},
	{"swap", 'B', "memory", "none in use", "reading a page back from disk takes milliseconds",
		"BenchExec", .how = "add memory, or stop what uses it (emp-setup does not switch swap off)",
		.decide = check_system_swap},
	{"isolated", 'C', "CPUs", "the CPU that programs are timed on",
		NULL, "tuned, pyperf, bencher (krun advises against it)",
		.how = "emp-setup apply --isolate N, or boot with isolcpus=N", .undo = "emp-setup restore",
		.decide = check_cpus_isolated},
	{"nohz_full", 'C', "CPUs", "the CPU that programs are timed on",
		NULL, "krun, tuned, pyperf",
		.how = "boot with nohz_full=N", .undo = "boot without it", .decide = check_cpus_nohz},
	{"rcu_nocbs", 'C', "CPUs", "the CPU that programs are timed on", NULL, "tuned, pyperf",
		.how = "boot with rcu_nocbs=N", .undo = "boot without it", .decide = check_cpus_callbacks},
	{"workqueue", 'C', "CPUs", "not the core that programs are timed on", NULL, "tuned, bencher",
		.how = "emp-setup apply --cpu N --only workqueue", .decide = check_cpus_workqueues,
		.setting = {.pattern = "/sys/devices/virtual/workqueue/cpumask", .want_of = check_cpus_interrupt_want,
			.order = REST, .restore_order = REST, .on_request = true}},
	{"sched", 'C', "kernel", "recorded only",
		NULL, "tuned", .how = "nothing to do",
		.decide = check_kernel_scheduler},
	{"perf.pct", 'C', "kernel", "1", "limits the CPU time of a forgotten profiler; without one, it has no effect", "ReBench",
		.setting = {.pattern = "/proc/sys/kernel/perf_cpu_time_max_percent", .want = "1", .order = PERF,
			/* while it is 0 or 100 the rate cannot be written */
			.restore_order = REST, .on_request = true,
			.costs = "perf record and perf top of others get few samples, or none"}},
	{"perf.rate", 'C', "kernel", "1", "limits the sampling rate of a forgotten profiler; without one, it has no effect",
		"pyperf, krun, ReBench",
		.setting = {.pattern = "/proc/sys/kernel/perf_event_max_sample_rate", .want = "1", .order = REST,
			.restore_order = PERF, .on_request = true,
			.costs = "perf record and perf top of others get one sample a second, or fail"}},
	{"timer.mig", 'C', "kernel", "0", NULL, "tuned, bencher",
		.setting = ON_REQUEST(SETTING_PLAIN, "/proc/sys/kernel/timer_migration", "0")},
	{"hung", 'C', "kernel", "at least 600 s, or 0 (off)",
		NULL, "tuned",
		.setting = {.pattern = "/proc/sys/kernel/hung_task_timeout_secs", .want_of = check_kernel_hung_want,
			.order = REST, .restore_order = REST, .on_request = true}},
	{"thp", 'C', "memory", "never",
		NULL,
		"bencher; tuned's network-latency (its hpc profile wants always)",
		.setting = ON_REQUEST(SETTING_BRACKETED, "/sys/kernel/mm/transparent_hugepage/enabled", "never")},
	{"mthp", 'C', "memory", "never, or as thp", NULL, "EMP",
		.setting = {.pattern = "/sys/kernel/mm/transparent_hugepage/hugepages-*/enabled", .kind = SETTING_BRACKETED,
			.want_of = check_memory_mthp_want, .order = REST, .restore_order = REST, .on_request = true}},
	{"zswap", 'C', "memory", "N", NULL, "EMP",
		.setting = ON_REQUEST(SETTING_PLAIN, "/sys/module/zswap/parameters/enabled", "N")},
	{"vmstat", 'C', "memory", "at least 10 s",
		NULL, "tuned, pyperf",
		.setting = {.pattern = "/proc/sys/vm/stat_interval", .want_of = check_memory_vmstat_want,
			.order = REST, .restore_order = REST, .on_request = true}},
	{"aspm", 'C', "idle", "performance",
		NULL, "pepc",
		.setting = ON_REQUEST(SETTING_BRACKETED, "/sys/module/pcie_aspm/parameters/policy", "performance")},
	{},
};
// clang-format on

const size_t n_check_rows = sizeof(check_rows) / sizeof(check_rows[0]) - 1;

const struct check *check_rows_find(const char *id)
{
	for (const struct check *c = check_rows; c->id; c++)
		if (!strcmp(c->id, id))
			return c;
	return NULL;
}

const char *check_why(const struct check *check)
{
	return check->why ?: difference_why(check->id);
}

const struct setting_files *check_files(const struct check *check, const struct facts *f)
{
	static const struct setting_files none;

	return f->files ? &f->files[check - check_rows] : &none;
}
