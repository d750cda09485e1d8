#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A profile from noisy or busy runs is marked, and so is all that is judged by it. The runs are made up.
# Usage: profile-marks.sh BUILD
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

half = {"program": "INC0.1", "samples": 400, "l_samples": []}
for name, mark in ("noisy", {"blind_ns": 999857, "noise": "speed varies"}), ("quiet", {}):
    write(name, {"format": "emp-profile", "version": 1, "name": name, "resolution_ns": 1, "short": half, "long": half, "environment": {"digest": None},
                 "cutoffs": [], **mark})

# Others take a share of every sample. W may be unknown: then what varies hides daemons.
def run(name, mean_ns, n, start_s, busy=0.0, vary=0.002, known=True, **more):
    samples = []
    for i in range(1, n + 1):
        pt = int(mean_ns * draw.gauss(1, vary))
        wait = int(pt * busy * draw.gauss(1, 0.05)) + 20_000
        executions = [{"name": "stress", "pt_ns": wait, "pid": 9, "cpu": 1, "same_cpu_ns": wait}]
        samples.append({"n": i, "start_ns": int((start_s + i * 2 * mean_ns / 1e9) * 1e9), "et_ns": pt + wait + 200_000, "pt_ns": pt, "executions": executions} | ({"wait_ns": wait} if known else {}))
    write(name, {"format": "emp-run", "version": 1, "program": name, "command": [name], "task_length_s": mean_ns / 1e9, "resolution_ns": 1, "cpu": 1,
                 "backend": "bpf", "samples": samples, **({"wait_source": "bpf"} if known else {}), **more})

run("a", 50e6, 20, 1.7e9, kind="measure", profile="noisy")
run("b", 50.3e6, 20, 1.7e9 + 0.05, kind="measure", profile="quiet")
run("short", 1e8, 200, 1.71e9, busy=0.1, kind="short")
run("long", 1e9, 40, 1.72e9, kind="long")
run("short-noisy", 1e8, 200, 1.73e9, vary=0.03, known=False, kind="short")
run("long-noisy", 1e9, 40, 1.74e9, vary=0.03, known=False, kind="long")
END_OF_RUNS
$calibrate profile import noisy.json >"$dir/that" || cat "$dir/that"
$calibrate profile import quiet.json >"$dir/that" || cat "$dir/that"
expect 0 '^6$' $analyze import a.json b.json short.json long.json short-noisy.json long-noisy.json

mark="^Profile 'noisy' is noisy: blind to daemons below 1.0 ms (speed varies)$"
expect 0 "$mark" $calibrate profile show noisy
expect 0 "$mark" $analyze compare 1 2
expect 0 "$mark" $analyze compare 2 2 --profile noisy
that "it is said once" test "$(grep -c "is noisy" out)" = 1
expect 0 "$mark" $analyze discard 1 --profile noisy
expect 0 "$mark" $analyze protocols 1 2 --profile noisy
expect 0 "$mark" $analyze sample-size 1 --profile noisy
expect 0 "^  Profile 'noisy' is noisy: blind to daemons below 1.0 ms (speed varies)$" $analyze show 1
gives "compare --json has it" 'd["runs"][0]["profile_blind_ns"] == 999857 and d["runs"][0]["profile_noise"] == "speed varies" and "profile_noise" not in d["runs"][1]' \
	$analyze compare 1 2 --json
gives "protocols --json has it" '[r["profile_noise"] for r in d["runs"]] == ["speed varies"] * 2' $analyze protocols 1 2 --profile noisy --json
for verb in discard sample-size; do
	gives "$verb --json has it" 'd["profile_blind_ns"] == 999857 and d["profile_noise"] == "speed varies"' $analyze $verb 1 --profile noisy --json
done
gives "show --json has it beside that of the run itself" 'd["profile_noise"] == "speed varies" and not d["noisy"]' $analyze show 1 --json
expect 0 '' $analyze protocols 1 2 --profile quiet
that "a profile without a mark has none" sh -c "! grep -i 'noisy\|unreliable' out"

# a result in a file has the mark of its profile
python3 - <<'END_OF_RESULTS'
import json
times = [0.05 + 1e-5 * i for i in range(10)]
json.dump({"results": [{"command": "c", "times": times, "emp": {"pt_ns": [int(t * 1e9) for t in times], "start_ns": list(range(10)), "profile": "lab7",
    "profile_blind_ns": 16000000, "profile_noise": "steal 3.2 %"}}]}, open("result.json", "w"))
END_OF_RESULTS
expect 0 "^Profile 'lab7' is noisy: blind to daemons below 16 ms (steal 3.2 %)$" $analyze compare result.json 2

# both runs are noisy: the long one hides more
expect 0 "^Profile 'both' is noisy: blind to daemons below [0-9.]* [mu]s (speed varies)$" $analyze cutoffs --short 5 --long 6 --save both
gives "the greater of both counts" 'd["blind_ns"] > 10e6' $calibrate profile export both

# forced
expect 2 'shows a busy CPU' $analyze cutoffs --short 3 --long 4 --save forced
expect 0 "^Profile 'forced' is .*(busy, forced.*)$" $analyze cutoffs --short 3 --long 4 --force --save forced
expect 0 "^Profile 'forced' is .*(busy, forced.*)$" $calibrate profile show forced
that "no floor is shown, which would be that of what disturbed it" sh -c "! $calibrate profile show forced | grep -q ^Floor"
gives "the document has it" 'd["noise"].startswith("busy, forced")' $calibrate profile export forced
$calibrate profile export forced >forced.json
expect 0 '' $calibrate profile import --replace forced.json
expect 0 "^Profile 'forced' is .*(busy, forced.*)$" $analyze discard 1 --profile forced
gives "results have it" 'd["profile_noise"].startswith("busy, forced")' $analyze discard 1 --profile forced --json
expect 0 '' $analyze cutoffs --short 4 --long 4 --force --save fine
that "a profile that needed no force has no mark" sh -c "! grep 'is noisy\|is unreliable' out"
finish
