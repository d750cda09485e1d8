#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-setup stops services, sockets, paths and timers of every kind, and restores all of them exactly: after a clean run, after a
# SIGKILL at every crash point of apply and of restore, after a crash and after a reboot. Usage: setup_units.sh BUILD [STRIDE]
# With a stride of 5, only every fifth crash point, beginning with one that EMP_SEED chooses.
set -eu
. "$(dirname "$0")/box.sh"
. "$(dirname "$0")/setup_walk.sh"
build=$(realpath "$1")
setup=$build/setup/emp-setup
stride=${2:-1} seed=${EMP_SEED:-$(date +%s)}
box_needs
box_new
trap 'box_remove' EXIT
faults=0
. "$(dirname "$0")/setup_planted.sh"

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
echo "EMP_SEED=$seed"
walk "$stride" $((seed % stride + 1))

# 3. Killed in the middle, applied again, restored: an applied value is never taken for the original one
for n in 2 7 15; do
	apply --kill-after $n || :
	apply || :
	restore || fault "restore failed"
	same "apply, killed at crash point $n, apply and restore"
done

# and with a command in between: at its end, all is as when it began, and nothing fails
for n in 2 9 $(seq 16 2 40); do # also between a socket and its service
	apply --kill-after $n || :
	state >"$box/killed"
	status=0
	apply --for -- true || status=$?
	[ $status = 0 ] || { fault "--for ended with $status after apply was killed at crash point $n"; cat "$box/out"; }
	state | diff "$box/killed" - >"$box/diff" || { fault "--for after a kill at $n left a difference:"; cat "$box/diff"; }
	restore || { fault "restore failed"; cat "$box/out"; }
	same "apply, killed at crash point $n, --for and restore"
done

# and what somebody else has stopped before apply came there is not started: apply has planned it, but
# not done it. Only right before it stops the unit can nobody tell who did.
somebody_stops() { # UNIT; true if it ran
	box_run systemctl -q is-active $1 || return 1
	box_run systemctl stop $1
}
n=0 n_stopped=0 n_between=0 n_untold=0
while n=$((n + 3)); do
	status=0
	apply --kill-after $n || status=$?
	[ $status = 137 ] || break
	# between a socket and its service: restore stops this to open the socket, and may be killed, too
	while ! box_run systemctl -q is-active planted-loose.socket &&
		box_run systemctl -q is-active planted-loose.service; do
		n_between=$((n_between + 3))
		status=0
		restore --kill-after $n_between || status=$?
		[ $status = 137 ] || break
		restore || { fault "restore failed"; cat "$box/out"; }
		same "apply, killed at crash point $n, and restore, killed at $n_between"
		apply --kill-after $n || :
	done
	if somebody_stops planted-alias; then
		n_stopped=$((n_stopped + 1))
		[ $((n_stopped % 3)) != 0 ] || apply || : # which joins it
		restore || [ $? = 2 ] || { fault "restore failed"; cat "$box/out"; }
		if box_run systemctl -q is-active planted-alias; then
			n_untold=$((n_untold + 1))
			cat "$box/out"
		elif [ $((n_stopped % 3)) != 0 ] && ! grep -q '^Nothing is applied' "$box/out"; then
			grep -q '^svc.units .*left alone .*planted-alias.service: changed by somebody else' "$box/out" ||
				{ fault "what is left alone is not named"; cat "$box/out"; }
			restore --force || { fault "restore --force failed"; cat "$box/out"; }
			box_run systemctl -q is-active planted-alias || fault "restore --force has not started it"
		fi
		restore --forget || { fault "restore --forget failed"; cat "$box/out"; }
		box_run systemctl start planted-alias
	else
		restore || { fault "restore failed"; cat "$box/out"; }
	fi
	same "apply, killed at crash point $n, and somebody else's stop"
done
restore || { fault "restore failed"; cat "$box/out"; }
[ $n_between -ge 15 ] || fault "apply was not killed between a socket and its service"
[ $n_untold -le 1 ] || fault "restore started what somebody else had stopped, at $n_untold crash points"
[ $n_stopped -ge 3 ] || fault "somebody else stopped planted-alias at $n_stopped crash points only"

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
	box_run env --default-signal=INT "$setup" apply --policy /etc/emp-slow.ini --only svc.units >"$box/out" 2>&1 &
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
box_run systemctl start planted-wanting planted-propagating planted-victim planted-needing
box_run systemctl stop planted-wanted
state >"$box/before"
box_run "$setup" apply --dry-run --policy /etc/emp-odd.ini --only svc.units >"$box/out" || fault "apply --dry-run ended with $?"
grep -q 'will change .*planted-wanting.service: its thoughts' "$box/out" || { fault "the plan does not say what is lost"; cat "$box/out"; }
status=0
box_run "$setup" apply --policy /etc/emp-odd.ini --only svc.units >"$box/out" 2>&1 || status=$?
[ $status = 2 ] && grep -q 'refused .*planted-manual.service cannot be started by hand' "$box/out" ||
	{ fault "a unit that refuses to be started: status $status"; cat "$box/out"; }
for unit in victim needed deeper; do
	grep -q "changed .*planted-$unit.service" "$box/out" || { fault "planted-$unit is not in the plan"; cat "$box/out"; }
done
restore || { fault "restore failed"; cat "$box/out"; }
same "units that stop others, want others, or refuse to be started"
for n in $(seq 1 30); do # also right after systemd has stopped one along with another
	status=0
	box_run "$setup" apply --policy /etc/emp-odd.ini --only svc.units --kill-after $n >"$box/out" 2>&1 || status=$?
	restore || { fault "restore failed"; cat "$box/out"; }
	same "units that stop others, killed at crash point $n"
	[ $status = 137 ] || break
done
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
box_run systemctl stop planted-idle planted-wanting planted-propagating planted-victim planted-needing
box_run systemctl start planted-plain

# 9. A unit that could not be started again is not stopped: its file is gone, masked, or changed, and systemd has not read it again
for how in gone masked changed; do
	box_run systemctl restart planted-plain
	file=/proc/$box_pid/root/usr/lib/systemd/system/planted-plain.service
	mask=/proc/$box_pid/root/etc/systemd/system/planted-plain.service
	cp "$file" "$box/kept"
	case $how in
	gone) rm "$file" ;;
	masked) ln -s /dev/null "$mask" ;;
	changed)
		echo '# changed' >>"$file"
		touch -d '+1 minute' "$file"
		;;
	esac
	status=0
	apply || status=$?
	[ $status = 2 ] && grep -q 'refused .*planted-plain.service: .*\(is gone\|is masked\|is not the one that runs\)' "$box/out" ||
		{ fault "a unit whose file is $how: status $status"; cat "$box/out"; }
	box_run systemctl -q is-active planted-plain || fault "a unit whose file is $how was stopped"
	restore || { fault "restore failed"; cat "$box/out"; }
	rm -f "$mask" "$file"
	cp "$box/kept" "$file"
	box_run systemctl daemon-reload
done
state >"$box/before"

# 10. A service that lives as long as its name on the bus ends by itself: no difference, nor a new digest
digest() { box_run "$setup" fingerprint --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["digest"])'; }
box_run systemctl start planted-bus
box_run systemctl -q is-active planted-bus || fault "planted-bus does not run: this proves nothing"
digest >"$box/digest"
status=0
box_run "$setup" apply --policy /etc/emp-test.ini --only svc.timers --for -- sh -c 'systemctl stop planted-bus; exit 0' >"$box/out" 2>&1 || status=$?
[ $status = 0 ] && ! grep -q planted-bus "$box/out" || { fault "a service of the bus: status $status"; cat "$box/out"; }
digest | cmp -s - "$box/digest" || fault "the digest depends on a service of the bus"

# 11. The message bus ends while a unit is being stopped: nothing that runs is reported as stopped, and all is restored
stop_slowly
box_run systemctl kill -s KILL dbus.service || :
go
wait $applying || :
box_run systemctl start dbus.service dbus.socket 2>/dev/null || :
grep '^svc.units .* changed ' "$box/out" | grep -o 'planted-[a-z]*.service' | sort -u | while read -r unit; do
	! box_run systemctl -q is-active "$unit" || echo "$unit"
done >"$box/lies"
[ ! -s "$box/lies" ] || { fault "reported as stopped, but running: $(cat "$box/lies")"; cat "$box/out"; }
restore || { fault "restore after the message bus has ended"; cat "$box/out"; }
box_run systemctl -q is-active planted-slow || fault "planted-slow does not run again"
box_run systemctl stop planted-slow

file_states | diff "$box/files" - || fault "the states of files differ"
box_stop
[ $faults = 0 ] && echo "everything was restored" || echo "$faults faults"
exit $((faults > 0))
