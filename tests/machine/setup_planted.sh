# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests of emp-setup in a box (box.sh) after box_new: plants units of every kind, and policies for them in /etc/emp-test.ini
# and others. `state` prints what must be restored.

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
service planted-loose.service # its socket cannot be opened while it runs
printf '[Socket]\nListenStream=/run/planted-loose.socket\n[Install]\nWantedBy=sockets.target\n' | put /usr/lib/systemd/system/planted-loose.socket
service planted-path.service
printf '[Path]\nPathExists=/run/planted.never\n[Install]\nWantedBy=paths.target\n' | put /usr/lib/systemd/system/planted-path.path
printf '[Timer]\nOnCalendar=daily\nPersistent=true\n' | put /usr/lib/systemd/system/planted-job.timer
printf '[Service]\nType=oneshot\nExecStart=true\n' | put /usr/lib/systemd/system/planted-job.service
printf '[Unit]\nDescription=a template\n[Service]\nExecStart=sleep infinity\n' | put /usr/lib/systemd/system/planted-template@.service
service planted-alias.service
ln -s /usr/lib/systemd/system/planted-alias.service "$box/upper/etc/systemd/system/planted-other-name.service"
# enabled, and ends by itself some time after a request over D-Bus has started it, as NetworkManager-dispatcher does
printf '[Service]\nType=dbus\nBusName=org.freedesktop.hostname1\nExecStart=/lib/systemd/systemd-hostnamed\n[Install]\nWantedBy=planted.target\n' |
	put /usr/lib/systemd/system/planted-bus.service
mkdir -p "$box/upper/etc/systemd/system/planted.target.wants"
ln -s /usr/lib/systemd/system/planted-bus.service "$box/upper/etc/systemd/system/planted.target.wants/planted-bus.service"
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
	planted-socket.service planted-socket.socket planted-loose.service planted-loose.socket planted-path.service planted-path.path planted-job.timer planted-alias.service \
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
service planted-needing.service Wants=planted-needed.service
service planted-needed.service StopWhenUnneeded=yes Wants=planted-deeper.service
service planted-deeper.service StopWhenUnneeded=yes
service planted-manual.service RefuseManualStart=yes
want planted-manual.service
put /etc/emp-odd.ini <<'P'
[policy]
include = common
[stop]
planted-wanting.service = planted
planted-propagating.service = planted
planted-needing.service = planted
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
planted-loose.service = planted
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
