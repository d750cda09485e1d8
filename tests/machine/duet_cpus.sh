#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of several threads that alternate on a set of CPUs, by the freezer and by signals: each has them for itself in its turn, as
# the programs themselves have seen it; PT is that of all threads; and nothing is left stopped. Usage: duet_cpus.sh BUILD
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
build=$1
measure=$build/measure/emp-measure
burn=$build/tests/machine/burn
turns=$build/tests/machine/own_turns
[ "$(nproc)" -gt 1 ] || { echo "not run: needs two CPUs"; exit 77; }
cpus=$(python3 -c 'import os; print(",".join(map(str, sorted(os.sched_getaffinity(0))[:2])))')

duet() { # OPTION... COMMAND...
	"$measure" -q --order duet --cpu "$cpus" -w 0 --alone 0 --export-json "$dir/duet.json" "$@"
}
stopped() { # PATTERN: whether such a process is stopped
	ps -eo stat=,args= | grep -q "^T.*$1"
}
none_at_once() { # whether the threads of one program ran while those of the other did, for at most 3 % of the time
	python3 - "$dir/a" "$dir/b" <<'P'
import sys
a, b = (sorted(tuple(map(int, line.split())) for line in open(f)) for f in sys.argv[1:])
both = sum(max(0, min(t, v) - max(s, u)) for s, t in a for u, v in b)
ran = sum(t - s for s, t in a + b)
print(f"{ran / 1e6:.1f} ms in {len(a)} and {len(b)} spans, {both / 1e6:.2f} ms at once")
assert len(a) > 8 and len(b) > 8 and both < 0.03 * ran
P
}

for way in freezer signals; do
	rm -f "$dir/a" "$dir/b"
	that "there is a duet by the $way" duet --slices-by "$way" --slice 10ms -r 4 -n a -n b "$turns $dir/a 2 100" "$turns $dir/b 2 100"
	that "each had the CPUs for itself ($way)" none_at_once
	that "PT is that of all threads ($way)" json "$dir/duet.json" 'all(200e6 <= t < 230e6 for r in d["results"] for t in r["emp"]["pt_ns"])'
	that "it says on how many CPUs ($way)" json "$dir/duet.json" "d['duet']['cpus'] == 2 and d['duet']['cpu'] is None and d['duet']['slices_by'] == '$way'"
	that "ET is that of the own turns ($way)" json "$dir/duet.json" 'all(p["pt_ns"] / 2 < p["et_ns"] for p in d["duet"]["programs"]) and "et" in d["comparisons"][0]'
	for pair in "$burn --threads 3 120" "sh -c '$burn 60 & $burn 60; wait'" 'sleep 0.05'; do # more threads than CPUs, processes, and none that computes
		expect 0 '^Verdict' duet --slices-by "$way" --slice 3ms -r 2 "$pair" "$burn --threads 2 100"
	done
	expect 124 'ran longer than 300.0 ms in sample 1' duet --slices-by "$way" --timeout 0.3 -r 1 "$burn 100" "sleep 4321.$$"
	that "a time-out leaves nothing running ($way)" sh -c "! pgrep -fx 'sleep 4321.$$'"
	expect 0 'Elapsed times' "$build/analyze/emp-analyze" compare "$(sqlite3 "$EMP_DB" 'SELECT max(run) - 1 FROM duet_sample')" "$(sqlite3 "$EMP_DB" 'SELECT max(run) FROM duet_sample')"

	# killed in the middle of a slice
	"$measure" -q --order duet --cpu "$cpus" --slices-by "$way" --slice 100ms -r 1 -w 0 --alone 0 "sh -c 'sleep 7654.$$ & wait'" "sh -c 'sleep 8765.$$ & wait'" >"$dir/killed" 2>&1 &
	pid=$!
	wait_until pgrep -fx "sleep 8765.$$"
	kill -KILL "$pid"
	wait "$pid" 2>"$dir/that"
	wait_until eval "! stopped 'sleep 7654.$$' && ! stopped 'sleep 8765.$$'"
	expect 0 '' duet -r 1 --slice 10ms "$burn 5" "$burn 5"
	pkill -fx "sleep (7654|8765).$$"

	env --default-signal=INT "$measure" -q --order duet --cpu "$cpus" --slices-by "$way" --slice 100ms -r 1 -w 0 --alone 0 "sleep 5432.$$" "sleep 6543.$$" >"$dir/duet" 2>&1 &
	pid=$!
	wait_until pgrep -fx "sleep 6543.$$"
	kill -INT "$pid"
	wait "$pid"
	that "an interrupted duet ends with 130 ($way)" [ $? = 130 ]
	that "and leaves nothing ($way)" sh -c "! pgrep -fx 'sleep (5432|6543).$$'"
done

# without --cpu: threads are seen in the warm-up, and one CPU is for programs without
expect 0 'Duet on [0-9]* CPUs' "$measure" -q --order duet --slice 10ms -r 2 --alone 0 "$burn --threads 2 200" "$burn 200"
that "the runs are on no CPU" [ "$(sqlite3 "$EMP_DB" 'SELECT count(*), sum(cpu IS NULL) FROM run WHERE id > (SELECT max(id) FROM run) - 2')" = '2|2' ]
expect 0 'Duet on CPU' "$measure" -q --order duet --slice 10ms -r 2 --alone 0 "$burn 100" "$burn 100"
expect 0 "share CPU ${cpus%%,*}: --cpu LIST gives them several" "$measure" -qv --order duet --cpu "${cpus%%,*}" --slice 10ms -r 2 --alone 0 "$burn --threads 2 200" "$burn 200"

# one CPU is no set of them, however it is given, and with slices by the scheduler threads share it
expect 0 "Duet on CPU ${cpus%%,*}" "$measure" -q --order duet --affinity "${cpus%%,*}" --slice 10ms -r 2 --alone 0 "$burn 50" "$burn 50"
expect 0 "Duet on CPU ${cpus%%,*}" taskset -c "${cpus%%,*}" "$measure" -q --order duet --slice 10ms -r 2 --alone 0 "$burn --threads 2 200" "$burn 200"
expect 0 'Duet on CPU' "$measure" -q --order duet --slices-by scheduler --slice 10ms -r 2 --alone 0 "$burn --threads 2 200" "$burn 200"

# a program that stops itself is not waited for
expect 1 'stopped itself in warm-up 1' timeout 100 "$measure" -q --order duet --cpu "$cpus" --slices-by signals -r 2 "sh -c 'kill -STOP \$\$'" true
expect 0 '^Duet on 2 CPUs, slices by signals' timeout 100 "$measure" -q --order duet --cpu "$cpus" --slices-by signals -w 0 --alone 0 -r 2 "sh -c '$burn 100; kill -STOP \$\$'" true

# an ordinary user has no cgroup
chmod 755 "$dir"
install -d -o 65534 "$dir/nobody"
expect 0 'Duet on 2 CPUs, slices by signals' setpriv --reuid 65534 --clear-groups env EMP_DB="$dir/nobody/book.db" "$measure" -q --order duet --cpu "$cpus" --slice 10ms -r 2 "$burn --threads 2 100" "$burn 100"

# what cannot be
expect 1 "the scheduler's slices are those of one CPU" duet --slices-by scheduler "$burn 5" "$burn 5"
expect 1 '--slices-by signals needs process groups of this session' duet --slices-by signals --session "$burn 5" "$burn 5"

# --order auto: a duet or a reason
for options in '--perf page-faults' '-p true' '--compare et' '-w 0'; do
	expect 0 'Taken in turn: ' "$measure" -q --order auto -r 2 $options "$burn 20" "$burn 20"
done
expect 0 "Taken in turn: 'sleep 0.1' waits for something other than a CPU" "$measure" -q --order auto -r 2 'sleep 0.1' 'sleep 0.1'
expect 0 "^Duet on CPU\|^Taken in turn: refilling" "$measure" -q --order auto -r 3 --cpu "${cpus%%,*}" "$build/calibrate/emp-inc --iterations 400000000" "$build/calibrate/emp-inc --iterations 400000000"
expect 0 '^burn\|PT' "$measure" -q --order auto -r 2 -- "$burn" 20
that "nothing is said of a single program" sh -c "! grep -i 'in turn' '$dir/out'"
finish
