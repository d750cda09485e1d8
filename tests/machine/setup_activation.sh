#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# In a box: daemons that do not run, but that a request over D-Bus, a socket, a path or a timer starts, stay stopped while emp-setup's
# settings are applied, and can be started after restore. And units that are gone or masked when they are to be restored.
# Usage: setup_activation.sh BUILD
set -eu
. "$(dirname "$0")/box.sh"
. "$(dirname "$0")/setup_walk.sh"
build=$(realpath "$1")
setup=$build/setup/emp-setup
faults=0
box_needs
box_new
trap 'box_remove' EXIT
box_install packagekit udisks2 upower fwupd cron libpam-systemd
put() {
	mkdir -p "$(dirname "$box/upper$1")"
	cat >"$box/upper$1"
}
put /etc/systemd/system/emp-test.target <<'U'
[Unit]
Requires=basic.target
After=basic.target
Wants=dbus.service systemd-logind.service planted-gone.service planted-masked.service planted-kept.service
U
for unit in gone masked kept idle socket; do
	printf '[Service]\nExecStart=sleep infinity\n' | put /usr/lib/systemd/system/planted-$unit.service
done
printf '[Socket]\nListenStream=/run/planted.socket\n' | put /usr/lib/systemd/system/planted-socket.socket
printf '[Service]\nExecStart=sleep infinity\n' | put /etc/systemd/system/planted-etc.service
put /etc/emp-test.ini <<'P'
[policy]
include = debian-12
[stop]
planted-*.service = planted
planted-*.socket = planted
upower.service = asked for by name
P
policy=/etc/emp-test.ini
# a timer of a user whose manager runs without a session, and a table of cron
printf '[Timer]\nOnCalendar=minutely\n' | put /etc/systemd/user/planted-user.timer
printf '[Service]\nType=oneshot\nExecStart=true\n' | put /etc/systemd/user/planted-user.service
mkdir -p "$box/upper/etc/systemd/user/timers.target.wants" "$box/upper/var/lib/systemd/linger"
ln -s /etc/systemd/user/planted-user.timer "$box/upper/etc/systemd/user/timers.target.wants/planted-user.timer"
: >"$box/upper/var/lib/systemd/linger/daemon"
printf '* * * * * root true\n@reboot root mkfifo /run/job-end; read word </run/job-end\n' | put /etc/cron.d/planted

state() {
	box_run systemctl list-units --all --no-legend --plain --type=service,timer,socket,path |
		awk '$2 != "not-found" && $4 != "dead" && $1 !~ /^(user(@|-runtime-dir@)1|systemd-(hostnamed|timedated|localed|tmpfiles-clean|journal-flush)|polkit)\.service/ { if ($4 == "running" && $1 ~ /timer$/) $4 = "waiting"; print $1, $2, $3, $4 }' | sort
	box_run find /etc /run/systemd/system /var/lib/emp-setup ! -path '*/ssl/*' -printf '%y %p %l\n' 2>/dev/null | sort
}

apply() {
	box_run "$setup" apply --policy $policy --only svc.units,svc.timers "$@" >"$box/out" 2>&1
}

ping_daemon() { # NAME: a request over D-Bus, which starts it
	box_run busctl --timeout=30 call "$1" / org.freedesktop.DBus.Peer Ping >"$box/ping" 2>&1
}

box_start
state >"$box/before"
file_states >"$box/files"

# 0. The audit sees a user's timer, and a job of cron while cron runs
box_wait 60 box_run systemctl -q is-active user@1.service || fault "no manager of a user runs"
due() {
	box_run "$setup" audit --policy $policy --verbose >"$box/out" || :
	grep -A3 '^svc.due' "$box/out" | grep -q "$1"
}
box_wait 60 due user-1/planted-user.timer || { fault "the timer of a user is not listed"; cat "$box/out"; }
due /etc/cron.d/planted && fault "a job of cron is listed, though cron does not run"
box_run systemctl start cron
due /etc/cron.d/planted || { fault "the job of cron is not listed"; cat "$box/out"; }
# its running job goes on when it is stopped, and is not begun again when it is started
is_one_job() { [ "$(box_run pgrep -c -f '^/bin/sh -c mkfifo /run/job-end' || :)" = 1 ]; }
box_wait 60 is_one_job || fault "the job of cron does not run"
status=0
apply || status=$?
[ $status = 2 ] && grep -q '^svc.units .*differs .*cron.service: it has left cron (PID [0-9]*), sh (PID [0-9]*)' "$box/out" ||
	{ fault "the running job of cron is not named: status $status"; cat "$box/out"; }
restore || { fault "restore ended with $?"; cat "$box/out"; }
box_run systemctl -q is-active cron || fault "cron was not restored"
is_one_job || fault "there is not one job after restore"
echo >"/proc/$box_pid/root/run/job-end"
box_run systemctl stop cron
due desktop-session: && fault "a desktop session is listed, though there is none"
box_run systemd-run --quiet --unit planted-desktop --property PAMName=login --property User=daemon --setenv XDG_SESSION_TYPE=wayland \
	sleep infinity
box_wait 60 due desktop-session:daemon || { fault "the desktop session is not listed"; cat "$box/out"; }
box_run systemctl stop planted-desktop
no_desktop() { ! due desktop-session:; }
box_wait 60 no_desktop || fault "the desktop session is listed, though it is over"

# 1. Nothing starts them while it is applied
apply || { fault "apply ended with $?"; cat "$box/out"; }
state >"$box/applied"
for pair in PackageKit:packagekit UDisks2:udisks2 UPower:upower fwupd:fwupd; do
	unit=${pair#*:}.service
	ping_daemon org.freedesktop.${pair%:*} && fault "a request over D-Bus starts $unit"
	[ "$(box_run systemctl is-active $unit)" = inactive ] || fault "$unit is $(box_run systemctl is-active $unit)"
	box_run systemctl -q is-enabled $unit && fault "$unit is not masked"
done
for unit in planted-idle.service planted-etc.service planted-socket.socket planted-socket.service fwupd-refresh.timer; do
	box_run systemctl start $unit >/dev/null 2>&1 || :
	[ "$(box_run systemctl is-active $unit)" = inactive ] || fault "$unit could be started"
done
box_run "$setup" status >"$box/out" || fault "status ended with $?"
[ "$(wc -l <"$box/out")" -lt 24 ] && grep -q 'units that did not run are kept from starting; -v lists everything' "$box/out" ||
	{ fault "status does not fit a screen"; cat "$box/out"; }
box_run "$setup" status -v >"$box/out" || fault "status -v ended with $?"
grep -q '^svc.units .*as set .*inactive .*inactive .*planted-idle.service' "$box/out" || { fault "status -v does not list planted-idle"; cat "$box/out"; }
restore || { fault "restore ended with $?"; cat "$box/out"; }
same "apply and restore"
file_states | diff "$box/files" - || fault "the states of files differ"
apply --persistent || fault "apply --persistent ended with $?"
box_reboot
ping_daemon org.freedesktop.UPower && fault "a request over D-Bus starts upower after a reboot"
restore || { fault "restore ended with $?"; cat "$box/out"; }
file_states | diff "$box/files" - || fault "apply --persistent: the states of files differ"

# 2. A unit whose package was removed since, one that the administrator has masked, and one that does not start any more
apply || fault "apply ended with $?"
box_run rm /usr/lib/systemd/system/planted-gone.service
box_run systemctl mask planted-masked.service >/dev/null 2>&1
box_run sed -i 's,ExecStart=.*,ExecStart=/none,;s,\[Service\],&\nType=exec,' /usr/lib/systemd/system/planted-kept.service
status=0
restore || status=$?
[ $status = 1 ] || fault "restore ended with $status, not 1"
grep -q '^svc.units .*differs .*active .*inactive .*planted-gone.service: it no longer exists' "$box/out" || fault "the unit that is gone is not named"
grep -q '^svc.units .*left alone .*planted-masked.service: masked by somebody else' "$box/out" || fault "the masked unit is not named"
grep -q '^svc.units .*failed .*planted-kept.service' "$box/out" || fault "the unit that does not start is not named"
[ $faults = 0 ] || cat "$box/out"
box_run "$setup" status -v >"$box/out" || fault "status ended with $?"
[ "$(grep -c '^svc.units' "$box/out")" = 2 ] || { fault "status lists something else than the two"; cat "$box/out"; }
status=0
restore --forget || status=$?
[ $status = 0 ] || fault "restore --forget ended with $status, not 0"
grep -q '^svc.units .*forgotten .*active .*planted-masked.service: masked by somebody else$' "$box/out" ||
	{ fault "--forget does not say what it forgets"; cat "$box/out"; }
restore || fault "restore ended with $? after --forget"
grep -q 'Nothing is applied' "$box/out" || { fault "--forget keeps units"; cat "$box/out"; }
box_run systemctl is-enabled planted-masked.service 2>&1 | grep -q '^masked$' || fault "the administrator's mask is gone"

# 3. Afterwards a request over D-Bus starts them again
for pair in PackageKit:packagekit UDisks2:udisks2 UPower:upower; do
	ping_daemon org.freedesktop.${pair%:*} || { fault "${pair#*:} does not start any more"; cat "$box/ping"; }
done
box_stop
[ $faults = 0 ] && echo "nothing was started while it was applied" || echo "$faults faults"
exit $((faults > 0))
