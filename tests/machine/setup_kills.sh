#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-setup is killed (SIGKILL) at random moments of apply and of restore, in a box with planted units of every kind, made-up CPUs (one of
# them offline), governors with settings of their own, and units that the administrator had stopped. After a restore, everything must be as
# before: the states of all units and of their files, masks and drop-ins, and all files of the CPUs.
# Usage: setup_kills.sh BUILD [KILLS]. EMP_SEED chooses the moments.
set -eu
. "$(dirname "$0")/box.sh"
. "$(dirname "$0")/fake_cpu.sh"
build=$(realpath "$1")
setup=$build/setup/emp-setup
kills=${2:-100} seed=${EMP_SEED:-$(date +%s)}
[ -c /dev/fuse ] && command -v fusermount3 >/dev/null && [ -x "$build/tests/machine/fake_cpu" ] || {
	echo "not run: needs FUSE"
	[ -z "${EMP_MUST_RUN:-}" ] || exit 1
	exit 77
}
box_needs
if [ "${3:-}" != inside ]; then
	exec unshare --mount --propagation private sh "$0" "$build" "$kills" inside
fi
echo "EMP_SEED=$seed"
. "$(dirname "$0")/setup_walk.sh"
box_new
faults=0
. "$(dirname "$0")/setup_planted.sh"
cpu_files "$box/files" amd-pstate
mkdir "$box/cpu"
"$build/tests/machine/fake_cpu" "$box/files" "$box/cpu" &
fake=$!
trap 'box_remove; kill $fake 2>/dev/null || :' EXIT
box_wait 60 mountpoint -q "$box/cpu" || exit 1
echo "mount --bind '$box/cpu' \"\$root/sys/devices/system/cpu\"" >"$box/before_boot.sh"
put /etc/emp-kills.ini <<'P'
[policy]
include = /etc/emp-test.ini
[stop]
planted-wanting.service = planted
planted-propagating.service = planted
planted-needing.service = planted
P
echo 0 >"$box/cpu/cpufreq/policy1/boost"
echo ondemand >"$box/cpu/cpufreq/policy0/scaling_governor"
echo 95 >"$box/cpu/cpufreq/ondemand/up_threshold"
echo userspace >"$box/cpu/cpufreq/policy2/scaling_governor"
echo 1200000 >"$box/cpu/cpufreq/policy2/scaling_setspeed"
echo 0 >"$box/cpu/cpu3/online"

snapshot() {
	state
	file_states
	(cd "$box/files" && find . -type f ! -name '.*' | sort | xargs grep -H '')
}

unchanged() { # WORDS
	snapshot >"$box/now"
	diff "$box/before" "$box/now" >"$box/diff" && return 0
	fault "$1 left a difference:"
	cat "$box/diff"
	cp "$box/now" "$box/before" # for what comes next
}

emp_setup() { # VERB [SECONDS UNTIL IT IS KILLED]
	verb=$1 status=0
	set -- ${2:+timeout --foreground -s KILL "$2"}
	case $verb in
	apply) box_run "$@" "$setup" apply --policy /etc/emp-kills.ini --only \
		svc.units,svc.timers,smt,freq.governor,freq.min,turbo.boost,turbo.policy,epb >"$box/out" 2>&1 || status=$? ;;
	restore) box_run "$@" "$setup" restore >"$box/out" 2>&1 || status=$? ;;
	esac
}

whole() { # VERB STATUS: it is not killed; "took" is its time in seconds
	begun=$(date +%s%N)
	emp_setup "$1"
	took=$((($(date +%s%N) - begun) / 1000000))
	[ $status = "$2" ] && return 0
	fault "$1 ended with $status, not $2"
	cat "$box/out"
	box_run journalctl --no-pager -n 40 -p warning
}

random=$seed
moment() { # MS: a random moment within this time, in seconds
	random=$(((random * 1103515245 + 12345) % 2147483648))
	awk -v r=$random -v ms="$1" 'BEGIN { printf "%.4f", r / 2147483648 * ms / 1000 + 0.001 }'
}

box_start
box_run systemctl start planted-wanting planted-propagating planted-victim planted-needing
box_run systemctl stop planted-wanted
snapshot >"$box/before"
whole apply 2 # one unit is held back
apply_ms=$took
whole restore 0
restore_ms=$took
unchanged "a clean run"

# A kill that came too late is not counted, and the next one comes earlier.
n=0 killed=0
while [ $killed -lt "$kills" ] && [ $n -lt $((kills * 10)) ]; do
	n=$((n + 1))
	if [ $((n % 2)) = 1 ]; then
		emp_setup apply "$(moment $apply_ms)"
		[ $status = 137 ] || apply_ms=$((apply_ms * 3 / 4))
	else
		whole apply 2
		apply_ms=$took
		emp_setup restore "$(moment $restore_ms)"
		[ $status = 137 ] || restore_ms=$((restore_ms * 3 / 4))
	fi
	[ $status != 137 ] || killed=$((killed + 1))
	whole restore 0
	unchanged "attempt $n, at $verb, and restore"
done
box_stop
echo "killed $killed times in $n attempts"
[ $killed = "$kills" ] || fault "too few kills came in time"
[ $faults = 0 ] && echo "everything was restored" || echo "$faults faults"
exit $((faults > 0))
