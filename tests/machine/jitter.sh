#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-calibrate jitter: what it prints and stores, what it says where it cannot run, and that it leaves nothing behind.
# Usage: jitter.sh BUILD
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
build=$(realpath "$1")
jitter="$build/calibrate/emp-calibrate jitter"
cpu=$(taskset -cp $$ | sed 's,.*[ ,-],,') # the last that is online
. "$(dirname "$0")/tracefs.sh"

of_dead() { # traces of processes that are gone
	for trace in "$tracing"/instances/emp-trace-*; do
		pid=${trace##*/emp-trace-}
		[ ! -d "$trace" ] || [ -d "/proc/${pid%%-*}" ] || echo "$trace"
	done
}
none_left() { [ -z "$(of_dead)" ]; }

if grep -q '^flags' /proc/cpuinfo && ! grep -qw nonstop_tsc /proc/cpuinfo; then
	expect 1 'time stamp counter is not invariant' $jitter --cpu $cpu --for 1s
	no_invariant_counter
fi

expect 0 '0 of [0-9]* events lost' $jitter -v --cpu $cpu --for 2s
cp "$dir/out" "$dir/result"
that "the result names the run" grep -q 'emp-analyze jitter 1' "$dir/result"
that "the timer is in it" grep -Eq 'local_timer|ipi|irq[0-9]' "$dir/result"
gives "the document has what is promised" '({"cpus", "duration_ns", "sampled_share", "threshold_ns", "events_lost", "gaps", "explained", "by_chance", "residue", "sources", "combinations"} <= d.keys() and d["cpus"] == ['$cpu'] and 10**9 <= d["duration_ns"] < 10**10 and 0 <= d["residue"]["time_share"] < 0.1 and isinstance(d["residue"]["periods"], list) and all(s["kind"] in ("process", "kernel", "irq", "softirq", "vector", "nmi", "fault") for s in d["sources"]) and abs(sum(s["share"] for s in d["sources"]) - 1) < 1e-9)' $jitter --cpu $cpu --for 1s --json
that "the run is in the book" test "$(sqlite3 "$EMP_DB" "SELECT group_concat(kind || state) FROM run")" = jitterdone,jitterdone
that "time is sampled without holes" test "$(sqlite3 "$EMP_DB" "SELECT min(sampled_ns >= 0.99 * wall_ns) FROM jitter_cpu")" = 1
that "the parts make the whole" test "$(sqlite3 "$EMP_DB" "SELECT min(explained_ns + periodic_ns + ifnull(outside_kernel_ns, 0) + unexplained_ns = gaps_ns
	AND explained + periodic + ifnull(outside_kernel, 0) + unexplained = gaps) FROM jitter_cpu")" = 1
if [ "$(uname -m)" = x86_64 ] && ! grep -qw fred /proc/cpuinfo; then
	that "gaps in the kernel are told from others" test "$(sqlite3 "$EMP_DB" "SELECT min(outside_kernel IS NOT NULL) FROM jitter_cpu")" = 1
	# in_no_gap has the events of those others, of which there are none
	that "those in the kernel have events" test "$(sqlite3 "$EMP_DB" "SELECT min(explained > 0 AND unexplained <= 0.02 * explained + 5) FROM jitter_cpu")" = 1
fi
that "events lie in gaps" test "$(sqlite3 "$EMP_DB" "SELECT sum(in_no_gap) <= 0.01 * sum(events) + 5 FROM jitter_cpu")" = 1
that "nothing is left" none_left

# the clock that other processors need
expect 0 'events lost' $jitter --cpu $cpu --for 2s --mono-raw
that "its events lie in gaps, too" test "$(sqlite3 "$EMP_DB" "SELECT in_no_gap <= 0.02 * events + 5 FROM jitter_cpu
	WHERE run = (SELECT max(id) FROM run)")" = 1

# several CPUs
expect 0 "^CPU $cpu" $jitter --cpu 0,$cpu --for 1s

# the trace as a file
expect 0 'The trace is in' $jitter --cpu $cpu --for 1s --keep-trace "$dir/trace.dat"
if command -v trace-cmd >/dev/null; then
	expect 0 'sched_switch' trace-cmd report -i "$dir/trace.dat"
fi
expect 1 'no-such' $jitter --cpu $cpu --for 1s --keep-trace "$dir/no-such/trace.dat"

# ^C keeps what was measured
env --default-signal=INT $jitter -q --cpu $cpu --for 10h >"$dir/screen" 2>&1 &
pid=$!
wait_until grep -q Observing "$dir/screen"
kill -INT $pid
wait $pid
that "^C is status 130" test $? = 130
that "and the run is kept" grep -q 'interrupted. Next' "$dir/screen"
that "nothing is left" none_left

# kill -9: its guard cleans up
$jitter -q --cpu $cpu --for 10h >"$dir/screen" 2>&1 &
pid=$!
wait_until grep -q Observing "$dir/screen"
kill -9 $pid
wait $pid 2>/dev/null
wait_until none_left

# what it refuses
expect 1 'does not exist' $jitter --cpu 999
expect 1 'not a list of CPUs' $jitter --cpu one
expect 1 'must be a size such as 64M or 1G' $jitter --buffer 5x
expect 1 'must be 64K or more' $jitter --buffer 16
expect 1 'smaller --buffer' $jitter --cpu $cpu --for 1s --buffer 65536M
that "nothing is left" none_left
expect 1 'only root' setpriv --reuid 65534 --regid 65534 --clear-groups $jitter --cpu $cpu --for 1s
unmounted() { # COMMAND: without tracefs, and then whether it was mounted
	unshare -m sh -c "umount -l '$tracing'; umount -l /sys/kernel/debug 2>/dev/null; $1 && ! grep ' tracefs ' /proc/mounts"
}
expect 0 'events lost' unmounted "$jitter --cpu $cpu --for 1s"
that "nothing is left" none_left
expect 1 'mount -t tracefs' unmounted "setpriv --bounding-set=-sys_admin $jitter --cpu $cpu --for 1s"
# lockdown: the kernel refuses the trace to root, or has no events to begin with
locked() { # MODE COMMAND...
	mode=$1
	shift
	unshare -m sh -c 'mount -t tmpfs -o "$1" none "$2" && mkdir -p /sys/kernel/security && mount -t tmpfs none /sys/kernel/security &&
		echo "none integrity [confidentiality]" >/sys/kernel/security/lockdown && shift 2 && exec "$@"' sh "$mode" "$tracing" "$@"
}
if [ -d /sys/kernel/security ]; then
	expect 1 'cannot be used (the kernel is locked down' locked mode=755 $jitter --cpu $cpu --for 1s
	expect 1 'cannot use the kernel.s trace (the kernel is locked down' locked mode=700,uid=65534 \
		setpriv --bounding-set=-dac_override,-dac_read_search $jitter --cpu $cpu --for 1s
fi
offline=$(cat /sys/devices/system/cpu/offline)
took= # a CPU of the virtual machine of in_vm.sh, which ends with its tests
if [ -z "$offline" ] && [ "$cpu" -gt 0 ] && grep -q emp-test.target /proc/1/cmdline; then
	took=/sys/devices/system/cpu/cpu$cpu/online
	echo 0 >"$took" && offline=$cpu
fi
[ -z "$offline" ] || expect 1 'is offline' $jitter --cpu "${offline%%[-,]*}" --for 1s
[ -z "$took" ] || echo 1 >"$took"

# a buffer that is too small for a storm of events
python3 - $cpu <<'PY' &
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)) # also beside busy loops
while os.getppid() != 1:
    for _ in range(1000):
        time.sleep(1e-6)
PY
storm=$!
$jitter -q --cpu $cpu --for 3s --buffer 64K >"$dir/lost" 2>&1 &
pid=$!
wait_until grep -q Observing "$dir/lost"
kill -STOP $pid # on a slow machine, it would read as fast as they come
overruns() { sed -n 's/^overrun: *//p' "$tracing"/instances/emp-trace-$pid-*/per_cpu/cpu$cpu/stats; }
before=$(overruns) # it may have been too small for what came before the start, too
wait_until eval '[ "$(overruns)" -gt "$before" ]'
kill $storm
kill -CONT $pid
that "lost events are no failure" wait $pid
that "they are counted" grep -q 'Warning: [0-9]* of [0-9]* events were lost' "$dir/lost"
that "the way out is named" grep -q -e "--buffer" "$dir/lost"
finish
