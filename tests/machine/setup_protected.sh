#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# In a box: what emp-setup must not stop unasked. What a login or the network depends on, by what processes do and not by the units'
# names; what holds data; what is busy; sockets of services that must stay; and processes that a stopped unit leaves behind.
# Usage: setup_protected.sh BUILD
set -eu
. "$(dirname "$0")/box.sh"
. "$(dirname "$0")/setup_walk.sh"
build=$(realpath "$1")
setup=$build/setup/emp-setup
faults=0
box_needs python3 script
box_new
trap 'box_remove' EXIT

put() {
	mkdir -p "$(dirname "$box/upper$1")"
	cat >"$box/upper$1"
}
wanted=
# service NAME COMMAND [LINE...]: started with the box
service() {
	name=$1 command=$2
	shift 2
	{
		printf '[Service]\nExecStart=%s\n' "$command"
		for line; do printf '%s\n' "$line"; done
	} | put "/usr/lib/systemd/system/$name.service"
	wanted="$wanted $name.service"
}

# accepts a connection and keeps it: gate.py PORT; makes one and keeps it: proxy.py PORT
put /opt/gate.py <<'P'
import os, socket, subprocess, sys
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
open("/run/gate-" + sys.argv[1], "w")
while True:
    c, _ = s.accept()
    if os.fork() == 0: # as sshd does: a child for the login, with its connection
        subprocess.call(["sh", "-c", sys.argv[2]], pass_fds=[c.fileno()], start_new_session=True) if len(sys.argv) > 2 else c.recv(1)
        os._exit(0)
P
put /opt/proxy.py <<'P'
import os, socket, sys, time
while True: # the other end may be stopped and started again
    try: socket.create_connection(("127.0.0.1", int(sys.argv[1]))).recv(1)
    except OSError: pass
    time.sleep(0.05)
P
# a tunnel with the default route, and who asks for an address and speaks EAPOL on it
put /opt/tunnel.py <<'P'
import fcntl, os, struct, subprocess, time
fd = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(fd, 0x400454ca, struct.pack("16sH", b"planted0", 0x1001))
for c in "addr add 10.9.0.1/24 dev planted0", "link set planted0 up", "route add default dev planted0": subprocess.check_call(["ip"] + c.split())
open("/run/tunnel", "w")
time.sleep(100000)
P
put /opt/packets.py <<'P'
import os, socket, sys, time
while not os.path.exists("/run/tunnel"): time.sleep(0.05)
if sys.argv[1] == "dhcp":
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("", 68))
elif ":" in sys.argv[1]: # a log server: ADDRESS:PORT, of TCP if it is not that of syslog
    address, port = sys.argv[1].rsplit(":", 1)
    s = socket.create_server((address, int(port))) if port != "514" else socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if port == "514": s.bind((address, 514))
else:
    s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(int(sys.argv[1], 16))); s.bind(("planted0", int(sys.argv[1], 16)))
open("/run/packets-" + sys.argv[1], "w")
time.sleep(100000)
P
service planted-plain 'sleep infinity'
service planted-gate "python3 /opt/gate.py 2222 'exec sleep 1000 2>/dev/null'"
service planted-proxy 'python3 /opt/proxy.py 2222'
service planted-own "python3 /opt/gate.py 2223 'COLUMNS=500 $setup apply -n --policy /etc/emp-test.ini --only svc.units >/run/own.new 2>&1; mv /run/own.new /run/own; sleep 1000'"
service planted-caller 'python3 /opt/proxy.py 2223'
service planted-telnet 'script -qc "login -h 10.0.0.5 -f root" /dev/null' Environment=SHELL=/bin/sh
service planted-tty 'script -qc "sleep 1000" /dev/null'
service planted-tunnel 'python3 /opt/tunnel.py'
service planted-dhcp 'python3 /opt/packets.py dhcp'
service planted-eapol 'python3 /opt/packets.py 888e'
service planted-sniffer 'python3 /opt/packets.py 0003'
service planted-syslog 'python3 /opt/packets.py 0.0.0.0:514'
service planted-tls 'python3 /opt/packets.py 0.0.0.0:6514'
service planted-local 'python3 /opt/packets.py 127.0.0.1:601'
printf '[Socket]\nListenStream=127.0.0.1:2224\nAccept=yes\n' | put /usr/lib/systemd/system/planted-door.socket
printf '[Service]\nExecStart=cat\nStandardInput=socket\n' | put /usr/lib/systemd/system/planted-door@.service
# busy: an inhibitor of its own, one that a client has with the daemon's name, and one that only delays
service planted-busy 'systemd-inhibit --what=shutdown --mode=block --who=updater "--why=firmware update in progress" sleep infinity' 'After=systemd-logind.service'
service planted-named 'sleep infinity'
service planted-delaying 'systemd-inhibit --what=sleep --mode=delay sleep infinity' 'After=systemd-logind.service'
# sockets and services of which one must stay
service planted-docker 'sleep infinity'
service planted-held 'sleep infinity'
for unit in docker held; do
	printf '[Unit]\nRequires=planted-%s.socket\nAfter=planted-%s.socket\n' $unit $unit | cat - "$box/upper/usr/lib/systemd/system/planted-$unit.service" >"$box/unit"
	mv "$box/unit" "$box/upper/usr/lib/systemd/system/planted-$unit.service"
	printf '[Socket]\nListenStream=/run/planted-%s.socket\n' $unit | put /usr/lib/systemd/system/planted-$unit.socket
done
service planted-other 'sleep infinity'
printf '[Socket]\nListenStream=/run/planted-other.socket\nService=planted-other.service\n' | put /usr/lib/systemd/system/planted-elsewhere.socket
service planted-watched 'sleep infinity'
printf '[Path]\nPathExists=/run/planted.never\n' | put /usr/lib/systemd/system/planted-watched.path
service planted-data 'sleep infinity'
service planted-user 'sleep infinity'
printf '[Unit]\nWants=planted-network.service\n' | cat - "$box/upper/usr/lib/systemd/system/planted-user.service" >"$box/unit"
mv "$box/unit" "$box/upper/usr/lib/systemd/system/planted-user.service"
printf '[Unit]\nStopWhenUnneeded=yes\n[Service]\nExecStart=sleep infinity\n' | put /usr/lib/systemd/system/planted-network.service
# what is stopped with a unit, and the socket of one that does not run; no policy names them
printf '[Unit]\nRequires=planted-plain.service\nAfter=planted-plain.service\n[Service]\nExecStart=sleep infinity\n' | put /usr/lib/systemd/system/needs-plain.service
printf '[Socket]\nListenStream=/run/quiet.socket\nService=planted-idle.service\n' | put /usr/lib/systemd/system/quiet.socket
service planted-idle 'sleep infinity'
wanted="${wanted% planted-idle.service} needs-plain.service quiet.socket"
# what a stop leaves behind: begun by the start, and begun later
put /opt/jobs.sh <<'P'
#!/bin/sh
[ -p /run/job-end ] || mkfifo /run/job-end
sh -c 'read word </run/job-end' planted-job &
exec sleep infinity
P
chmod +x "$box/upper/opt/jobs.sh"
service planted-jobs /opt/jobs.sh KillMode=process
wanted="$wanted planted-door.socket planted-docker.socket planted-held.socket planted-elsewhere.socket planted-watched.path"
printf '[Unit]\nRequires=basic.target\nAfter=basic.target\nWants=dbus.service systemd-logind.service %s\n' "$wanted" |
	put /etc/systemd/system/emp-test.target
put /etc/emp-test.ini <<'P'
[stop]
planted-*.service = planted
planted-*.socket = planted
planted-*.path = planted
[keep]
planted-jobs.service = for the last part
planted-named.service = for its own part
planted-busy.service = for its own part
planted-user.service = for its own part
[never]
planted-network.service = must not be touched
planted-docker.service = must not be touched
planted-held.socket = must not be touched
planted-other.service = must not be touched
planted-watched.service = must not be touched
[ask]
planted-data.service = its clients lose their connections
P
printf 'mknod -m 666 "$root/dev/net-tun" c 10 200; mkdir "$root/dev/net"; mv "$root/dev/net-tun" "$root/dev/net/tun"\n' >"$box/before_boot.sh"

box_start
for file in gate-2222 own tunnel packets-dhcp packets-888e packets-0003 packets-0.0.0.0:514 packets-0.0.0.0:6514 \
	packets-127.0.0.1:601; do
	box_wait 60 box_run test -e /run/$file || fault "the box has no /run/$file"
done
inhibits() { [ "$(box_run systemd-inhibit --list --no-legend | grep -c "$1")" -ge 1 ]; }
box_wait 60 inhibits updater || fault "nothing is inhibited"

# says OUTCOME UNIT WORDS: a row of the last answer
says() {
	grep -q "^svc.units .*$1 .*$2: .*$3" "$box/out" || { fault "$2 is not '$1' with '$3'"; grep -n "$2" "$box/out" || :; }
}
apply() {
	status=0
	box_run "$setup" apply --policy /etc/emp-test.ini --only svc.units "$@" >"$box/out" 2>&1 || status=$?
}
is_up() { box_run systemctl -q is-active "$1"; }

# 1. The plan: what carries a login or the network stays, whatever its name; it is no fault of the request
apply -n
[ $status = 0 ] || fault "apply -n ended with $status"
box_run env SSH_CONNECTION='10.0.0.5 50000 127.0.0.1 2222' "$setup" apply -n --policy /etc/emp-test.ini --only svc.units >"$box/out"
says 'left alone' planted-gate.service 'a login came in at its port 2222 (python3'
says 'left alone' planted-telnet.service 'a \(remote login was started from\|terminal is open in\) it'
says 'left alone' planted-tty.service 'a terminal is open in it'
says 'left alone' planted-tunnel.service 'it owns the network interface planted0'
says 'left alone' planted-dhcp.service 'the machine has its address from it'
says 'left alone' planted-eapol.service 'it keeps the network interface planted0 up'
says 'left alone' planted-data.service 'its clients lose their connections; --stop planted-data.service stops it'
says 'left alone' planted-syslog.service 'other machines send their messages to it'
says 'left alone' planted-tls.service 'other machines send their messages to it'
grep -q 'will change .*planted-local.service' "$box/out" || fault "a log server for this machine alone is not stopped"
grep -q 'will change .*planted-sniffer.service' "$box/out" || fault "a program that only records packets is not stopped"
grep -q 'will change .*planted-plain.service' "$box/out" || fault "planted-plain is not stopped"
grep -q 'will change .*planted-delaying.service' "$box/out" || fault "a unit that only delays a sleep is not stopped"
for unit in docker.socket docker.service held.service held.socket elsewhere.socket other.service watched.path watched.service; do
	grep -q "will change .*planted-$unit" "$box/out" && fault "planted-$unit would be stopped"
done
box_run env SSH_CONNECTION='10.0.0.5 50000 127.0.0.1 2224' "$setup" apply -n --policy /etc/emp-test.ini --only svc.units >"$box/out"
says 'left alone' planted-door.socket 'a login came in at its port 2224'
cp "/proc/$box_pid/root/run/own" "$box/out" # of an apply that was started from a login
says 'left alone' planted-own.service 'this emp-setup was started from it'
says 'left alone' planted-caller.service 'a login comes through it'

# 2. Applied: what may be stopped is, the rest stays, and the audit agrees
apply
[ $status = 0 ] || { fault "apply ended with $status"; cat "$box/out"; }
for unit in plain sniffer local delaying; do is_up planted-$unit && fault "planted-$unit runs"; done
for unit in tty.service tunnel.service dhcp.service eapol.service docker.socket docker.service held.socket held.service elsewhere.socket \
	other.service watched.path watched.service data.service busy.service jobs.service; do
	is_up planted-$unit || fault "planted-$unit was stopped"
done
box_run "$setup" audit -v --policy /etc/emp-test.ini >"$box/out" || :
grep -q '^svc.units *ok' "$box/out" || { fault "the audit does not agree"; grep -A3 '^svc.units' "$box/out"; }
restore || { fault "restore failed"; cat "$box/out"; }

# 3. Asked for by name
apply --stop planted-data,planted-none,planted-docker.service,ssh
[ $status = 2 ] || fault "--stop of what must stay ended with $status"
grep -q '^svc.units .*changed .*planted-data.service: its clients lose' "$box/out" || { fault "planted-data was not stopped"; cat "$box/out"; }
says refused planted-none.service 'there is no such unit'
says refused planted-docker.service 'it must not be touched'
says refused ssh.service 'it must not be touched'
is_up planted-data && fault "planted-data runs"
restore || { fault "restore failed"; cat "$box/out"; }
is_up planted-data || fault "planted-data was not restored"
apply --stop planted-tunnel
[ $status = 2 ] || fault "--stop of what carries the network ended with $status"
says refused planted-tunnel.service 'planted-tunnel.service must not be touched (it owns the network interface'
is_up planted-tunnel || fault "planted-tunnel was stopped"
restore || fault "restore failed"

# 4. Busy
box_run sed -i '/planted-\(busy\|named\)/d' /etc/emp-test.ini
box_run systemd-run -q --unit=client systemd-inhibit --what=sleep --mode=block --who=planted-named --why='a transaction' sleep infinity
box_wait 60 inhibits 'planted-named' || fault "the client inhibits nothing"
apply
[ $status = 2 ] || fault "apply beside busy units ended with $status"
says refused planted-busy.service 'planted-busy.service is busy: firmware update in progress (updater, PID'
says refused planted-named.service 'planted-named.service is busy: a transaction (planted-named, PID'
is_up planted-busy || fault "planted-busy was stopped"
restore || fault "restore failed"
box_run systemctl stop client planted-busy
apply
[ $status = 0 ] || { fault "apply ended with $status when nothing was busy any more"; cat "$box/out"; }
restore || fault "restore failed"

# 5. A unit that must not be touched, but that systemd stops when nothing needs it any more
box_run sed -i '/planted-user/d' /etc/emp-test.ini
apply
[ $status = 2 ] || fault "apply of a unit that alone needs another ended with $status"
says refused planted-user.service 'planted-network.service, which only this unit needs, must not be touched'
is_up planted-network || fault "planted-network was stopped"
restore || fault "restore failed"
box_run systemctl stop planted-user

# 6. What will be masked is shown
apply -n
box_run systemctl stop planted-plain
apply -n
grep -q '^svc.units .*will change .*inactive .*masked .*planted-plain.service' "$box/out" || { fault "the plan does not show what it masks"; cat "$box/out"; }
apply
grep -q '^svc.units .*changed .*inactive .*masked .*planted-plain.service' "$box/out" || { fault "apply does not show what it has masked"; cat "$box/out"; }
apply -n
grep -q 'masked .*planted-plain.service' "$box/out" && fault "what is masked already would change"
restore || fault "restore failed"
box_run systemctl start planted-plain

# 7. What a stopped unit leaves behind
box_run sed -i '/planted-jobs/d' /etc/emp-test.ini
jobs() { box_run pgrep -c -f 'planted-job$' || :; }
is_one_job() { [ "$(jobs)" = 1 ]; }
box_wait 60 is_one_job || fault "no job runs"
apply
[ $status = 2 ] || fault "apply that leaves a job ended with $status"
grep -q '^svc.units .*differs .*planted-jobs.service: it has left sh (PID [0-9]*); --wait waits' "$box/out" || { fault "the job is not named"; cat "$box/out"; }
box_run "$setup" audit -v --policy /etc/emp-test.ini >"$box/out" || :
grep -q '^svc.units *off .*none running; stopped ones have left sh (PID [0-9]*) of planted-jobs.service' "$box/out" ||
	{ fault "the audit does not name the job"; grep -A3 '^svc.units' "$box/out"; }
apply
[ $status = 2 ] || fault "a second apply ended with $status"
status=0
restore || status=$?
[ $status = 2 ] && grep -q '^svc.units .*left alone .*planted-jobs.service: sh (PID [0-9]*) of its last start still runs' "$box/out" ||
	{ fault "restore does not say what still runs: status $status"; cat "$box/out"; }
[ "$(jobs)" = 1 ] || fault "restore led to $(jobs) jobs"
box_run "$setup" restore --wait >"$box/out" 2>&1 &
restoring=$!
box_wait 60 grep -q '^waiting for .* (^C leaves it alone)' "$box/out" || { fault "restore --wait does not wait"; cat "$box/out"; }
box_run kill -TERM "$(box_run pidof "$setup")"
status=0
wait $restoring || status=$?
[ $status = 2 ] && grep -q 'left alone .*planted-jobs.service' "$box/out" || { fault "restore --wait ended with $status after TERM"; cat "$box/out"; }
box_run "$setup" restore --wait >"$box/out" 2>&1 &
restoring=$!
box_wait 60 grep -q '^waiting for sh (PID [0-9]*) of planted-jobs.service to stop' "$box/out" || { fault "restore --wait does not say what it waits for"; cat "$box/out"; }
echo >"/proc/$box_pid/root/run/job-end"
wait $restoring || { fault "restore --wait ended with $?"; cat "$box/out"; }
is_up planted-jobs || fault "planted-jobs was not restored"
box_wait 60 is_one_job || fault "the start began no job"
box_run "$setup" apply --policy /etc/emp-test.ini --only svc.units --wait >"$box/out" 2>&1 &
applying=$!
box_wait 60 grep -q '^waiting for sh (PID [0-9]*) of planted-jobs.service to stop' "$box/out" || { fault "apply --wait does not say what it waits for"; cat "$box/out"; }
echo >"/proc/$box_pid/root/run/job-end"
wait $applying || { fault "apply --wait ended with $?"; cat "$box/out"; }
restore || { fault "restore failed"; cat "$box/out"; }

# 8. Two commands of --for, one and a plain apply, and what is applied until the next boot
box_run systemctl stop planted-jobs
echo >"/proc/$box_pid/root/run/job-end"
box_run systemctl start planted-plain needs-plain quiet.socket
box_run sh -c 'mkdir -p /etc/systemd/system; printf "[Service]\nExecStart=sleep infinity\n" >/etc/systemd/system/planted-etc.service; systemctl daemon-reload; systemctl start planted-etc'
together="planted-plain.service needs-plain.service quiet.socket planted-etc.service"
all_are() { # up|down WORDS
	for unit in $together; do
		if is_up $unit; then now=up; else now=down; fi
		[ $now = "$1" ] || fault "$2: $unit is $now"
	done
}
begin() { # NAME
	box_run "$setup" apply --policy /etc/emp-test.ini --only svc.units --for -- \
		sh -c ">/run/began-$1; until [ -e /run/end-$1 ]; do sleep 0.05; done" >"$box/for-$1" 2>&1 &
	eval "$1=\$!"
	box_wait 60 box_run test -e "/run/began-$1" || { fault "the command $1 did not begin"; cat "$box/for-$1"; }
}
end() { # NAME
	box_run touch "/run/end-$1"
	eval "wait \$$1" || { fault "apply --for ended with $?"; cat "$box/for-$1"; }
}
begin a
begin b
grep -q 'changed .*planted-plain' "$box/for-b" && fault "what was stopped already is shown as changed"
end a
all_are down "the second command runs"
end b
all_are up "both commands have ended"
begin c
apply
[ $status = 0 ] || { fault "apply beside a command of --for ended with $status"; cat "$box/out"; }
end c
all_are down "a plain apply goes on"
begin d
end d
all_are down "a plain apply goes on after another command"
apply --persistent
[ $status = 2 ] || fault "apply --persistent of what is applied until the next boot ended with $status"
restore || { fault "restore failed"; cat "$box/out"; }
all_are up "all is restored"
[ -z "$(box_run find /etc/systemd/system /run/systemd/system -name 90-emp-setup.conf)" ] || fault "a drop-in stays"
box_stop
[ $faults = 0 ] && echo "what must stay stayed" || echo "$faults faults"
exit $((faults > 0))
