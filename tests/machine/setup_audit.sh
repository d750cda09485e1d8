#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What emp-setup audit learns from a systemd: how late a timer may be, and who holds off a shutdown; and a time daemon of a
# container, which is not this machine's. In a box. Usage: setup_audit.sh BUILD
set -eu
. "$(dirname "$0")/box.sh"
box_needs systemd-inhibit
build=$(realpath "$1")
setup=$build/setup/emp-setup
faults=0
trap '[ -z "${box:-}" ] || box_remove' EXIT

# finds ID WORDS: in that row of the audit, within a minute
finds() {
	id=$1
	words=$2
	if ! box_wait 60 row_has; then
		echo "FAULT: $id has not '$words' but '$line'"
		faults=$((faults + 1))
	fi
}

row_has() {
	line=$(COLUMNS=500 box_run "$setup" audit -v | grep "^$id  " || :)
	case $line in *$words*) ;; *) return 1 ;; esac
}

box_new
box_install dbus
for name in late prompt; do
	printf '[Service]\nType=oneshot\nExecStart=/bin/true\n' >"$box/upper/etc/systemd/system/$name.service"
done
printf '[Timer]\nOnActiveSec=2h\nAccuracySec=12h\n' >"$box/upper/etc/systemd/system/late.timer"
printf '[Timer]\nOnActiveSec=2h\n' >"$box/upper/etc/systemd/system/prompt.timer"
box_start
box_run systemctl start late.timer prompt.timer
finds svc.due 'late.timer at 20*-* or up to 12 h 0 min later'
case $line in *"prompt.timer at "*) ;; *) echo "FAULT: prompt.timer is missing: $line"; faults=$((faults + 1)) ;; esac
case ${line#*prompt.timer at } in *later*late.timer* | *late.timer*) ;; *later*)
	echo "FAULT: prompt.timer is said to be late: $line"
	faults=$((faults + 1))
	;;
esac

box_run systemctl start systemd-logind
finds svc.inhibitors 'nobody holds off a shutdown'
box_run systemd-run -q -u flash systemd-inhibit --what=shutdown --who=fwupd --why='firmware update in progress' sleep infinity
finds svc.inhibitors 'fwupd: firmware update in progress'
box_run systemctl stop flash
finds svc.inhibitors 'nobody holds off a shutdown'

# A chronyd in a PID namespace of its own; then one of the box.
box_run cp /bin/sleep /opt/chronyd
finds ntp.on 'no time daemon runs'
box_run systemd-run -q -p KillSignal=SIGKILL -u container unshare --pid --fork --mount-proc /opt/chronyd infinity
box_wait 60 box_run pgrep -x chronyd >/dev/null
finds ntp.on 'chrony * container'
box_run systemd-run -q -u own /opt/chronyd infinity
finds ntp.on 'chrony runs'
box_run systemd-run -q -u second /opt/chronyd infinity
finds ntp.on '2 daemons set one clock: chrony, chrony'
box_stop
echo "$faults faults"
[ $faults = 0 ]
