#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Samples that had a neighbour on the core's other hardware thread: shown, discarded and compared by the rule of the run, whose shares are made up.
# Usage: neighbours.sh BUILD
set -u
build=$(realpath "$1")
. "$(dirname "$0")/expect.sh"
analyze=$build/analyze/emp-analyze
measure=$build/measure/emp-measure
cd "$dir" || exit 1

python3 - <<'END_OF_RUNS'
import json, random
draw = random.Random(3)

# A neighbour for all of a sample makes it half as long again. shares: by the number of the sample; None: it was not probed.
def run(name, mean_ns, start_s, shares, rule, limit_ppm=50000, n=20, **more):
    samples = []
    for i in range(1, n + 1):
        share = shares.get(i, 0) if shares is not None else None
        pt = int(mean_ns * draw.gauss(1, 0.002) * (1 + 0.5 * (share or 0)))
        probed = {} if share is None else {"neighbour_ppm": round(share * 1e6), "neighbour_error_ppm": 10000, "probe_ns": 600000}
        samples.append({"n": i, "start_ns": int((start_s + i * 0.2) * 1e9), "et_ns": pt + 100_000, "pt_ns": pt, "wait_ns": 0, "executions": [], **probed})
    rules = {} if rule == "off" else {"neighbour_rule": rule}
    if rule in ("auto", "discard"):
        rules["neighbour_limit_ppm"] = limit_ppm
    document = {"format": "emp-run", "version": 1, "kind": "measure", "program": name, "command": [name], "task_length_s": 0, "resolution_ns": 1, "cpu": 1,
                "samples": samples, **rules, **more}
    json.dump(document, open(name + ".json", "w"))
    return document

run("fast", 50e6, 1.7e9, {3: 0.9, 5: 0.5, 9: 0.06, 10: 0.05}, "auto") # 1
run("slow", 50.6e6, 1.7e9 + 0.1, {4: 0.9, 5: 0.5, 6: 0.09}, "discard", 100000) # 2
run("most", 50e6, 1.71e9, {**{i: 0.7 for i in range(1, 17)}, 17: 0.06, 18: 0.06}, "auto") # 3
run("none", 50e6, 1.72e9, {i: 0.7 for i in range(1, 18)}, "discard") # 4
run("left", 50e6, 1.73e9, {3: 0.9}, "off") # 5
run("taken", 50e6, 1.74e9, {3: 0.9}, "adjust") # 6
run("unknown", 50e6, 1.75e9, None, "discard") # 7
run("quiet", 50e6, 1.76e9, {}, "auto") # 8
# 9, 10: a duet, whose programs do not have their neighbours in the same samples
together = [{"sample": i, "position": 1, "repetitions": 1, "together_ns": 1} for i in range(1, 21)]
both = [run(name, 50e6, start_s, shares, "auto", kind="duet", run=number, duet={"reference": 1, "frozen": False, "slice_ns": 10_000_000}, duet_samples=together)
        for name, number, start_s, shares in (("one", 1, 1.77e9, {3: 0.9, 8: 0.9}), ("two", 2, 1.77e9 + 0.01, {3: 0.9, 12: 0.9}))]
json.dump({**both[0], "duet_runs": [both[1]]}, open("one.json", "w"))
# 11 to 14: a daemon of a profile and a neighbour in one sample; runs of one command, of which some had neighbours
late = run("late", 50e6, 1.78e9, {3: 0.9, 4: 0.9}, "auto", unprofiled_share_ppm=50000)
for n in 3, 7:
    late["samples"][n - 1]["executions"] = [{"name": "backupd", "pt_ns": 20_000_000, "pid": 9, "cpu": 1, "same_cpu_ns": 20_000_000}]
    late["samples"][n - 1].update(et_ns=late["samples"][n - 1]["et_ns"] + 20_000_000, wait_ns=20_000_000)
json.dump(late, open("late.json", "w"))
run("half", 50e6, 1.79e9, {i: 1 for i in range(1, 20, 2)}, "discard")
run("nobody", 50e6, 1.8e9, {}, "adjust")
# of one call: where one has a neighbour, the other has none
run("odd", 50e6, 1.81e9, {i: 0.9 for i in range(1, 20, 2)}, "discard")
run("even", 50e6, 1.81e9 + 0.1, {i: 0.9 for i in range(2, 21, 2)}, "discard")
# at its level nothing but k is uncertain
run("all", 50e6, 1.82e9, {i: 0.9 for i in range(1, 21)}, "adjust")
run("whole", 60e6, 1.83e9, {i: 0.9 for i in range(1, 21)}, "adjust")
END_OF_RUNS
expect 0 '^1$' $analyze import fast.json slow.json most.json none.json left.json taken.json unknown.json quiet.json one.json late.json

# the screen
expect 0 'Kept 17 of 20   discarded: neighbour #3 #5 #9; mean of all 20: ' $analyze show 1
that "how much of the time" grep -q "^  Neighbour on the core's other thread in 10 % of the time (3 of 20 samples)$" out
that "each with its share" grep -q '^  sample 9: a neighbour in 6.0 % of its time; allowed 5.0 %$' out
that "a rule that is the default is not named" sh -c '! grep -q "discarding:" out'
expect 0 '^  Neighbour in 10 % of the time (3 of 20 samples)$' env COLUMNS=60 $analyze show 1
expect 0 '^  discarding:  --neighbour discard=10%$' $analyze show 2
that "by its own limit" grep -q 'Kept 18 of 20   discarded: neighbour #4 #5' out
expect 0 '^  Kept 20 of 20' $analyze show 3
that "too few were clean" grep -q 'Warning: neighbour in 18 of 20 samples: try another --cpu, or another hour' out
that "the mean is named" grep -q '^  PT (adjusted) ' out
that "how it was measured stands beside it" grep -q '^  PT is adjusted for a neighbour: 6[3-6]\.[0-9]* ms as measured (k 0.3[5-9][0-9] ± 0.00[0-9])' out
expect 0 '^  PT as measured: ' $analyze show -v 3
expect 0 '^ *3  PT  *adjusted  *20 ' $analyze protocols 3
expect 0 '^Run 3: no profile; 0 of 20 samples discarded; times adjusted for a$' env COLUMNS=72 $analyze compare 3 6
expect 0 'Kept 3 of 20    discarded: neighbour in 17' $analyze show 4
that "what else can be done" grep -q 'Warning: neighbour in 17 of 20 samples: try another --cpu, --neighbour adjust' out
that "and not that more samples help" sh -c '! grep -q "few samples kept" out'
expect 0 '^  Kept 20 of 20' $analyze show 5
that "it is said all the same" grep -q "in 6 % of the time (1 of 20 samples)" out
expect 0 '^  discarding:  --neighbour adjust$' $analyze show 6
expect 0 '^  Kept 20 of 20' $analyze show 7
that "what is not known is not said" sh -c '! grep -qi "a neighbour\|neighbour on\|no neighbour" out'
expect 0 "^  No neighbour seen on the core's other thread (20 samples)$" $analyze show 8

# documents
gives "what was done" '[d["neighbour"][k] for k in ("samples", "probed", "limit_ppm", "rule", "done")] == [3, 20, 50000, "auto", "discard"] and 0.09 < d["neighbour"]["share"] < 0.11' \
	$analyze show --json 1
gives "auto comes to another rule" 'd["neighbour"]["done"] == "adjust" and d["pt"]["n"] == 20' $analyze show --json 3
gives "times without the neighbour" 'abs(d["pt"]["mean_ns"] / 50e6 - 1) < 0.01 and d["pt"]["interval_ns"][0] < 50e6 < d["pt"]["interval_ns"][1]' \
	$analyze show --json 3
gives "and as measured" 'd["pt"]["raw"]["mean_ns"] == d["pt"]["as_measured"]["mean_ns"] > 1.25 * d["pt"]["mean_ns"] and 0.3 < d["neighbour"]["slope"] < 0.42' \
	$analyze show --json 3
gives "nothing" 'd["neighbour"] is None and d["pt"]["n"] == 20' $analyze show --json 7
gives "which samples" 'd["by_neighbour"] == [3, 5, 9] and d["pt"]["kept"]["n"] == 17 and d["pt"]["raw"]["n"] == 20 and d["by_cutoff"] == []' $analyze discard --json 1
gives "two causes of a sample" 'd["by_neighbour"] == [3, 4] and [o["sample"] for o in d["by_unprofiled"]] == [3, 7] and d["pt"]["kept"]["n"] == 17' \
	$analyze discard --json "$(sqlite3 book.db 'SELECT max(id) FROM run')"
expect 0 '^ *9 *6.0 % *5.0 %$' $analyze discard 1
expect 1 'was measured without a profile' $analyze discard 5
gives "in the table of the protocol, too" '[r["pt_by_cutoff"]["n"] for r in d["runs"]] == [17, 18]' $analyze protocols --json 1 2

# a duet
gives "its samples are discarded for both programs" '(d["by_neighbour"], d["by_duet"], d["pt"]["kept"]["n"]) == ([3, 8], [12], 17)' $analyze discard --json 9
gives "or for none" '(d["by_neighbour"], d["by_duet"], d["pt"]["kept"]["n"]) == ([3, 12], [8], 17)' $analyze discard --json 10

# comparisons are of pairs of samples that neither program's neighbour disturbed
expect 0 '^Run 1: no profile; 3 of 20 samples discarded, 3 because of a neighbour$' env COLUMNS=120 $analyze compare 1 2
that "by its own rule" grep -q '^Run 2: no profile, --neighbour discard=10%; 2 of 20 samples discarded, 2 because of a neighbour$' out
that "pairs" grep -q 'compared in 16 pairs' out
gives "in the document" '[(r["samples"], r["discarded"], r["discarded_by_neighbour"]) for r in d["runs"]] == [(20, 3, 3), (20, 2, 2)] and d["verdict"] == "slower"' \
	$analyze compare --json 1 2
# one whose times have a neighbour in them, and one that knows nothing of neighbours, beside one without
expect 0 '^Run 5: no profile; 0 of 20 samples discarded; with a neighbour in 6.* % of the time$' env COLUMNS=120 $analyze compare 5 1
expect 0 '^Run 7: no profile, --neighbour discard=5%; 0 of 20 samples discarded; not probed for a neighbour$' env COLUMNS=120 $analyze compare 1 7
gives "in the document, too" '[r["neighbour_share"] for r in d["runs"]][1] is None and d["runs"][0]["neighbour_share"] > 0.09' $analyze compare --json 1 7
python3 - <<'END_OF_DOCUMENTS'
import json
for name, out in ("a", []), ("b", [2, 7]):
    json.dump({"results": [{"command": name, "times": [0.1 + i / 1000 for i in range(10)],
                            "emp": {"pt_ns": [10**8 + i * 10**6 for i in range(10)], "start_ns": list(range(1, 11)), "by_neighbour": out}}]}, open(f"of-{name}.json", "w"))
END_OF_DOCUMENTS
expect 0 "^Process times: 'a' .* in 10 samples, 'b' .* in 8$" $analyze compare of-a.json of-b.json

# times of documents are as they were measured: they are adjusted as those in the book
python3 - <<'END_OF_DOCUMENTS'
import json
for name, share, slope in ("alone", 0, None), ("beside", 0.8, 0.25):
    pt = [int((10**8 + i % 7 * 10**6) / (1 - 0.25 * share)) for i in range(12)]
    emp = {"pt_ns": pt, "start_ns": [(1 + 2 * i + bool(slope)) * 10**9 for i in range(12)], "neighbour_ppm": [int(share * 10**6)] * 11 + [None],
           "neighbour": {"share": share, "samples": 0, "probed": 11, "done": "adjust" if slope else "discard", **({"slope": slope, "slope_error": 0.01, "slope_df": 20} if slope else {})}}
    json.dump({"results": [{"command": name, "times": [t / 1e9 for t in pt], "emp": emp}]}, open(f"{name}.json", "w"))
END_OF_DOCUMENTS
expect 0 "^'beside': times adjusted for a neighbour (k 0.25 ± 0.01)$" $analyze compare alone.json beside.json
gives "the ratio is that without the neighbour, with the error of the slope" \
	'abs(d["ratio"] - 1) < 0.01 and d["interval"][1] > 1.015 and [f["neighbour_slope"] for f in d["files"]] == [None, 0.25]' $analyze compare --json alone.json beside.json
sed 's/"slope": 0.25/"slope": 9/' beside.json >wrong.json
expect 1 "'slope' must be a number" $analyze compare alone.json wrong.json

# the run and its rule elsewhere
$analyze export 2 >2.json
that "an exported run has both" json 2.json 'd["neighbour_rule"] == "discard" and d["neighbour_limit_ppm"] == 100000 and d["samples"][5]["neighbour_ppm"] == 90000 and d["samples"][5]["probe_ns"] == 600000'
expect 0 '^1$' env EMP_DB="$dir/other.db" $analyze import 2.json
expect 0 'Kept 18 of 20' env EMP_DB="$dir/other.db" $analyze show 1
sed 's/"neighbour_limit_ppm": 100000/"neighbour_limit_ppm": 0/' 2.json >0.json
expect 1 'neighbour_limit_ppm' $analyze import 0.json

# many long samples, of which the cause is known
expect 0 '' $analyze import half.json
expect 0 '10 of 20 samples are long because of a neighbour' env COLUMNS=120 $analyze show "$(cat out)"
that "and it is not said that nobody is" sh -c '! grep -q "nobody is known" out'
expect 0 "^Process times: 'run 4 (none)' [45].* ms in 3 samples, 'run 1 (fast)' 50.* ms in 17$" env COLUMNS=120 $analyze compare 4 1
$analyze export 4 | sed 's/"neighbour_ppm": 0/"neighbour_ppm": 700000/' >nothing.json
expect 0 '' $analyze import nothing.json
expect 0 "^Process times: '.*' without a sample that is kept, 'run 1 (fast)' 50.* ms in 17 samples$" env COLUMNS=120 $analyze compare "$(cat out)" 1

# nobody was there; no pair is left; k is not known
expect 0 '' $analyze import nobody.json
nobody=$(cat out)
expect 0 '^  PT (mean ± σ) ' env COLUMNS=120 $analyze show "$nobody"
that "nothing is adjusted" sh -c '! grep -q adjusted out'
expect 0 '' $analyze import odd.json even.json
sqlite3 book.db "UPDATE run SET owner = 'one call' WHERE id > $nobody"
expect 0 'in fewer than two rounds are the samples of both kept' env COLUMNS=120 $analyze compare $((nobody + 1)) $((nobody + 2))
expect 0 '' $analyze import all.json whole.json
expect 0 '^  PT (adjusted)   53\.[0-9] ms ± 0\.[0-9]* ms   95 % CI 33\.[0-9] … 73\.[0-9] ms' env COLUMNS=120 $analyze show $((nobody + 3))
gives "ranks do not tell what k leaves open" 'd["mann_whitney_p"] is None' $analyze compare --json $((nobody + 3)) $((nobody + 4))

# pictures
if command -v gnuplot >/dev/null; then
	expect 0 '' $analyze scatter 1 --samples --script -o samples.svg
	that "they are marked" grep -q 'beside a neighbour (3)' samples.svg.gnuplot
	expect 0 '' $analyze compare 1 2 -o both.svg
fi

# options
expect 1 "neighbour must be off, discard, adjust or auto, not 'on'" $measure --neighbour on -- true
expect 1 'add --cpu N' $measure --neighbour discard -- true
expect 1 'without probes no neighbour is seen' $measure --neighbour discard --probe off --cpu 0 -- true
expect 1 'above 0 and at most 100 %' $measure --neighbour discard=0 --cpu 0 -- true
that "nothing was measured" test "$(sqlite3 book.db "SELECT count(*) FROM run WHERE kind = 'measure' AND program = 'true'")" = 0
rules() { sqlite3 book.db "SELECT neighbour_rule, neighbour_limit_ppm FROM run ORDER BY id DESC LIMIT 1"; }
expect 0 'Kept' $measure -q --ignore-lock -r 2 --cpu 0 -- true
that "the run has its rule" test "$(rules)" = 'auto|50000'
expect 0 'Kept' $measure -q --ignore-lock -r 2 --cpu 0 --neighbour discard=100% -- true
that "and its limit" test "$(rules)" = 'discard|1000000'
expect 0 'Kept 2 of 2' $measure -q --ignore-lock -r 2 --cpu 0 --neighbour off -- true
that "or none" test "$(rules)" = 'off|'
expect 0 'Kept 2 of 2' $measure -q --ignore-lock -r 2 -- true
that "without a CPU no neighbour is known" test "$(rules)" = 'off|'
expect 0 'Kept [1-4] of [234]' $measure -q --ignore-lock -r 2 -M 4 --cpu 0 -- true
finish
