/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What shares the measured CPU, and what the kernel does by itself, read from made-up machines. */
#include "tests/unit/audited_machine.h"

TEST_OF_MACHINE(interrupts_belong_on_other_cores)
{
	tree_put(CPU "online", "0-3\n");
	tree_put(CPU "isolated", "\n");
	tree_put(CPU "cpu3/topology/thread_siblings_list", "2-3\n");
	tree_put("proc/irq/default_smp_affinity", "f\n");
	tree_put("proc/irq/7/smp_affinity_list", "0-3\n");
	tree_put("proc/irq/24/smp_affinity_list", "2\n");
	tree_put("proc/irq/25/smp_affinity_list", "0-1\n");
	assert_found("irq.each", CHECK_ABSENT, "no CPU is set apart for timing; --cpu names one");
	timing_cpu = 3;
	assert_found("irq.default", CHECK_OFF, "mask f");
	assert_found("irq.each", CHECK_OFF, "2 of 3 may be handled on CPU 3");
	assert_want("irq.each", 0, "0-1");
	assert_want("irq.each", 1, "0-1"); /* nothing would remain */
	assert_want("irq.default", 0, "3");
	tree_put("proc/irq/default_smp_affinity", "8\n");
	gather();
	assert_want("irq.default", 0, "3"); /* nothing would remain */
	tree_put("proc/irq/default_smp_affinity", "3\n");
	tree_put("proc/irq/7/smp_affinity_list", "0-1\n");
	tree_put("proc/irq/24/smp_affinity_list", "1\n");
	assert_found("irq.default", CHECK_OK, "mask 3");
	assert_found("irq.each", CHECK_OK, "none of 3 on CPU 3");
}

TEST_OF_MACHINE(an_isolated_core_is_as_good_as_smt_off)
{
	tree_put(CPU "online", "0-3\n");
	tree_put(CPU "isolated", "\n");
	tree_put(CPU "smt/control", "on\n");
	tree_put(CPU "cpu3/topology/thread_siblings_list", "1,3\n");
	timing_cpu = 3;
	assert_found("smt", CHECK_OFF, "on: each core runs two threads or more");
	assert_found("isolated", CHECK_OFF, "none");
	tree_put(CPU "isolated", "1,3\n");
	assert_found("smt", CHECK_OK, "on; CPU 3 has its core for itself");
	assert_found("isolated", CHECK_OK, "CPU 3 is isolated (isolated: 1,3)");
	timing_cpu = -1; /* an isolated CPU is meant for timing */
	gather();
	assert_int_equal(facts.cpu, 1);
	tree_put(CPU "isolated", "3\n");
	timing_cpu = 3;
	assert_found("smt", CHECK_OFF, "on: each core runs two threads or more");
	tree_put(CPU "online", "0,2-3\n"); /* the other thread is off */
	assert_found("smt", CHECK_OK, "on; CPU 3 has its core for itself");
	tree_put(CPU "nohz_full", "(null)\n");
	assert_found("nohz_full", CHECK_OFF, "none");
	tree_put(CPU "nohz_full", "2-3\n");
	assert_found("nohz_full", CHECK_OK, "CPU 3 has no tick while one task runs on it");
}

/* The number of threads is that of PowerPC; a kernel without the switch still says whether cores
 * share. */
TEST_OF_MACHINE(smt_is_off_only_where_no_core_runs_two_threads)
{
	tree_put(CPU "smt/control", "2\n");
	assert_found("smt", CHECK_OFF, "on: each core runs two threads or more");
	tree_put(CPU "smt/control", "notimplemented\n");
	tree_put(CPU "smt/active", "1\n");
	assert_found("smt", CHECK_OFF, "on: each core runs two threads or more");
	tree_put(CPU "smt/active", "0\n");
	assert_found("smt", CHECK_OK, "no core runs two threads");
	tree_put(CPU "smt/control", "notsupported\n");
	assert_found("smt", CHECK_OK, "not supported");
}

TEST_OF_MACHINE(a_neighbour_is_the_hosts_affair_or_that_of_a_thread_that_is_seen)
{
	struct cpu_neighbour n[] = {{0, 0.002, -1, NAN}, {1, 0.452, -1, NAN}, {2, NAN, -1, NAN}};
	struct facts f = {.root_fd = tree.fd, .machine.virtual = true};

	assert_found_in(&f, "neighbour", CHECK_ABSENT, "only the running machine shows it");
	f.root_fd = AT_FDCWD;

	assert_found_in(&f, "neighbour", CHECK_BY_HOST,
		"the host decides who shares its cores; -v looks");
	f.machine.virtual = false;
	assert_found_in(&f, "neighbour", CHECK_ABSENT, "not looked for; -v looks");

	f.neighbours = n;
	f.n_neighbours = 3;
	assert_found_in(&f, "neighbour", CHECK_UNKNOWN,
		"45 % of the last second on CPU 1, the most of 3, or something like it: this "
		"machine sees no other thread of the core");
	f.machine.virtual = true;
	assert_found_in(&f, "neighbour", CHECK_BY_HOST,
		"45 % of the last second on CPU 1, the most of 3; the host shares this core");
	n[1].share = 0.001;
	assert_found_in(&f, "neighbour", CHECK_BY_HOST, "none in the last second on 3 CPUs");

	/* one CPU, and a thread that this machine sees */
	f.machine.virtual = false;
	f.n_neighbours = 1;
	n[0] = (struct cpu_neighbour){1, 0.3, 5, 0.4};
	assert_found_in(&f, "neighbour", CHECK_OFF,
		"30 % of the last second on CPU 1; CPU 5 of the same core was busy for 40 %");
	n[0].share = 0;
	n[0].busy = 0;
	assert_found_in(&f, "neighbour", CHECK_OK,
		"none in the last second on CPU 1; CPU 5 of the same core was busy for 0 %");

	/* a cpuset kept the audit from the CPU */
	n[0] = (struct cpu_neighbour){1, NAN, 5, 0.4};
	assert_found_in(&f, "neighbour", CHECK_UNKNOWN, "cannot be seen on CPU 1");
}

TEST_OF_MACHINE(cores_that_run_two_threads_are_counted)
{
	static const char *const siblings[] = {"0-1", "0-1", "2", "3"};

	tree_put(CPU "online", "0-3\n");
	tree_put(CPU "smt/control", "on\n");
	for (int cpu = 0; cpu < 4; cpu++)
		tree_put(text_brief(CPU "cpu%d/topology/thread_siblings_list", cpu), siblings[cpu]);
	assert_found("smt", CHECK_OFF, "on: 1 of 3 cores run 2 threads");
	tree_put(CPU "online", "0-1\n");
	assert_found("smt", CHECK_OFF, "on: each core runs 2 threads");
	timing_cpu = 2; /* an E-core */
	tree_put(CPU "online", "0-3\n");
	assert_found("smt", CHECK_OK, "on; CPU 2 has its core for itself");
}

TEST_OF_MACHINE(interrupts_on_the_only_core_are_not_as_wanted)
{
	tree_put(CPU "online", "0\n");
	tree_put("proc/irq/default_smp_affinity", "1\n");
	tree_put("proc/irq/7/smp_affinity_list", "0\n");
	timing_cpu = 0;
	assert_found("irq.default", CHECK_OFF, "mask 1");
	assert_found("irq.each", CHECK_OFF, "1 of 1 may be handled on CPU 0");
}

TEST_OF_MACHINE(a_quota_of_a_control_group_is_off)
{
	assert_found("cgroup.quota", CHECK_ABSENT, "no cpu controller of control groups");
	tree_put("proc/self/mountinfo", "25 20 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	tree_put("proc/self/cgroup", "0::/a.service\n");
	tree_put("sys/fs/cgroup/a.service/cpu.max", "20000 100000\n");
	tree_put("sys/fs/cgroup/a.service/cpu.weight", "20\n");
	assert_found("cgroup.quota", CHECK_OFF, "20 % of one CPU: /sys/fs/cgroup/a.service");
	assert_found("cgroup.weight", CHECK_OFF, "20 % of the usual: /sys/fs/cgroup/a.service");
	tree_put("sys/fs/cgroup/a.service/cpu.max", "max 100000\n");
	tree_put("sys/fs/cgroup/a.service/cpu.weight", "100\n");
	assert_found("cgroup.quota", CHECK_OK, "no quota");
	assert_found("cgroup.weight", CHECK_OK, "100 %");
}

TEST_OF_MACHINE(power_limits_and_throttling_are_read)
{
	assert_found("throttling", CHECK_ABSENT, "the processor does not count it");
	assert_found(
		"power.limit", CHECK_ABSENT, "the kernel does not report the processor's power");
	tree_put(CPU "cpu0/thermal_throttle/core_throttle_count", "0\n");
	tree_put(CPU "cpu1/thermal_throttle/core_throttle_count", "3\n");
	tree_put("sys/class/powercap/intel-rapl:0:0/name", "core\n");
	tree_put("sys/class/powercap/intel-rapl:0/name", "package-0");
	tree_put("sys/class/powercap/intel-rapl:0/constraint_0_name", "long_term");
	tree_put("sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw", "65000000");
	tree_put("sys/class/powercap/intel-rapl:0/constraint_0_max_power_uw", "125000000");
	assert_found("throttling", CHECK_OFF, "3 times since the machine was started");
	tree_put(CPU "cpu1/thermal_throttle/core_throttle_count", "0\n");
	tree_put(CPU "cpu1/thermal_throttle/package_throttle_count", "5\n");
	assert_found("throttling", CHECK_OFF, "5 times since the machine was started");
	assert_found("power.limit", CHECK_OFF, "package-0 65 W of 125 W");
	tree_put("sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw", "125000000");
	assert_found("power.limit", CHECK_OK, "as the processor is made for");
	tree_put("sys/class/powercap/intel-rapl:0/constraint_0_max_power_uw", "0");
	assert_found(
		"power.limit", CHECK_ABSENT, "the kernel does not report the processor's power");
}

/* A supply of the machine: "NAME:TYPE:FILE:VALUE". */
static void put_supply(const char *text)
{
	char name[16], type[16], file[16], value[16];

	assert_int_equal(
		sscanf(text, "%15[^:]:%15[^:]:%15[^:]:%15[^:]", name, type, file, value), 4);
	tree_put(text_brief("sys/class/power_supply/%s/type", name), text_brief("%s\n", type));
	tree_put(text_brief("sys/class/power_supply/%s/%s", name, file), text_brief("%s\n", value));
}

TEST(a_battery_that_discharges_decides_else_whatever_feeds_the_machine)
{
	static const char none[] = "no battery or power adapter is reported";
	static const struct {
		const char *supplies[4];
		enum check_state state;
		const char *value;
	} cases[] = {
		{{}, CHECK_ABSENT, none},
		{{"AC:Mains:online:0", "BAT0:Battery:status:Discharging"}, CHECK_OFF, "on battery"},
		{{"AC:Mains:online:1", "BAT0:Battery:status:Charging"}, CHECK_OK, "plugged in"},
		{{"charger:USB:online:0", "bat:Battery:status:Discharging"}, CHECK_OFF,
			"on battery"},
		{{"ucsi:USB:online:1", "BAT0:Battery:status:Not charging"}, CHECK_OK, "plugged in"},
		{{"ucsi:USB:online:2", "BAT0:Battery:status:Unknown"}, CHECK_OK, "plugged in"},
		{{"pd:USB_PD:online:1", "BAT0:Battery:status:Unknown"}, CHECK_OK, "plugged in"},
		{{"u1:USB:online:0", "u2:USB:online:1", "BAT0:Battery:status:Full"}, CHECK_OK,
			"plugged in"},
		{{"ADP1:Mains:online:0", "sbs:Mains:online:1", "bat:Battery:status:Discharging"},
			CHECK_OFF, "on battery: bat discharges, although sbs is plugged in"},
		{{"BAT0:Battery:status:Full", "BAT1:Battery:status:Discharging"}, CHECK_OFF,
			"on battery"},
		{{"BAT0:Battery:status:Charging"}, CHECK_OK, "plugged in"},
		{{"ucsi:USB:online:0", "BAT0:Battery:status:Not charging"}, CHECK_OK, "plugged in"},
		{{"AC:Mains:online:0", "BAT0:Battery:status:Full"}, CHECK_OFF, "on battery"},
		{{"BAT0:Battery:status:Unknown"}, CHECK_UNKNOWN,
			"the battery does not say whether it discharges"},
		{{"AC:Mains:online:0", "BAT0:Battery:status:Unknown"}, CHECK_OFF, "on battery"},
		/* a bay without its battery, a mouse, the ports of a desktop, a UPS */
		{{"BAT0:Battery:present:0"}, CHECK_ABSENT, none},
		{{"AC:Mains:online:1", "mouse:Battery:scope:Device",
			 "mouse:Battery:status:Discharging"},
			CHECK_OK, "plugged in"},
		{{"ucsi1:USB:online:0", "ucsi2:USB:online:0"}, CHECK_ABSENT, none},
		{{"hid:UPS:status:Discharging"}, CHECK_ABSENT, none},
		{{"AC:Mains:online:0"}, CHECK_ABSENT, "no battery is reported"},
		{{"AC:Mains:online:0", "BAT0:Battery:present:0"}, CHECK_ABSENT,
			"no battery is reported"},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		make(NULL);
		for (size_t k = 0; k < ELEMENTS(cases[i].supplies) && cases[i].supplies[k]; k++)
			put_supply(cases[i].supplies[k]);
		assert_found("power", cases[i].state, cases[i].value);
		tree_remove(NULL);
	}
}

TEST_OF_MACHINE(what_is_better_than_wanted_is_as_wanted)
{
	static const struct {
		const char *id, *file, *value, *want; /* want NULL: as it is */
	} cases[] = {
		{"hung", "proc/sys/kernel/hung_task_timeout_secs", "120", "600"},
		{"hung", "proc/sys/kernel/hung_task_timeout_secs", "600", NULL},
		{"hung", "proc/sys/kernel/hung_task_timeout_secs", "1200", NULL},
		{"hung", "proc/sys/kernel/hung_task_timeout_secs", "0", NULL},
		{"vmstat", "proc/sys/vm/stat_interval", "1", "10"},
		{"vmstat", "proc/sys/vm/stat_interval", "60", NULL},
		{"vmstat", "proc/sys/vm/stat_interval", "0", "10"},
		{"ksm", "sys/kernel/mm/ksm/run", "1", "0"},
		{"ksm", "sys/kernel/mm/ksm/run", "2", NULL},
		{"platform", "sys/firmware/acpi/platform_profile", "balanced", "performance"},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		tree_put(cases[i].file, cases[i].value);
		assert_found(cases[i].id, cases[i].want ? CHECK_OFF : CHECK_OK, cases[i].value);
		assert_want(cases[i].id, 0, cases[i].want ?: cases[i].value);
	}
	tree_put("sys/firmware/acpi/platform_profile_choices", "low-power balanced\n");
	assert_found("platform", CHECK_OK, "balanced");
	tree_put("sys/firmware/acpi/platform_profile_choices", "low-power balanced performance\n");
	assert_found("platform", CHECK_OFF, "balanced");
}

TEST_OF_MACHINE(traced_events_count_although_the_tracer_is_nop)
{
	assert_found("trace", CHECK_ABSENT, "/sys/kernel/tracing does not exist");
	tree_put("sys/kernel/debug/tracing/current_tracer", "nop\n");
	tree_put("sys/kernel/debug/tracing/events/enable", "X\n");
	assert_found("trace", CHECK_OFF, "some events are traced");
	tree_put("sys/kernel/debug/tracing/events/enable", "0\n");
	assert_found("trace", CHECK_OK, "nop");
	tree_put("sys/kernel/debug/tracing/current_tracer", "function\n");
	assert_found("trace", CHECK_OFF, "function");
	tree_put("sys/kernel/tracing/current_tracer/directory", "");
	assert_found("trace", CHECK_UNKNOWN, "/sys/kernel/tracing cannot be read here");
	assert_int_equal(fchmodat(tree.fd, "sys/kernel/tracing", 0, 0), 0);
	if (geteuid() != 0 || seteuid(65534) == 0)
		assert_found("trace", CHECK_REFUSED, "only root can read /sys/kernel/tracing");
	assert_int_equal(seteuid(getuid()), 0);
	assert_int_equal(fchmodat(tree.fd, "sys/kernel/tracing", 0700, 0), 0);
}

TEST_OF_MACHINE(load_swap_and_package_managers_are_judged_by_what_they_tell)
{
	assert_found("load", CHECK_UNKNOWN, "not reported by the kernel");
	assert_found("swap", CHECK_UNKNOWN, "not reported by the kernel");
	tree_put("proc/loadavg", "0.19 0.5 0.5 1/90 77\n");
	gather();
	facts.machine.n_cpus = 2;
	assert_found_in(&facts, "load", CHECK_OK, "0.19 on 2 CPUs");
	tree_put("proc/loadavg", "0.21 0.5 0.5 1/90 77\n");
	assert_found_in(&facts, "load", CHECK_OFF, "0.21 on 2 CPUs");
	tree_put("proc/swaps", "Filename Type Size Used Priority\n");
	assert_found("swap", CHECK_OK, "no swap");
	tree_put("proc/swaps",
		"Filename Type Size Used Priority\n/dev/sda2 partition 1048572 2048 -2\n");
	assert_found("swap", CHECK_OFF, "2 MiB in 1 area");
	tree_put("proc/swaps",
		"Filename Type Size Used Priority\n/a file 1 9223372036854775807 -2\n"
		"/b file 1 9223372036854775807 -3\n");
	assert_found("swap", CHECK_OFF, "9007199254740992 MiB in 2 areas");
	assert_found("svc.packagers", CHECK_OK, "none");
	tree_put("run/systemd/shutdown/scheduled", "\n");
	assert_found("svc.packagers", CHECK_OFF, "a shutdown is scheduled");
	facts.locked = "/var/lib/dpkg/lock";
	assert_found_in(&facts, "svc.packagers", CHECK_OFF, "/var/lib/dpkg/lock is locked");
}

TEST_OF_MACHINE(the_scheduler_and_the_accounting_of_interrupts_are_recorded)
{
	assert_found("sched", CHECK_UNKNOWN, "debugfs is not mounted, or does not have it");
	assert_found("irqtime", CHECK_UNKNOWN, "the configuration of this kernel is not known");
	tree_put("proc/sys/kernel/osrelease", "6.1\n");
	tree_put("boot/config-6.1", "CONFIG_HZ=250\n# CONFIG_IRQ_TIME_ACCOUNTING is not set\n");
	tree_put("sys/kernel/debug/sched/preempt", "none (voluntary) full\n");
	tree_put("sys/kernel/debug/sched/base_slice_ns", "2800000\n");
	assert_found("sched", CHECK_OK, "preemption voluntary, base slice 2.800 ms");
	assert_found("irqtime", CHECK_OFF, "no: process time includes interrupts");
	tree_put("boot/config-6.1", "CONFIG_IRQ_TIME_ACCOUNTING=y\n");
	assert_found("irqtime", CHECK_OK, "yes: interrupts do not count as process time");
}

/* What a machine with that clock source says of it; its processor has a constant TSC or not. */
static void assert_clock(const char *source, const char *flags, struct clock_price price,
	double calibrated_ns, enum check_state state, const char *value)
{
	struct facts f = {.clocksource = (char *)source,
		.price = price,
		.calibrated_ns = calibrated_ns,
		.machine = {.flags = (char *)flags}};

	assert_found_in(&f, "clocksource", state, value);
}

TEST(a_clock_that_is_slow_to_read_is_a_finding_with_its_price)
{
	const char *constant = "constant_tsc nonstop_tsc";
	const struct clock_price fast = {25, 100}, slow = {1900, 100}, half = {110, 200};

	assert_clock("tsc", constant, fast, 0, CHECK_OK, "tsc, 25 ns a reading");
	assert_clock(
		"tsc", constant, fast, 20, CHECK_OK, "tsc, 25 ns a reading, 20 ns when calibrated");
	assert_clock("hpet", constant, slow, 25, CHECK_OFF,
		"hpet, clock_gettime is a system call, 1900 ns a reading, 25 ns when calibrated");
	assert_clock("tsc", constant, slow, 0, CHECK_OFF,
		"tsc, clock_gettime is a system call, 1900 ns a reading");
	assert_clock("kvm-clock", constant, half, 25, CHECK_OFF,
		"kvm-clock, 110 ns a reading, 25 ns when calibrated");
	assert_clock("hpet", constant, fast, 0, CHECK_OFF,
		"hpet, 25 ns a reading, although the TSC is constant");
	assert_clock("hpet", "fpu", slow, 0, CHECK_OK,
		"hpet, clock_gettime is a system call, 1900 ns a reading");
	assert_clock("tsc", constant, (struct clock_price){}, 0, CHECK_OK, "tsc");
}

TEST(programs_and_rules_are_judged_by_their_number)
{
	struct facts f = {.n_programs = -EPERM,
		.audit_rules = -EPERM,
		.machine.container = true,
		.root_fd = AT_FDCWD};
	const uid_t self = geteuid();

	assert_found_in(&f, "bpf", CHECK_BY_HOST,
		"the host decides; the list of BPF programs cannot be read in a container");
	f.machine.container = false;
	if (self == 0) { /* it is not root who may read more here */
		assert_found_in(&f, "audit", CHECK_UNKNOWN, "the audit rules cannot be read here");
		assert_string_equal(finding.how, "check it by hand"); /* and not by auditctl -D */
		assert_int_equal(seteuid(65534), 0);
	}
	assert_found_in(&f, "bpf", CHECK_REFUSED, "only root can read the list of BPF programs");
	assert_found_in(&f, "audit", CHECK_REFUSED, "only root can read the audit rules");
	assert_int_equal(seteuid(self), 0);
	f.audit_rules = 2;
	f.n_programs = 1;
	f.programs = (char *)"on_wake (tracepoint)";
	assert_found_in(&f, "bpf", CHECK_OFF, "1 loaded: on_wake (tracepoint)");
	assert_found_in(&f, "audit", CHECK_OFF, "2 rules");
}

TEST(a_cap_of_intel_pstate_is_no_fixed_base_frequency)
{
	struct frequency_policy p = {.governor = (char *)"performance",
		.min_khz = 3600000,
		.max_khz = 3600000,
		.base_khz = 3600000,
		.hardware_max_khz = 4700000,
		.boost = -1};
	struct facts f = {.frequency = {.policies = &p,
				  .n_policies = 1,
				  .no_turbo = 1,
				  .boost = -1,
				  .min_perf_pct = 17,
				  .max_perf_pct = 50}};

	assert_found_in(&f, "speedstep", CHECK_OFF, "the clock is capped at 50 % (max_perf_pct)");
	assert_found_in(&f, "pstate.pct", CHECK_OFF, "max_perf_pct = 50, min_perf_pct = 17");
	f.frequency.max_perf_pct = 100;
	assert_found_in(&f, "speedstep", CHECK_OK, "equivalent: the clock is fixed at 3600 MHz");
}
