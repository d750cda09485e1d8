#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Some twenty real daemons from the distribution's archive, in a box: emp-setup stops them, and restores the box to the last link on its
# disk, after a clean run, a SIGKILL at every crash point of apply and of restore, a crash and a reboot. Usage: setup_daemons.sh BUILD [STRIDE]
# With a stride of 5, only every fifth crash point, beginning with one that EMP_SEED chooses.
set -eu
. "$(dirname "$0")/box.sh"
. "$(dirname "$0")/setup_walk.sh"
build=$(realpath "$1")
setup=$build/setup/emp-setup
stride=${2:-1} seed=${EMP_SEED:-$(date +%s)}
echo "EMP_SEED=$seed"
faults=0

box_needs
box_new
trap 'box_remove' EXIT
box_install cron anacron at exim4-daemon-light cups cups-browsed avahi-daemon unattended-upgrades rsyslog chrony apache2 \
	redis-server sysstat packagekit modemmanager rpcbind udisks2 upower irqbalance man-db logrotate plocate openssh-server
units='cron anacron atd exim4 cups cups-browsed avahi-daemon unattended-upgrades rsyslog chrony apache2 redis-server sysstat packagekit
	ModemManager rpcbind udisks2 upower irqbalance ssh'
for unit in $units; do wanted="${wanted:-} $unit.service"; done
printf '[Unit]\nRequires=basic.target\nAfter=basic.target\nWants=dbus.service systemd-logind.service %s\n' "$wanted" \
	>"$box/upper/etc/systemd/system/emp-test.target"
for unit in irqbalance ModemManager; do # they do not run in a container by default
	mkdir -p "$box/upper/etc/systemd/system/$unit.service.d"
	printf '[Unit]\nConditionVirtualization=\n' >"$box/upper/etc/systemd/system/$unit.service.d/in-a-box.conf"
done
box_restore_at_boot "$setup"

# What must come back: the state of every unit, and every file of the box but for what daemons themselves write and systemd's stamps.
# A timer whose service happens to run just now is "running".
state() {
	box_run systemctl list-units --all --no-legend --plain --type=service,timer,socket,path |
		awk '$1 ~ /timer$/ && $4 == "running" { $4 = "waiting" } $1 !~ /^(systemd-(hostnamed|timedated|localed|tmpfiles-clean|journal-flush|update-utmp.*)|anacron|logrotate|man-db|sysstat-.*|apt-.*|dpkg-.*|e2scrub.*|exim4-base|plocate-updatedb|polkit|emp-restore)\.service/ { print $1, $2, $3, $4 }' | sort
	box_run find /run/systemd/system -printf '%y %p %l\n' 2>/dev/null | sort
	on_disk
}

on_disk() {
	(cd "$box/upper" && find . \( -path ./var/log -o -path ./var/lib/systemd -o -path ./var/spool -o -path ./var/lib/chrony -o \
		-path ./var/cache -o -path ./var/tmp -o -path ./var/lib/logrotate -o -path ./var/lib/redis -o -path ./var/lib/upower -o \
		-path ./var/lib/apt -o -path ./var/mail -o -path ./var/lib/plocate -o -path ./var/lib/PackageKit -o \
		-path ./var/lib/cups -o -path ./var/lib/emp -o -path './etc/cups/subscriptions.conf*' \) -prune -o -printf '%y %m %p %l\n' | sort
		find ./etc -type f ! -path './etc/cups/subscriptions.conf*' -exec md5sum {} + | sort -k 2)
}

apply() {
	box_run "$setup" apply --only svc.units,svc.timers "$@" >"$box/out" 2>&1
}

# Waits until systemd has no job left, and no unit is on its way.
settle() {
	box_run timeout $((60 * ${EMP_TIMEOUT_MULTIPLIER:-1})) systemctl is-system-running --wait >/dev/null || :
	box_wait 60 is_settled || fault "the box does not settle"
}

is_settled() {
	[ -z "$(box_run systemctl list-jobs --no-legend)" ] &&
		[ -z "$(box_run systemctl list-units --no-legend --plain --state=activating,deactivating,reloading)" ]
}

box_start
settle
state >"$box/before"
file_states >"$box/files"
up=0
for unit in $units; do
	box_run systemctl -q is-active $unit && up=$((up + 1)) || echo "$unit is $(box_run systemctl is-active $unit || :)"
done
echo "$up of $(echo $units | wc -w) daemons are up"
[ $up -ge 15 ] || fault "too few daemons run"

apply || fault "apply ended with $?"
cat "$box/out"
on_disk >"$box/applied"
cat "$box/before" | diff - "$box/applied" | grep -q 'var/lib/emp-setup/journal' || fault "the disk does not differ while it is applied"
restore || fault "restore failed"
cat "$box/out"
same "a clean run"
file_states | diff "$box/files" - || fault "the states of files differ"

walk "$stride" $((seed % stride + 1))

apply || :
box_crash
box_start
settle
same "a crash, and emp-restore.service"
apply --persistent || :
box_reboot
settle
box_run systemctl -q is-active cron && fault "cron runs after a reboot, though it was stopped persistently"
restore || { fault "restore failed"; cat "$box/out"; }
same "apply --persistent, a reboot and restore"
apply || :
box_reboot
settle
same "a reboot, and emp-restore.service"
file_states | diff "$box/files" - || fault "the states of files differ"
box_stop
[ $faults = 0 ] && echo "everything was restored" || echo "$faults faults"
exit $((faults > 0))
