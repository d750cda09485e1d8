# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests of emp-setup: makes the files of a /sys/devices/system/cpu with four CPUs for fake_cpu.
#
#   cpu_files DIRECTORY DRIVER
#
# The driver is intel_pstate, acpi-cpufreq, amd-pstate-epp, amd-pstate, cpufreq-dt; or a variant of them: intel_cpufreq (intel_pstate in
# passive mode), intel_pstate-follows (cpuinfo_max_freq follows the turbo switch), hybrid (two CPUs are slower), acpi-turbo (with a state
# for turbo), amd-pstate-all (no turbo switch of each policy), cppc_cpufreq. amd-pstate has a turbo switch of all policies and one
# of each, as drivers have since Linux 6.7.

cpu_file() { # PATH TEXT: below $files
	mkdir -p "$(dirname "$files/$1")"
	printf '%s\n' "$2" >"$files/$1"
}

cpu_files() {
	files=$1 driver=$2 # and least, most, base, governors, governor: the caller may look
	rm -rf "$files"
	cpu_file online 0,1,2,3
	cpu_file present 0-3
	cpu_file smt/control on
	cpu_file smt/active 1
	cpu_file cpuidle/current_driver intel_idle # libcpupower looks for this directory
	follows=
	case $driver in
	intel_cpufreq)
		least=800000 most=4700000 base=3600000 governors="conservative ondemand userspace powersave performance schedutil"
		governor=schedutil
		cpu_file intel_pstate/status passive
		cpu_file intel_pstate/no_turbo 0
		cpu_file intel_pstate/min_perf_pct 20
		cpu_file intel_pstate/max_perf_pct 95
		;;
	acpi-turbo)
		least=2200000 most=3701000 base=3700000 governors="conservative ondemand userspace powersave performance schedutil"
		governor=schedutil follows=1
		cpu_file .boost_resets 1
		cpu_file cpufreq/boost 1
		;;
	cppc_cpufreq)
		least=400000 most=5300000 base=4200000 governors="conservative ondemand userspace powersave performance schedutil"
		governor=schedutil follows=1
		cpu_file .boost_resets 1
		cpu_file cpufreq/boost 1
		;;
	intel_pstate | intel_pstate-follows | hybrid)
		[ $driver = intel_pstate ] || follows=1
		least=800000 most=4700000 base=3600000 governors="performance powersave" governor=powersave
		cpu_file intel_pstate/status active
		cpu_file intel_pstate/no_turbo 0
		cpu_file intel_pstate/min_perf_pct 90
		cpu_file intel_pstate/max_perf_pct 95
		cpu_file intel_pstate/hwp_dynamic_boost 0
		;;
	acpi-cpufreq)
		least=2200000 most=3700000 base=3700000 governors="conservative ondemand userspace powersave performance schedutil"
		governor=schedutil
		cpu_file cpufreq/boost 1
		;;
	amd-pstate-epp)
		follows=1
		least=400000 most=5300000 base=4200000 governors="performance powersave" governor=powersave
		cpu_file amd_pstate/status active
		;;
	amd-pstate | amd-pstate-all)
		follows=1
		least=400000 most=5300000 base=4200000 governors="conservative ondemand userspace powersave performance schedutil"
		governor=schedutil
		cpu_file amd_pstate/status passive
		cpu_file cpufreq/boost 1
		;;
	cpufreq-dt) least=600000 most=1500000 base=1500000 governors="ondemand userspace powersave performance schedutil" governor=ondemand ;;
	esac
	for cpu in 0 1 2 3; do
		policy=cpufreq/policy$cpu
		[ $driver.$cpu != hybrid.2 ] || { most=3900000 base=2600000; }
		[ $cpu = 0 ] || cpu_file cpu$cpu/online 1
		cpu_file cpu$cpu/topology/thread_siblings_list $((cpu % 2)),$((cpu % 2 + 2))
		cpu_file cpu$cpu/cache/index0/level 1
		cpu_file cpu$cpu/cache/index0/shared_cpu_list $((cpu % 2)),$((cpu % 2 + 2))
		cpu_file cpu$cpu/power/energy_perf_bias 6
		cpu_file cpu$cpu/cpuidle/state0/name POLL
		cpu_file cpu$cpu/cpuidle/state0/latency 0
		cpu_file cpu$cpu/cpuidle/state1/name C1
		cpu_file cpu$cpu/cpuidle/state1/latency 2
		cpu_file cpu$cpu/cpuidle/state2/name C6
		cpu_file cpu$cpu/cpuidle/state2/latency 133
		cpu_file $policy/affected_cpus $cpu
		cpu_file $policy/related_cpus $cpu
		cpu_file $policy/cpuinfo_min_freq $least
		cpu_file $policy/cpuinfo_max_freq $most
		cpu_file $policy/scaling_min_freq $least
		cpu_file $policy/scaling_max_freq $most
		[ $driver != intel_cpufreq ] || { # in percent of the highest
			cpu_file $policy/scaling_min_freq 940000
			cpu_file $policy/scaling_max_freq 4465000
		}
		cpu_file $policy/.base_khz $base
		[ -z $follows ] || cpu_file $policy/.turbo_khz $most
		case $driver in
		hybrid | intel_pstate*) cpu_file $policy/scaling_driver intel_pstate ;;
		acpi-*) cpu_file $policy/scaling_driver acpi-cpufreq ;;
		amd-pstate-all) cpu_file $policy/scaling_driver amd-pstate ;;
		*) cpu_file $policy/scaling_driver $driver ;;
		esac
		cpu_file $policy/scaling_governor $governor
		cpu_file $policy/scaling_available_governors "$governors"
		case $driver in
		acpi-cpufreq) cpu_file $policy/scaling_available_frequencies "3700000 2800000 2200000" ;;
		acpi-turbo) cpu_file $policy/scaling_available_frequencies "3701000 3700000 2800000 2200000" ;;
		amd-pstate | amd-pstate-all | cppc_cpufreq) ;;
		cpufreq-dt) cpu_file $policy/scaling_available_frequencies "600000 700000 1000000 1500000" ;;
		*)
			cpu_file $policy/energy_performance_preference balance_performance
			cpu_file $policy/energy_performance_available_preferences \
				"default performance balance_performance balance_power power"
			;;
		esac
		case $governors in
		*userspace*) cpu_file $policy/scaling_setspeed "<unsupported>" ;;
		esac
		case $driver in
		intel_* | hybrid) cpu_file $policy/base_frequency $base ;;
		amd-pstate-all | cppc_cpufreq) cpu_file cpu$cpu/acpi_cppc/nominal_freq $((base / 1000)) ;;
		amd-pstate*)
			cpu_file cpu$cpu/acpi_cppc/nominal_freq $((base / 1000))
			cpu_file $policy/boost 1
			;;
		esac
		ln -s ../cpufreq/policy$cpu "$files/cpu$cpu/cpufreq"
	done
	case $governor in # of all policies
	ondemand)
		cpu_file cpufreq/ondemand/up_threshold 80
		cpu_file cpufreq/ondemand/sampling_rate 10000
		;;
	schedutil) cpu_file cpufreq/schedutil/rate_limit_us 1000 ;;
	esac
}
