#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# For a machine that may be changed, such as a virtual one with a frequency driver: all of apply and restore on its own kernel,
# services and CPUs, a SIGKILL behind every third step. Run by hand: setup_real.sh EMP-SETUP, as root.
set -eu
setup=${1:?usage: setup_real.sh EMP-SETUP}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
faults=0

state() {
	for file in /sys/devices/system/cpu/cpufreq/policy*/scaling_governor /sys/devices/system/cpu/cpufreq/policy*/scaling_min_freq \
		/sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq /sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference \
		/sys/devices/system/cpu/cpufreq/boost /sys/devices/system/cpu/intel_pstate/no_turbo /proc/sys/kernel/perf_event_max_sample_rate \
		/proc/sys/kernel/perf_cpu_time_max_percent /proc/sys/kernel/nmi_watchdog /proc/sys/kernel/numa_balancing /sys/kernel/mm/ksm/run; do
		[ ! -e "$file" ] || echo "$file $(cat "$file")"
	done
	systemctl list-units --all --no-legend --plain --type=service,timer,socket,path |
		awk '$1 !~ /hostnamed|timedated|user@|user-runtime|ssh@|systemd-tmpfiles-clean.service/ { print $1, $2, $3, $4 }' | sort
	find /etc /run/systemd/system /var/lib/emp-setup /run/lock/emp.lock -printf '%y %p %l\n' 2>/dev/null | sort
}

same() {
	state | diff "$dir/before" - && return 0
	echo "FAULT: $1 left a difference"
	faults=$((faults + 1))
}

state >"$dir/before"
"$setup" apply || echo "apply ended with $?"
"$setup" audit || echo "audit ended with $?"
"$setup" restore || faults=$((faults + 1))
same "a clean run"
n=0
while n=$((n + 3)); do
	status=0
	"$setup" apply --kill-after $n >/dev/null 2>&1 || status=$?
	"$setup" restore >"$dir/out" || { cat "$dir/out"; faults=$((faults + 1)); }
	same "apply killed behind step $n, and restore"
	[ $status = 137 ] || break
done
[ $faults = 0 ] && echo "everything was put back" || echo "$faults faults"
exit $((faults > 0))
