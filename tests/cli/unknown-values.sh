#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What 0 or 1 samples do not say is null in JSON, nothing in CSV and "-" in tables, and what show says of a run is the same as
# text and as JSON. Usage: unknown-values.sh BUILD
set -u
set -- "$(realpath "$1")" "$(realpath "$0")"
. "$(dirname "$2")/expect.sh"
analyze=$1/analyze/emp-analyze
measure=$1/measure/emp-measure
calibrate=$1/calibrate/emp-calibrate
cd "$dir" || exit 1

# run 1: one sample, kept; 2: one, discarded; 3: two, one of them discarded; 4: three, of which one has an execution over its cutoff, and
# another process takes too much of the others
python3 - <<'END_OF_DOCUMENTS'
import json
def sample(n, *executions):
    return {"n": n, "start_ns": 10**18 + n * 10**9, "et_ns": 150_000_000 + 1000 * n, "pt_ns": 100_000_000 + 1000 * n,
            "executions": [{"name": name, "pt_ns": 30_000_000} for name in executions]}
def run(number, *samples, **more):
    json.dump({"format": "emp-run", "version": 1, "program": "work", "task_length_s": 0, "resolution_ns": 1, "profile": "lab", **more,
               "samples": [sample(n, *executions) for n, executions in enumerate(samples, 1)]}, open(f"{number}.json", "w"))
run(1, [])
run(2, ["backupd"])
run(3, ["backupd"], [])
run(4, ["backupd"], ["other"], ["other", "third"], unprofiled_share_ppm=50_000)
run(5, ["other"], [], unprofiled_share_ppm=50_000, profile=None)
run(6, [], [], [], ["backupd"])
END_OF_DOCUMENTS
sed -i 's/"profile": null, //' 5.json
python3 - <<'END_OF_PROFILE'
import json
cutoff = {"daemon": "backupd", "short_ns": 10**7, "long_ns": 10**7, "period_s": None, "firm": False, "task_time_s": None, "below_ns": 10**7, "atleast_ns": 10**7}
profile = {"format": "emp-profile", "version": 1, "name": "lab", "resolution_ns": 1, "made_ns": 10**18, "cutoffs": [cutoff], "blind_ns": 3_000_000, "noise": "steal 3 %"}
for run in "short", "long":
    profile[run] = {"program": "INC", "samples": 10, "l_samples": []}
json.dump(profile, open("lab.json", "w"))
profile.update(blind_ns=7_000_000, noise="steal 7 %", made_ns=10**18 + 10**15)
profile["cutoffs"][0].update(short_ns=10**9, long_ns=10**9, below_ns=10**9, atleast_ns=10**9)
json.dump(profile, open("later.json", "w"))
END_OF_PROFILE
expect 0 '' $calibrate profile import lab.json
expect 0 '^6$' $analyze import 1.json 2.json 3.json 4.json 5.json 6.json

unknown='all(c[k] is None for c in (d["pt"]["kept"], d["et"]["kept"]) for k in ("sd_ns", "relative_error"))'
nothing='all(c[k] is None for c in (d["pt"]["kept"], d["et"]["kept"]) for k in ("mean_ns", "median_ns", "min_ns", "max_ns", "interval_ns"))'
gives "one sample has no sd" "$unknown and d['pt']['kept']['mean_ns'] == 100001000" $analyze --json discard 1
gives "no sample has no mean" "$unknown and $nothing and d['pt']['raw']['n'] == 1" $analyze --json discard 2
expect 0 '^PT  *all  *1  *100.0 ms  *100.0 ms  *100.0 ms  *-  *-$' $analyze discard 2
expect 0 '^PT  *cutoffs  *0  *-  *-  *-  *-  *-$' $analyze discard 2
expect 0 '^ *2 *PT *2 sd *0  *-  *-  *-  *-  *-$' $analyze protocols 1 2
expect 0 '^ *1  *1  *0  *100.0 %  *-  *-  *1  *-  *yes$' $analyze sample-size 2 --profile lab
expect 0 '^PT: no smaller size would have been enough.$' $analyze sample-size 2 --profile lab
gives "so has sample-size" 'all(d["pt"][0][k] is None for k in ("mean_ns", "sd_ns", "blocks_sd_ns")) and d["needed"][0]["pt"] is None' \
	$analyze --json sample-size 2 --profile lab
expect 0 '^backupd  *-  *1  *30.00 ms  *-$' $analyze daemons 2
gives "so has daemons" 'd["central"][0]["sd_ns"] is None' $analyze --json daemons 2
gives "the spread of one PT is not known" 'd["pt_sd"] is None' $analyze --json show 1
gives "neither is the length of its task" 'd["task_length_ns"] is None and d["started_ns"] == 10**18 + 10**9' $analyze --json show 1
echo '{"format": "emp-run", "version": 1, "program": "none", "task_length_s": 0, "resolution_ns": 1, "samples": []}' >none.json
expect 0 '^1$' $analyze --db none.db import none.json
gives "a run without samples has no start" 'd["started_ns"] is None and d["started"] is None' $analyze --db none.db --json show 1
gives "nor has it in the list" 'all(d["runs"][0][k] is None for k in ("started_ns", "started", "task_length_ns", "pt_mean_ns"))' $analyze --db none.db --json list
expect 0 '^  1  none *import *0  *-  done *-  *-  *-  *-$' $analyze --db none.db list
sqlite3 none.db "INSERT INTO calibration(profile, state, started_ns, short_length_ns, short_samples, short_run, long_length_ns, long_samples, backend, anyway, force,
	replace_profile) VALUES ('lost', 'open', 0, 1000000, 4, 1, 2000000, 4, 'none', 1, 1, 0); INSERT INTO resume_point VALUES (1, 2, 0, 'cut off', NULL)"
gives "a calibration neither" 'd["started_ns"] is None and d["short"]["resume_points"] == [{"sample": 2, "at_ns": None, "why": "cut off"}]' \
	$calibrate --db none.db status --json
expect 0 "^Calibration for profile 'lost', started -:$" $calibrate --db none.db status
that "nor when it was resumed" grep -q '^  cut off before sample 2, resumed -$' out

expect 0 '^  PT has no 95 % CI$' $analyze show --recompute 1

# What show says is of the samples kept, on the screen and in JSON.
expect 0 'PT (mean ± σ)   100.0020 ms' $analyze show 6
gives "show --json too" 'd["pt"]["n"] == 3 and d["pt"]["mean_ns"] == 100002000 and len(d["pt"]["interval_ns"]) == 2 and d["pt"]["raw"]["n"] == 4 and d["et"]["raw"]["mean_ns"] == 150002500' \
	$analyze --json show 6
gives "or null" 'd["pt"]["n"] == 0 and d["pt"]["mean_ns"] is None and d["pt"]["interval_ns"] is None and d["et"]["raw"]["n"] == 1' $analyze --json show 2
$analyze --json show 6 >before
expect 0 '' $calibrate profile import --replace later.json
$analyze --json show 6 >after
that "what is calibrated later does not change it" cmp before after
that "its mark is that of its profile" json after 'd["profile_blind_ns"] == 3_000_000 and d["profile_noise"] == "steal 3 %" and "recomputed" not in d'
gives "unless it is recomputed" 'd["pt"]["n"] == 4 and d["profile_blind_ns"] == 7_000_000 and d["recomputed"]["measured"]["pt"]["n"] == 3 and d["recomputed"]["changes"][0].startswith("profile '"'lab'"' was made anew")' \
	$analyze --json show --recompute 6
expect 0 'Kept 4 of 4' $analyze show --recompute 6
expect 0 '' $calibrate profile import --replace lab.json

# What a process without a cutoff discarded is listed, and why.
expect 0 '^Discarded by cutoff: 1 of 3 samples$' $analyze discard 4
that "with its heading" grep -q '^Discarded because of processes without a cutoff:$' out
that "and each of them" sh -c "grep -c '^ *[23]  *\(other\|third\)  *-  *30.00 ms  *7.500 ms$' out | grep -qx 3"
that "none is kept" grep -q '^PT  *cutoffs  *0 ' out
expect 0 '^Run 5 (work), no profile$' $analyze discard 5
that "without a profile too" grep -q '^ *1  *other  *-  *30.00 ms  *7.500 ms$' out
gives "and in JSON" '[o["sample"] for o in d["by_unprofiled"]] == [1] and d["pt"]["kept"]["n"] == 1' $analyze --json discard 5
expect 0 '^ *5 *PT *cutoffs *1 ' $analyze protocols 5

# One sample, measured: hyperfine writes null.
expect 0 '' $measure -q -r 1 -w 0 --export-json one.json --export-csv one.csv --export-markdown one.md --export-asciidoc one.adoc --export-orgmode one.org true
that "null for the sd" json one.json 'd["results"][0]["stddev"] is None and d["results"][0]["mean"] > 0 and d["results"][0]["emp"]["pt"]["sd_ns"] is None and d["results"][0]["emp"]["pt"]["kept"]["sd_ns"] is None'
that "null for the sd of the memory" json one.json '(d["results"][0]["emp"]["peak_memory"] or {"sd_bytes": None})["sd_bytes"] is None'
that "nothing in CSV" python3 -c 'import csv; row = next(csv.DictReader(open("one.csv"))); assert row["stddev"] == row["pt_stddev"] == "" and float(row["mean"]) > 0 and float(row["pt_mean"]) > 0, row'
for file in one.md one.adoc one.org; do that "$file has no sd" sh -c "! grep '±\|nan' $file"; done
expect 0 '' $measure -q -r 2 -w 0 --export-json two.json --export-csv two.csv true
that "two samples have one" json two.json 'd["results"][0]["stddev"] >= 0'
finish
