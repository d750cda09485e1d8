#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# For a machine that may be changed, such as a virtual one with a frequency driver: all of apply and restore on its own kernel,
# services and CPUs. Run by hand, as root:
#
#   setup_real.sh EMP-SETUP walk        applies and restores, then does so with a SIGKILL at every third crash point of either
#   setup_real.sh EMP-SETUP leave FILE  writes the machine's state to FILE and leaves everything applied; then reboot it, or pull its plug
#   setup_real.sh EMP-SETUP check FILE  after that: emp-restore.service (enabled) has restored everything
#   setup_real.sh EMP-SETUP drivers DIR [KILLS]  only the CPUs: with the machine's own acpi-cpufreq, and with drivers out of DIR that are
#       made up under the kernel's own cpufreq core: fakefreq.ko (mode=amd: turbo switches of all policies and of each; mode=intel: a
#       preference and no_turbo, hybrid=1, noturbo_fw=1) and fakedt.ko (states in ascending order); setida.ko gives acpi-cpufreq its turbo
#       switches. With settings of the user's own and an offline CPU: applied and restored, killed KILLS times (10) at random moments
#
# The drivers in a virtual machine (in_vm.sh), with the kernel of backports; DIR has the modules, built with the headers of that kernel
# (make -C /usr/src/linux-headers-VERSION M=DIR modules), and iasl is of the package acpica-tools. Ten minutes without KVM and kills:
#
#   apt-get download linux-image-6.12.95+deb12-amd64; iasl -p cpu_states tests/machine/cpu_states.asl
#   EMP_VM_QEMU="-acpitable file=cpu_states.aml -chardev null,id=n -device isa-serial,iobase=0x2f8,irq=3,chardev=n" \
#       tests/machine/in_vm.sh linux-image-6.12*.deb BUILD tests/machine/setup_real.sh BUILD/setup/emp-setup drivers DIR 4
set -eu
setup=${1:?usage: setup_real.sh EMP-SETUP walk|leave|check|drivers [FILE|DIR]}
what=${2:-walk}
sys=/sys/devices/system/cpu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
faults=0

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

# Every file of the CPUs' frequencies that can be written, the settings of governors too. What is offline cannot be read.
cpus() {
	find $sys/cpufreq $sys/intel_pstate $sys/smt $sys/cpu[0-9]*/online $sys/cpu[0-9]*/power/energy_perf_bias -type f -perm -200 \
		2>/dev/null | sort | while read -r file; do
		echo "$file $(cat "$file" 2>/dev/null)"
	done
}

state() {
	cpus
	for file in /proc/sys/kernel/perf_event_max_sample_rate /proc/sys/kernel/perf_cpu_time_max_percent /proc/sys/kernel/nmi_watchdog \
		/proc/sys/kernel/numa_balancing /sys/kernel/mm/ksm/run; do
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

# Settings of the user's own, as far as the driver has them: what a governor forgets, a policy without turbo, an offline CPU.
customize() {
	last=$(ls -d $sys/cpu[0-9]* | sort -V | tail -1)
	set -- $(ls -d $sys/cpufreq/policy[0-9]* | sort -V)
	if grep -q ondemand "$1/scaling_available_governors"; then
		echo ondemand >"$1/scaling_governor"
		echo 95 | tee $sys/cpufreq/ondemand/up_threshold "$1/ondemand/up_threshold" >/dev/null 2>&1 || :
	fi
	if [ $# -gt 1 ] && grep -q userspace "$2/scaling_available_governors"; then
		echo userspace >"$2/scaling_governor"
		cat "$2/cpuinfo_min_freq" >"$2/scaling_setspeed"
	fi
	[ $# -lt 2 ] || [ ! -e "$2/boost" ] || echo 0 >"$2/boost"
	echo 0 >"$last/online" || echo "$last stays online"
}

milliseconds() { echo $(($(date +%s%N) / 1000000)); }

moment() { # MS: a random moment within this time, in seconds
	awk -v ms="$1" -v seed="$(date +%N)" 'BEGIN { srand(seed); printf "%.3f", rand() * ms / 1000 }'
}

cycle() { # WORDS KILLS
	ids=freq.governor,freq.min,turbo.intel,turbo.boost,turbo.policy,epp,epb,pstate.boost
	cpus >"$dir/before"
	begun=$(milliseconds)
	"$setup" apply --only $ids >"$dir/out" || { [ $? = 2 ] && grep -q 'turbo.intel.*refused' "$dir/out"; } ||
		{ fault "$1: apply"; cat "$dir/out"; }
	took=$(($(milliseconds) - begun)) killed=0
	"$setup" audit -v >"$dir/out" || :
	grep -E '^(freq|turbo|speedstep)' "$dir/out"
	restore
	cpus | diff "$dir/before" - || fault "$1: a clean run left a difference"
	for n in $(seq "$2"); do
		status=0
		if [ $((n % 2)) = 1 ]; then
			timeout --foreground -s KILL "$(moment $took)" "$setup" apply --only $ids >/dev/null 2>&1 || status=$?
		else
			"$setup" apply --only $ids >/dev/null 2>&1 || :
			timeout --foreground -s KILL "$(moment $((took / 2)))" "$setup" restore >/dev/null 2>&1 || status=$?
		fi
		[ $status != 137 ] || killed=$((killed + 1))
		restore
		cpus | diff "$dir/before" - || fault "$1: kill $n left a difference"
	done
	echo "killed $killed times"
	echo 1 | tee $sys/cpu[1-9]*/online >/dev/null
}

drivers() { # DIR KILLS
	insmod "$1/setida.ko" 2>/dev/null || :
	for driver in acpi_cpufreq 'fakefreq mode=amd' 'fakefreq mode=intel' 'fakefreq mode=intel hybrid=1' 'fakefreq mode=intel noturbo_fw=1' \
		fakedt; do
		for module in acpi_cpufreq fakefreq fakedt; do rmmod $module 2>/dev/null || :; done
		case $driver in
		acpi_cpufreq) modprobe acpi_cpufreq ;;
		*) insmod "$1/${driver%% *}.ko" $(expr "$driver" : '[^ ]* *\(.*\)') ;;
		esac || { fault "$driver cannot be loaded"; continue; }
		echo "== $driver"
		customize
		cycle "$driver" "$2"
	done
}

case $what in
walk) walk ;;
drivers) drivers "${3:?the directory of the modules}" "${4:-10}" ;;
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
