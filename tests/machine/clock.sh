#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# libemp-clock with emp-clock.service, alone, and with a service that dies or cannot work: every reading is right.
# Usage: clock.sh BUILD
set -u
build=$(realpath "$1")
cannot_run() {
	echo "not run: $1"
	[ -z "${EMP_MUST_RUN:-}" ] || exit 1
	exit 77
}
[ "$(id -u)" = 0 ] && [ -e /sys/kernel/btf/vmlinux ] || cannot_run "needs root and BTF"
command -v systemd-socket-activate >/dev/null || cannot_run "systemd-socket-activate is not installed"
machine=$build/tests/machine
dir=$(mktemp -d /tmp/emp-clock-XXXXXX)
chmod 755 "$dir"
EMP_CLOCK_SOCKET=$dir/socket
export EMP_CLOCK_SOCKET
service=
faults=0
fault() {
	echo "FAULT: $1"
	faults=$((faults + 1))
}
wait_for() {
	deadline=$(($(date +%s) + 60 * ${EMP_TIMEOUT_MULTIPLIER:-1}))
	until "$@"; do
		[ "$(date +%s)" -lt $deadline ] || return 1
		sleep 0.05
	done
}
ended() { ! kill -0 "$1" 2>/dev/null; }
descriptors() { find "/proc/$service/fd" -mindepth 1 2>/dev/null | wc -l; }
has_descriptors() { [ "$(descriptors)" = "$1" ]; }
is_service() { [ "$(cat "/proc/$service/comm")" = emp-clockd ]; }

start() { # [PREFIX...]: with which the service is run
	rm -f "$EMP_CLOCK_SOCKET"
	systemd-socket-activate --seqpacket -l "$EMP_CLOCK_SOCKET" "$@" "$build/clock/emp-clockd" --idle 1s >"$dir/log" 2>&1 &
	service=$!
	wait_for [ -S "$EMP_CLOCK_SOCKET" ] || fault "no socket"
	chmod 666 "$EMP_CLOCK_SOCKET"
}
end() { # it ends by itself when it is idle
	wait_for ended "$service" || fault "the service does not end when it is idle"
	service=
}
keep_client() { # one that stays, so that the service does
	"$machine/clock_client" wait >"$dir/kept" &
	client=$!
	wait_for grep -q connected "$dir/kept" || fault "no client"
}
trap '[ -z "$service" ] || kill "$service" 2>/dev/null; [ -z "${client:-}" ] || kill -KILL "$client" 2>/dev/null; rm -rf "$dir"' EXIT
fuzz() { # PROGRAM SECONDS [open]
	"$machine/$1" "$2" ${3:+open} >"$dir/out" 2>&1 || { fault "$*"; cat "$dir/out"; return; }
	echo "$*:"
	sed 's/^/  /' "$dir/out"
}

# 1. Alone: with restartable sequences, and without
fuzz clock_fuzz 3
GLIBC_TUNABLES=glibc.pthread.rseq=0 fuzz clock_fuzz 2

# 2. With the service; and as where the library depends on it
start
fuzz clock_fuzz 3 open
fuzz clock_fuzz_slots 5 open
if grep -q '^flags' /proc/cpuinfo && ! grep -q nonstop_tsc /proc/cpuinfo; then
	echo "the time stamp counter is not invariant: every reading is a system call"
elif grep -q '^fast 0,' "$dir/out"; then
	fault "the slots were not used"
fi
end
grep -q 'ns per context switch' "$dir/log" || fault "the service does not print its cost"
grep Cost "$dir/log"

# 3. Killed while it is used. Others use system calls then, and the next service is found
start
"$machine/clock_fuzz_slots" 4 open >"$dir/fuzz" 2>&1 &
fuzz=$!
keep_client
sleep 1
kill -KILL "$service"
wait $fuzz || { fault "the service was killed"; cat "$dir/fuzz"; }
kill -KILL "$client"
start
fuzz clock_fuzz_slots 2 open
end

# 4. Many at once
start
"$machine/clock_client" many 1000 10 || fault "a thousand clients"
end

# 5. An ordinary user's requests, while root and another user run; a client that is killed
start
keep_client
is_service || fault "this is not the service"
before=$(descriptors)
setpriv --reuid 65533 --regid 65533 --clear-groups "$machine/clock_client" wait >"$dir/second" &
second=$!
"$machine/clock_fuzz" 5 >"$dir/fuzz" 2>&1 &
fuzz=$!
setpriv --reuid 65534 --regid 65534 --clear-groups "$machine/clock_client" hostile </dev/null || fault "an ordinary user"
wait $fuzz
kill -KILL $second
wait_for has_descriptors "$before" || fault "$(descriptors) descriptors are open, not $before"
kill -KILL "$client"
end

# 6. The service may not load BPF programs: the client is told, and goes on
start setpriv --bounding-set -bpf,-sys_admin --inh-caps -bpf,-sys_admin
"$machine/clock_client" wait >"$dir/out" 2>&1 && fault "it works without privileges"
grep -q 'emp_clock_open: Operation not supported' "$dir/out" || { fault "the client is not told"; cat "$dir/out"; }
fuzz clock_fuzz 1
end
grep -q 'the kernel does not accept the BPF programs' "$dir/log" || { fault "the service does not say why"; cat "$dir/log"; }

# The same where the kernel has no BTF
start unshare --mount sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' sh
"$machine/clock_client" wait >"$dir/out" 2>&1 && fault "it works without BTF"
fuzz clock_fuzz_slots 1
end
grep -q 'the kernel has no BTF' "$dir/log" || { fault "the service does not say what is missing"; cat "$dir/log"; }

# 7. A service that accepts and never replies
systemd-socket-activate --seqpacket -l "$dir/deaf" sleep 1000 >"$dir/log" 2>&1 &
service=$!
wait_for [ -S "$dir/deaf" ] || fault "no socket"
EMP_CLOCK_SOCKET=$dir/deaf timeout $((30 * ${EMP_TIMEOUT_MULTIPLIER:-1})) "$machine/clock_client" once >"$dir/out" 2>&1
grep -q 'emp_clock_open: Resource temporarily unavailable' "$dir/out" || { fault "a deaf service"; cat "$dir/out"; }

# 8. Programs that do not know of the library
LD_PRELOAD=$build/lib/clock/libemp-clock-preload.so python3 "$(dirname "$0")/clock_preload.py" || fault "through LD_PRELOAD"
[ $faults = 0 ] && echo "every reading was right" || echo "$faults faults"
exit $((faults > 0))
