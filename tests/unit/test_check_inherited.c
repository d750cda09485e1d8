/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs inherit from the shell, what slows the kernel down, and what takes or slows
 * CPUs, read from made-up machines. */
#include "tests/unit/audited_machine.h"

#define STATUS(cpus, nodes) \
	"Name:\tsh\nCpus_allowed_list:\t" cpus "\nMems_allowed_list:\t" nodes "\n"

TEST_OF_MACHINE(all_cpus_but_the_isolated_ones_are_as_wanted)
{
	assert_found("affinity", CHECK_UNKNOWN, "not reported by the kernel");
	tree_put(CPU "online", "0-7\n");
	tree_put(CPU "isolated", "6-7\n");
	tree_put("proc/self/status", STATUS("0-5", "0"));
	assert_found("affinity", CHECK_OK, "0-5"); /* emp-measure --cpu 6 goes there by itself */
	tree_put(CPU "isolated", "\n");
	assert_found("affinity", CHECK_OFF, "0-5 of 0-7");
	tree_put("proc/self/status", STATUS("0-7", "0"));
	assert_found("affinity", CHECK_OK, "0-7");
	tree_put("proc/self/status", STATUS("0-1", "0"));
	assert_found("affinity", CHECK_OFF, "0-1 of 0-7");
	timing_cpu = 1;
	assert_found("affinity", CHECK_OK, "0-1, and CPU 1 is among them");
	timing_cpu = 3;
	assert_found("affinity", CHECK_OFF, "CPU 3 is not among 0-1");
	timing_cpu = -1;
	tree_put("proc/self/status", STATUS("0-63", "0")); /* more than are online */
	assert_found("affinity", CHECK_OK, "0-63");
}

/* As /proc/PID/stat: the name may hold blanks and parentheses. */
static void put_stat(int nice, int rt_priority, int policy)
{
	_cleanup_(freep) char *text = text_format(
		"77 (a) b) S 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 %d 1 0 100 "
		"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 17 1 %d %d 0 0 0 0\n",
		nice, rt_priority, policy);

	tree_put("proc/self/stat", text);
}

TEST_OF_MACHINE(the_priority_of_the_shell_is_judged)
{
	assert_found("priority", CHECK_UNKNOWN, "not reported by the kernel");
	put_stat(0, 0, 0);
	assert_found("priority", CHECK_OK, "SCHED_OTHER, nice 0");
	put_stat(-20, 0, 0);
	assert_found("priority", CHECK_OK, "SCHED_OTHER, nice -20");
	put_stat(10, 0, 0);
	assert_found("priority", CHECK_OFF, "SCHED_OTHER, nice 10");
	put_stat(0, 80, 1);
	assert_found("priority", CHECK_OFF, "SCHED_FIFO, priority 80");
	put_stat(0, 0, 5);
	assert_found("priority", CHECK_OFF, "SCHED_IDLE");
	put_stat(0, 0, 0);
	tree_put("proc/self/autogroup", "/autogroup-12 nice 5\n");
	assert_found("priority", CHECK_OK, "SCHED_OTHER, nice 0");
	tree_put("proc/sys/kernel/sched_autogroup_enabled", "1\n");
	assert_found("priority", CHECK_OFF, "SCHED_OTHER, nice 5 for its session (autogroup)");
}

TEST_OF_MACHINE(a_limit_of_memory_is_named_with_its_group)
{
	assert_found("cgroup.memory", CHECK_OK, "no limit");
	tree_put("proc/self/mountinfo", "25 20 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	tree_put("proc/self/cgroup", "0::/a.slice/b.service\n");
	tree_put("sys/fs/cgroup/a.slice/memory.max", "1073741824\n");
	tree_put("sys/fs/cgroup/a.slice/b.service/memory.max", "max\n");
	assert_found("cgroup.memory", CHECK_OFF, "1024 MiB: /sys/fs/cgroup/a.slice/memory.max");
	tree_put("sys/fs/cgroup/a.slice/b.service/memory.high", "536870912\n");
	assert_found("cgroup.memory", CHECK_OFF,
		"512 MiB: /sys/fs/cgroup/a.slice/b.service/memory.high");
	facts.machine.memory_bytes = 1 << 29;
	assert_found_in(&facts, "cgroup.memory", CHECK_OK,
		"more than this machine has: /sys/fs/cgroup/a.slice/b.service/memory.high");
}

TEST_OF_MACHINE(memory_belongs_on_the_node_of_the_cpu)
{
	tree_put("sys/devices/system/node/node0/cpulist", "0-3\n");
	tree_put("proc/self/status", STATUS("0-7", "0-1"));
	assert_found("numa.place", CHECK_ABSENT, "this machine has one NUMA node");
	tree_put("sys/devices/system/node/node2/cpulist", "\n"); /* memory without CPUs */
	assert_found("numa.place", CHECK_ABSENT, "this machine has one NUMA node");
	tree_put("sys/devices/system/node/node1/cpulist", "4-7\n");
	assert_found("numa.place", CHECK_OFF, "2 nodes, and no CPU is chosen");
	timing_cpu = 5;
	assert_found("numa.place", CHECK_OK, "CPU 5 and its memory are on node 1");
	tree_put("proc/self/status", STATUS("0-7", "0"));
	assert_found("numa.place", CHECK_OFF, "CPU 5 is on node 1, and memory comes from node 0");
}

TEST_OF_MACHINE(kernels_for_debugging_are_told_by_configuration_and_command_line)
{
	static const struct {
		const char *config, *command_line;
		enum check_state state;
		const char *value;
	} cases[] = {
		{"CONFIG_HZ=250\n", "ro quiet", CHECK_OK, "none"},
		{"CONFIG_KASAN_GENERIC=y\nCONFIG_PROVE_LOCKING=y\n", "ro", CHECK_OFF,
			"KASAN, lockdep"},
		{"CONFIG_KASAN_GENERIC=y\n", "ro kasan=off", CHECK_OK, "none"},
		{"CONFIG_KASAN_HW_TAGS=y\n", "ro", CHECK_OK, "none"},
		{"CONFIG_INIT_ON_ALLOC_DEFAULT_ON=y\n", "ro", CHECK_OFF, "init_on_alloc"},
		{"CONFIG_INIT_ON_ALLOC_DEFAULT_ON=y\n", "ro init_on_alloc=0", CHECK_OK, "none"},
		{"CONFIG_HZ=250\n", "ro init_on_alloc=1 slub_debug=FZ", CHECK_OFF,
			"slub_debug, init_on_alloc"},
		{"CONFIG_SLUB_DEBUG_ON=y\n", "ro slub_debug=-", CHECK_OK, "none"},
		{"CONFIG_HZ=250\n", "ro slab_debug", CHECK_OFF, "slub_debug"},
		{"CONFIG_HZ=250\n", "ro debug_pagealloc=on kmemleak=off", CHECK_OFF,
			"debug_pagealloc"},
	};

	assert_found("debug", CHECK_UNKNOWN, "the configuration of this kernel is not known");
	tree_put("proc/sys/kernel/osrelease", "6.1\n");
	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		tree_put("boot/config-6.1", cases[i].config);
		tree_put("proc/cmdline", cases[i].command_line);
		assert_found("debug", cases[i].state, cases[i].value);
	}
}

static void put_ticks(int busy, int steal)
{
	tree_put("proc/stat",
		text_brief("cpu  %d 0 0 9000 0 0 0 %d 0 0\ncpu0 1 0 0 0 0 0 0 0\n", busy, steal));
}

TEST_OF_MACHINE(time_that_the_host_takes_is_shown)
{
	put_ticks(900, 100);
	assert_found("steal", CHECK_ABSENT, "no hypervisor runs below this kernel");
	facts.machine.virtual = true;
	assert_found_in(
		&facts, "steal", CHECK_OK, "1.0 % of the CPUs' time since the machine was started");
	put_ticks(800, 200);
	assert_found_in(&facts, "steal", CHECK_OFF,
		"2.0 % of the CPUs' time since the machine was started");
	put_ticks(1000, 0);
	assert_found_in(&facts, "steal", CHECK_OK,
		"none since the machine was started; not every host reports it");
	cpu_ticks_read(&facts.ticks, tree.fd);
	put_ticks(1010, 2); /* one or two ticks prove nothing */
	assert_found_in(&facts, "steal", CHECK_OK,
		"0.020 % of the CPUs' time since the machine was started");
	put_ticks(1010, 10);
	assert_found_in(&facts, "steal", CHECK_OFF,
		"50 % of the CPUs' time now, 0.10 % since the machine was started");
	tree_put("proc/stat", "cpu  1 2 3\n");
	assert_found_in(&facts, "steal", CHECK_UNKNOWN, "not reported by the kernel");
}

TEST_OF_MACHINE(a_profiler_holds_an_event_for_each_cpu)
{
	struct process processes[] = {{.pid = 12, .name = "perf"}, {.pid = 13, .name = "sh"}};

	tree_put(CPU "online", "0-1\n");
	tree_link("proc/12/fd/3", "anon_inode:[perf_event]");
	tree_link("proc/12/fd/4", "/dev/null");
	gather();
	facts.processes = processes;
	facts.n_processes = 2;
	assert_found_in(&facts, "perf.events", CHECK_OK, "none"); /* of a program of its own */
	tree_link("proc/12/fd/5", "anon_inode:[perf_event]");
	assert_found_in(&facts, "perf.events", CHECK_OFF, "perf (PID 12)");
	assert_int_equal(fchmodat(tree.fd, "proc/12/fd", 0, 0), 0);
	if (geteuid() != 0 || seteuid(65534) == 0)
		assert_found_in(&facts, "perf.events", CHECK_REFUSED,
			"only root can see what other users' processes hold");
	assert_int_equal(seteuid(getuid()), 0);
	assert_int_equal(fchmodat(tree.fd, "proc/12/fd", 0700, 0), 0);
	facts.processes = NULL; /* it is not from the heap */
}

TEST(who_holds_off_a_shutdown_is_named)
{
	struct facts f = {.has_units = true};

	assert_found_in(&f, "svc.inhibitors", CHECK_OK, "nobody holds off a shutdown");
	f.inhibitors = (char *)"fwupd: firmware update in progress";
	assert_found_in(&f, "svc.inhibitors", CHECK_OFF, "fwupd: firmware update in progress");
}

TEST_OF_MACHINE(devices_that_slow_the_processor_to_cool_it_are_named)
{
	assert_found("cooling", CHECK_ABSENT, "no device slows the processor to cool it");
	tree_put("sys/class/thermal/cooling_device0/type", "Fan\n");
	tree_put("sys/class/thermal/cooling_device0/cur_state", "3\n");
	assert_found("cooling", CHECK_ABSENT, "no device slows the processor to cool it");
	tree_put("sys/class/thermal/cooling_device1/type", "intel_powerclamp\n");
	tree_put("sys/class/thermal/cooling_device1/cur_state", "-1\n"); /* off */
	tree_put("sys/class/thermal/cooling_device1/max_state", "100\n");
	assert_found("cooling", CHECK_OK, "none is active");
	tree_put("sys/class/thermal/cooling_device1/cur_state", "30\n");
	tree_put("sys/class/thermal/cooling_device2/type", "Processor\n");
	tree_put("sys/class/thermal/cooling_device2/cur_state", "1\n");
	tree_put("sys/class/thermal/cooling_device2/max_state", "10\n");
	assert_found("cooling", CHECK_OFF, "intel_powerclamp at 30 of 100, Processor at 1 of 10");
}

TEST_OF_MACHINE(the_clock_of_the_uncore_is_fixed_by_equal_limits)
{
#define UNCORE CPU "intel_uncore_frequency/package_00_die_00/"
	assert_found("uncore", CHECK_ABSENT, "the kernel does not control it");
	tree_put(UNCORE "min_freq_khz", "800000\n");
	tree_put(UNCORE "max_freq_khz", "2400000\n");
	assert_found("uncore", CHECK_OFF, "800 to 2400 MHz");
	assert_want("uncore", 0, "2400000");
	tree_put(UNCORE "min_freq_khz", "2400000\n");
	assert_found("uncore", CHECK_OK, "2400 MHz");
}

TEST_OF_MACHINE(callbacks_and_work_of_the_kernel_belong_on_other_cpus)
{
	tree_put(CPU "online", "0-3\n");
	tree_put(CPU "cpu2/topology/thread_siblings_list", "2-3\n");
	tree_put("proc/cmdline", "ro rcu_nocbs=0-1\n");
	tree_put("sys/devices/virtual/workqueue/cpumask", "f\n");
	assert_found("rcu_nocbs", CHECK_ABSENT, "no CPU is set apart for timing; --cpu names one");
	assert_found("workqueue", CHECK_ABSENT, "no CPU is set apart for timing; --cpu names one");
	timing_cpu = 2;
	assert_found("rcu_nocbs", CHECK_OFF, "CPU 2 runs its RCU callbacks itself");
	assert_found("workqueue", CHECK_OFF, "mask f");
	assert_want("workqueue", 0, "3");
	tree_put("proc/cmdline", "ro rcu_nocbs=all\n");
	assert_found("rcu_nocbs", CHECK_OK, "CPU 2 leaves its RCU callbacks to others");
	tree_put("proc/cmdline", "ro\n");
	tree_put(CPU "nohz_full", "2-3\n");
	assert_found("rcu_nocbs", CHECK_OK, "CPU 2 leaves its RCU callbacks to others");
	tree_put("sys/devices/virtual/workqueue/cpumask", "3\n");
	assert_found("workqueue", CHECK_OK, "mask 3");
}

TEST_OF_MACHINE(intel_pstate_needs_the_tick_but_for_one_governor)
{
	struct frequency_policy p = {.cpus = (char *)"2",
		.driver = (char *)"intel_pstate",
		.governor = (char *)"powersave"};

	gather();
	facts.frequency = (struct frequency){.policies = &p, .n_policies = 1};
	assert_found_in(&facts, "nohz.pstate", CHECK_ABSENT, "all CPUs have a tick");
	tree_put(CPU "nohz_full", "1-2\n");
	assert_found_in(&facts, "nohz.pstate", CHECK_OFF,
		"CPU 2 has no tick, and intel_pstate with powersave needs it");
	p.governor = (char *)"performance";
	assert_found_in(
		&facts, "nohz.pstate", CHECK_OK, "the clock does not follow the tick on CPU 1-2");
	p.governor = (char *)"powersave";
	p.driver = (char *)"acpi-cpufreq";
	assert_found_in(
		&facts, "nohz.pstate", CHECK_OK, "the clock does not follow the tick on CPU 1-2");
	p.driver = (char *)"intel_pstate";
	p.cpus = (char *)"0";
	assert_found_in(
		&facts, "nohz.pstate", CHECK_OK, "the clock does not follow the tick on CPU 1-2");
	facts.frequency = (struct frequency){};
}

TEST_OF_MACHINE(sizes_of_huge_pages_are_set_each)
{
#define SIZES "sys/kernel/mm/transparent_hugepage/hugepages-"
	assert_found("mthp", CHECK_ABSENT, "this machine has no such setting");
	tree_put(SIZES "2048kB/enabled", "always [inherit] madvise never\n");
	tree_put(SIZES "64kB/enabled", "always inherit madvise [never]\n");
	assert_found("mthp", CHECK_OK, "never");
	tree_put(SIZES "64kB/enabled", "[always] inherit madvise never\n");
	assert_found("mthp", CHECK_OFF, "always in 1 of 2");
	assert_want("mthp", 1, "inherit");
	assert_want("mthp", 0, "never");
}

TEST_OF_MACHINE(power_limits_in_memory_count_too)
{
#define MMIO "sys/class/powercap/intel-rapl-mmio:0/"
	tree_put(MMIO "name", "package-0");
	tree_put(MMIO "constraint_0_name", "long_term");
	tree_put(MMIO "constraint_0_power_limit_uw", "15000000");
	tree_put(MMIO "constraint_0_max_power_uw", "28000000");
	assert_found("power.limit", CHECK_OFF, "package-0 15 W of 28 W");
}
