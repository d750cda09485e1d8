#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-setup apply --isolate: a core of its own for the measured CPU, interrupts elsewhere, emp-measure in it, and everything as
# before after restore, also after a SIGKILL at each crash point. Needs two cores, and cgroup v2 with the cpuset controller,
# which machines with systemd have: so it is run by hand, on such a machine or by setup_isolation_vm.sh.
# Usage: setup_isolation.sh BUILD
set -u
setup=$1/setup/emp-setup measure=$1/measure/emp-measure
top=/sys/fs/cgroup
[ -e $top/cgroup.controllers ] || top=$top/unified
cpu=$(sed 's/.*[-,]//' /sys/devices/system/cpu/online)
siblings=$(cat /sys/devices/system/cpu/cpu"$cpu"/topology/thread_siblings_list 2>/dev/null || echo "$cpu")
[ "$(id -u)" = 0 ] && grep -qw cpuset $top/cgroup.controllers && [ "$cpu" != 0 ] && [ ! -e /var/lib/emp-setup ] &&
	[ "$siblings" != "$(cat /sys/devices/system/cpu/online)" ] || {
	echo "not run: needs root, cgroup v2 with the cpuset controller, two cores, and nothing applied by emp-setup"
	[ -z "${EMP_MUST_RUN:-}" ] || exit 1
	exit 77
}
export COLUMNS=500 # a row is a line
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
faults=0

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

contents() {
	grep -H '' /proc/irq/default_smp_affinity /proc/irq/*/smp_affinity_list
	grep -H '' $top/cgroup.subtree_control
	find $top -mindepth 1 -maxdepth 1 -type d
	grep Cpus_allowed_list /proc/self/status
}

same() {
	contents | diff "$dir/before" - >"$dir/diff" && return 0
	fault "$1 left a difference:"
	cat "$dir/diff"
}

run() { # STATUS COMMAND...
	want=$1 status=0
	shift
	"$@" >"$dir/out" 2>&1 || status=$?
	[ $status = "$want" ] && return 0
	fault "$* ended with $status, not $want"
	cat "$dir/out"
}

says() { # PATTERN: the output of the last run
	grep -q "$1" "$dir/out" && return 0
	fault "the output lacks '$1'"
	cat "$dir/out"
}

contents >"$dir/before"
ids=isolated,irq.default,irq.each
only="--isolate $cpu --only irq.default,irq.each"

run 0 "$setup" apply --dry-run $only
says "^isolated  *will change  *none  *$siblings "
same "a dry run"

run 0 "$setup" apply $only
says "^isolated  *changed  *none  *$siblings "
[ "$(cat $top/emp-isolated/cpuset.cpus.partition)" = isolated ] || fault "there is no isolated partition"
grep Cpus_allowed_list /proc/self/status | grep -qw "$cpu" && fault "this shell may still run on CPU $cpu"
run 0 "$setup" status
says "^isolated  *as set "
[ "$(grep -c '^irq.each ' "$dir/out")" -lt "$(ls -d /proc/irq/[0-9]* | wc -l)" ] || fault "status has a row for each interrupt"
"$setup" audit --all --verbose >"$dir/out"
says "^isolated  *ok  *CPU"
says "^irq.default  *ok "
run 0 "$measure" --cpu "$cpu" --neighbour off -r 1 -w 0 --show-output -- sh -c 'cat /proc/self/cgroup; grep Cpus_allowed_list /proc/self/status'
says "^0::/emp-isolated/"
says "^Cpus_allowed_list:.$cpu\$"


sleep 1000 & # a program in the partition keeps it
program=$!
echo $program >$top/emp-isolated/cgroup.procs
run 1 "$setup" restore
says "^isolated  *failed .*busy"
kill $program
wait $program 2>/dev/null
run 0 "$setup" restore
same "restore"

# Killed at each crash point of apply, then of restore
n=1
while :; do
	status=0
	"$setup" apply $only --kill-after $n >"$dir/out" 2>&1 || status=$?
	[ $status = 137 ] || break
	run 0 "$setup" restore
	same "apply, killed at crash point $n"
	n=$((n + 1))
done
[ $status = 0 ] || fault "apply ended with $status"
echo "killed at each of $((n - 1)) crash points of apply"
run 0 "$setup" restore
n=1
while :; do
	run 0 "$setup" apply $only
	status=0
	"$setup" restore --kill-after $n >"$dir/out" 2>&1 || status=$?
	[ $status = 137 ] || break
	run 0 "$setup" restore
	same "restore, killed at crash point $n"
	n=$((n + 1))
done
echo "killed at each of $((n - 1)) crash points of restore"
same "the last restore"
[ $faults = 0 ] && echo "everything was restored"
exit $((faults > 0))
