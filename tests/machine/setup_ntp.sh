#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# chrony, ntpsec and systemd-timesyncd, each in a box of its own with a time server on the other end of a cable: emp-setup finds it, starts
# it, reports whether it follows a server, and does not believe the kernel alone. Usage: setup_ntp.sh BUILD
set -eu
if [ "${2:-}" != inside ]; then
	. "$(dirname "$0")/box.sh"
	box_needs ip
	exec "$1/tests/machine/keep_clock" sh "$0" "$1" inside # the clock is the machine's, not the box's
fi
. "$(dirname "$0")/box.sh"
build=$(realpath "$1")
setup=$build/setup/emp-setup
server=$(mktemp) # a chronyd by another name, so that it is not taken for a daemon of the box
faults=0
trap '[ -z "${box:-}" ] || box_remove; rm -f "$server"' EXIT

fault() {
	echo "FAULT: $*"
	faults=$((faults + 1))
}

# says WORDS: the audit's line about the clock, within two minutes
says() {
	box_wait 120 audit_says "$1" || fault "$daemon: not '$1' but '$line'"
	echo "  $line"
}

audit_says() {
	line=$(box_run "$setup" audit -v | grep '^ntp.on ' || :)
	case $line in *$1*) ;; *) return 1 ;; esac
}

has_own_network() {
	[ "$(box_run readlink "/proc/$pid/ns/net")" != "$(box_run readlink /proc/1/ns/net)" ]
}

# The box's cable to a server that has the time. It steers no clock itself (-x).
start_server() {
	box_run systemd-run -q -u time-server unshare --net sh -c 'until ip link set v1 up; do sleep 0.1; done 2>/dev/null
		ip addr add 10.77.0.1/24 dev v1
		exec time-server -d -x -f /etc/time-server.conf'
	pid=$(box_run systemctl show -P MainPID time-server)
	box_wait 60 has_own_network || fault "the time server has no network of its own"
	box_run ip link add v0 type veth peer name v1 netns "$pid"
	box_run ip addr add 10.77.0.2/24 dev v0
	box_run ip link set v0 up
	# who asks before it answers asks again in half a minute (port 123 is 7B)
	box_wait 60 box_run grep -q ':007B ' "/proc/$pid/net/udp" || fault "the time server does not listen"
}

# new_box DAEMON PACKAGES: the daemon's unit is $unit
new_box() {
	daemon=$1
	shift
	box_new
	box_install "$@"
	[ -s "$server" ] || cp "$box/upper/usr/sbin/chronyd" "$server"
	for copy in usr/local/sbin/time-server opt/chronyd; do
		install -D -m 755 "$server" "$box/upper/$copy"
	done
	printf '%s\n' 'local stratum 1' 'cmdport 0' 'bindcmdaddress /run/time-server.socket' 'pidfile /run/time-server.pid' \
		'allow 10.77.0.0/24' 'user root' >"$box/upper/etc/time-server.conf"
	printf '%s\n' 'local stratum 9' 'port 1123' 'allow 127.0.0.1' 'cmdport 0' 'bindcmdaddress /run/second.socket' 'pidfile /run/second.pid' 'user root' \
		>"$box/upper/etc/second.conf"
	printf '[Unit]\nRequires=basic.target\nAfter=basic.target\nWants=dbus.service %s\n' $unit \
		>"$box/upper/etc/systemd/system/emp-test.target"
	echo "$daemon"
}

# What is the same for all three: without a server, with one, stopped, started by apply, stopped by restore.
try() {
	box_start
	box_run systemctl -q is-active $unit || fault "$unit does not run"
	says "off *$daemon runs but follows no server"
	start_server
	box_run systemctl restart $unit # or it would wait for its next attempt
	says "ok *$daemon follows 10.77.0.1"
	enabled=$(box_run systemctl is-enabled $unit) || :
	box_run systemctl stop $unit
	says "off *no time daemon runs"
	box_run "$setup" apply --only ntp.on >"$box/out" || fault "$daemon: $(cat "$box/out")"
	box_run systemctl -q is-active $unit || fault "apply did not start $unit"
	says "ok *$daemon follows 10.77.0.1"
	box_run "$setup" restore >"$box/out" || fault "$daemon: $(cat "$box/out")"
	box_run systemctl -q is-active $unit && fault "restore did not stop $unit"
	[ "$(box_run systemctl is-enabled $unit || :)" = "$enabled" ] || fault "$unit is no longer $enabled"
}

unit=chrony.service
new_box chrony chrony
mkdir -p "$box/upper/etc/chrony/sources.d"
echo 'server 10.77.0.1 iburst minpoll 0 maxpoll 2' >"$box/upper/etc/chrony/sources.d/box.sources"
try
box_stop
box_remove

unit=ntpsec.service
new_box ntpsec ntpsec
mkdir -p "$box/upper/etc/ntpsec"
cat >"$box/upper/etc/ntpsec/ntp.conf" <<'C'
driftfile /var/lib/ntpsec/ntp.drift
tos minclock 1 minsane 1
server 10.77.0.1 iburst minpoll 3 maxpoll 4
restrict default kod nomodify nopeer noquery limited
restrict 127.0.0.1
restrict ::1
C
try
says 'no time daemon runs; the kernel reports a synchronised clock' # and it would for hours
box_stop
box_remove

unit=systemd-timesyncd.service
new_box systemd-timesyncd systemd-timesyncd
mkdir -p "$box/upper/etc/systemd/system/$unit.d"
printf '[Unit]\nConditionVirtualization=\n' >"$box/upper/etc/systemd/system/$unit.d/in-a-box.conf"
printf '[Time]\nNTP=10.77.0.1\nFallbackNTP=\n' >"$box/upper/etc/systemd/timesyncd.conf"
try
box_run systemctl start $unit
box_run systemd-run -q -u second /opt/chronyd -d -x -f /etc/second.conf
says 'off *2 daemons set one clock: systemd-timesyncd, chrony'
box_stop
box_remove

box=
[ $faults = 0 ] && echo "all three daemons were found, asked, started and stopped" || echo "$faults faults"
exit $((faults > 0))
