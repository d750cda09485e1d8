#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Several programs, and hyperfine's options. Usage: compare.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
need_root
build=$1
measure="$build/measure/emp-measure -q"
burn=$build/tests/machine/burn
cd "$dir" || exit 1

# several programs, in turn
expect 0 'slower' $measure -r 5 "$burn 10" "$burn 30" --export-json two.json --export-csv two.csv --export-markdown two.md
that "both are in the document" json two.json '[r["command"].split()[-1] for r in d["results"]] == ["10", "30"]'
that "their CPU times are right" json two.json 'abs(d["results"][1]["emp"]["pt"]["mean_ns"] / d["results"][0]["emp"]["pt"]["mean_ns"] - 3) < 0.5'
that "CSV has a line each" test "$(wc -l <two.csv)" = 3
that "CSV begins as hyperfine's" grep -q '^command,mean,stddev,median,user,system,min,max' two.csv
that "it ends with our columns" grep -q 'max,pt_mean,pt_stddev,pt_samples,discarded,peak_memory,command_line,pt_ratio,pt_ratio_low,pt_ratio_high,pt_verdict\(,et_ratio,et_ratio_low,et_ratio_high,et_verdict\)\?$' two.csv
that "Markdown has a row each" test "$(grep -c '^| `' two.md)" = 2
samples() { # in the order they were taken, as the programs' last argument
	sqlite3 "$EMP_DB" "SELECT group_concat(a, '') FROM (SELECT substr(json_extract(command, '\$[1]'), 1, 1) AS a FROM sample JOIN run ON run.id = run
		WHERE run >= (SELECT max(id) - 1 FROM run) ORDER BY start_ns)"
}
$measure -r 3 "$burn 1" "$burn 2" >/dev/null
that "they are interleaved, in a balanced order" test "$(samples)" = 122112
$measure -r 3 --order sequence "$burn 1" "$burn 2" >/dev/null
that "they run in sequence when asked to" test "$(samples)" = 111222
$measure -r 20 --order shuffle "$burn 1" "$burn 2" >/dev/null
that "they are shuffled when asked to" test "$(samples)" != "$(printf '12%.0s' $(seq 20))"
expect 0 '(again)' $measure -r 3 --aa "$burn 5"
# Both clocks are compared, or one is; the interval is that of the comparison's line either way.
expect 2 'is slower than .* (95 % CI .* %), more than 5 %' $measure --compare both -r 5 --fail-if-slower 5 "$burn 10" "$burn 20"
expect 2 'is slower than .* (95 % CI .* %), more than 5 %' $measure -r 5 --fail-if-slower 5 "$burn 10" "$burn 20"
expect 0 '' $measure -r 5 --fail-if-slower 5 "$burn 20" "$burn 10"
expect 1 'must be a percentage' $measure --fail-if-slower fast true

# of what time the verdict speaks, and the gate: programs that wait are compared by ET as well
expect 0 'Verdict.*: equal (within 300 %)' $measure -r 5 --compare pt --fail-if-slower 300 "$burn 10" "$burn 30" --export-json pt.json
that "the document says so, too" json pt.json '[(c["clock"], "et" in c) for c in d["comparisons"]] == [("pt", False)]'
expect 2 "'sleep 0.3' is slower than 'sleep 0.1' by .* in elapsed time" $measure -r 4 --fail-if-slower 50 'sleep 0.1' 'sleep 0.3' --export-json et.json
that "the screen has both" sh -c "grep -q 'CPU time' $dir/out && grep -q '^sleep 0.3 is .* times slower than sleep 0.1 in elapsed time' $dir/out"
that "so has the document" json et.json 'd["comparisons"][0]["clock"] == "pt" and d["comparisons"][0]["et"]["clock"] == "et" and 2 < d["comparisons"][0]["et"]["ratio"] < 4'
that "both are adjusted for their number" json et.json 'd["comparisons"][0]["et"]["p_adjusted"] >= 2 * d["comparisons"][0]["et"]["p"] * 0.999'
expect 2 'in elapsed time' $measure -r 4 --compare et --fail-if-slower 50 'sleep 0.1' 'sleep 0.3' --export-json et.json
that "only ET is compared if asked" json et.json 'd["comparisons"][0]["clock"] == "et" and "et" not in d["comparisons"][0]'
expect 1 "compare must be pt, et or both, not 'cpu'" $measure --compare cpu true true
expect 1 'in a duet on one CPU the elapsed time is that of all programs' $measure --order duet --compare both true true

# a duet of which one program takes three times as long beside the other as alone, which no cache explains: the runs alone
# contradict it, and the interval has both ratios in it
biased() { # OPTION...
	$measure --order duet --slice 3ms --neighbour off -r 8 -n a -n b -p 'touch beside-a' -p 'touch beside-b' -C 'rm beside-a' -C 'rm beside-b' "$@" \
		"sh -c 'if [ -e beside-b ]; then $burn 90; else $burn 30; fi'" "$burn 60"
}
expect 4 "cannot be told" biased --fail-if-slower 20 --strict --export-json biased.json
that "the screen says why" grep -q '^  The runs alone say [12]\.[0-9]* times: the ratio depends on how the programs' "$dir/out"
that "the interval has both ratios" json biased.json 'd["comparisons"][0]["interval"][0] < 0.7 and d["comparisons"][0]["interval"][1] >= d["comparisons"][0]["ratio_in_turn"] > 1.5'
runs=$(python3 -c 'import json; print(*(r["emp"]["run"] for r in json.load(open("biased.json"))["results"]))')
expect 0 'Verdict: cannot tell' "$build/analyze/emp-analyze" compare $runs
expect 0 'Verdict: cannot tell' "$build/analyze/emp-analyze" compare biased.json:1 biased.json:2

# of a duet of an older version it is not known what sharing costs: its runs alone decide, or nothing does
sqlite3 "$EMP_DB" "UPDATE duet SET working_set = NULL WHERE run IN (${runs/ /,})"
expect 0 'What sharing the CPU cost in the duet is not known' "$build/analyze/emp-analyze" compare $runs
that "with their sign" sh -c "! grep -q ' faster ' '$dir/out'"
sqlite3 "$EMP_DB" "DELETE FROM duet_alone WHERE run IN (${runs/ /,})"
expect 0 'Verdict: unmeasurable: what sharing the CPU costs is not known' "$build/analyze/emp-analyze" compare $runs

# One call has one set of numbers, on the screen and in all documents. Programs that are too short for a duet are taken in turn.
expect 0 "^Taken in turn: 'a' is too short for a duet$" $measure --order duet -r 5 -n a -n b "$burn 2" "$burn 4" --export-json short.json --export-csv short.csv --export-markdown short.md
cp "$dir/out" short.txt
that "JSON, CSV, Markdown and the screen have the same numbers" python3 - <<'ONE_SET'
import csv, json, re
d = json.load(open("short.json"))
rows = list(csv.DictReader(open("short.csv")))
screen = open("short.txt").read()
markdown = [line for line in open("short.md") if line.startswith("| `")]
c = d["comparisons"][0]
for i, result in enumerate(d["results"]):
    assert abs(result["mean"] - float(rows[i]["mean"])) < 1e-8, (result["mean"], rows[i])
    assert abs(result["emp"]["pt"]["kept"]["mean_ns"] / 1e9 - float(rows[i]["pt_mean"])) < 1e-8
    assert re.search(rf"^ *{result['emp']['run']} +{'ab'[i]} ", screen, re.M), result["emp"]["run"]
    mean = re.match(r"\| `.*?` \| ([0-9.]+)", markdown[i])[1]
    half_digit = 0.51 * 10 ** -len(mean.partition(".")[2])
    assert abs(float(mean) - 1e3 * result["mean"]) < half_digit, (mean, result["mean"])
a, b = (r["emp"]["pt"]["kept"]["mean_ns"] for r in d["results"])
# The ratio is of the rounds of which both samples are kept, and without drift: nearly that of these means.
assert abs(b / a / c["ratio"] - 1) < 0.05
assert abs(float(rows[1]["pt_ratio"]) - c["ratio"]) < 1e-8
assert [float(rows[1]["pt_ratio_" + end]) for end in ("low", "high")] == [round(x, 9) for x in c["interval"]] and rows[1]["pt_verdict"] == c["verdict"]
assert f"{c['ratio']:.2f}"[:3] in markdown[1] and c["verdict"] in markdown[1] and "elapsed times (ET)" in open("short.md").read()
assert "duet" not in d and d["in_turn_because"] == "'a' is too short for a duet" and d["in_turn_because"] in open("short.md").read()
ONE_SET
gives "emp-analyze compares what the document compares" 'd["test"] == "pairs" and abs(d["ratio"] - json.load(open("short.json"))["comparisons"][0]["ratio"]) < 1e-9' "$build/analyze/emp-analyze" compare short.json:1 short.json:2 --json
expect 0 '' $measure --order duet --slice 10ms --neighbour off -r 3 "$build/calibrate/emp-inc --iterations 500000000" "$build/calibrate/emp-inc --iterations 600000000" --export-json slice.json
expect 0 '^A duet: compared in 3 pairs' "$build/analyze/emp-analyze" compare slice.json:1 slice.json:2
that "ranks do not know what sharing the CPU costs" json slice.json 'd["comparisons"][0]["p"] < 1 and d["comparisons"][0]["mann_whitney_p"] is None'
that "the result says what sharing the CPU costs" json slice.json 'all(p["working_set_bytes"] < 2e6 for p in d["duet"]["programs"]) and all(0 < r["emp"]["refill"] < 0.5 for r in d["results"])'

# as many runs alone as were asked for, and those of each pair in either order
expect 0 '' $measure --order duet --slice 10ms --neighbour off -r 3 --alone 8 "$burn 50" "$burn 60"
that "there are eight runs alone of each" test "$(sqlite3 "$EMP_DB" 'SELECT group_concat(n) FROM (SELECT count(*) AS n FROM duet_alone WHERE run >= (SELECT max(id) - 1 FROM run) GROUP BY run)')" = 8,8
that "half of them in either order" test "$(sqlite3 "$EMP_DB" 'SELECT sum(a.start_ns < b.start_ns) FROM duet_alone a JOIN duet_alone b ON b.run = a.run + 1 AND b.n = a.n WHERE b.run = (SELECT max(id) FROM run)')" = 4

# of three programs, the document knows what any two of them may lose
expect 0 'CPU time' $measure --order duet --slice 3ms --neighbour off -r 3 "$build/calibrate/emp-inc --iterations 100000000" "$build/calibrate/emp-inc --iterations 200000000" "$build/calibrate/emp-inc --iterations 600000000" --export-json three.json
runs=$(python3 -c 'import json; print(*(r["emp"]["run"] for r in json.load(open("three.json"))["results"][1:]))')
"$build/analyze/emp-analyze" compare $runs --json >of_runs.json
gives "its interval of the second and the third has that of the book in it" '(lambda b: d["interval"][0] <= b[0] * 1.000001 and d["interval"][1] >= b[1] * 0.999999)(json.load(open("of_runs.json"))["interval"])' "$build/analyze/emp-analyze" compare three.json:2 three.json:3 --json

# without a warm-up it is not known, and the document says that
expect 0 'CPU time' $measure --order duet --neighbour off -w 0 -r 3 "$build/calibrate/emp-inc --iterations 50000000" "$build/calibrate/emp-inc --iterations 60000000" --export-json unknown.json
that "the result says so" json unknown.json 'all(r["emp"]["refill"] is None for r in d["results"])'
expect 0 'Verdict: unmeasurable: what sharing the CPU costs is not known' "$build/analyze/emp-analyze" compare unknown.json:1 unknown.json:2

# the slice follows from what the programs touch; where others take the CPU all the time, there is no duet
expect 0 '' $measure --order duet --neighbour off -r 3 "$build/calibrate/emp-inc --iterations 500000000" "$build/calibrate/emp-inc --iterations 600000000" --export-json slice.json
that "there is a duet, or a reason" json slice.json 'd["duet"]["slice_ns"] in (3000000, 10000000, 25000000, 50000000, 100000000) if "duet" in d else d["in_turn_because"].startswith("refilling caches may take ")'

# runs are named by their names, too: the latest that was given it; and "last"
expect 0 '' $measure -r 2 -w 0 -n baseline -n change true 'echo a'
$measure -r 2 -w 0 -n baseline -n change true 'echo a' >/dev/null
last=$(sqlite3 "$EMP_DB" 'SELECT max(id) FROM run')
expect 0 "run $((last - 1)) (baseline).*run $last (change)" "$build/analyze/emp-analyze" compare baseline change
expect 0 "run $((last - 1)) (baseline).*run $last (change)" "$build/analyze/emp-analyze" compare baseline last
expect 0 "^change  *run $last" "$build/analyze/emp-analyze" show change
expect 1 "'nosuch' is neither" "$build/analyze/emp-analyze" compare nosuch change
expect 0 "run $((last - 1)) (baseline).*run $last (change)" "$build/analyze/emp-analyze" compare baseline --last
expect 0 "run $last (change).*run $((last - 1)) (baseline)" "$build/analyze/emp-analyze" compare --last baseline
expect 0 "^change  *run $last" "$build/analyze/emp-analyze" show --last
gives "the last run for export, too" "d['name'] == 'change'" "$build/analyze/emp-analyze" export --last
expect 1 "usage: emp-analyze show" "$build/analyze/emp-analyze" show --last 1
expect 0 '' $measure -r 2 -w 0 -n last -n v1.2:3 true 'echo a'
expect 0 "run $((last + 1)) (last).*run $((last + 2)) (v1.2:3)" "$build/analyze/emp-analyze" compare last v1.2:3
expect 0 "^v1.2:3  *run $((last + 2))" "$build/analyze/emp-analyze" show --last
expect 1 "'baseline' is the name of 2 runs: remove them by their numbers" "$build/analyze/emp-analyze" remove last baseline
expect 0 '' "$build/analyze/emp-analyze" remove last --last
expect 0 "^change  *run $last" "$build/analyze/emp-analyze" show --last
cp short.json baseline
expect 1 "'baseline' is a file and the name of run $((last - 1)): for the file, type ./baseline" "$build/analyze/emp-analyze" compare baseline change
rm baseline
expect 1 "run $((last - 1)) is none of the runs of 'change'" "$build/analyze/emp-analyze" trend change --since baseline
expect 1 "since must be a day" "$build/analyze/emp-analyze" trend change --since nosuch
expect 1 "cannot open 'nosuch.json'" "$build/analyze/emp-analyze" compare nosuch.json change

# command lines, shells, names, parameters
expect 0 '^first  *run ' $measure -r 2 -n first true
expect 1 "'true' comes before --" $measure -r 2 true -- false
expect 0 '^echo -- b  *run ' $measure -r 2 -- echo -- b
expect 1 "command '0.01' not found in PATH (for one command with arguments, put -- before it)" $measure -r 2 sleep 0.01
expect 1 'there are 2 names for 1 command' $measure -n a -n b true
expect 0 '^a$' $measure -r 1 -w 0 --show-output 'echo a | cat'
expect 0 '^a$' $measure -r 1 -w 0 -S sh --show-output 'echo a | cat'
expect 0 '^a$' $measure -r 1 -w 0 -S 'bash --norc' --show-output 'echo a | cat'
expect 0 '^a$' $measure -r 1 -w 0 -S default --show-output 'echo a | cat'
expect 1 "'|' needs a shell, or must be quoted, in: echo a | cat; there is none with -N" $measure -S none 'echo a | cat'
expect 1 "a quote is not closed" $measure -S "bash '" 'echo a'
expect 1 'exclude each other' $measure -N -S sh true
expect 0 'Run by sh -c' $measure -r 2 -S auto 'true | cat'
expect 0 '' $measure -r 2 -w 0 -L ms 1,2 -P more 1 3 -D 1 "$burn {ms}" --export-json par.json
that "parameters are combined, the first fastest" json par.json \
	'[(r["parameters"]["ms"], r["parameters"]["more"]) for r in d["results"]] == [("1","1"),("2","1"),("1","2"),("2","2"),("1","3"),("2","3")]'
that "a parameter that the line has not is in the name" json par.json \
	'[r["command"].split()[1:] for r in d["results"]][:2] == [["1", "(more", "=", "1)"], ["2", "(more", "=", "1)"]]'
expect 0 '' $measure -r 2 -w 0 -L file a,b -p 'echo >{file}' true
expect 0 '"true (file = b)"' "$build/analyze/emp-analyze" list --last 1 --json
expect 0 'x 0.5  *[0-9]' env COLUMNS=120 $measure -r 1 -w 0 -P n 0 1 -D 0.5 'echo x {n}'
expect 1 'must go from a number up to a number' $measure -P n 3 1 'echo {n}'
expect 1 'needs 3 values' $measure -P n 3
expect 1 "step-size must be a number above 0 (such as 0.5).*not '1e-3'" $measure -P n 0 1 -D 1e-3 'echo {n}'
expect 1 "parameter 'n' is defined twice" $measure -L n 1,2 -P n 3 4 'echo {n}'
expect 0 '' $measure -r 1 -w 0 -L n '' 'echo {n}'

# an aborted session keeps what it had
$measure -r 3 --order sequence --export-json aborted.json "$burn 1" "sleep 1000" >/dev/null 2>&1 &
wait_until test -s aborted.json
kill -KILL $!
wait $! 2>/dev/null
that "the command that was done is in the file" json aborted.json 'len(d["results"]) == 1 and len(d["results"][0]["times"]) == 3'

# the environment of each run
$measure -r 11 -w 2 -s 'echo "setup ${HYPERFINE_ITERATION-none}" >>iterations' -p 'echo "prepare $HYPERFINE_ITERATION" >>iterations' \
	-C 'echo "conclude $HYPERFINE_ITERATION" >>iterations' -S sh 'echo $HYPERFINE_ITERATION >>iterations; env | wc -c >>sizes' >/dev/null
that "each run knows its number" test "$(grep -E '^[a-z]*-?[0-9]*$' iterations | tr '\n' ' ')" = "warmup-0 warmup-1 $(seq -s ' ' 0 10) "
that "what runs before and after it knows it too" test "$(grep -c -E '^(prepare|conclude) (warmup-[01]|[0-9]|10)$' iterations)" = 26
that "the size of the environment is always the same" test "$(sort -u sizes | wc -l)" = 1

# programs that fail
expect 0 '' $measure -r 2 --ignore-failure false
expect 0 '' $measure -r 2 --ignore-failure=all-non-zero 'sh -c "exit 7"'
expect 0 '' $measure -r 2 --ignore-failure=1,7 'sh -c "exit 7"' false
expect 0 '' $measure -r 2 --ignore-failure=143 'sh -c "kill \$\$"' # as a shell says it: 128 + TERM
expect 1 'exit status 2' $measure -r 2 --ignore-failure=1,7 'sh -c "exit 2"'
expect 1 'must be a whole number' $measure -r 2 --ignore-failure=some false

# the reference
expect 0 '^true is .* than burn\|^true: [0-9.]* times' $measure -r 3 --reference "$burn 10" --reference-name burn true --export-json reference.json
that "the reference is measured first, and others are compared with it" json reference.json \
	'[r["command"] for r in d["results"]] == ["burn", "true"] and d["comparisons"][0]["reference"] == "burn"'
expect 0 '' $measure -r 2 -w 0 -L x 1,2 --reference true 'echo {x}' --export-json reference.json
that "parameters are not the reference's" json reference.json \
	'[r.get("parameters", {}).get("x") for r in d["results"]] == [None, "1", "2"]'
expect 1 'reference-name needs --reference' $measure --reference-name x true
expect 1 'is given twice' $measure --reference true --reference false true

# what may be given once for each command, and what may not
$measure -r 2 -w 0 -p 'echo one >>each' -p 'echo two >>each' --output ./one.txt --output ./two.txt 'echo one' 'echo two' >/dev/null
that "each command has its own --prepare" test "$(sort each | uniq -c | tr -s ' \n' ' ')" = " 2 one 2 two "
that "each command has its own --output" test "$(cat one.txt two.txt | tr '\n' ' ')" = "one two "
$measure -r 2 -w 0 -L x 1,2,3 -p 'echo a >>three' -p 'echo b >>three' -p 'echo c >>three' 'echo {x}' >/dev/null
that "one --prepare for each value of a parameter" test "$(sort three | uniq -c | tr -s ' \n' ' ')" = " 2 a 2 b 2 c "
expect 1 "output is given 2 times: give it once for all, or once for each of the 3 commands" $measure --output null --output pipe true true true
expect 1 "setup' is given twice" $measure -s a -s b true
expect 1 "cleanup' is given twice" $measure -c a -c b true
expect 1 'parameter-step-size (-D) needs --parameter-scan' $measure -D 2 true
expect 0 '' $measure -r 1 -w 0 -L x 'a\,b,c' 'echo {x}' --export-json comma.json
that "a comma may be part of a value" json comma.json '[r["parameters"]["x"] for r in d["results"]] == ["a,b", "c"]'

# --fast, --rigorous
counts() { # "SAMPLES RUNS" of a call with these options
	rm -f runs
	$measure "$@" -S sh 'echo >>runs' --export-json counts.json >/dev/null
	echo "$(python3 -c 'import json; print(len(json.load(open("counts.json"))["results"][0]["times"]))') $(wc -l <runs)"
}
that "--fast is 5 samples after 1 warm-up" test "$(counts --fast)" = '5 6'
that "--rigorous is 40 samples after 3 warm-ups" test "$(counts --rigorous)" = '40 43'
that "-r and -w win" test "$(counts --rigorous -r 2 -w 0)" = '2 2'
expect 1 'exclude each other' $measure --fast --rigorous true

# events
expect 0 'perf: page-faults [0-9.]* *k*, task-clock [0-9.]* [mu]*s' $measure -r 3 --perf page-faults,task-clock true --export-json perf.json
that "each sample has its count" json perf.json \
	'[len(d["results"][0]["emp"]["perf"][e]["values"]) for e in ("page-faults", "task-clock")] == [3, 3] and d["results"][0]["emp"]["perf"]["page-faults"]["mean"] > 10'
expect 0 '' $measure -r 3 --perf task-clock "$burn 50" --export-json perf.json -p "$burn 100"
that "only the program is counted, not what runs before it" json perf.json \
	'all(0.8 < t / p < 1.2 for t, p in zip(d["results"][0]["emp"]["perf"]["task-clock"]["values"], d["results"][0]["emp"]["pt_ns"]))'
expect 1 "there is no event 'miracles'" $measure --perf miracles true
if grep -q hypervisor /proc/cpuinfo && ! ls /sys/bus/event_source/devices | grep -q '^cpu'; then
	expect 1 'this machine has no hardware counters: cycles is not supported' $measure -r 2 --perf cycles true
else
	expect 0 'instructions .* per cycle' $measure -r 2 --perf cycles,instructions true
fi

# what runs around samples
$measure -r 3 -w 2 -s 'echo setup >>log' -p 'echo prepare >>log' -C 'echo conclude >>log' -c 'echo cleanup >>log' true >/dev/null
that "hooks run as often as they should" test "$(sort log | uniq -c | tr -s ' \n' ' ')" = " 1 cleanup 5 conclude 5 prepare 1 setup "
expect 1 "prepare 'exit 3' ended with exit status 3" $measure -p 'exit 3' true
expect 1 "'false' ended with exit status 1" $measure -c 'echo cleaned >cleaned' false
that "what failed is cleaned up after" grep -qx cleaned cleaned
expect 1 'give it once for all, or once for each of the 2 commands' $measure -p a -p b -p c true false

# each document on standard output, and nothing else
parse='import csv, json, sys
text = sys.stdin.read()
if sys.argv[1] not in ("json", "csv"):  # and the line that says which columns are elapsed times
    text, _, key = text.rstrip("\n").rpartition("\n\n")
    assert key[1:].startswith("Mean, Min and Max are elapsed times") and key[0] == key[-1] and "\n" not in key
rows = {
    "json": lambda: len(json.loads(text)["results"]),
    "csv": lambda: len(list(csv.DictReader(text.splitlines()))),
    "markdown": lambda: all(l.startswith("|") and l.endswith("|") for l in text.splitlines()) and len(text.splitlines()) - 2,
    "asciidoc": lambda: text.startswith("[cols=") and text.rstrip().endswith("|===") and text.count("\n\n| "),
    "orgmode": lambda: all(l.startswith("|") and l.endswith("|") for l in text.splitlines()) and len(text.splitlines()) - 2,
}[sys.argv[1]]()
sys.exit(rows != 2)'
for form in json csv markdown asciidoc orgmode; do
	that "$form on standard output is whole and alone" sh -c "$measure -r 2 --export-$form - true 'sh -c true' 2>$form.screen | python3 -c '$parse' $form"
	that "the screen is on standard error then" grep -q 'COMMAND .* PT ' $form.screen
done
that "so is --json" sh -c "$measure -r 2 --json true 'sh -c true' | python3 -c '$parse' json"
$measure -r 2 -w 0 --export-json document.json --sort mean-time --export-markdown sorted.md --export-asciidoc - "$burn 20" "$burn 5" >/dev/null 2>&1
that "the document says what it is" json document.json 'd["format"] == "emp-measure" and d["version"] == 1'
that "its moments are text, too" json document.json \
	'all(t.endswith("Z") and n > 2**53 for t, n in zip(d["results"][0]["emp"]["start"], d["results"][0]["emp"]["start_ns"]))'
that "tables begin with hyperfine's columns" grep -q '^| Command | Mean \[ms\] | Min \[ms\] | Max \[ms\] | Relative |' sorted.md
that "tables are sorted when asked to" test "$(grep -o '^| .*burn [0-9]*' sorted.md | grep -o 'burn [0-9]*' | tr '\n' ' ')" = "burn 5 burn 20 "
that "the fastest is 1.00" sh -c "grep 'burn 5' sorted.md | grep -q '| 1.00 |'"
# as hyperfine's plot_histogram.py, plot_whisker.py and advanced_statistics.py read it
that "hyperfine's scripts can read it" json document.json \
	'[(b["command"], min(b["times"]), max(b["times"]), b["mean"], b["stddev"], b["median"], b["user"], b["system"], b["exit_codes"], b.get("memory_usage_byte")) for b in d["results"]]'

# documents to standard output and to pipes: once, at the end
$measure -r 2 --style none --order sequence --export-json - true false -i >stdout.json
that "'-' is standard output" json stdout.json 'len(d["results"]) == 2'
$measure -r 2 --style none --order sequence --export-csv >(cat >piped.csv) true 'sh -c true'
wait_until test -s piped.csv
wait_until sh -c "! pgrep -P $$ -x cat"
that "a pipe gets the whole, once" test "$(wc -l <piped.csv)" = 3
mkfifo fifo
cat fifo >through.json &
$measure -r 2 --style none --export-json fifo true
wait $!
that "a named pipe stays one" test -p fifo
that "the document went through it" json through.json 'len(d["results"]) == 1'

# input, output, style, counts
echo 'some input' >in.txt
expect 0 '^some input$' $measure -r 2 -w 0 --input in.txt --output inherit cat
expect 0 '' $measure -r 3 --input in.txt --output out.txt cat
that "the output file holds the last sample's output" cmp in.txt out.txt
expect 1 "cannot open 'no-such-file'" $measure --input no-such-file cat
that "style none prints nothing" test -z "$($measure -r 2 --style none true)"
expect 1 '--style must be auto, basic' $measure --style loud true
escape=$(printf '\033')
that "style color has colour without a terminal" sh -c "$measure -r 2 --style color true | grep -q '$escape\[1m'"
that "style full has a bar without a terminal" sh -c "$build/measure/emp-measure -r 2 --style full true 2>&1 | grep -q '###'"
that "style basic has neither on a terminal" sh -c "! TERM=xterm NO_COLOR= script -qec '$build/measure/emp-measure -r 2 --style basic true' /dev/null | grep '$escape'"
that "style nocolor has a bar without colour on a terminal" sh -c "TERM=xterm NO_COLOR= script -qec '$build/measure/emp-measure -r 2 --style nocolor true' '$dir/typed' >/dev/null &&
	grep -q '###' '$dir/typed' && ! grep -q '$escape\[1m' '$dir/typed'"
expect 0 'Kept [0-9] of 4$\|Kept [0-9] of 4 ' $measure -M 4 true
expect 0 'Kept [0-9]* of 12' $measure -m 12 true
expect 0 'PT (mean ± σ) .* s ± [0-9.]* s\( \|$\)' $measure -r 3 -u second true
expect 3 'only .* of 3 samples .* are clean, not 4 (--retain); --max-runs is 3' $measure --retain 4 -M 3 true
expect 0 'Kept [4-9] of\|Kept 1[0-9] of' $measure --retain 4 true
finish
