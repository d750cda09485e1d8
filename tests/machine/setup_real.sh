#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# For a machine that may be changed, such as a virtual one with a frequency driver: all of apply and restore on its own kernel,
# services and CPUs. Run by hand, as root:
#
#   setup_real.sh EMP-SETUP walk        applies and restores, then does so with a SIGKILL at every third crash point of either
#   setup_real.sh EMP-SETUP leave FILE  writes the machine's state to FILE and leaves everything applied; then reboot it, or pull its plug
#   setup_real.sh EMP-SETUP check FILE  after that: emp-restore.service (enabled) has restored everything
set -eu
setup=${1:?usage: setup_real.sh EMP-SETUP walk|leave|check [FILE]}
what=${2:-walk}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
faults=0

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

state() {
	for file in /sys/devices/system/cpu/cpufreq/policy*/scaling_governor /sys/devices/system/cpu/cpufreq/policy*/scaling_min_freq \
		/sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq /sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference \
		/sys/devices/system/cpu/cpufreq/boost /sys/devices/system/cpu/intel_pstate/no_turbo /proc/sys/kernel/perf_event_max_sample_rate \
		/proc/sys/kernel/perf_cpu_time_max_percent /proc/sys/kernel/nmi_watchdog /proc/sys/kernel/numa_balancing /sys/kernel/mm/ksm/run; do
		[ ! -e "$file" ] || echo "$file $(cat "$file")"
	done
	systemctl list-units --all --no-legend --plain --type=service,timer,socket,path |
		awk '$1 ~ /timer$/ && $4 == "running" { $4 = "waiting" } $1 !~ /hostnamed|timedated|user@|user-runtime|ssh@|systemd-tmpfiles-clean.service|emp-restore/ { print $1, $2, $3, $4 }' | sort
	find /etc /run/systemd/system /var/lib/emp-setup -printf '%y %p %l\n' 2>/dev/null | sort
}

same() { # FILE WORDS
	state | diff "$1" - && return 0
	fault "$2 left a difference"
}

restore() { # a second time, after one that was killed
	"$setup" restore "$@" >"$dir/out" || { cat "$dir/out"; faults=$((faults + 1)); }
}

walk() {
	state >"$dir/before"
	"$setup" apply || echo "apply ended with $?"
	"$setup" audit || echo "audit ended with $?"
	"$setup" restore || fault "restore"
	same "$dir/before" "a clean run"
	n=0 steps=0
	while n=$((n + 3)); do
		status=0
		"$setup" apply --kill-after $n >/dev/null 2>&1 || status=$?
		restore
		same "$dir/before" "apply killed at crash point $n, and restore"
		[ $status = 137 ] || break
		steps=$((steps + 1))
	done
	n=0
	while n=$((n + 3)); do
		status=0
		"$setup" apply >/dev/null 2>&1 || :
		"$setup" restore --kill-after $n >/dev/null 2>&1 || status=$?
		restore
		same "$dir/before" "restore killed at crash point $n, and restore"
		[ $status = 137 ] || break
		steps=$((steps + 1))
	done
	echo "killed at $steps crash points"
}

case $what in
walk) walk ;;
leave)
	state >"$3"
	"$setup" apply || echo "apply ended with $?"
	sync
	;;
check)
	"$setup" status | grep -q '^Nothing is applied' || fault "something is still applied"
	same "$3" "the boot"
	;;
esac
[ $faults = 0 ] && echo "$what: well" || echo "$faults faults"
exit $((faults > 0))
