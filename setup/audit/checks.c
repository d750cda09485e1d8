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
#define ON_REQUEST(what, path, value) { \
	.pattern = path, .kind = what, .want = value, \
	.order = REST, .restore_order = REST, .on_request = true}
/* Switches of the processor or the firmware. */
#define SWITCH(path, value, back) { \
	.pattern = path, .want = value, \
	.order = PREFERENCE, .restore_order = back, .hardware = true}

/* In the order of the protocol. First in each row: its id, its level, and the step of the protocol
 * that it belongs to. */
const struct check check_rows[] = {
	{"svc.units", 'A', "EMPv1 daemons",
		.wanted = "no running service of the policy's list",
		.why = "a daemon that wakes up during a sample takes the CPU and its caches",
		.who = "EMP, LLVM, krun, tuned",
		.decide = check_daemons_services,
		.applied = true},
	{"svc.timers", 'A', "EMPv1 daemons",
		.wanted = "no active timer of the policy's list",
		.why = "a timer starts its service in the middle of a long run",
		.who = "EMP, krun",
		.decide = check_daemons_timers,
		.applied = true},
	{"ntp.on", 'A', "EMPv2 time",
		.wanted = "one time daemon, synchronised",
		.why = "an undisciplined clock drifts by seconds a day, and jumps when somebody "
			"sets it",
		.who = "EMP, BenchExec (krun advises the opposite)",
		.how = "install chrony or another time daemon and give it a server",
		.decide = check_ntp,
		.applied = true},
	{"freq.driver", 'A', "EMPv3 frequency",
		.wanted = "recorded only",
		.who = "pyperf, krun, tuned",
		.how = "nothing to do",
		.of_policies = true,
		.decide = check_frequency_driver},
	{"freq.governor", 'A', "EMPv3 frequency",
		.wanted = "performance on all CPUs",
		.who = "pyperf, ReBench, krun, temci, tuned, LLVM",
		.of_policies = true,
		.decide = check_frequency_governor,
		.setting = {
			.pattern = CPU "cpufreq/policy[0-9]*/scaling_governor",
			.want = "performance",
			/* the governor forces it to performance; not all kernels restore it */
			.coupled_check = "epp",
			.keeps = of_governor,
			.write = cpufreq_write_governor,
			.order = GOVERNOR,
			.restore_order = GOVERNOR,
		}},
	{"freq.min", 'A', "EMPv3 frequency",
		.wanted = "at least the base frequency",
		.who = "pyperf (which uses the turbo maximum)",
		.of_policies = true,
		.decide = check_frequency_min,
		.setting = {
			.pattern = CPU "cpufreq/policy[0-9]*",
			.kind = SETTING_LIMITS,
			.want_of = check_frequency_limits,
			.write = cpufreq_write_limits,
			.order = LIMITS,
			.restore_order = LIMITS,
		}},
	{"turbo.intel", 'A', "EMPv3 turbo",
		.wanted = "no_turbo = 1",
		.who = "EMP, pyperf, ReBench, temci, LLVM, BenchExec",
		.number = {
			offsetof(struct facts, frequency.no_turbo),
			{
				{CHECK_BY_HOST, "this machine does not use intel_pstate"},
				{CHECK_OFF, "no_turbo = 0: turbo is on"},
				{CHECK_OK, "no_turbo = 1"},
			},
		},
		.setting = {
			.pattern = CPU "intel_pstate/no_turbo",
			.want = "1",
			.order = PREFERENCE,
			.restore_order = TURBO,
			.hardware = true,
			.keeps = of_turbo,
			/* the kernel lowers min_perf_pct with it */
			.coupled_check = "pstate.pct",
		}},
	{"turbo.boost", 'A', "EMPv3 turbo",
		.wanted = "boost = 0",
		.who = "EMP, temci, BenchExec",
		.number = {
			offsetof(struct facts, frequency.boost),
			{
				{CHECK_BY_HOST, "this machine has no global turbo switch"},
				{CHECK_OK, "boost = 0"},
				{CHECK_OFF, "boost = 1: turbo is on"},
			},
		},
		.setting = {
			.pattern = CPU "cpufreq/boost",
			.want = "0",
			.hardware = true,
			.keeps = of_turbo,
			/* the kernel writes it into every policy */
			.coupled_check = "turbo.policy",
			.order = PREFERENCE,
			.restore_order = TURBO,
		}},
	{"turbo.policy", 'A', "EMPv3 turbo",
		.wanted = "boost = 0 in every policy",
		.who = "EMP (tuned's latency-performance switches it on)",
		.how = "switch turbo off in the firmware setup",
		.decide = check_frequency_turbo_policy,
		.setting = {
			.pattern = CPU "cpufreq/policy[0-9]*/boost",
			.want = "0",
			.hardware = true,
			.keeps = of_turbo,
			.order = PREFERENCE,
			.restore_order = TURBO_POLICY,
		}},
	{"pstate.pct", 'A', "EMPv3 frequency",
		.wanted = "max_perf_pct = 100",
		.who = "tuned",
		.decide = check_frequency_percent,
		.setting = {
			.pattern = CPU "intel_pstate/m[ai][xn]_perf_pct",
			.want = "100",
			.hardware = true,
			.keeps = of_turbo,
			.order = PREFERENCE,
			.restore_order = LIMITS,
		}},
	{"speedstep", 'A', "EMPv3 SpeedStep",
		.wanted = "off in firmware, or a fixed frequency",
		.why = "with a varying clock frequency, equal work takes different times",
		.who = "EMP",
		.how = "switch it off in the firmware setup, or apply freq.governor, freq.min, "
			"turbo.*, pstate.pct",
		.undo = "the firmware setup, or emp-setup restore",
		.decide = check_frequency_speedstep},
	{"kernel.version", 'A', "EMPv4 kernel",
		.wanted = "the newest of this system",
		.why = "in the paper, one kernel fix reduced the spread of times from 8.7 ms to "
			"1.8 ms",
		.who = "EMP",
		.how = "install the newest kernel and reboot",
		.undo = "boot the old kernel from the boot menu",
		.decide = check_kernel_version},
	{"kernel.pending", 'A', "EMPv4 kernel",
		.wanted = "no reboot pending",
		.why = "after the next reboot, times are no longer comparable",
		.who = "EMP",
		.how = "reboot",
		.decide = check_kernel_pending},
	{"cgroup.quota", 'A', "CPUs",
		.wanted = "no quota where programs are started",
		.why = "a quota stops a program for a part of every period",
		.who = "BenchExec",
		.how = "run outside of it, or: systemctl set-property --runtime UNIT CPUQuota=",
		.decide = check_cpus_quota},
	{"delayacct", 'B', "accounting",
		.wanted = "0 or 1: CPU times do not need it",
		.who = "EMP",
		.how = "sysctl kernel.task_delayacct=1, if waiting times are wanted",
		.undo = "sysctl kernel.task_delayacct=0",
		.number = {
			offsetof(struct facts, delayacct),
			{
				{CHECK_ABSENT, "this kernel has no kernel.task_delayacct"},
				{CHECK_OK, "0"},
				{CHECK_OK, "1"},
			},
		}},
	{"irqtime", 'B', "accounting",
		.wanted = "yes: interrupts do not count as process time",
		.why = "without CONFIG_IRQ_TIME_ACCOUNTING, process times contain the interrupts "
			"that came meanwhile",
		.who = "EMP",
		.how = "boot a kernel that has it; or keep interrupts away from the CPU: "
			"irq.default, irq.each",
		.undo = "boot the old kernel",
		.number = {
			offsetof(struct facts, irq_time),
			{
				{CHECK_UNKNOWN, "the configuration of this kernel is not known"},
				{CHECK_OFF, "no: process time includes interrupts"},
				{CHECK_OK, "yes: interrupts do not count as process time"},
			},
		}},
	{"svc.unknown", 'B', "daemons",
		.wanted = "no running service that the policy does not list",
		.why = "its CPU time, or a calibration, shows whether a daemon disturbs",
		.who = "EMP",
		.how = "list them in [stop] or [never] of a policy in /etc/emp/policies",
		.undo = "remove them from the policy",
		.decide = check_daemons_unknown},
	{"svc.due", 'B', "daemons",
		.wanted = "no other timer or job of cron due soon (--within), no desktop session",
		.why = "a timer starts its service in the middle of a long run, as cron does; a "
			"desktop works all the time",
		.who = "EMP",
		.how = "list timers in [stop] of a policy; systemctl stop cron; systemctl --user "
			"stop, as the user; log out",
		.undo = "systemctl start, systemctl --user start",
		.decide = check_daemons_due},
	{"svc.inhibitors", 'B', "daemons",
		.wanted = "nobody holds off a shutdown because work is going on",
		.why = "an update of firmware, a backup or a burning disc takes CPU and memory "
			"bandwidth",
		.who = "EMP",
		.how = "wait until it is done: systemd-inhibit --list",
		.decide = check_daemons_inhibitors},
	{"svc.packagers", 'B', "daemons",
		.wanted = "no package manager running, no shutdown scheduled",
		.why = "an installation replaces and restarts programs",
		.who = "VirtualClient",
		.how = "wait until it is done; 'shutdown -c' cancels a scheduled shutdown",
		.decide = check_system_packagers},
	{"load", 'B', "daemons",
		.wanted = "below 0.1 per CPU in the last minute",
		.why = "other programs take CPU, caches and memory bandwidth",
		.who = "pyperf, google/benchmark, BenchExec",
		.how = "see what runs: top",
		.decide = check_system_load},
	{"clocksource", 'B', "time",
		.wanted = "tsc, if the processor has a constant one; read without a system call",
		.who = "tuned",
		.how = "the kernel's log says why it does not trust the TSC: dmesg | grep -i tsc; "
			"'emp-calibrate clocks' measures all clocks",
		.decide = check_system_clocksource},
	{"freq.max", 'B', "frequency",
		.wanted = "the base frequency",
		.who = "nanobench",
		.how = "emp-setup apply --only freq.min (it sets both limits)",
		.undo = "emp-setup restore",
		.of_policies = true,
		.decide = check_frequency_max},
	{"epp", 'B', "frequency",
		.wanted = "performance",
		.who = "tuned, Phoronix",
		.setting = SWITCH(CPU "cpufreq/policy[0-9]*/energy_performance_preference",
			"performance", PREFERENCE)},
	{"uncore", 'C', "frequency",
		.wanted = "equal limits",
		.who = "pepc, tuned",
		.decide = check_power_uncore,
		.setting = {
			.pattern = CPU "intel_uncore_frequency/*/min_freq_khz",
			.want_of = check_power_uncore_want,
			.order = PREFERENCE,
			.restore_order = PREFERENCE,
			.on_request = true,
			.hardware = true,
		}},
	{"nohz.pstate", 'B', "frequency",
		.wanted = "no CPU without a tick whose clock follows the tick",
		.why = "intel_pstate chooses the clock at the tick: without one, it stays where "
			"it happens to be",
		.who = "pyperf",
		.how = "emp-setup apply --only freq.governor, or boot without nohz_full or with "
			"intel_pstate=disable",
		.undo = "emp-setup restore",
		.of_policies = true,
		.decide = check_cpus_tickless_clock},
	{"epb", 'B', "frequency",
		.wanted = "0 (performance)",
		.who = "tuned",
		.setting = SWITCH(CPU "cpu[0-9]*/power/energy_perf_bias", "0", PREFERENCE)},
	{"pstate.boost", 'B', "frequency",
		.wanted = "0",
		.why = "otherwise the driver raises the clock for a while after disk I/O",
		.who = "tuned",
		.setting = SWITCH(CPU "intel_pstate/hwp_dynamic_boost", "0", TURBO)},
	{"platform", 'B', "frequency",
		.wanted = "performance, or the next best that the firmware has",
		.who = "tuned, Phoronix",
		.setting = {
			.pattern = "/sys/firmware/acpi/platform_profile",
			.hardware = true,
			.want_of = check_power_profile_want,
			.order = PREFERENCE,
			.restore_order = PREFERENCE,
		}},
	{"power", 'B', "frequency",
		.wanted = "plugged in",
		.why = "on battery the firmware lowers the clock frequency",
		.who = "pyperf",
		.how = "plug the machine in",
		.decide = check_power_supply},
	{"power.limit", 'B', "frequency",
		.wanted = "not below what the processor is made for",
		.who = "EMP",
		.how = "raise it in the firmware setup, or in /sys/class/powercap",
		.undo = "set it back",
		.decide = check_power_limits},
	{"cooling", 'B', "frequency",
		.wanted = "no device that slows the processor down is active",
		.why = "a processor that is too hot is slowed down or made to idle",
		.who = "krun",
		.how = "improve the cooling, or wait until it is cool",
		.decide = check_power_cooling},
	{"throttling", 'B', "frequency",
		.wanted = "none since the machine was started",
		.why = "a processor that is too hot lowers its clock",
		.who = "BenchExec, krun",
		.how = "improve the cooling; runs list it among the disturbances",
		.decide = check_power_throttling},
	{"cstate.qos", 'B', "idle",
		.wanted = "no deep idle state during a run",
		.why = "a CPU takes up to some 100 us to wake up from a deep idle state. Where "
			"threads share a core, --for lets CPUs halt in C1 instead of polling, "
			"which slows the other thread; EMP does not measure by how much",
		.who = "rtla, tuned, bencher",
		.how = "emp-setup apply --for -- COMMAND (while COMMAND runs)",
		.undo = "ends with COMMAND",
		.decide = check_cpus_latency},
	{"steal", 'B', "CPUs",
		.wanted = "at most 1 % of the CPUs' time",
		.why = "the host gives the CPU to other machines while a program waits; runs "
			"count it too",
		.who = "bencher",
		.how = "ask the host's owner for CPUs of your own, or measure at another time",
		.decide = check_system_steal},
	{"affinity", 'B', "CPUs",
		.wanted = "all CPUs that are online and not isolated, or the one that is chosen",
		.why = "programs inherit it from this shell, and share these CPUs with others",
		.who = "pyperf, BenchExec",
		.how = "taskset -cp 0-N $$ in this shell; of a group: systemctl set-property "
			"--runtime UNIT AllowedCPUs=",
		.undo = "leave the shell",
		.decide = check_session_affinity},
	{"priority", 'B', "CPUs",
		.wanted = "SCHED_OTHER, nice 0 or below",
		.why = "programs inherit it from this shell: others go first, or the kernel stops "
			"a real-time one for 5 % of each second",
		.who = "krun, ReBench",
		.how = "renice -n 0 -p $$ and chrt --other -p 0 $$, as root, or a new shell",
		.undo = "leave the shell",
		.decide = check_session_priority},
	{"cgroup.memory", 'B', "memory",
		.wanted = "no limit where programs are started",
		.why = "near its limit a program is stopped while the kernel frees memory",
		.who = "EMP",
		.how = "run outside of it, or: systemctl set-property --runtime UNIT "
			"MemoryHigh=infinity MemoryMax=infinity",
		.undo = "systemctl set-property with the limit found",
		.decide = check_session_memory},
	{"numa.place", 'B', "memory",
		.wanted = "a CPU that is chosen, and memory of its node",
		.why = "memory of another node takes longer to reach; without a chosen CPU, each "
			"run may start on another node",
		.who = "BenchExec",
		.how = "choose a CPU: emp-setup audit --cpu N, emp-measure --cpu N; numactl "
			"--localalloc",
		.decide = check_session_numa},
	{"cgroup.weight", 'B', "CPUs",
		.wanted = "not below the usual",
		.why = "other groups get more time where they compete",
		.who = "EMP",
		.how = "run outside of it, or: systemctl set-property --runtime UNIT CPUWeight=100",
		.decide = check_cpus_weight},
	{"irq.balance", 'B', "CPUs",
		.wanted = "none runs",
		.why = "it moves interrupts between CPUs during a run",
		.who = "pyperf, bencher",
		.how = "systemctl stop irqbalance",
		.undo = "systemctl start irqbalance",
		.decide = check_cpus_balancer},
	{"irq.default", 'B', "CPUs",
		.wanted = "not the core that programs are timed on",
		.who = "pyperf, bencher",
		.how = "emp-setup apply --isolate N, or --cpu N --only irq.default,irq.each",
		.decide = check_cpus_new_interrupts,
		.setting = {
			.pattern = "/proc/irq/default_smp_affinity",
			.want_of = check_cpus_interrupt_want,
			.order = REST,
			.restore_order = REST,
			.on_request = true,
			.isolates = true,
		}},
	{"irq.each", 'B', "CPUs",
		.wanted = "not on the core that programs are timed on",
		.why = "an interrupt stops the program, and its time may count as the program's",
		.who = "pyperf, bencher",
		.how = "emp-setup apply --isolate N, or --cpu N --only irq.default,irq.each",
		.decide = check_cpus_interrupts,
		.setting = {
			.pattern = "/proc/irq/[0-9]*/smp_affinity_list",
			.want_of = check_cpus_interrupt_want,
			.write = interrupt_write_list,
			.order = REST,
			.restore_order = REST,
			.on_request = true,
			.isolates = true,
		}},
	{"core.type", 'B', "CPUs",
		.wanted = "cores of one type, or a CPU that is chosen",
		.who = "EMP",
		.how = "choose a CPU: emp-setup audit --cpu N, emp-measure --cpu N",
		.decide = check_cpus_type},
	{"smt", 'B', "CPUs",
		.wanted = "off, or the measured CPU's siblings idle",
		.who = "LLVM, temci, BenchExec, bencher",
		.how = "emp-setup apply --isolate N (keeps them idle), or --only smt",
		.decide = check_cpus_smt,
		.setting = {
			.pattern = CPU "smt/control",
			.want = "off",
			.order = FIRST,
			.restore_order = FIRST,
			/* control groups may not get their CPUs back by themselves */
			.keeps = of_smt,
			.on_request = true,
		}},
	{"nmi", 'B', "kernel",
		.wanted = "0",
		.who = "tuned, bencher, mmtests",
		.setting = AT_LAST("/proc/sys/kernel/nmi_watchdog", "0")},
	{"trace", 'B', "kernel",
		.wanted = "nop",
		.why = "a tracer writes a record at every event of the kernel",
		.who = "EMP",
		.how = "echo nop >/sys/kernel/tracing/current_tracer",
		.undo = "write back the value found",
		.decide = check_kernel_tracer},
	{"perf.events", 'B', "kernel",
		.wanted = "no process that counts or samples on all CPUs",
		.why = "counters are read at every switch of tasks, and samples interrupt programs",
		.who = "EMP",
		.how = "end these processes",
		.undo = "start them again",
		.decide = check_kernel_perf},
	{"debug", 'B', "kernel",
		.wanted = "none",
		.why = "the kernel checks each lock, allocation or access to memory",
		.who = "EMP",
		.how = "boot a kernel that is not for debugging, or with init_on_alloc=0 "
			"init_on_free=0",
		.undo = "boot the old kernel",
		.decide = check_kernel_debugging},
	{"left", 'B', "kernel",
		.wanted = "nothing",
		.why = "traces, frozen programs and loads that outlive a killed EMP disturb others",
		.who = "EMP",
		.how = "emp-setup restore",
		.decide = check_kernel_leftovers},
	{"bpf", 'B', "kernel",
		.wanted = "none but EMP's",
		.why = "a BPF program runs at each event that it is attached to",
		.who = "EMP",
		.how = "stop what has loaded them: bpftool prog",
		.undo = "start it again",
		.decide = check_kernel_programs},
	{"audit", 'B', "kernel",
		.wanted = "no rules",
		.why = "with rules, the kernel keeps a record of every system call",
		.who = "EMP",
		.how = "auditctl -D",
		.undo = "augenrules --load",
		.decide = check_kernel_audit},
	{"numa.bal", 'B', "memory",
		.wanted = "0",
		.who = "tuned, bencher",
		.setting = AT_LAST("/proc/sys/kernel/numa_balancing", "0")},
	{"ksm", 'B', "memory",
		.wanted = "0 or 2: it does not run",
		.who = "bencher, tuned",
		.setting = {
			.pattern = "/sys/kernel/mm/ksm/run",
			.want_of = check_memory_ksm_want,
			.order = REST,
			.restore_order = REST,
		}},
	{"swap", 'B', "memory",
		.wanted = "none in use",
		.why = "reading a page back from disk takes milliseconds",
		.who = "BenchExec",
		.how = "add memory, or stop what uses it (emp-setup does not switch swap off)",
		.decide = check_system_swap},
	{"isolated", 'C', "CPUs",
		.wanted = "the CPU that programs are timed on",
		.who = "tuned, pyperf, bencher (krun advises against it)",
		.how = "emp-setup apply --isolate N, or boot with isolcpus=N",
		.undo = "emp-setup restore",
		.decide = check_cpus_isolated},
	{"nohz_full", 'C', "CPUs",
		.wanted = "the CPU that programs are timed on",
		.who = "krun, tuned, pyperf",
		.how = "boot with nohz_full=N",
		.undo = "boot without it",
		.decide = check_cpus_nohz},
	{"rcu_nocbs", 'C', "CPUs",
		.wanted = "the CPU that programs are timed on",
		.who = "tuned, pyperf",
		.how = "boot with rcu_nocbs=N",
		.undo = "boot without it",
		.decide = check_cpus_callbacks},
	{"workqueue", 'C', "CPUs",
		.wanted = "not the core that programs are timed on",
		.who = "tuned, bencher",
		.how = "emp-setup apply --cpu N --only workqueue",
		.decide = check_cpus_workqueues,
		.setting = {
			.pattern = "/sys/devices/virtual/workqueue/cpumask",
			.want_of = check_cpus_interrupt_want,
			.order = REST,
			.restore_order = REST,
			.on_request = true,
		}},
	{"sched", 'C', "kernel",
		.wanted = "recorded only",
		.who = "tuned",
		.how = "nothing to do",
		.decide = check_kernel_scheduler},
	{"perf.pct", 'C', "kernel",
		.wanted = "1",
		.why = "limits the CPU time of a forgotten profiler; without one, it has no effect",
		.who = "ReBench",
		.setting = {
			.pattern = "/proc/sys/kernel/perf_cpu_time_max_percent",
			.want = "1",
			.order = PERF,
			/* while it is 0 or 100 the rate cannot be written */
			.restore_order = REST,
			.on_request = true,
			.costs = "perf record and perf top of others get few samples, or none",
		}},
	{"perf.rate", 'C', "kernel",
		.wanted = "1",
		.why = "limits the sampling rate of a forgotten profiler; without one, it has no "
			"effect",
		.who = "pyperf, krun, ReBench",
		.setting = {
			.pattern = "/proc/sys/kernel/perf_event_max_sample_rate",
			.want = "1",
			.order = REST,
			.restore_order = PERF,
			.on_request = true,
			.costs = "perf record and perf top of others get one sample a second, or "
				"fail",
		}},
	{"timer.mig", 'C', "kernel",
		.wanted = "0",
		.who = "tuned, bencher",
		.setting = ON_REQUEST(SETTING_PLAIN, "/proc/sys/kernel/timer_migration", "0")},
	{"hung", 'C', "kernel",
		.wanted = "at least 600 s, or 0 (off)",
		.who = "tuned",
		.setting = {
			.pattern = "/proc/sys/kernel/hung_task_timeout_secs",
			.want_of = check_kernel_hung_want,
			.order = REST,
			.restore_order = REST,
			.on_request = true,
		}},
	{"thp", 'C', "memory",
		.wanted = "never",
		.who = "bencher; tuned's network-latency (its hpc profile wants always)",
		.setting = ON_REQUEST(SETTING_BRACKETED,
			"/sys/kernel/mm/transparent_hugepage/enabled", "never")},
	{"mthp", 'C', "memory",
		.wanted = "never, or as thp",
		.who = "EMP",
		.setting = {
			.pattern = "/sys/kernel/mm/transparent_hugepage/hugepages-*/enabled",
			.kind = SETTING_BRACKETED,
			.want_of = check_memory_mthp_want,
			.order = REST,
			.restore_order = REST,
			.on_request = true,
		}},
	{"zswap", 'C', "memory",
		.wanted = "N",
		.who = "EMP",
		.setting = ON_REQUEST(SETTING_PLAIN, "/sys/module/zswap/parameters/enabled", "N")},
	{"vmstat", 'C', "memory",
		.wanted = "at least 10 s",
		.who = "tuned, pyperf",
		.setting = {
			.pattern = "/proc/sys/vm/stat_interval",
			.want_of = check_memory_vmstat_want,
			.order = REST,
			.restore_order = REST,
			.on_request = true,
		}},
	{"aspm", 'C', "idle",
		.wanted = "performance",
		.who = "pepc",
		.setting = ON_REQUEST(SETTING_BRACKETED, "/sys/module/pcie_aspm/parameters/policy",
			"performance")},
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
