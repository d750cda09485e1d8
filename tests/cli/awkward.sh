#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that do not behave: none hangs emp-measure, none leaves a process behind. Usage: awkward.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
need_root
build=$1
printf '#!/bin/sh\necho $$ >"%s/pid"\nexec "%s/measure/emp-measure" -q -r 2 -w 0 "$@"\n' "$dir" "$build" >"$dir/measure"
chmod +x "$dir/measure"
measure="timeout -s KILL 300 $dir/measure"
mark=31415.$$ # seconds that only this test sleeps

cat >"$dir/awkward.py" <<'P'
import os, signal, sys, time
what, mark = sys.argv[1], sys.argv[2]
def sleeper():
    os.execlp("sleep", "sleep", mark)
if what == "daemon":                       # forks twice, a session of its own, its descriptors closed
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 1024)
            sleeper()
        os._exit(0)
elif what == "deaf":                       # ignores whatever can be ignored
    for s in range(1, 32):
        try: signal.signal(s, signal.SIG_IGN)
        except (OSError, ValueError): pass
    time.sleep(float(mark))
elif what == "closes":
    os.closerange(0, 1024)
elif what == "renames":                    # calls itself something else
    import ctypes
    ctypes.CDLL(None).prctl(15, b"kworker/0:1", 0, 0, 0)
elif what == "drops":                      # gives its privileges up
    os.setgid(65534); os.setuid(65534)
elif what == "bomb":                       # 2 ** 6 processes
    for _ in range(6): os.fork()
    sleeper()
elif what == "gigabyte":
    block = b"x" * (1 << 20)
    for _ in range(1024): os.write(1, block)
P
awkward() { # WHAT OPTIONS...
	what=$1
	shift
	$measure "$@" -- /usr/bin/python3 "$dir/awkward.py" "$what" $mark
}
nobody_left() {
	that "$1 leaves no process" sh -c "! pgrep -fx 'sleep $mark'"
	that "$1 leaves no cgroup" test -z "$(cgroups_of "$(cat "$dir/pid")")"
}

expect 0 'were left behind and killed after --linger' awkward daemon -v --linger 0.2
nobody_left 'a daemon'
expect 124 'ran longer than 300.0 ms' awkward deaf --timeout 0.3
nobody_left 'a program that ignores signals'
expect 124 '' awkward bomb --timeout 1
nobody_left 'a fork bomb'
expect 0 '' awkward closes
expect 0 '' awkward renames
expect 0 '' awkward drops
expect 0 '' awkward gigabyte
expect 0 '' awkward gigabyte --output pipe
expect 1 'stopped itself' $measure -- sh -c 'kill -STOP $$'
expect 1 'stopped itself' $measure -- sh -c 'kill -TSTP $$'
expect 1 "stopped in each of 10 tries of sample 1: .* seems to stop its parent" \
	$measure -- sh -c '(until grep -q "^State:.T" /proc/$PPID/status; do sleep 0.01; done; sleep 0.05; kill -CONT $PPID) & kill -STOP $PPID; wait'
that "the run has failed" test "$(sqlite3 "$EMP_DB" 'SELECT state FROM run ORDER BY id DESC LIMIT 1')" = failed
expect 1 'must go from a number up to a number' $measure -P x 0 1$(printf '%0309d' 0) true
expect 1 'parameter-step-size must be a number above 0' $measure -P x 0 1 -D 1$(printf '%0309d' 0) 'true {x}'
expect 0 '' $measure -- sh -c 'exec true'
expect 0 '' $measure --session -- true
expect 124 '' $measure --timeout 0.3 -- sh -c "sleep $mark & sleep $mark"
nobody_left 'a time-out'

# a program that leaves its cgroup and removes it: its times are lost, which is said at once, and it does not go on
v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
leave='own=$0$(sed -n s/^0:://p /proc/self/cgroup); echo $$ >"$own/../cgroup.procs" && rmdir "$own" && '
expect 1 "cannot read $v2/.*: No such " $measure -- sh -c "$leave true" "$v2"
expect 1 "$v2/.*: No such " $measure --timeout 0.5 -- sh -c "$leave exec sleep $mark" "$v2"
nobody_left 'a program without its cgroup'

# an emp in another namespace of process ids, where this one's process cannot be seen, leaves its cgroup alone
$measure -- sh -c 'touch "$0/running"; until [ -e "$0/go" ]; do sleep 0.05; done' "$dir" >"$dir/first" 2>&1 &
wait_until test -e "$dir/running"
expect 0 '' unshare --pid --fork --mount-proc $measure -- true
touch "$dir/go"
wait $!
that "the first emp-measure is not disturbed by one in another namespace" test $? = 0

# a terminal that a program left raw when it failed is as before; one that a program has set is as the program has set it
leaves() { # WORD OPTION...
	word=$1
	shift
	printf '%s ' "$dir/measure" "$@" >"$dir/typed"
	script -qec "stty sane; $(cat "$dir/typed") >/dev/null 2>&1; stty -a" /dev/null </dev/null | grep -q "[ ;]$word[ ;]"
}
raw="'stty raw -echo </dev/tty"
if command -v script >/dev/null; then
	that "a program that succeeds" leaves -icanon -S sh "$raw'"
	that "one that fails" leaves icanon -S sh "$raw; exit 1'"
	that "one that takes too long" leaves icanon --timeout 0.5 -S sh "$raw; sleep $mark'"
	nobody_left 'a raw terminal'
fi

# names of what is no file that can be read or written: refused before anything runs, and without an end of memory
printf '[load]\nruns = 1\n[work]\ncommand = touch "%s/ran"\n' "$dir" >"$dir/load.ini"
expect 1 "--input '$dir' is a directory" $measure --input "$dir" -- true
expect 1 "cannot read '/dev/zero': File too large" timeout 60 "$build/measure/emp-load" check /dev/zero
expect 1 'cannot read the policy /dev/zero: File too large' timeout 60 "$build/setup/emp-setup" audit --policy /dev/zero
expect 1 "cannot write '$dir': it is a directory" "$build/measure/emp-load" run -q --export-json "$dir" "$dir/load.ini"
that "no load has run" test ! -e "$dir/ran"
that "the book is sound" sound "$EMP_DB"
finish
