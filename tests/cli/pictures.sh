#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Pictures: that of a comparison in all shapes of data, and that every picture can be read at the width of a paper's column.
# Usage: pictures.sh BUILD
set -u
set -- "$(realpath "$1")" "$(realpath "$(dirname "$0")")"
here=$2
. "$here/expect.sh"
command -v gnuplot >/dev/null || exit 77
analyze=$1/analyze/emp-analyze
measure="$1/measure/emp-measure -q -w 0"
cd "$dir" || exit 1

readable() { that "it can be read: $1" python3 "$here/picture.py" "$1"; }
# draws FILE VERB...: without a word of gnuplot, and so that it can be read
draws() {
	file=$1
	shift
	"$analyze" "$@" -o "$file" --script >said 2>errors
	status=$?
	that "gnuplot has nothing to say of $file" sh -c '! grep . errors'
	that "$file is drawn" test "$status" = 0
	readable "$file"
}
# script FILE EXPRESSION: of the script of a picture, as a dict d of its variables; d["$means"] and the like are lists of blocks of rows
script() {
	that "$1: $2" python3 - "$1.gnuplot" "$2" <<'P'
import re, sys
text = open(sys.argv[1]).read()
d = {}
for name, body in re.findall(r"^(\$\w+) << EOD\n(.*?)^EOD$", text, re.S | re.M):
    d[name] = [[[float(x) for x in row.split()] for row in block.split("\n") if row] for block in body.split("\n\n\n") if block.strip()]
for name, i, value in re.findall(r"^(\w+)(?:\[(\d+)\])? = (.*)$", text, re.M):
    try:
        value = value.strip("'\"") if value[:1] in "'\"" else float(value)
    except ValueError:
        continue
    if i:
        d.setdefault(name, {})[int(i)] = value
    else:
        d[name] = value
d["points"] = {d["kinds"][i]: d["$samples"][i - 1] for i in d["kinds"]} if "kinds" in d and "$samples" in d else {}
assert eval(sys.argv[2]), {k: v for k, v in d.items() if not k.startswith("$")}
P
}

# Results with times in seconds; times in lists of their own are those that were discarded.
python3 - <<'P'
import json, random
random.seed(1)
def result(name, times, discarded=(), start=0, **more):
    n = len(times)
    return {"command": name, "times": times, "emp": {"pt_ns": [round(t * 1e9) for t in times], "et_ns": [round(t * 1e9) for t in times],
            "start_ns": [int(1.7e18 + (start + 10 * i) * 1e9) for i in range(n)], "incomplete": list(discarded), "environment": "a" * 64, "call": "one", **more}}
def write(name, *results):
    json.dump({"format": "emp-measure", "version": 1, "results": list(results)}, open(name + ".json", "w"))
def noise(mean, n, sd=0.01):
    return [mean * (1 + random.gauss(0, sd)) for _ in range(n)]
write("two", result("sort", noise(0.1, 20) + [0.11, 0.5], [21, 22]), result("sort -n", noise(0.12, 22), start=1))
write("three", result("a", noise(0.1, 3)), result("b", noise(0.1, 3), start=1))
write("single", result("a", [0.1]), result("b", [0.2], start=1))
write("many", result("a", noise(0.1, 500)), result("b", noise(0.1, 500), start=1))
write("far", result("a", noise(0.1, 20)), result("b", noise(0.1, 19) + [20.0], start=1))
write("manyfar", result("a", noise(0.1, 500)), result("b", noise(0.1, 250) + [20.0] + noise(0.1, 249), start=1))
write("equal", result("a", [0.1] * 10), result("b", [0.1] * 10, start=1))
write("zero", result("a", [0.0] * 10), result("b", [0.1] * 10, start=1))
write("out", result("a", noise(0.1, 5), [1, 2, 3, 4, 5]), result("b", noise(0.1, 5), start=1))
write("allout", result("a", noise(0.1, 5), [1, 2, 3, 4, 5]), result("b", noise(0.1, 5), [1, 2, 3, 4, 5], start=1))
write("oneout", result("a", noise(0.1, 20)), result("b", noise(0.3, 20), range(1, 21), start=1))
write("tiny", result("a", noise(2e-7, 9)), result("b", noise(3, 9), start=1))
write("hostile", result("`touch ran`\x1b]0;x\x07 {/Symbol a}", noise(0.1, 9)), result("'\"@x\\$(touch ran) " + "long " * 60, noise(0.1, 9), start=1))
write("percent", result("50 % of %s", noise(0.1, 9)), result("%", noise(0.1, 9), start=1))
write("capitals", result("MEASURE_THROUGHPUT_1", noise(0.1, 9)), result("WWWWWWWWWWWWWWWWWWWW", noise(0.1, 9), start=1))
write("before", *[result(f"benchmark {i}", noise(0.1, 9)) for i in range(9)])
write("after", *[result(f"benchmark {i}", noise(0.08 + 0.01 * i, 9)) for i in range(9)])
P

# In all shapes of data.
for name in two three single many far manyfar equal out oneout allout tiny hostile percent capitals; do draws $name.svg compare $name.json:1 $name.json:2; done
that "nothing of a name ran" test ! -e ran
that "a % in a name is no format" sh -c "grep -q '1 50 % of %s' percent.svg && grep -q '>2 %<\|2 %</text>' percent.svg"
script two.svg '{k: len(v) for k, v in d["points"].items()} == {1: 42, 2: 1, 4: 1} == dict(zip(d["kinds"].values(), d["counts"].values()))'
that "the legend has the discarded ones" grep -q 'discarded (1)' two.svg
that "one is too far off for the axis, and said to be there" grep -q 'discarded, above the picture (1)' two.svg
that "the verdict is in the picture" grep -q 'Verdict: slower' two.svg
expect 0 'slower$' "$analyze" compare two.json:1 two.json:2
script two.svg 'len(d["$intervals"][0]) == 2 and 1.15 < d["$intervals"][0][1][2] < d["$intervals"][0][1][1] < d["$intervals"][0][1][3] < 1.25'
script two.svg 'all(0.09 < m[3] < m[2] < m[4] < 0.13 for m in d["$means"][0])'
"$analyze" compare --json two.json:1 two.json:2 >two.out
that "its interval is that of the comparison" python3 -c '
import json, re
d = json.load(open("two.out")); row = re.search(r"\$intervals << EOD\n.*\n2 (\S+) (\S+) (\S+)", open("two.svg.gnuplot").read())
assert [round(float(x), 6) for x in row.groups()] == [round(x, 6) for x in [d["ratio"]] + d["interval"]], (row.groups(), d)'
script two.svg 'd["time_low"][1] < 0.1 and d["time_high"][1] < 0.2'
script far.svg 'd["kinds"] == {1: 1} and d["time_high"][1] > 20 and d["logarithmic"][1]' # its mean is far from the others, too
script manyfar.svg 'd["points"].keys() == {1, 3} and d["counts"] == {1: 999, 2: 1} and d["time_high"][1] < 1'
script single.svg 'd["$intervals"][0][1][4] == 1'
that "no interval of a single sample is drawn" grep -q 'cannot tell' single.svg
script equal.svg 'd["counts"][1] == 20 and d["time_low"][1] < 0.1 < d["time_high"][1]'
script oneout.svg '[len(d["points"][k]) for k in (1, 2)] == [20, 20] # a program without a kept sample is there all the same'
that "the legend names no mean and no interval where there is none" sh -c '! grep "mean\|95 % interval" allout.svg'
that "... and one sample has a mean alone" sh -c 'grep -q ">mean<" single.svg && ! grep -q "95 % interval" single.svg'
script allout.svg 'list(d["kinds"].values()) == [2] and d["counts"][1] == 10'
script many.svg 'd["counts"][1] == 1000 and d["many"] == 1'
script tiny.svg 'd["logarithmic"][1] == 1'
for name in two.png two.pdf; do
	expect 0 '' "$analyze" compare two.json:1 two.json:2 -o $name
	that "$name is drawn" test "$(wc -c <$name)" -gt 5000
done
that "a PNG has 300 dots an inch" sh -c "file two.png | grep -q '1003 x'"

# Of suites, the ratios.
draws suites.svg compare before.json after.json
script suites.svg 'len(d["$intervals"][0]) == 9 and d["n_panels"] == 0'
that "each has its name" sh -c 'for i in 0 1 2 3 4 5 6 7 8; do grep -q "benchmark $i" suites.svg || exit 1; done'

# emp-measure draws what it has measured, beside all other results.
expect 0 'Kept 5 of 5' $measure -r 5 --plot one.svg -- true
readable one.svg
expect 0 'Kept 1 of 1' $measure -r 1 --plot first.svg -- true
readable first.svg
that "there is no part of a sample" sh -c '! grep -q ">.*0[.]8<" first.svg'
expect 0 'Verdict' $measure -r 3 --plot six.svg true 'true 1' 'true 2' 'true 3' 'sh -c :' 'sh -c "exit 0"'
readable six.svg
expect 0 'Verdict' $measure -r 3 --plot clocks.svg --compare both $(for i in $(seq 10); do echo "-n MEASURE_THROUGHPUT-$i"; done) $(yes true | head -10)
readable clocks.svg
expect 0 "" $measure -r 2 -P x 1 40 --plot forty.svg 'echo {x}'
readable forty.svg
that "it says how many are drawn" grep -q "the first \(12\|24\) are drawn" forty.svg
for i in 1 2 3 4 5; do that "each program has a row" grep -q ">$((i + 1)) " six.svg; done
expect 0 '' $measure -r 2 --json --plot json.svg true 'true 1'
that "the document is alone on standard output" sh -c "$measure -r 2 --json --plot json.svg true 'true 1' 2>/dev/null | python3 -m json.tool"
readable json.svg
expect 0 '' $measure -r 2 --style none --plot none.svg true 'true 1'
that "without a word" test ! -s out
readable none.svg
expect 2 'slower' $measure -r 5 --fail-if-slower 1 --plot gate.svg true 'sh -c "i=0; while [ \$i -lt 99999 ]; do i=\$((i+1)); done"'
that "a gate that fails has its picture" grep -q 'slower' gate.svg

# What goes wrong: before the measurement, where it can be known.
runs() { "$analyze" list --all --json | grep -c '"run":'; }
before=$(runs)
refused() {
	text=$1
	shift
	expect 1 "$text" $measure -r 2 "$@" -- true
	that "nothing was measured" test "$(runs)" = "$before"
}
refused 'must end with .png, .svg or .pdf' --plot x.gif
refused 'must end with .png, .svg or .pdf' --plot -
refused "cannot write '/nonexistent/x.png': No such file" --plot /nonexistent/x.png
refused "two exports cannot share the file 'x.svg'" --plot x.svg --export-csv x.svg
for name in gnuplot; do # which is not there
	mkdir bin
	for tool in true sh; do ln -s "$(command -v $tool)" bin; done
	expect 1 "cannot draw 'x.png': gnuplot is not installed (the package is gnuplot-nox)" env PATH="$dir/bin" $measure -r 2 --plot x.png -- true
	that "nothing was measured" test "$(runs)" = "$before"
done
expect 1 'gnuplot is not installed' env PATH=/nonexistent "$analyze" compare two.json:1 two.json:2 -o x.png
expect 1 "cannot write '/nonexistent/x.png': No such file" "$analyze" compare two.json:1 two.json:2 -o /nonexistent/x.png
expect 1 'must end with .png' "$analyze" compare two.json:1 two.json:2 -o x
expect 1 '\-\-script needs a picture: -o FILE.png' "$analyze" compare two.json:1 two.json:2 --script
that "no empty picture is left" test ! -e x.png
for ending in svg png pdf; do ln -s /dev/full full.$ending; done
for ending in svg png pdf; do
	expect 1 "cannot write 'full.$ending': No space left on device" "$analyze" compare two.json:1 two.json:2 -o full.$ending
	that "the result is shown all the same" grep -q 'Verdict: slower' out
	expect 1 "cannot write 'full.$ending': No space left on device" $measure -r 2 --plot full.$ending -- true
	that "the results are shown all the same" grep -q 'Kept 2 of 2' out
done

# Every other picture can be read.
EMP_DB=$dir/others.db
export EMP_DB
paper=$("$analyze" import "$here/../papers/data/emp-run-inc128.json")
long=$("$analyze" import "$here/../papers/data/emp-run-inc16384.json")
"$analyze" cutoffs --short $paper --long $long --save paper >/dev/null
draws causes.svg compare $paper $long --profile paper
that "the legend says who disturbed those that were discarded" grep -q 'discarded (17): flush-9:0, jbd2/md0-8, md0_raid1, …<' causes.svg
python3 "$here/made_up_runs.py" "$EMP_DB" >made
python3 "$here/made_up_jitter.py" "$EMP_DB" 20 1 backupd >jitter
python3 "$here/made_up_jitter.py" "$EMP_DB" 20 2 kinds >after
python3 "$here/made_up_load.py" "$EMP_DB" 1 >load
python3 "$here/made_up_load.py" "$EMP_DB" 2 speed=1.1 >other
jitter=$(cat jitter) after=$(cat after) load=$(cat load) other=$(cat other)
draws scatter.svg scatter "$paper"
draws samples.svg scatter "$paper" --samples
draws zooms.svg scatter "$paper" --zooms
that "the scatter plot marks the box" grep -q 'bounds of the central cluster' scatter.svg
for name in solver against few often ticks creeping doubled; do draws "trend-$name.svg" trend $name; done
draws density.svg jitter "$jitter"
draws both.svg jitter "$jitter" --baseline "$after"
draws longest.svg jitter "$jitter" --timeline
draws shares.svg jitter "$jitter" "$after" --by-source
draws rates.svg load "$load"
draws rates-two.svg load "$load" "$other"
draws timeline.svg load "$load" --timeline
draws waits.svg load "$load" --page-waits

expect 0 '' env -u LANG -u LC_ALL "$analyze" scatter 1 -o ascii.svg
that "gnuplot has nothing to say without a locale" sh -c "! grep -i 'gnuplot\|iconv\|warning' '$dir/out'"
finish
