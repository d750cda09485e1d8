#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stored runs are judged by the rules that they were measured with. The runs are made up. Usage: stored-runs.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
analyze=$1/analyze/emp-analyze
calibrate=$1/calibrate/emp-calibrate
cd "$dir" || exit 1

python3 - <<'END_OF_RUNS'
import json, random
draw = random.Random(3)

def write(name, document):
    json.dump(document, open(name + ".json", "w"))

def profile(name, cutoff_ns):
    half = {"program": "INC0.1", "samples": 400, "l_samples": []}
    write(name, {"format": "emp-profile", "version": 1, "name": name, "resolution_ns": 1, "short": half, "long": half, "environment": {"digest": None},
                 "cutoffs": [{"daemon": "backupd", "short_ns": cutoff_ns, "long_ns": cutoff_ns, "below_ns": cutoff_ns, "atleast_ns": cutoff_ns}]})

# The daemon makes the samples longer, in which it runs.
def run(name, mean_ns, start_s, disturbed, n=20, **more):
    samples = []
    for i in range(1, n + 1):
        pt = int(mean_ns * draw.gauss(1, 0.002) * (1.1 if i in disturbed else 1))
        executions = [{"name": "backupd", "pt_ns": 20_000_000, "pid": 9, "cpu": 1, "same_cpu_ns": 20_000_000}] if i in disturbed else []
        samples.append({"n": i, "start_ns": int((start_s + i * 0.2) * 1e9), "et_ns": pt + 20_100_000 * len(executions) + 100_000, "pt_ns": pt, "executions": executions})
    write(name, {"format": "emp-run", "version": 1, "kind": "measure", "program": name, "command": [name], "task_length_s": 0, "resolution_ns": 1, "cpu": 1,
                 "samples": samples, **more})

profile("lab", 10_000_000)
profile("lax", 10_000_000_000)
run("fast", 50e6, 1.7e9, {3, 8, 12}, profile="lab")
run("slow", 50.3e6, 1.7e9 + 0.05, {6, 15}, profile="lab")
run("bare", 50e6, 1.71e9, {3, 8, 12})
run("gone", 50e6, 1.71e9 + 0.05, {6}, profile="no such profile")
END_OF_RUNS
$calibrate profile import lab.json >"$dir/that" || cat "$dir/that"
$calibrate profile import lax.json >"$dir/that" || cat "$dir/that"
expect 0 '4' $analyze import fast.json slow.json bare.json gone.json

# compare
expect 0 "^run 2 (slow) .* slower " $analyze compare 1 2
expect 0 "^Run 1: profile 'lab'; 3 of 20 samples discarded$" $analyze compare 1 2
that "both runs have a line" grep -q "^Run 2: profile 'lab'; 2 of 20 samples discarded$" out
expect 0 "no difference shown" $analyze compare --profile lax 1 2
expect 0 "^Run 1: profile 'lax'; 0 of 20 samples discarded$" $analyze compare --profile lax 1 2
expect 0 "^Run 3: no profile; 0 of 20 samples discarded$" $analyze compare 1 3
expect 0 "^Run 4: profile 'no such profile' is no longer in the book; 0 of 20 samples discarded$" $analyze compare 3 4
expect 1 "there is no profile 'none'" $analyze compare --profile none 1 2
gives "the document says it too" '[(r["run"], r["profile"], r["samples"], r["discarded"]) for r in d["runs"]] == [(1, "lab", 20, 3), (2, "lab", 20, 2)] and d["verdict"] == "slower"' \
	$analyze compare --json 1 2
gives "and that a profile is no longer there" '[(r["profile"], r["profile_missing"]) for r in d["runs"]] == [(None, False), ("no such profile", True)]' $analyze compare --json 3 4
finish
