#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze as a user types it, on the papers' two runs and on runs made up here. Usage: analyze.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
data=$(cd "$(dirname "$0")/../papers/data" && pwd)
profiles=$(cd "$(dirname "$0")/../../profiles" && pwd)
analyze=$1/analyze/emp-analyze

# A book that is not there, and one that is.
expect 1 'there is no lab book' $analyze list
$analyze import "$data/emp-run-inc128.json" "$data/emp-run-inc16384.json" >"$dir/ids"
that "import prints one id a line" sh -c "printf '1\n2\n' | cmp - '$dir/ids'"
expect 0 'INC16384 *import *40' $analyze list
gives "list --json has the runs" '(d["format"] == "emp-runs" and [r["run"] for r in d["runs"]] == [1, 2] and d["runs"][0]["id"] == 1 and d["runs"][0]["samples"] == 800)' $analyze list --json
lists() { # IDS, list's options
	wanted=$1
	shift
	gives "list $*" "([r[\"run\"] for r in d[\"runs\"]] == [$wanted])" $analyze list --json "$@"
}
lists 2 --name 16384
lists '' --name nothing
lists 1,2 --kind import --since 2000-01-01
lists '' --kind duet
lists 2 --last 1
lists '' --since 2100-01-01
lists '' --since 2260-01-01
lists 1,2 --since 1970-01-01
lists 1,2 --since 2000000h
for day in 2300-01-01 2262-04-12 9999-12-31 1969-12-31 0026-11-20; do
	expect 1 "since must be in the years from 1970 to 2260, not '$day'" $analyze list --since $day
	expect 1 "since must be in the years from 1970 to 2260, not '$day'" $analyze trend INC128 --since $day
done
for day in 2026-02-30 2026-13-01 2026-00-10 2026-04-31 '2026-02-29 10:00' '2026-11-20 24:00' 2026-11-20Z; do
	expect 1 "since must be a day .* not '$day'" $analyze list --since "$day"
done
echo '{"format": "emp-run", "version": 1, "program": "x", "task_length_s": 1, "resolution_ns": 1, "samples": []}' >"$dir/tiny.json"
expect 0 '^23$' $analyze --db "$dir/many.db" import $(yes "$dir/tiny.json" | head -n 23)
expect 0 '^and 3 before them (--all)$' $analyze --db "$dir/many.db" list
that "the last 20 are shown" test "$(awk '$2 == "x" { print $1 }' "$dir/out" | xargs)" = "$(seq -s ' ' 4 23)"
expect 0 '^ *1  *x ' $analyze --db "$dir/many.db" list --all
that "and no more are spoken of" sh -c "! grep 'before them' '$dir/out'"
expect 0 '^ *22  *x ' $analyze --db "$dir/many.db" list --last 2
that "nor where the user says how many" sh -c "! grep 'before them\\|^ *21' '$dir/out'"
gives "the document has all" '(len(d["runs"]) == 23 and d["runs_before"] == 0)' $analyze --db "$dir/many.db" list --json
gives "or says how many are not in it" '([r["run"] for r in d["runs"]] == [22, 23] and d["runs_before"] == 21)' $analyze --db "$dir/many.db" list --last 2 --json
expect 0 'has no such runs' $analyze list --kind duet
expect 1 "kind must be import, short, .* not 'none'" $analyze list --kind none
expect 1 "since must be a day (2026-11-20), .* not 'soon'" $analyze list --since soon
expect 1 "since must be a day (2026-11-20), .* not '20261120'" $analyze list --since 20261120
expect 0 'an L: 16 of 800 samples' $analyze show 1
gives "show --json has the shape" '(d["shape"] == "L" and d["l_samples"] == [10, 16] and d["et"]["n"] == 40)' $analyze show 2 --json

# Cutoffs and discarding: Tables XVI and XVII.
expect 0 'every 112 samples = 4 h 0 min, firm' $analyze cutoffs --short 1 --long 2
$analyze cutoffs --short 1 --long 2 --save paper-rhel6.4 --json >"$dir/got"
expect 0 'explains 99 % of the delay' $analyze cutoffs --short 1 --long 2
expect 0 '6 cutoffs were left out (--material)' $analyze cutoffs --short 1 --long 2 --material 10%
expect 0 '^  .*[a-z] ([0-9.]* %), ' $analyze cutoffs --short 1 --long 2 --material 10%
expect 0 '4 cutoffs, rounded' $analyze cutoffs --short 1 --long 2 --material 10
expect 1 'material must be at most 100 %' $analyze cutoffs --short 1 --long 2 --material 101
expect 1 'waiting time of sample 1 in run 1 is not known' $analyze cutoffs --short 1 --long 2 --by-wait
that "the cutoffs are those of the profile that ships" \
	python3 -c 'import json, sys; a, b = (json.load(open(f)) for f in sys.argv[1:]); a.pop("made_ns", 0); a.pop("made", 0); [c.pop(s) for c in a["cutoffs"] for s in list(c) if "share" in s]; sys.exit(a != b)' \
	"$dir/got" "$profiles/paper-rhel6.4.json"
expect 1 "profile 'paper-rhel6.4' exists; --replace" $analyze cutoffs --short 1 --long 2 --save paper-rhel6.4
expect 0 '' $analyze cutoffs --short 1 --long 2 --save paper-rhel6.4 --replace
gives "cutoffs are in whole units of the resolution asked for" '(d["resolution_ns"] == 10**7 and all(c["below_ns"] % 10**7 == 0 for c in d["cutoffs"]))' $analyze cutoffs --short 1 --long 2 --resolution 10ms --json
expect 0 '75 *rhn_check *- *35.18 s *281.0 ms' $analyze discard 1 --profile paper-rhel6.4
gives "discard --json has Table XVII" '(sorted({o["sample"] for o in d["by_cutoff"]}) == [75, 104, 186, 216, 298, 328, 366, 410, 439, 522, 551, 634, 663, 746, 775] and len(d["by_two_sd"]) == 5 and d["et"]["max_ns"] == 128256000000)' $analyze discard 1 --profile paper-rhel6.4 --json
gives "long tasks have the cutoffs of the long run" '({o["sample"] for o in d["by_cutoff"]} == {10, 16})' $analyze discard 2 --profile paper-rhel6.4 --json

# The other tables.
expect 0 'proc_monitor .* 204.0 ms' $analyze daemons 1
gives "daemons has Tables VIII and IX" '(len(d["central"]) == 9 and len(d["l_samples"]) == 83)' $analyze daemons 1 --all --json
cp "$EMP_DB" "$dir/none.db"
python3 "$(dirname "$0")/made_up_runs.py" "$dir/none.db"
expect 0 '^In the 10 samples of the central cluster, no daemon is known to have run\.$' $analyze --db "$dir/none.db" daemons "$(sqlite3 "$dir/none.db" "SELECT max(id) FROM run WHERE program = 'ticks'")"
expect 0 '^ *800 ' $analyze sample-size 1 --profile paper-rhel6.4
gives "a size with one block is not judged" '(d["pt"][1]["n"] == 30 and d["pt"][1]["blocks"] == 1 and d["pt"][1]["judged"] is False and d["pt"][0]["judged"] is True)' $analyze sample-size 2 --json
gives "sample-size halves" '([s["n"] for s in d["pt"]] == [800, 400, 200, 100, 40, 30, 20, 10] and d["suggested"] <= 40)' $analyze sample-size 1 --profile paper-rhel6.4 --json
expect 0 '2 *PT *2 sd *38 ' $analyze protocols 1 2 --profile paper-rhel6.4
gives "protocols has a row a run" '([r["run"] for r in d["runs"]] == [1, 2] and d["runs"][0]["pt_clean"]["n"] == 780)' $analyze protocols 1 2 --profile paper-rhel6.4 --json

# Out and in again.
$analyze export 1 >"$dir/run.json"
expect 0 '^3$' $analyze import "$dir/run.json"
that "what goes out comes in" sh -c "$analyze export 3 | diff - '$dir/run.json' | grep '^[<>]' | grep -v '\"uid\"\|\"run\"' | wc -l | grep -x 0"

# A run with two speeds makes no profile unless a person says so.
python3 - >"$dir/step.json" <<'END'
import json, random
random.seed(4)
samples = [{"n": n, "start_ns": n * 10**9, "et_ns": 10**8 + 8 * 10**6 * (n > 70) + random.randrange(300000), "pt_ns": 10**8,
            "executions": [{"name": "init", "pt_ns": 1000}]} for n in range(1, 151)]
print(json.dumps({"format": "emp-run", "version": 1, "program": "INC0.1", "task_length_s": 0.1, "resolution_ns": 1, "samples": samples}))
END
expect 0 '^4$' $analyze import "$dir/step.json"
expect 2 'run 4 (INC0.1) is neither an L nor clean, but shows a step between two speeds' $analyze cutoffs --short 4 --long 2
expect 0 '' $analyze cutoffs --short 4 --long 2 --short-central-max 1s
expect 0 '^PT: 10 samples would have been enough.$' $analyze sample-size 4
expect 0 '^ET: no smaller size would have been enough.$' $analyze sample-size 4
expect 1 'no sample is within the given bound of the central cluster' $analyze cutoffs --short 4 --long 2 --short-central-max 1ms

# A daemon in every third sample is named.
python3 - >"$dir/frequent.json" <<'END'
import json, random
random.seed(4)
samples = [{"n": n, "start_ns": n * 10**9, "et_ns": 10**8 + 2 * 10**7 * (n % 3 == 0) + random.randrange(300000), "pt_ns": 10**8,
            "executions": [{"name": "init", "pt_ns": 1000}] + [{"name": "busy", "pt_ns": 19 * 10**6}] * (n % 3 == 0)} for n in range(1, 151)]
print(json.dumps({"format": "emp-run", "version": 1, "program": "INC0.1", "task_length_s": 0.1, "resolution_ns": 1, "samples": samples}))
END
expect 0 '^5$' $analyze import "$dir/frequent.json"
expect 2 'run 5 (INC0.1) is neither an L nor clean, but shows frequent daemons .* because of busy' $analyze cutoffs --short 5 --long 2
gives "show --json names it too" '(d["shape"] == "frequent" and d["frequent"] == ["busy"])' $analyze show 5 --json

# What a daemon did on another CPU makes no sample long, unless it is to count.
python3 - >"$dir/elsewhere.json" <<'END'
import json, random
random.seed(4)
def took(n): # on the program's CPU
    return 2 * 10**7 if n == 50 else 1000
samples = [{"n": n, "start_ns": n * 10**9, "et_ns": 10**8 + took(n) + n % 7 * 1000 + random.randrange(300000), "pt_ns": 10**8, "wait_ns": took(n) + n % 7 * 1000, "executions":
            [{"name": "here", "pt_ns": took(n), "same_cpu_ns": took(n), "tick_ns": took(n) // 4000000 * 4000000},
             {"name": "elsewhere", "pt_ns": took(n) + 3 * 10**6, "same_cpu_ns": 900, "tick_ns": 24 * 10**6 * (n == 50)}]} for n in range(1, 101)]
print(json.dumps({"format": "emp-run", "version": 1, "program": "INC0.1", "task_length_s": 0.1, "resolution_ns": 1, "samples": samples}))
END
cp "$EMP_DB" "$dir/elsewhere.db"
expect 0 '^6$' $analyze --db "$dir/elsewhere.db" import "$dir/elsewhere.json"
gives "only the time on the program's CPU is long" '([(l["daemon"], l["pt_ns"]) for l in d["l_samples"]] == [("here", 20000000)])' \
	$analyze --db "$dir/elsewhere.db" daemons 6 --by-wait --json
gives "all of it is there with --all, as it counts" '([(l["daemon"], l["pt_ns"], l["long"]) for l in d["l_samples"]] == [("here", 20000000, True), ("elsewhere", 900, False)])' \
	$analyze --db "$dir/elsewhere.db" daemons 6 --by-wait --all --json
gives "--other-cpus counts time on other CPUs too" '([(l["daemon"], l["pt_ns"]) for l in d["l_samples"]] == [("here", 20000000), ("elsewhere", 23000000)])' \
	$analyze --db "$dir/elsewhere.db" daemons 6 --by-wait --other-cpus --json
gives "--clock tick counts ticks, on all CPUs" '([(l["daemon"], l["pt_ns"]) for l in d["l_samples"]] == [("here", 20000000), ("elsewhere", 24000000)])' \
	$analyze --db "$dir/elsewhere.db" daemons 6 --by-wait --clock tick --json
expect 1 'run 1: of an execution in sample 1 the time in ticks is not known: omit --clock tick' $analyze daemons 1 --clock tick
expect 1 "clock must be exact or tick, not 'utc'" $analyze daemons 1 --clock utc

# By W, what is shown is W: to the microsecond, though it was rounded to find the cluster.
expect 0 'an L: 1 of 100 samples with W over 7.000 us,' $analyze --db "$dir/elsewhere.db" daemons 6 --by-wait
expect 0 '2 *99 *1.000 us *7.000 us *no unusual gap' $analyze --db "$dir/elsewhere.db" daemons 6 --by-wait
expect 0 'The median ET - W is 100.1 ms' env COLUMNS=120 $analyze --db "$dir/elsewhere.db" daemons 6 --by-wait
gives "W is above the usual time" '(d["by_wait"] is False and "usual_ns" not in d)' $analyze --db "$dir/elsewhere.db" show 6 --json
expect 1 'run 6: the longest central ET must be above the median ET - W, 100.1 ms' \
	$analyze --db "$dir/elsewhere.db" daemons 6 --by-wait --central-max 1ms
for option in '' --zooms --samples; do
	expect 0 '' $analyze --db "$dir/elsewhere.db" scatter 6 --by-wait $option --script -o "$dir/w.svg"
	that "W is drawn as it was measured" grep -q '^.* 0.000003000' "$dir/w.svg.gnuplot"
	that "and named so" grep -q "W .*minus the median.*(4.000 us)" "$dir/w.svg"
	that "not ET" sh -c "! grep '>.*ET.*</text>' '$dir/w.svg'"
done
expect 0 '' $analyze --db "$dir/elsewhere.db" scatter 6 --by-wait --script -o "$dir/w.svg"
that "the axes are linear as far as W goes" grep -q 'W axis linear up to 3.000 us from the median' "$dir/w.svg"

# Deleting runs: all that are named, or none.
expect 1 "run 1 is the short run of the profile 'paper-rhel6.4'; --force deletes it anyway" $analyze remove 5 1
expect 0 'INC0.1' $analyze show 5
expect 1 'run 77 is not in the lab book' $analyze remove 5 77
expect 0 '' $analyze remove 5
expect 1 'run 5 is not in the lab book' $analyze show 5
expect 0 '' $analyze --db "$dir/copy.db" import "$data/emp-run-inc16384.json"
cp "$EMP_DB" "$dir/forced.db"
expect 0 '' $analyze --db "$dir/forced.db" remove --force 1
expect 0 '' $analyze --db "$dir/forced.db" discard 2 --profile paper-rhel6.4

# Everything fits 80 columns.
for verb in list 'show 1' 'cutoffs --short 1 --long 2' 'discard 1 --profile paper-rhel6.4' 'daemons 1' 'sample-size 1' 'protocols 1 2 --profile paper-rhel6.4'; do
	that "emp-analyze $verb fits 80 columns" sh -c "! $analyze $verb | grep -E '.{81}'"
done

# Pictures.
for picture in scatter zooms samples; do
	option=--$picture
	[ $picture != scatter ] || option=
	for kind in png svg pdf; do
		that "gnuplot has nothing to say" \
			sh -c "! $analyze scatter 1 $option --profile paper-rhel6.4 -o '$dir/$picture.$kind' 2>&1 | grep ."
		that "$picture.$kind is drawn" test "$(wc -c <"$dir/$picture.$kind")" -gt 5000
	done
done
that "the PNG is one" sh -c "head -c 4 '$dir/scatter.png' | grep -q PNG"
that "and the shaded box" grep -q 'bounds of the central cluster' "$dir/scatter.svg"
that "the SVG names the daemons" grep -q rhsmcertd-worke "$dir/scatter.svg"
that "what only the papers' check marks is not called discarded" grep -q 'beyond two sd of PT (papers' "$dir/scatter.svg"
expect 0 '' $analyze scatter 2 --script -o "$dir/kept.png"
that "the script draws the same again" sh -c "cp '$dir/kept.png' '$dir/first.png' && gnuplot '$dir/kept.png.gnuplot' && cmp '$dir/kept.png' '$dir/first.png'"
for far in 5 19 2000; do # ms beyond a cluster of ±1 ms
	sqlite3 "$dir/elsewhere.db" "INSERT INTO run(uid, kind, program, command, state, backend, pt_source, resolution_ns, started_ns, ended_ns)
		VALUES (lower(hex(randomblob(16))), 'short', 'far', '[\"far\"]', 'done', 'none', 'wait4', 1, 1, 2);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
		INSERT INTO sample(run, n, start_ns, et_ns, pt_ns, lost, left_behind, incomplete)
		SELECT max(id), i, i * 1000000000, 100000000 + CASE i WHEN 37 THEN $far ELSE i * 61 % 101 / 50.0 - 1 END * 1000000, 99000000, 0, 0, 0 FROM run, n GROUP BY i"
	expect 0 '' $analyze --db "$dir/elsewhere.db" scatter "$(sqlite3 "$dir/elsewhere.db" 'SELECT max(id) FROM run')" -o "$dir/far.svg"
	that "the cluster is 18 % of the picture or more, with one sample $far ms off" python3 - "$dir/far.svg" <<'P'
import re, sys
picture = open(sys.argv[1]).read()
below = float(re.search(r"translate\([\d.]+,([\d.]+)\)[^<]*>\s*<text>first of a pair", picture).group(1)) # there is the legend
points = re.findall(r"<use xlink:href='#gpPt[^']*' transform='translate\(([\d.]+),([\d.]+)", picture)
points = sorted(float(x) for x, y in points if float(y) < below)
share = (points[-2] - points[0]) / (points[-1] - points[0])
assert len(points) == 50 and share > 0.18, (share, points)
P
done
expect 1 'gnuplot is not installed' env PATH=/nonexistent $analyze scatter 1 -o "$dir/none.png"
that "no empty picture is left" test ! -e "$dir/none.png"
expect 1 "in '$dir/none.png.gnuplot'" env PATH=/nonexistent $analyze scatter 1 --script -o "$dir/none.png"
expect 1 "cannot write '/nonexistent/x.png': No such file" $analyze scatter 1 -o /nonexistent/x.png
expect 1 'must end with .png, .svg or .pdf' $analyze scatter 1 -o x.gif
expect 1 'name the picture with -o' $analyze scatter 1
expect 1 'two pictures' $analyze scatter 1 --zooms --samples -o "$dir/x.png"

# What is not there, and what is not said.
expect 1 'run 77 is not in the lab book' $analyze show 77
expect 1 "RUN must be the number or the name of a run, and 'x' is neither" $analyze show x
expect 1 "there is no profile 'nobody'.*it has 'paper-rhel6.4'" $analyze discard 1 --profile nobody
expect 1 'name the profile with --profile' $analyze discard 1
expect 1 'name both runs' $analyze cutoffs --short 1
expect 1 "cannot open '$dir/none.json': No such file" $analyze import "$dir/none.json"
echo '{"format": "emp-run", "version": 1, "program": "x", "task_length_s": 1, "resolution_ns": 1, "samples": [{"n": 1, "start_ns": 1, "et_ns": -5, "pt_ns": 1, "executions": []}]}' >"$dir/bad.json"
expect 1 "'$dir/bad.json' was not imported: .*et_ns" $analyze import "$dir/bad.json"
that "the book is sound" sound "$EMP_DB"
finish
