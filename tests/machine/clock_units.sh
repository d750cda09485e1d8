#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# In a box, and so in a PID namespace of its own: emp-clock.socket starts emp-clock.service when a client connects, and again after the service was
# killed; the service ends when it is idle. The units are those that EMP installs, with a shorter idle time. Usage: clock_units.sh BUILD
set -eu
. "$(dirname "$0")/box.sh"
build=$(realpath "$1")
source=$(realpath "$(dirname "$0")/../..")
machine=$build/tests/machine
faults=0
fault() {
	echo "FAULT: $1"
	faults=$((faults + 1))
}
box_needs setpriv
[ -e /sys/kernel/btf/vmlinux ] || { echo "not run: needs BTF"; [ -z "${EMP_MUST_RUN:-}" ] || exit 1; exit 77; }
box_new
trap 'box_remove' EXIT
units=$box/upper/usr/lib/systemd/system
mkdir -p "$units"
cp "$source/clock/emp-clock.socket" "$units/"
sed 's,^ExecStart=.*,& --idle 2s,' "$build/clock/emp-clock.service" >"$units/emp-clock.service"
program=$box/upper$(sed -n 's/^ExecStart=//p' "$build/clock/emp-clock.service")
mkdir -p "$(dirname "$program")"
cp "$build/clock/emp-clockd" "$program"
cat >"$box/upper/etc/systemd/system/emp-test.target" <<'U'
[Unit]
Requires=basic.target
After=basic.target
Wants=emp-clock.socket
U
state() {
	box_run systemctl show --value -p ActiveState emp-clock.service
}
is() { [ "$(state)" = "$1" ]; }
main_pid() {
	box_run systemctl show --value -p MainPID emp-clock.service
}
fuzz() {
	box_run "$machine/clock_fuzz_slots" 3 open >"$box/out" 2>&1 || { fault "$1: a reading was wrong"; cat "$box/out"; }
	grep -q '^flags' /proc/cpuinfo && ! grep -q nonstop_tsc /proc/cpuinfo || # each is a system call then
		! grep -q '^fast 0,' "$box/out" || fault "$1: the slots were not used"
	cat "$box/out"
}

box_start
box_wait 60 box_run test -S /run/emp/clock.socket || fault "no socket"
is inactive || fault "the service runs without a client: $(state)"
fuzz "the first"
is active || fault "the service does not run: $(state)"
first=$(main_pid)
box_run kill -KILL "$first"
fuzz "after a kill"
[ "$(main_pid)" != "$first" ] || fault "it is the same service"
box_run setpriv --reuid 65534 --regid 65534 --clear-groups env EMP_CLOCK_SOCKET=/run/emp/clock.socket "$machine/clock_client" hostile </dev/null ||
	fault "an ordinary user"
box_wait 60 is inactive || fault "it does not end when it is idle: $(state)"
for unit in emp-clock.service emp-clock.socket; do
	box_run systemctl --quiet is-failed $unit && fault "$unit has failed"
done
box_run journalctl -u emp-clock.service -o cat --no-pager | grep 'ns per context switch' || fault "the journal does not have the cost"
box_stop
[ $faults = 0 ] && echo "the units work" || echo "$faults faults"
exit $((faults > 0))
