#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-calibrate clocks and emp-analyze clocks as a user types them.
# Usage: clocks.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
calibrate=$1/calibrate/emp-calibrate
analyze=$1/analyze/emp-analyze
unset COLUMNS

rows() { sqlite3 "$EMP_DB" 'SELECT count(*) FROM clock_calibration'; }
fits() { awk 'length > 80 { print; wide = 1 } END { exit wide }' "$1"; }

# before there is one
expect 1 'no lab book\|does not exist\|No such file' $analyze clocks
expect 0 '' $calibrate constant
expect 1 "not calibrated: run 'emp-calibrate clocks'" $analyze clocks
expect 1 'CPU 4000 does not exist' $calibrate clocks --cpu 4000

# one that is interrupted stores nothing, and leaves no process
env --default-signal=INT $calibrate clocks >"$dir/interrupted" 2>&1 &
calibrating=$!
progressing() { grep -q '^Clocks: ' "$dir/interrupted"; }
wait_until progressing
kill -INT $calibrating
wait $calibrating
that "^C ends it with its own status" test $? = 130
that "nothing was stored" test "$(rows)" = 0

# a process that it measures ends
if [ "$(id -u)" = 0 ]; then
	rm "$dir/interrupted"
	$calibrate clocks >"$dir/interrupted" 2>&1 &
	calibrating=$!
	wait_until progressing
	until child=$(pgrep -P $calibrating) || ! kill -0 $calibrating; do sleep 0.1; done
	kill -KILL "$child"
	wait $calibrating
	that "it does not wait for it" test $? = 1
	that "it is reported" grep -q 'the process that is measured has ended' "$dir/interrupted"
	that "nothing was stored, either" test "$(rows)" = 0
fi

# the document, and the screen
$calibrate --json -q clocks --cpu 0 >"$dir/clocks.json" 2>"$dir/silent"
that "it is done" test $? = 0
that "-q is silent" test ! -s "$dir/silent"
that "the document says what was calibrated" json "$dir/clocks.json" 'd["cpu"] == 0 and d["calibration"] == 1'
that "analyze --json is the same" cmp "$dir/clocks.json" <($analyze clocks --json)
$analyze clocks 1 >"$dir/screen"
that "no line is longer than 80 columns" fits "$dir/screen"
that "the cost of getrusage is shown" grep -qE '^getrusage\(RUSAGE_SELF\) +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +1\.00$' "$dir/screen"
that "it is stored once" test "$(rows)" = 1
sqlite3 "$EMP_DB" 'INSERT INTO clock_calibration SELECT 2, environment, made_ns, document FROM clock_calibration'
cat >"$dir/check.py" <<'CHECK'
import json, sys
d = json.load(open(sys.argv[1]))
by = {s["name"]: s for s in d["sources"]}
getrusage, thread = by["getrusage(RUSAGE_SELF)"], by["clock_gettime(CLOCK_THREAD_CPUTIME_ID)"]
assert by["emp-clock"]["cycles"]["median"] < getrusage["cycles"]["median"], "emp-clock is cheaper"
assert getrusage["resolution_ns"] % 1000 == 0, "getrusage has microseconds"
assert by["times()"]["resolution_ns"] >= 1e6, "times() has ticks"
for s in d["sources"]:
    c, ns = s["cycles"], s["ns"]
    assert c["min"] <= c["median"] + 40 and c["sd"] >= 0, (s["name"], c)
    assert abs(ns["median"] - c["median"] * 1e9 / d["cycles_per_second"]) < 1e-6, s["name"]
assert [p["primes"] for p in d["precision"]] == list(range(100, 5000, 500)), "sizes of primes"
for p in d["precision"]:
    means = p["mean_ns"]
    exact = means["clock_gettime(CLOCK_THREAD_CPUTIME_ID)"]
    assert abs(means["getrusage(RUSAGE_SELF)"] / exact - 1) < 0.3, ("means agree", p["primes"], means)
assert [m["size_bytes"] for m in d["malloc"]] == list(range(100, 5001, 100)), "sizes of malloc"
assert all(-100 < m["cycles"] < 1e6 for m in d["malloc"]), "cost of malloc"
ratio = by["times()"]["precision_gain"]["ratio"]
assert ratio < 0.5, ("a clock of ticks is less precise", ratio)
tick = d["tick"]
if "missing" not in tick:
    sleeper, runner = ((p["tick_ns"], p["exact_ns"]) for p in tick["processes"])
    exact = all(abs(t / e - 1) < 0.2 for t, e in (sleeper, runner))  # a kernel that does not count ticks
    assert exact or (sleeper[0] < sleeper[1] / 2 and runner[0] > 2 * runner[1]), ("the tick's error", tick)
CHECK
that "the numbers are possible" python3 "$dir/check.py" "$dir/clocks.json"

# the picture, the differences, and what goes wrong
expect 0 '' $analyze clocks -o "$dir/precision.svg" --script
that "the picture is there" grep -q '<svg' "$dir/precision.svg"
that "its script names the source" grep -q 'getrusage' "$dir/precision.svg.gnuplot"
expect 0 'COST OF A CALL  *BEFORE  *NOW  *CHANGE  *RELATIVE' $analyze clocks --diff
$analyze clocks --diff --json >"$dir/diff.json"
that "the differences are a document" json "$dir/diff.json" 'd["format"] == "emp-clocks-differences" and d["before"] == 1 and d["now"] == 2 and len(d["sources"]) > 8'
expect 1 'no calibration of the clocks before number 1' $analyze clocks 1 --diff
expect 1 'no calibration 7 of the clocks' $analyze clocks 7
expect 1 'CALIBRATION must be' $analyze clocks x
expect 1 'must end with .png' $analyze clocks -o "$dir/precision"

# a clock that has become slow
sqlite3 "$EMP_DB" "UPDATE clock_calibration SET document = json_set(document, '\$.sources[0].cycles.median', 9000) WHERE id = 2"
expect 0 ' slower$' $analyze clocks --diff
sqlite3 "$EMP_DB" "UPDATE clock_calibration SET document = json_set(document, '\$.cpu', 'x') WHERE id = 2"
expect 1 "calibration 2 of the clocks in the lab book.*'cpu' must be" $analyze clocks

finish
