#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# De, Kothari and Mann's experiments 2.1 to 2.3: planted daemons are found by name, with their number and lengths, and two that follow each
# other are a source of their own. Their periods were 10 s and 10.5 s, for an hour each.
# Usage: jitter_experiments.sh BUILD [COUNT [PERIOD_MS]]; as in the paper: jitter_experiments.sh BUILD 360 10000
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
build=$(realpath "$1")
count=${2:-8}
period=${3:-1000}
cpu=$(($(nproc) - 1))
emulated=
[ "$(systemd-detect-virt)" != qemu ] || {
	emulated=1
	echo "not tried: the length of each daemon; an emulator's switch of tasks takes a part of it"
}
! grep -q '^flags' /proc/cpuinfo || grep -qw nonstop_tsc /proc/cpuinfo || no_invariant_counter

# watch NAME PERIOD LENGTH COUNT [NAME PERIOD LENGTH COUNT]: daemons under watch; their own times are in $dir/NAME. The loop
# is nice -20, so that other work on its CPU is seldom in the same gap
watch() {
	rm -f "$dir/screen" "$EMP_DB"*
	env --default-signal=INT nice -n -20 "$build/calibrate/emp-calibrate" jitter -q --cpu $cpu --for 10h >"$dir/screen" 2>&1 &
	watcher=$!
	wait_until grep -q Observing "$dir/screen"
	"$build/tests/machine/dummy_daemon" "$1" $cpu "$2" "$3" "$4" >"$dir/$1" &
	first=$!
	[ $# -lt 8 ] || "$build/tests/machine/dummy_daemon" "$5" $cpu "$6" "$7" "$8" >"$dir/$5"
	wait $first
	kill -INT $watcher
	wait $watcher
	status=$?
	[ $status = 130 ] || { echo "FAULT: status $status"; cat "$dir/screen"; faults=$((faults + 1)); }
}

# found NAME: number and mean length in the frequency domain are those that the daemon had. What it does before its first time, and after its
# last, is much shorter
found() {
	that "$1 is found, $(wc -l <"$dir/$1") times, with its length" python3 - "$EMP_DB" "$dir/$1" "$1" "$emulated" <<'PY'
import sqlite3, sys
took = [int(line) for line in open(sys.argv[2])]
db = sqlite3.connect(sys.argv[1])
rows = db.execute("SELECT sum(count), sum(total_ns) FROM jitter_bucket JOIN source ON source.id = source"
                  " WHERE level = 'frequency' AND name = ? AND low_ns >= ?", (sys.argv[3], min(took) // 2)).fetchone()
print("took", took, "found", rows)
assert rows[0] is not None
# each switch of tasks that this kernel's trace lacks may hide one
broken = db.execute("SELECT sum(broken) FROM jitter_cpu").fetchone()[0]
assert len(took) - broken <= rows[0] <= len(took), "number"
assert sys.argv[4] or abs(rows[1] / rows[0] / (sum(took) / len(took)) - 1) < 0.05, "length"
PY
}

# together WORDS TEST: of the interruptions that either daemon is in, the share in which both are
together() {
	that "$1" python3 - "$EMP_DB" "$2" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
both = either = 0
for source, name, count in db.execute("SELECT source, name, count FROM jitter_source JOIN source ON source.id = source WHERE level = 'time'"):
    parts = {row[0] for row in db.execute("SELECT name FROM combination_part JOIN source ON source.id = source WHERE combination = ?", (source,))}
    mine = (parts or {name}) & {"dummydaemon1", "dummydaemon2"}
    either += count * bool(mine)
    both += count * (len(mine) == 2)
    if len(mine) == 2:
        print(name, count)
share = both / either
print(both, "of", either)
assert eval(sys.argv[2])
PY
}

# 2.1: one daemon
watch dummydaemon1 "$period" 2500 "$count"
found dummydaemon1
# 2.2: two of the same length, at other times
watch dummydaemon1 "$period" 2500 "$count" dummydaemon2 $((period * 21 / 20)) 2500 "$count"
found dummydaemon1
found dummydaemon2
together "two daemons at different times are hardly ever one interruption" 'both <= 1 + either // 10'
# 2.3: two at the same time
watch dummydaemon1 "$period" 1200 "$count" dummydaemon2 "$period" 1200 "$count"
found dummydaemon1
found dummydaemon2
together "two daemons at once are a source of their own" 'share > 0.7'
that "of the length of both" python3 - "$EMP_DB" <<'PY'
import sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute("SELECT min_ns FROM jitter_source JOIN source ON source.id = source"
    " WHERE level = 'time' AND name = 'dummydaemon1_dummydaemon2'").fetchall()
assert all(2400000 <= low for low, in rows), rows
PY
# README's 20 s: daemons that take more than 1 % in some of the rounds are new since a baseline, and gone after the remedy
rm -f "$EMP_DB"*
observe() { expect 0 'events lost' "$build/calibrate/emp-calibrate" jitter -v --cpu $cpu --for 20s; }
observe
"$build/tests/machine/dummy_daemon" dummydaemon1 $cpu 1170 15000 22 >"$dir/dummydaemon1" &
first=$!
"$build/tests/machine/dummy_daemon" dummydaemon2 $cpu 1310 20000 20 >"$dir/dummydaemon2" &
second=$!
observe
wait $first $second
observe
for daemon in dummydaemon1 dummydaemon2; do
	expect 0 "^$daemon .*new " "$build/analyze/emp-analyze" jitter 2 --baseline 1
	expect 0 "^$daemon .*gone " "$build/analyze/emp-analyze" jitter 2 3
done
finish
