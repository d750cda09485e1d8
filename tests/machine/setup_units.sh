#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-setup stops services, sockets, paths and timers of every kind, and restores all of them exactly: after a clean run, after a
# SIGKILL at every crash point of apply and of restore, after a crash and after a reboot. Usage: setup_units.sh BUILD
set -eu
. "$(dirname "$0")/box.sh"
. "$(dirname "$0")/setup_walk.sh"
build=$(realpath "$1")
setup=$build/setup/emp-setup
box_needs
box_new
trap 'box_remove' EXIT
faults=0

# put FILE: a file of the box, its text from standard input
put() {
	mkdir -p "$(dirname "$box/upper$1")"
	cat >"$box/upper$1"
}

# service NAME [LINE...]: a unit as a package brings it, with more lines for [Unit]
service() {
	name=$1
	shift
	{
		printf '[Unit]\n'
		for line; do printf '%s\n' "$line"; done
		printf '[Service]\nExecStart=sleep infinity\n[Install]\nWantedBy=emp-test.target\n'
	} | put "/usr/lib/systemd/system/$name"
}

want() {
	mkdir -p "$box/upper/etc/systemd/system/emp-test.target.wants"
	for unit; do ln -s "/usr/lib/systemd/system/$unit" "$box/upper/etc/systemd/system/emp-test.target.wants/$unit"; done
}

put /usr/lib/systemd/system/emp-test.target <<'U'
[Unit]
Requires=basic.target
After=basic.target
Wants=dbus.service systemd-logind.service cron.service atd.service rsyslog.service planted-etc.service planted-sysv.service
U
service planted-plain.service
service planted-base.service
service planted-dependent.service Requires=planted-base.service After=planted-base.service
service planted-held.service
service planted-critical.service Requires=planted-held.service
service planted-socket.service Requires=planted-socket.socket After=planted-socket.socket
printf '[Socket]\nListenStream=/run/planted.socket\n[Install]\nWantedBy=sockets.target\n' | put /usr/lib/systemd/system/planted-socket.socket
service planted-path.service
printf '[Path]\nPathExists=/run/planted.never\n[Install]\nWantedBy=paths.target\n' | put /usr/lib/systemd/system/planted-path.path
printf '[Timer]\nOnCalendar=daily\nPersistent=true\n' | put /usr/lib/systemd/system/planted-job.timer
printf '[Service]\nType=oneshot\nExecStart=true\n' | put /usr/lib/systemd/system/planted-job.service
printf '[Unit]\nDescription=a template\n[Service]\nExecStart=sleep infinity\n' | put /usr/lib/systemd/system/planted-template@.service
service planted-alias.service
ln -s /usr/lib/systemd/system/planted-alias.service "$box/upper/etc/systemd/system/planted-other-name.service"
service planted-idle.service # not wanted: it is off, and stays so
printf '[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=true\n' | put /usr/lib/systemd/system/planted-done.service
printf '[Service]\nExecStart=sleep infinity\n' | put /etc/systemd/system/planted-etc.service
put /etc/init.d/planted-sysv <<'U'
#!/bin/sh
### BEGIN INIT INFO
# Provides: planted-sysv
# Required-Start:
# Required-Stop:
# Default-Start: 2 3 4 5
# Default-Stop: 0 1 6
# Short-Description: an old script
### END INIT INFO
case $1 in
start) setsid sleep infinity & ;;
stop) pkill -f 'sleep infinity' -g 0 || : ;;
esac
U
chmod +x "$box/upper/etc/init.d/planted-sysv"
want planted-plain.service planted-base.service planted-dependent.service planted-held.service planted-critical.service \
	planted-socket.service planted-socket.socket planted-path.service planted-path.path planted-job.timer planted-alias.service \
	planted-done.service
ln -s /usr/lib/systemd/system/planted-template@.service "$box/upper/etc/systemd/system/emp-test.target.wants/planted-template@1.service"
printf '[Service]\nExecStart=sleep infinity\nExecStop=sh -c "until [ -e /run/planted-go ]; do sleep 0.05; done"\n' |
	put /usr/lib/systemd/system/planted-slow.service
put /etc/emp-slow.ini <<'P'
[policy]
include = common
[stop]
planted-plain.service = planted
planted-slow.service = planted
P
service planted-wanting.service Wants=planted-wanted.service
service planted-wanted.service
service planted-propagating.service PropagatesStopTo=planted-victim.service
service planted-victim.service
service planted-manual.service RefuseManualStart=yes
want planted-manual.service
put /etc/emp-odd.ini <<'P'
[policy]
include = common
[stop]
planted-wanting.service = planted
planted-propagating.service = planted
planted-manual.service = planted
[loses]
planted-wanting.service = its thoughts
P
put /etc/emp-test.ini <<'P'
[policy]
include = common
[stop]
planted-plain.service = planted
planted-base.service = planted
planted-held.service = planted
planted-socket.service = planted
planted-path.service = planted
planted-job.timer = planted
planted-template@*.service = planted
planted-alias.service = planted
planted-done.service = planted
planted-etc.service = planted
planted-sysv.service = planted
[never]
planted-critical.service = planted, and not to be touched
P
cat >"$box/state.sh" <<'S'
systemctl list-units --all --no-legend --plain --type=service,timer,socket,path |
	awk '$1 ~ /timer$/ && $4 == "running" { $4 = "waiting" } $1 !~ /^systemd-(hostnamed|timedated|localed|tmpfiles-clean|journal-flush)\.service|^planted-job.service/ { print $1, $2, $3, $4 }' | sort
find /etc /usr/lib/systemd /run/systemd/system /var/lib/emp-setup -printf '%y %p %l\n' 2>/dev/null | sort
S

state() {
	box_run sh -s <"$box/state.sh"
}

apply() {
	box_run "$setup" apply --policy /etc/emp-test.ini --only svc.units,svc.timers "$@" >"$box/out" 2>&1
}

# Waits for what stops and starts by itself.
settle() {
	box_run systemctl is-system-running --wait >/dev/null || :
}

box_start
state >"$box/before"
file_states >"$box/files"
up=$(box_run systemctl list-units --no-legend --plain --state=active --type=service,timer,socket,path 'planted-*' | wc -l)
echo "$up planted units are up"
[ "$up" -ge 15 ] || fault "planted units do not run"

# 1. A clean run
status=0
apply || status=$?
[ $status = 2 ] || fault "apply ended with $status, though one unit is held back"
grep -q 'refused .*planted-held.service: planted-critical.service must not be touched' "$box/out" ||
	{ fault "the held unit is not named"; cat "$box/out"; }
for unit in planted-plain planted-base planted-dependent planted-socket planted-path planted-template@1 planted-alias planted-etc \
	planted-sysv; do
	box_run systemctl -q is-active $unit.service && fault "$unit still runs"
	box_run systemctl start $unit.service 2>/dev/null || :
	box_run systemctl -q is-active $unit.service && fault "$unit could be started"
done
for unit in planted-socket.socket planted-path.path planted-job.timer; do
	box_run systemctl -q is-active $unit && fault "$unit is still up"
done
for unit in planted-critical planted-held planted-done; do
	box_run systemctl -q is-active $unit.service || fault "$unit was stopped"
done
box_run "$setup" status | grep -q '^Applied since' || fault "status does not say so"
apply || :
state >"$box/applied"
restore || { fault "restore failed"; cat "$box/out"; }
same "a clean run"

# 2. Killed at every crash point of apply and of restore
walk

# 3. Killed in the middle, applied again, restored: an applied value is never taken for the original one
for n in 2 7 15; do
	apply --kill-after $n || :
	apply || :
	restore || fault "restore failed"
	same "apply, killed at crash point $n, apply and restore"
done

# 4. After a reboot nothing is left, and the service settles the journal
apply || :
box_reboot
settle
box_run "$setup" status | grep -q 'has rebooted since' || fault "status does not know of the reboot"
restore --at-boot || fault "restore --at-boot failed"
same "a reboot"
apply || :
box_crash
box_start
settle
restore || fault "restore failed after a crash"
same "a crash"

# 5. Persistent: stopped after a reboot too, until it is restored
apply --persistent || :
box_reboot
settle
box_run systemctl -q is-active planted-plain.service && fault "planted-plain runs after a reboot"
box_run systemctl -q is-active planted-etc.service && fault "planted-etc runs after a reboot"
restore --at-boot || fault "restore --at-boot failed"
box_run systemctl -q is-active planted-plain.service && fault "restore --at-boot ended what is persistent"
restore || { fault "restore failed"; cat "$box/out"; }
same "apply --persistent"

# 6. With a command
status=0
box_run "$setup" apply --policy /etc/emp-test.ini --only svc.units --for -- sh -c 'systemctl is-active planted-plain; exit 7' \
	>"$box/out" 2>"$box/errors" || status=$?
[ $status = 7 ] && [ "$(cat "$box/out")" = inactive ] || fault "--for: status $status, $(cat "$box/out" "$box/errors")"
same "apply --for"

# 7. A unit that takes long to stop: it is named, ^C and TERM undo everything, and after a SIGKILL restore waits until it can be started
is_stopping() { [ "$(box_run systemctl is-active planted-slow)" = deactivating ]; }
is_starting() { box_run systemctl list-jobs --no-legend | grep -q 'planted-slow.*start'; }
says_so() { grep -q "^waiting for planted-slow.service to $1: [0-9]* s" "$box/out"; }
emp_setup() { box_run pidof "$setup"; }
stop_slowly() {
	rm -f "/proc/$box_pid/root/run/planted-go"
	box_run systemctl start planted-slow
	state >"$box/before"
	box_run "$setup" apply --policy /etc/emp-slow.ini --only svc.units >"$box/out" 2>&1 &
	applying=$!
	box_wait 60 is_stopping || fault "planted-slow is not being stopped"
}
go() { : >"/proc/$box_pid/root/run/planted-go"; }

for signal in INT TERM; do
	stop_slowly
	box_wait 60 says_so stop || fault "apply does not say what it waits for"
	box_run kill -$signal "$(emp_setup)"
	box_wait 60 is_starting || fault "$signal: planted-slow is not started again"
	go
	status=0
	wait $applying || status=$?
	[ $status = 130 ] && grep -q 'undone: interrupted while it waited for planted-slow.service to stop' "$box/out" ||
		{ fault "apply ended with $status after $signal"; cat "$box/out"; }
	same "apply and $signal"
done
stop_slowly
box_run kill -KILL "$(emp_setup)"
wait $applying || :
box_run "$setup" restore >"$box/out" 2>&1 &
restoring=$!
box_wait 60 is_starting || fault "restore does not start what is still stopping"
box_wait 60 says_so start || fault "restore does not say what it waits for"
go
wait $restoring || { fault "restore failed"; cat "$box/out"; }
same "apply, killed while a unit stopped, and restore"
box_run systemctl stop planted-slow

# 8. What a stop takes along, and what a start must not bring
box_run systemctl start planted-wanting planted-propagating planted-victim
box_run systemctl stop planted-wanted
state >"$box/before"
box_run "$setup" apply --dry-run --policy /etc/emp-odd.ini --only svc.units >"$box/out" || fault "apply --dry-run ended with $?"
grep -q 'will change .*planted-wanting.service: its thoughts' "$box/out" || { fault "the plan does not say what is lost"; cat "$box/out"; }
status=0
box_run "$setup" apply --policy /etc/emp-odd.ini --only svc.units >"$box/out" 2>&1 || status=$?
[ $status = 2 ] && grep -q 'refused .*planted-manual.service cannot be started by hand' "$box/out" ||
	{ fault "a unit that refuses to be started: status $status"; cat "$box/out"; }
grep -q 'changed .*planted-victim.service' "$box/out" || { fault "planted-victim is not in the plan"; cat "$box/out"; }
restore || { fault "restore failed"; cat "$box/out"; }
same "units that stop others, want others, or refuse to be started"
box_run "$setup" apply --policy /etc/emp-odd.ini --only svc.units >/dev/null || :
box_run systemctl start planted-idle
box_run systemctl stop planted-plain
box_run systemctl mask --runtime planted-held 2>/dev/null
status=0
restore || status=$?
[ $status = 2 ] && grep -q '^units .*differs .*inactive .*active .*planted-idle.service' "$box/out" &&
	grep -q '^units .*differs .*active .*inactive .*planted-plain.service' "$box/out" &&
	grep -q '^masks .*differs .*/run/systemd/system/planted-held.service' "$box/out" &&
	grep -q '^Not as before the first apply: ' "$box/out" || { fault "restore does not say what differs: status $status"; cat "$box/out"; }
box_run systemctl unmask --runtime planted-held
box_run systemctl stop planted-idle planted-wanting planted-propagating planted-victim
box_run systemctl start planted-plain

file_states | diff "$box/files" - || fault "the states of files differ"
box_stop
[ $faults = 0 ] && echo "everything was restored" || echo "$faults faults"
exit $((faults > 0))
