#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-calibrate neighbour as a user types it. Whether there is a neighbour is up to the machine: what it prints must fit together.
# Usage: neighbour.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
calibrate=$1/calibrate/emp-calibrate
setup=$1/setup/emp-setup
unset COLUMNS
first=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')

fits() { ! grep -E ".{$(($2 + 1))}" "$1"; }

expect 1 'CPU 4000 does not exist' $calibrate neighbour --cpu 4000
expect 1 "'some' is not a list of CPUs" $calibrate neighbour --cpu some
expect 1 '' $calibrate neighbour --for 0
expect 1 '--for must be 0.1s or more' $calibrate neighbour --for 1ms
expect 1 'neighbour.*--db\|--db.*neighbour' $calibrate --db x.db neighbour

# the screen
$calibrate neighbour --for 3s >"$dir/screen" 2>"$dir/progress"
that "it is done" test $? = 0
that "progress is on standard error" grep -q '^Seconds: [123] of 3' "$dir/progress"
that "no line is longer than 80 columns" fits "$dir/screen" 80
COLUMNS=200 $calibrate neighbour -q --for 0.5s >"$dir/wide"
that "each CPU that may be used has a row" python3 - "$dir/wide" <<'P'
import os, re, sys
rows = open(sys.argv[1]).read().split("\n\n")[1].splitlines()
assert rows[0].split()[:3] == ["CPU", "TIME", "WITH"], rows
assert [int(row.split()[0]) for row in rows[1:]] == sorted(os.sched_getaffinity(0)), rows
P
COLUMNS=60 $calibrate neighbour -q --for 0.3s --cpu "$first" >"$dir/narrow" 2>"$dir/silent"
that "-q is silent" test ! -s "$dir/silent"
that "a narrow terminal has no longer lines" fits "$dir/narrow" 60
that "the shares are said by second" grep -q 'in each 1 s' "$dir/screen"

# the document: its numbers fit together
cat >"$dir/check.py" <<'P'
import json, os, sys
d = json.load(open(sys.argv[1]))
assert d["format"] == "emp-neighbour" and not d["interrupted"], d
for cpu in d["cpus"]:
    sound = cpu["readings"] - cpu["unclear"]
    share, (low, high) = cpu["neighbour"]["share"], cpu["neighbour"]["interval"]
    assert 0 <= low <= share <= high <= 1, cpu["neighbour"]
    assert 0 <= cpu["with_neighbour"] <= sound and cpu["slower"] <= sound
    assert bool(cpu["with_neighbour"]) == bool(cpu["episodes"]) == (cpu["median_ns"] is not None)
    assert len(cpu["episodes"]) == sum(l["count"] for l in cpu["lengths"])
    assert sum(e["length_ns"] for e in cpu["episodes"]) == sum(l["total_ns"] for l in cpu["lengths"])
    assert (share > 0) == any(l["total_ns"] for l in cpu["lengths"])
    assert share * cpu["observed_ns"] <= sum(l["total_ns"] for l in cpu["lengths"]) + 1
    assert sum(p["readings"] for p in cpu["parts"]) == sound
    assert cpu["observed_ns"] <= d["took_ns"] and cpu["read_ns"] < d["took_ns"]
    assert all(d["made_ns"] <= e["at_ns"] <= d["made_ns"] + d["took_ns"] for e in cpu["episodes"])
    stays = [s["share"] for s in cpu["stays"] if s["share"] is not None]
    assert stays == sorted(stays, reverse=True) and all(0 <= s <= 1 for s in stays), stays
    assert cpu["cycle_interval_ps"][0] <= cpu["cycle_ps"] <= cpu["cycle_interval_ps"][1] and 50 < cpu["cycle_ps"] < 5000
    threads = open(f"/sys/devices/system/cpu/cpu{cpu['cpu']}/topology/thread_siblings_list").read()
    assert bool(cpu["siblings"]) == (threads.strip() != str(cpu["cpu"])), threads
assert [c["cpu"] for c in d["cpus"]] == json.loads(sys.argv[2]), d
P
$calibrate neighbour -q --json --for 2s --cpu "$first" >"$dir/one.json"
that "the numbers of one CPU fit together" python3 "$dir/check.py" "$dir/one.json" "[$first]"
$calibrate neighbour -q --json --for 2s >"$dir/all.json"
that "and those of all CPUs" python3 "$dir/check.py" "$dir/all.json" "$(python3 -c 'import os; print(sorted(os.sched_getaffinity(0)))')"
taskset -c "$first" $calibrate neighbour -q --json --for 0.2s >"$dir/pinned.json"
that "CPUs that may not be used are left out" json "$dir/pinned.json" "[c['cpu'] for c in d['cpus']] == [$first]"

$calibrate neighbour -q --json --for 0.2s --cpu "$first,$first-$first" >"$dir/twice.json"
that "a CPU that is named twice is observed once" json "$dir/twice.json" "[c['cpu'] for c in d['cpus']] == [$first]"
$calibrate neighbour -q --for 1ns --cpu "$first" >"$dir/short"
that "one reading has no interval" test -z "$(grep 'every 0' "$dir/short")"

# ^C shows what was observed until then
env --default-signal=INT $calibrate neighbour --for 40s >"$dir/interrupted" 2>"$dir/progress" &
observing=$!
progressing() { grep -q '^Seconds: ' "$dir/progress"; }
wait_until progressing
kill -INT $observing
wait $observing
that "^C ends it with its own status" test $? = 130
that "it says so" grep -q '(interrupted)' "$dir/interrupted"
that "it shows the result" grep -q 'TIME WITH A NEIGHBOUR' "$dir/interrupted"
that "nothing was stored" test ! -e "$EMP_DB"

# the audit looks for a neighbour where all rows are shown, and not for what runs keep of it
$setup audit -v >"$dir/audit"
that "the audit has looked" grep -qE '^neighbour .*last second' "$dir/audit"
$setup audit --json >"$dir/audit.json"
that "its document has not" json "$dir/audit.json" 'not any("last second" in c["value"] for c in d["checks"] if c["id"] == "neighbour")'
$setup audit --all --json >"$dir/audit.json"
that "but for --all" json "$dir/audit.json" 'any("last second" in c["value"] for c in d["checks"] if c["id"] == "neighbour")'

finish
