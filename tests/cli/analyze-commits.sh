#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze commits on documents whose truth is known: the sentence, the status, the report, what is measured again, the exports.
# Usage: analyze-commits.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
analyze=$1/analyze/emp-analyze here=$(cd "$(dirname "$0")" && pwd)
cd "$dir" || exit 1
export COLUMNS=120
made() { # LINE...: c.json
	python3 "$here/made_up_commits.py" "$@" >c.json
}

# Twenty command lines: two are slower, one cannot be told, the others are equal.
equal=$(seq -f 'e%.0f' 17)
made $equal slow:factor=1.08 'slower {tree}':factor=1.03:sd=0.002 vague:sd=0.03
expect 2 '^Verdict: 2 of 20 are slower, by 3\.[0-9] and 8\.[0-9] %; 17 are equal within 2 %; 1 cannot be told$' $analyze commits c.json
that "what matters most comes first" sh -c "sed -n 2p '$dir/out' | grep -q '^slow .* slower '"
expect 2 '' $analyze commits --json c.json
that "the document has the verdicts" json out 'd["verdict"] == "slower" and d["summary"].startswith("2 of 20 are slower") and [
	r["status"] for r in d["results"]] == [0] * 17 + [2, 2, 0] and d["results"][0]["verdict"] == "equal"'
expect 2 '' $analyze commits c.json --markdown report.md
that "the report begins with the sentence" grep -q '^\*\*2 of 20 are slower, by .* %\.\*\*$\|^\*\*2 of 20 are slower, by .*told\.\*\*$' report.md
that "what is equal is folded" grep -q '^<details><summary>17 command lines more' report.md
that "text from elsewhere is no markup" sh -c "grep -qxF -e '- base bbbbbbbbbb: \`base '\\''it'\\''\`' report.md && grep -qxF -e '- note: \`a <b>note</b>\`' report.md"
that "it says who disturbed" grep -qF -e "- disturbed by: \`backup'd|\` " report.md
that "and how to repeat it" grep -q "^emp-compare-commits --build=make --percent=2 --runs=10 b\{40\} e1 .* 'slower {tree}' vague$" report.md
that "it says what could have been shown" grep -q '^- resolution: a difference of [0-9.]* % could have been shown in half of the command lines' report.md
that "all intervals are drawn" test "$(grep -c '^| `.* `[^`]*O[^`]*` |$' report.md)" = 20

# A difference that one command line would show, but not one of twenty, is measured again; with other samples it counts.
suspect=$(for sd in 0.018 0.020 0.022 0.024 0.026 0.028 0.030; do echo "s$sd:factor=1.03:sd=$sd"; done)
made $equal $suspect
expect 0 '' $analyze commits --again c.json
numbers=$(cat out)
that "some of them are measured again, and no equal one" test "${numbers:+yes}" = yes -a "$(echo "$numbers" | head -1)" -gt 17
expect 0 'cannot be told' $analyze commits c.json
made $equal 's:factor=1.04:sd=0.01:n=20:again=1'
expect 2 '1 of 18 is slower' $analyze commits c.json
expect 0 '' $analyze commits --again c.json
that "and not a third time" test ! -s out

# Each outcome, with its status; 1 comes before 2, 2 before 3, 3 before 4.
while IFS='|' read -r status options lines words; do
	made $lines
	expect "$status" "$words" $analyze commits $options c.json
done <<'L'
0||a b|All 2 are equal within 2 %
0||a:same=1 b:same=1|All 2 are the same program
0||a:factor=0.9 b|1 of 2 is faster, by [0-9.]* %; 1 is equal
1||a:output=x b:factor=1.5|1 of 2 does different work; 1 is slower
0||a:kind=new b:kind=gone|1 of 2 is new; 1 is gone
1||a:kind=broken:status=1 b|1 of 2 cannot be measured; 1 is equal
0||a:kind=no_time b|1 of 2 is equal within 2 %; 1 was not measured for lack of time
4|--strict|a:kind=no_time b|1 was not measured for lack of time
3||a:status=3 b|All 2 are equal
2||a:status=3 b:factor=1.5|1 of 2 is slower
0||a:zero=1 b|1 is unmeasurable
4|--strict|a:zero=1 b|1 is unmeasurable
3|--strict|a:zero=1 b:status=3|1 is unmeasurable
0||a:wild=1 b|1 cannot be told
0||a:same=1|^Verdict: same program; what differs is noise$
1||a:kind=broken:status=0|cannot be measured
L
made a:wild=1 b
expect 0 '' $analyze commits c.json --markdown report.md
that "an interval without an end goes on" grep -q '^| `a` .* | from [0-9.]* | .*[-O]>` |$\|^| `a` .* from .* `.*>` |$' report.md
made 'a~~~~~b'
expect 0 '' $analyze commits c.json --markdown report.md
that "a command line does not end the block that has it" test "$(grep -cx '~~~~~~' report.md)" = 2
made
expect 0 'nothing was compared' $analyze commits c.json
expect 0 '^Nothing to compare' $analyze commits c.json --markdown -

# A hundred command lines are less than 200 lines of a report.
made $(seq 100) slow:factor=1.1
expect 2 '' $analyze commits c.json --markdown hundred.md
that "a report is short" test "$(wc -l <hundred.md)" -lt 200

# The exports, by the forms that their services document.
made 'a b' slow:factor=1.1
expect 2 '' $analyze commits c.json --export bencher=b.json --export github-action-benchmark=g.json --export otava-csv=o.csv
that "bencher: {NAME: {MEASURE: {value, lower_value?, upper_value?}}}" json b.json 'd and all(isinstance(m, dict) and m and all(
	set(v) <= {"value", "lower_value", "upper_value"} and "value" in v and all(type(x) in (int, float) for x in v.values()) and len(k) <= 64
	for k, v in m.items()) and len(n) <= 1024 for n, m in d.items()) and 1.05 < d["slow"]["cpu-time-ratio"]["value"] < 1.15'
that "github-action-benchmark: [{name, unit, value, range?, extra?}], each name once" json g.json 'len({x["name"] for x in d}) == len(d) == 4 and all(
	{"name", "unit", "value"} <= set(x) <= {"name", "unit", "value", "range", "extra"} and type(x["value"]) is float and
	all(isinstance(x[k], str) for k in x if k != "value") for x in d)'
that "otava-csv: a heading, and a row of a time, a commit and numbers" python3 -c '
import csv, datetime
head, row = csv.reader(open("o.csv"))
assert head[:2] == ["time", "commit"] and len(head) == len(row) == len(set(head)) == 6, head
datetime.datetime.fromisoformat(row[0][:19]), [float(x) for x in row[2:]]
assert row[1] == "c" * 40'
expect 2 '' $analyze commits c.json --export bencher=-
that "one on standard output is alone there" json out '"slow" in d'

# What is refused.
expect 1 "'--export' must be\|--export must be bencher, github-action-benchmark or otava-csv, not 'x'" $analyze commits c.json --export x=y
expect 1 '--export: name the file' $analyze commits c.json --export bencher
expect 1 'two exports cannot share' $analyze commits c.json --export bencher=x --export otava-csv=x
expect 1 '--again prints numbers only' $analyze commits c.json --again --markdown x
expect 1 'standard output' $analyze --json commits c.json --export bencher=-
echo '{"format": "emp-run", "version": 1}' >other.json
expect 1 "'other.json': .*'format' is 'emp-run', not 'emp-compare-commits'" $analyze commits other.json
sed 's/"allowed_percent": 2/"allowed_percent": -2/' c.json >bad.json
expect 1 "'allowed_percent' must not be below 0" $analyze commits bad.json
sed 's/"status": 0/"status": "x"/' c.json >bad.json
expect 1 "result 1.*'status'" $analyze commits bad.json
sed 's/"pt_ns": \[[0-9]*/"pt_ns": ["x"/' c.json >bad.json
expect 2 'number 1 of its times is not a valid time' $analyze commits bad.json
finish
