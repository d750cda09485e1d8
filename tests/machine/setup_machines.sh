#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What runs on machines of several kinds (machines/NAME), in a box: emp-setup stops what nobody misses and leaves the rest, and the audit agrees with it.
# The papers' policy stops no more. Usage: setup_machines.sh BUILD [MACHINE...]; EMP_SHOW=1 prints the plans.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/box.sh"
. "$here/setup_walk.sh"
build=$(realpath "$1")
setup=$build/setup/emp-setup
shift
faults=0
box_needs
trap '[ -z "${box:-}" ] || box_remove' EXIT

# plant UNIT: a unit of this name that runs and does nothing
plant() {
	file=$box/upper/usr/lib/systemd/system/$1
	rm -rf "$box/upper/etc/systemd/system/$1" "$box/upper/usr/lib/systemd/system/$1.d"
	# early units of systemd are ordered behind some of these, such as auditd, and services behind all of the early ones
	printf '[Unit]\nDefaultDependencies=no\n' >"$file"
	case $1 in
	*.service) printf '[Service]\nExecStart=sleep infinity\n' ;;
	*.socket) printf 'Before=%s.service\n[Socket]\nListenStream=/run/planted/%s\n' "${1%.socket}" "$1" ;; # a running service keeps its socket from starting
	*.path) printf '[Path]\nPathExists=/run/planted.never\n' ;;
	*.timer) printf '[Timer]\nOnBootSec=1000h\n' ;;
	esac >>"$file"
	case $1 in *.service) return ;; esac
	stem=${1%.*}
	[ -e "${file%.*}.service" ] || printf '[Service]\nExecStart=sleep infinity\n' >"$box/upper/usr/lib/systemd/system/$stem.service"
}

# judge: each unit against $box/out, a plan, and what runs in the box after it was carried out
judge() {
	while read -r unit expected; do
		case $unit in '' | '#'* | policy) continue ;; esac
		row=$(grep -E "^svc\.(units|timers) .*[ ,]$(echo "$unit" | sed 's/[.]/\\./g')(:|,|\$)" "$box/plan" | head -1)
		case $expected:$row in
		stop:*'will change'*active*) ;;
		ask:*'left alone'*"--stop $unit stops it"*) ;;
		keep: | other:) ;;
		*) fault "$machine: $unit is to be '$expected', and the plan says '$row'" ;;
		esac
		now=$(grep -cxF "$unit" "$box/up" || :)
		[ $expected = stop ] && wanted=0 || wanted=1
		[ "$now" = $wanted ] || fault "$machine: $unit is to be '$expected', and $([ "$now" = 1 ] && echo runs || echo was stopped)"
	done <"$here/machines/$machine"
}

up() { box_run systemctl list-units --no-legend --plain --state=active --type=service,timer,socket,path | awk '{ print $1 }' | sort >"$box/up"; }

for machine in ${*:-$(ls "$here/machines")}; do
	box_new
	mkdir -p "$box/upper/usr/lib/systemd/system"
	units=$(awk '!/^#/ && NF == 2 && $1 != "policy" { print $1 }' "$here/machines/$machine")
	policy=$(awk '$1 == "policy" { print $2 }' "$here/machines/$machine")
	for unit in $units; do plant "$unit"; done
	printf '[Unit]\nRequires=basic.target\nAfter=basic.target\nWants=dbus.service systemd-logind.service %s\n' "$(echo $units)" \
		>"$box/upper/etc/systemd/system/emp-test.target"
	box_start
	up
	for unit in $units; do
		grep -qxF "$unit" "$box/up" && continue
		fault "$machine: $unit does not run"
		box_run journalctl -b --no-pager --unit "$unit" || :
	done
	cp "$box/up" "$box/before"
	box_run "$setup" apply -n --policy "$policy" --only svc.units,svc.timers >"$box/plan" || fault "$machine: apply -n ended with $?"
	[ -z "${EMP_SHOW:-}" ] || { echo "== $machine: emp-setup apply -n --policy $policy"; cut -c1-240 "$box/plan"; }
	status=0
	box_run "$setup" apply --policy "$policy" --only svc.units,svc.timers >"$box/out" 2>&1 || status=$?
	[ $status = 0 ] || { fault "$machine: apply ended with $status"; cat "$box/out"; }
	up
	judge
	box_run "$setup" audit -v --policy "$policy" >"$box/out" || :
	[ "$(grep -cE '^svc\.(units|timers) +ok' "$box/out")" = 2 ] || { fault "$machine: the audit does not agree"; grep -E '^svc\.' "$box/out"; }
	restore || { fault "$machine: restore ended with $?"; cat "$box/out"; }
	up
	diff "$box/before" "$box/up" >"$box/diff" || { fault "$machine: not as before"; cat "$box/diff"; }
	# the papers' policy, which lists its daemons by name
	box_run "$setup" apply --policy paper-rhel6 --only svc.units,svc.timers >"$box/out" 2>&1 || { fault "$machine: apply of the papers' policy ended with $?"; cat "$box/out"; }
	up
	while read -r unit expected; do
		case $expected in ask | keep) grep -qxF "$unit" "$box/up" || fault "$machine: the papers' policy stopped $unit" ;; esac
	done <"$here/machines/$machine"
	restore || { fault "$machine: restore ended with $?"; cat "$box/out"; }
	box_remove
	box=
done
[ $faults = 0 ] && echo "nobody misses what was stopped" || echo "$faults faults"
exit $((faults > 0))
