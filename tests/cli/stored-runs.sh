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
def run(name, mean_ns, start_s, disturbed, n=20, on=1, **more):
    samples = []
    for i in range(1, n + 1):
        pt = int(mean_ns * draw.gauss(1, 0.002) * (1.1 if i in disturbed else 1))
        executions = [{"name": "backupd", "pt_ns": 20_000_000, "pid": 9, "cpu": on, "same_cpu_ns": 20_000_000 * (on == 1)}] if i in disturbed else []
        samples.append({"n": i, "start_ns": int((start_s + i * 0.2) * 1e9), "et_ns": pt + 20_100_000 * len(executions) + 100_000, "pt_ns": pt, "executions": executions})
    write(name, {"format": "emp-run", "version": 1, "kind": "measure", "program": name, "command": [name], "task_length_s": 0, "resolution_ns": 1, "cpu": 1,
                 "samples": samples, **more})

profile("lab", 10_000_000)
profile("lax", 10_000_000_000)
run("fast", 50e6, 1.7e9, {3, 8, 12}, profile="lab")
run("slow", 50.3e6, 1.7e9 + 0.1, {6, 15}, profile="lab")
run("bare", 50e6, 1.71e9, {3, 8, 12})
run("gone", 50e6, 1.71e9 + 0.1, {6}, profile="no such profile")
run("elsewhere", 50e6, 1.72e9, {3, 8}, on=0, profile="lab", other_cpus=True)
run("unprofiled", 50e6, 1.73e9, {3, 8, 12}, unprofiled_share_ppm=50000)
# A duet, whose longer program has reasons of its own and not that of the shorter one.
together = [{"sample": i, "position": 1, "repetitions": 1, "together_ns": 1} for i in range(1, 21)]
for name, number, start_s in ("shorter", 1, 1.735e9), ("longer", 2, 1.735e9 + 0.01):
    run(name, 50e6 * number, start_s, {3, 8}, kind="duet", run=number, unprofiled_share_ppm=200000, duet={"reference": 1, "frozen": False, "slice_ns": 10_000_000}, duet_samples=together)
    document = json.load(open(name + ".json"))
    if name == "longer":
        document["samples"][6]["incomplete"] = True
        document["samples"][15]["pt_ns"] *= 2
        del document["samples"][19], document["duet_samples"][19]
    write(name, document)
shorter = json.load(open("shorter.json"))
shorter["duet_runs"] = [json.load(open("longer.json"))]
write("shorter", shorter)
for i in range(12):
    run(f"t{i}", (50e6 if i < 6 else 100e6), 1.74e9 + 3600 * i, range(1, 21 - i % 2 * 15), command=["followed"], unprofiled_share_ppm=50000 if i == 11 else None)
box = {"digest": "d" * 64, "identity": {}}
for i in range(4):
    run(f"v{i}", 50e6 * (1 + i * 0.001), 1.8e9 + 3600 * i, {1, 2, 3, 4, 5} if i == 2 else {}, command=["varies"], environment=box, profile="lab")
run("v4", 51e6, 1.81e9, {}, environment=box)
run("v5", 90e6, 1.82e9, {}, command=["varies"], environment=box)
run("v6", 50e6, 1.83e9, {}, n=8, environment=box)
for i in range(7):
    document = json.load(open(f"v{i}.json"))
    document["program"] = "varies" if "varies" in document["command"] else document["program"]
    document["kind"] = "duet" if i == 5 else "measure"
    write(f"v{i}", document)
for name in "a", "b":
    write(name, {"results": [{"command": name, "times": [0.1, 0.2, 0.3], "emp": {"environment": name * 64, "pt_ns": [100, 101, 102], "start_ns": [1, 2, 3]}}]})
END_OF_RUNS
$calibrate profile import lab.json >"$dir/that" || cat "$dir/that"
$calibrate profile import lax.json >"$dir/that" || cat "$dir/that"
expect 0 '6' $analyze import fast.json slow.json bare.json gone.json elsewhere.json unprofiled.json

# compare
expect 0 "^run 2 (slow) .* slower " $analyze compare 1 2
expect 0 "^Run 1: profile 'lab'; 3 of 20 samples discarded$" $analyze compare 1 2
that "both runs have a line" grep -q "^Run 2: profile 'lab'; 2 of 20 samples discarded$" out
expect 0 "^Verdict.*: \(equal\|cannot tell\)" $analyze compare --profile lax 1 2
expect 0 "^Run 1: profile 'lax'; 0 of 20 samples discarded$" $analyze compare --profile lax 1 2
expect 0 "^Run 3: no profile; 0 of 20 samples discarded$" $analyze compare 1 3
expect 0 "^Run 4: profile 'no such profile' is no longer in the book; 0 of 20 samples discarded$" env COLUMNS=120 $analyze compare 3 4
expect 1 "there is no profile 'none'" $analyze compare --profile none 1 2
gives "the document says it too" '[(r["run"], r["profile"], r["samples"], r["discarded"]) for r in d["runs"]] == [(1, "lab", 20, 3), (2, "lab", 20, 2)] and d["verdict"] == "slower"' \
	$analyze compare --json 1 2
gives "and that a profile is no longer there" '[(r["profile"], r["profile_missing"]) for r in d["runs"]] == [(None, False), ("no such profile", True)]' $analyze compare --json 3 4

# all rules, in what shows the run, compares it, follows it, and takes it elsewhere
expect 0 '^  discarding:  --other-cpus$' $analyze show 5
that "show discards as the run was measured" grep -q 'Kept 18 of 20' out
expect 0 '^  discarding:  --discard-unprofiled 5%$' $analyze show 6
that "also without a profile" grep -q 'Kept 17 of 20' out
expect 0 "^Run 5: profile 'lab', --other-cpus; 2 of 20 samples discarded$" $analyze compare 5 6
that "compare says the other's rules" grep -q "^Run 6: no profile, --discard-unprofiled 5%; 3 of 20 samples discarded$" out
expect 0 "^Run 5: profile 'lax', --other-cpus; 0 of 20 samples discarded$" $analyze compare --profile lax 5 3
gives "so does the document" '[(r["other_cpus"], r["unprofiled_share_ppm"]) for r in d["runs"]] == [(True, None), (False, 50000)]' $analyze compare --json 5 6
gives "and that of the run" 'd["other_cpus"] is True and d["unprofiled_share_ppm"] is None' $analyze show --json 5
$analyze export 6 >6.json
that "an exported run has them" json 6.json 'd["unprofiled_share_ppm"] == 50000 and "other_cpus" not in d'
$analyze export 5 >5.json
that "each of them" json 5.json 'd["other_cpus"] is True and "unprofiled_share_ppm" not in d'
expect 0 '7' $analyze import 6.json
expect 0 'Kept 17 of 20' $analyze show 7
expect 0 '' $analyze import t0.json t2.json t4.json t6.json t8.json t10.json t11.json
gives "trend counts only the samples that were kept" '[r["samples"] for r in d["runs"]] == [20, 20, 20, 20, 20, 20, 15]' $analyze trend followed --json
# how much separate runs vary: by runs of the same kind, and by the samples that were kept
expect 0 '' $analyze import v0.json v1.json v2.json v3.json v4.json v5.json v6.json
first=$($analyze list --json | python3 -c 'import json, sys; print(min(r["run"] for r in json.load(sys.stdin)["runs"] if r["program"].startswith("v")))')
gives "the means of kept samples of runs of one kind" 'd["test"] == "between runs" and d["runs_known"] == 3 and 0 < d["between_runs"] < 0.01' \
	$analyze compare --json "$first" $((first + 4))

# a sample of a duet is discarded for all programs or for none, wherever the runs are shown
expect 0 '' $analyze import shorter.json
shorter=$(sqlite3 "$EMP_DB" 'SELECT max(run) - 1 FROM duet')
for n in 0 1; do
	expect 0 'Kept 16 of \(20\|19\)' $analyze show $((shorter + n))
	expect 0 '  sample 16: ' $analyze show $((shorter + n))
done
gives "as many are discarded of each" '[(r["samples"] - r["discarded"]) for r in d["runs"]] == [16, 16]' $analyze compare --json "$shorter" $((shorter + 1))
gives "by the program that has the reason" '([r["sample"] for r in d["by_unprofiled"]], d["incomplete"], d["by_duet"]) == ([], [], [7, 20])' $analyze discard --json --profile lax "$shorter"
gives "and not by the one that has it" '(d["incomplete"], d["by_duet"]) == ([7], [])' $analyze discard --json --profile lax $((shorter + 1))
for n in 0 1; do
	gives "the second check, too" 'd["pt"]["by_two_sd"] == [3, 8, 16]' $analyze discard --json --profile lax $((shorter + n))
done
$analyze export "$shorter" >duet.json
that "an exported duet has both" json duet.json 'len(d["duet_runs"]) == 1'
expect 0 '' env EMP_DB="$dir/other.db" $analyze import duet.json
expect 0 'Kept 16 of 20' env EMP_DB="$dir/other.db" $analyze show 1

# the resolution is that of the side with fewer samples
python3 - <<'END_OF_BOOK'
import os, sqlite3
db = sqlite3.connect(os.environ["EMP_DB"])
for size in 5, 10, 20, 40:
    for name in "interleaved", "separate":
        db.execute("INSERT INTO measurement SELECT DISTINCT environment, ?, 0.01, '1', inc_digest FROM run WHERE environment IS NOT NULL", (f"resolves_{name}_{size}",))
db.commit()
END_OF_BOOK
expect 0 '^5 INC samples resolve' $analyze compare --between-runs 1 $((first + 6)) "$first"
expect 0 '^5 INC samples resolve' $analyze compare --between-runs 1 "$first" $((first + 6))

# each profile shows and exports the figures of its own short run; another environment's are named as such
python3 - <<'END_OF_PROFILES'
import json
document = json.load(open("lab.json"))
for name, share, digest in ("older", 0.011, "e" * 64), ("newer", 0.022, "e" * 64), ("away", 0.033, "f" * 64):
    document.update(name=name, environment={"digest": digest}, resolving=[{"samples": n, "interleaved": share, "separate": share} for n in (5, 10)])
    json.dump(document, open(name + ".json", "w"))
run = json.load(open("fast.json"))
json.dump({**run, "profile": "away", "environment": {"digest": "9" * 64}}, open("abroad.json", "w"))
json.dump({**run, "profile": "older", "environment": {"digest": "e" * 64}}, open("home.json", "w"))
END_OF_PROFILES
for name in older newer away; do expect 0 '' $calibrate profile import $name.json; done
expect 0 '^10 INC samples resolve 1.1 % interleaved, 1.1 % between' $calibrate profile show older
expect 0 '^10 INC samples resolve 2.2 % interleaved, 2.2 % between' $calibrate profile show newer
gives "an exported profile has its own figures" '[r["interleaved"] for r in d["resolving"]] == [0.011, 0.011]' $calibrate profile export older
expect 0 '' $analyze import abroad.json home.json
abroad=$($analyze list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][-2]["run"])')
expect 0 "^  Profile's environment: 10 INC samples resolve 3.3 % interleaved, 3.3 % separate$" env COLUMNS=120 $analyze show "$abroad"
expect 0 '^  10 INC samples resolve 2.2 % interleaved, 2.2 % between' $analyze show $((abroad + 1))

# a stored result stays what it was, whatever is calibrated, replaced or removed later
python3 - <<'END_OF_KEPT'
import json
document = json.load(open("lab.json"))
digest = {"digest": "c" * 64}
document.update(name="kept", environment=digest, correlation={"lag1": 0.2, "samples": 300}, resolving=[{"samples": 20, "interleaved": 0.05, "separate": 0.05}])
json.dump(document, open("kept.json", "w"))
for cutoff in document["cutoffs"]:
    cutoff.update(short_ns=10**10, long_ns=10**10, below_ns=10**10, atleast_ns=10**10)
document.update(correlation={"lag1": 0.8, "samples": 300}, made_ns=1_800_000_000_000_000_000)
json.dump(document, open("kept-later.json", "w"))
for name in "fast", "slow":
    run = json.load(open(name + ".json"))
    json.dump({**run, "profile": "kept", "environment": digest, "correlation": {"lag1": 0.2, "samples": 300}}, open(name + "-kept.json", "w"))
END_OF_KEPT
expect 0 '' $calibrate profile import kept.json
a=$($analyze import fast-kept.json)
b=$($analyze import slow-kept.json)
same() { # SENTENCE: what is said of both runs is what was said at first
	for words in "show $a" "compare $a $b" "compare --json $a $b" "discard --json --profile kept $a"; do
		[ "${words%% *}" = discard ] || $analyze $words >"now-$(echo "$words" | tr -d ' ')" 2>&1
	done
	for file in now-*; do
		[ -e "then${file#now}" ] || cp "$file" "then${file#now}"
		that "$1 ($file)" cmp "$file" "then${file#now}"
	done
}
same "at first"
grep -q 'Kept 17 of 20' "then-show$a" || that "the profile discards" false
expect 0 '' $calibrate profile import --replace kept-later.json
same "after the profile was replaced, and the correlation"
expect 0 "profile 'kept' was made anew on 2027" $analyze show --recompute "$a"
that "what changed is said: the samples" grep -q '^  kept were 17 samples, are 20$' out
that "the correlation" grep -q '^  the correlation of neighbouring samples was 0.20, is 0.80$' out
that "the interval" grep -q "^  PT's 95 % CI was .* ms, is .* ms$" out
that "and the result" grep -q 'Kept 20 of 20' out
expect 0 "^Run $a: profile 'kept'; 0 of 20 samples discarded$" $analyze compare --recompute "$a" "$b"
that "compare says what changed" grep -q "^  profile 'kept' was made anew" out
same "after it was recomputed"
expect 0 '' $calibrate profile remove kept
same "after the profile was removed"
expect 0 "profile 'kept' was removed on .*; the run keeps it" $analyze show --recompute "$a"
that "a removed profile is gone for others" sh -c "! $calibrate profile list | grep -q kept"
expect 0 '' $calibrate profile import kept.json
expect 0 '' $analyze remove "$a" "$b"
that "a profile that was replaced goes with its last run" test "$(sqlite3 "$EMP_DB" "SELECT count(*) FROM profile WHERE name = 'kept'")" = 1

# documents have the fingerprint of their environment
expect 0 '^Environments differ: fingerprint was aaaaaaaaaaaaaaaa, is bbbbbbbbbbbbbbbb$' $analyze compare a.json b.json
expect 0 '^Environments differ: fingerprint was aaaaaaaaaaaaaaaa, is dddddddddddddddd$' $analyze compare a.json "$first"
gives "so does the document" '"aaaaaaaaaaaaaaaa" in d["environment_changes"]' $analyze compare --json b.json a.json
gives "which says nothing of equal ones" '"environment_changes" not in d' $analyze compare --json a.json a.json
# a result keeps the patterns of names that it was measured with
echo 'backup* = backupd' >grouped.ini
: >none.ini
python3 - <<'END_OF_PATTERNS'
import json
for name, patterns in ("then", open("grouped.ini").read().strip()), ("never", ""), ("unknown", None):
    run = json.load(open("fast.json"))
    run["program"] = name
    for sample in run["samples"]:
        for execution in sample["executions"]:
            execution["name"] = "backup-7"
    json.dump(run | ({"name_patterns": patterns} if patterns is not None else {}), open(f"{name}.json", "w"))
END_OF_PATTERNS
patterns=$dir/patterns.db
expect 0 lab $calibrate --db "$patterns" profile import lab.json
expect 0 '^3$' $analyze --db "$patterns" import then.json never.json unknown.json
kept() { # RUN KEPT PATTERNS [OPTION]: so many samples of 20, with these patterns today
	expect 0 "Kept $2 of 20" env EMP_NAMES="$3.ini" "$analyze" --db "$patterns" show "$1" $4
}
kept 1 17 none ''
kept 1 20 none --recompute
that "it says why" grep -q '^  the patterns of names (names.ini) have changed$' out
kept 1 17 grouped --recompute
that "and nothing where they have not" sh -c "! grep 'patterns of names' out"
kept 2 20 grouped ''
kept 2 17 grouped --recompute
kept 3 20 none ''
kept 3 17 grouped ''
expect 0 'Kept 2 of 2' env EMP_NAMES=grouped.ini "$1/measure/emp-measure" --db "$patterns" -q -r 2 -w 0 -- true
that "emp-measure stores them" test "$(sqlite3 "$patterns" 'SELECT name_patterns FROM run WHERE id = 4')" = 'backup* = backupd'

# what INC showed of the machine is not used for a run of another one
incs=$dir/incs.db
python3 - <<'END_OF_INCS'
import json
profile = json.load(open("lab.json"))
json.dump({**profile, "name": "et", "inc_digest": "i1", "blind_ns": 77_000_000, "noise": "steal 3 %"}, open("et.json", "w"))
for name in ("i0", "i1"):
    json.dump({**json.load(open("fast.json")), "uid": name[1] * 32, "profile": "et", "inc_digest": name}, open(name + ".json", "w"))
END_OF_INCS
expect 0 'et' $calibrate --db "$incs" profile import et.json
expect 0 '2' $analyze --db "$incs" import i0.json i1.json
for how in discard 'discard --profile et' 'protocols --profile et'; do
	expect 0 "blind to daemons below 77 ms" $analyze --db "$incs" $how 2
	expect 0 'PT' $analyze --db "$incs" $how 1
	that "$how: not of another INC" sh -c '! grep -q blind out'
done
gives "show: only for its own" '"profile_blind_ns" not in d' $analyze --db "$incs" show --json 1
gives "show: for its own" 'd["profile_blind_ns"] == 77000000' $analyze --db "$incs" show --json 2
expect 0 "Profile 'et' is of another INC than this run: only its cutoffs are used" $analyze --db "$incs" show 1
finish
