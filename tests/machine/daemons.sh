#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Three daemons on the measured CPU of a calibration: one every 4 s, one in pairs, one irregularly. Each must be reported by its
# name, with its CPU time and its period if it has one, and exactly its samples must be discarded for it. One that runs between two
# samples, while the next program waits for the CPU, is in neither. Usage: daemons.sh BUILD
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
build=$1
calibrate=$build/calibrate/emp-calibrate
cpu=$(($(nproc) - 1))
inc=$(realpath "$build/calibrate/emp-inc")

$calibrate constant --cpu $cpu >/dev/null || exit 1
ahead=$(dirname "$0")/ahead.sh
# The short run is numbers 0 (warm-up) to 400.
"$ahead" "$build/tests/machine/planter" "$inc" $cpu 400 punctual=600@every:4000 paired=500@100,101,180,181,331,332 \
	erratic=450@61,83,191,322,341 >"$dir/planted" &
expect 0 "Profile 'three'" "$ahead" $calibrate -q run --short 0.1x400 --long 0.5x20 --save three --cpu $cpu --ignore-audit --force
cp "$dir/out" "$dir/run"
planter="^$build/tests/machine/planter $inc"
wait_until sh -c "! pgrep -f '$planter'" || kill "$(pgrep -f "$planter")" # it ends when it has seen 400 samples
grep -E "^(Run|punctual|paired|erratic)" "$dir/run"
$calibrate profile export three >"$dir/profile.json"
"$build/analyze/emp-analyze" discard 1 --profile three --json >"$dir/discard.json"
"$build/analyze/emp-analyze" export 1 >"$dir/run.json"
"$build/analyze/emp-analyze" daemons 1 --json >"$dir/daemons.json"
python3 - "$dir" <<'PY' || faults=$((faults + 1))
import json, sys
def document(name):
    return json.load(open(f"{sys.argv[1]}/{name}.json"))
samples = document("run")["samples"]
spans = {s["n"]: (s["start_ns"], s["start_ns"] + s["et_ns"]) for s in samples}
follows = {s["n"]: samples[i + 1]["start_ns"] for i, s in enumerate(samples[:-1])}
planted, touched, beside = {}, {}, {}
for line in open(f"{sys.argv[1]}/planted"):
    name, _, start_ns, end_ns, ns = line.split()
    inside = [n for n, (begin, end) in spans.items() if begin <= int(start_ns) and int(end_ns) <= end]
    if inside:
        planted.setdefault(name, {})[inside[0]] = int(ns)
    else:  # in part between two samples, which may or may not be discarded
        touched.setdefault(name, set()).update(n for n, (begin, end) in spans.items() if begin < int(end_ns) and int(start_ns) < end)
        beside.setdefault(name, set()).update(n for n in follows if int(start_ns) < follows[n] and spans.get(n - 1, (0, 0))[1] < int(end_ns))
print("in part between samples:", touched, "beside them:", beside)
cutoffs = {c["daemon"]: c for c in document("profile")["cutoffs"]}
over = document("discard")["by_cutoff"]
central = {c["daemon"]: c for c in document("daemons")["central"]}
in_l = {e["sample"] for e in document("daemons")["l_samples"]}
off_cpu = {s["n"]: s["et_ns"] - s["pt_ns"] for s in samples}
for name, times in sorted(planted.items()):
    assert name in cutoffs, f"{name} has no cutoff: {sorted(cutoffs)}"
    # so may those beside it in which the program was off the CPU for that long
    may = touched.get(name, set()) | {n for n in beside.get(name, ()) if off_cpu[n] >= cutoffs[name]["below_ns"]}
    found = {o["sample"]: o["pt_ns"] for o in over if o["daemon"] == name and o["sample"] not in may}
    times = {n: ns for n, ns in times.items() if n not in may}
    assert sorted(found) == sorted(times), f"{name}: planted in {sorted(times)}, discarded {sorted(found)}"
    worst = max(abs(found[n] / times[n] - 1) for n in times)
    print(f"{name}: {len(times)} samples, all discarded and no other; CPU time right to {worst:.2%}")
    assert worst < 0.02
    if name in central:  # no more than the program left of the CPU in a sample beside one
        most = max((off_cpu[n] for n in beside.get(name, ()) if n not in in_l), default=0)
        assert central[name]["max_ns"] <= most + 1e6, f"{central[name]}, but at most {most} ns in {beside.get(name)}"
assert len(planted["punctual"]) >= 10 and len(planted["paired"]) == 6 and len(planted["erratic"]) == 5, planted
assert cutoffs["punctual"].get("firm"), cutoffs["punctual"]
assert 3.98 < cutoffs["punctual"]["period_s"] < 4.02, cutoffs["punctual"]
assert not cutoffs["erratic"].get("period_s"), cutoffs["erratic"]
open(f"{sys.argv[1]}/central", "w").write("at most .* in central" if "punctual" in central else "in no central sample$")
PY
"$build/analyze/emp-analyze" daemons 1 >"$dir/daemons" || exit 1
grep -A3 'run 1:' "$dir/daemons"
that "its executions are reported" grep -Eq "run 1: [1-9][0-9] long executions, median .*; $(cat "$dir/central")" "$dir/daemons"
that "the period is reported, and firm" grep -Eq '^    every (.* = )?(3\.9|4\.0)[0-9]* s, firm \(' "$dir/daemons"
that "what is not regular is reported" test -n "$(grep -A2 'run 1: 5 long executions' "$dir/daemons" | grep '^    at irregular intervals$')"
finish
