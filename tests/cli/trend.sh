#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze trend as a user types it, on runs made up here. Usage: trend.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
analyze=$1/analyze/emp-analyze
here=$(dirname "$0")
trend="$analyze trend"
export LC_ALL=C.UTF-8

expect 1 'there is no lab book' $trend steady
$analyze import "$here/../papers/data/emp-run-inc16384.json" >"$dir/out"
python3 "$here/made_up_runs.py" "$EMP_DB"

# which runs are meant
expect 1 "has no runs of 'nobody'; it has runs of .*'other' (15 runs).* and [0-9]* more" $trend nobody
expect 1 "'xz' matches 2 programs in the lab book; name one: 'xz -9' (6 runs), 'xz -1' (6 runs)$" $trend xz
expect 0 '^xz -9: 6 runs, PT in seconds$' $trend 'xz  -9'
expect 0 "^steady 'a file': 20 runs" $trend 'steady "a file"'
expect 0 "^steady 'a file': 20 runs" $trend steady
expect 0 '^named: 12 runs' $trend named
expect 0 '^named: 12 runs' $trend /opt/3/build
expect 0 'INC16384: 1 run' $trend INC16384
expect 1 'too few arguments' $trend
expect 1 'one argument too many' $trend a b

# what is claimed
expect 0 'No change is shown' $trend steady
expect 0 'Detectable: a change of [0-9.]* % in the middle, or of [0-9.]* % in the last 5 runs' $trend steady
expect 0 ' 12 .*+[89.0-9]* ± [0-9.]* %' $trend solver
expect 0 "kernel.release was '6.1', is '6.12'" $trend solver
gives "the change is where it was made, whatever one run took" '(d["format"] == "emp-trend" and [l["runs"] for l in d["levels"]] == [18, 12] and d["unit"] == "s" and len(d["runs"]) == 30 and 0.09 < d["levels"][1]["change"] < 0.11 and d["levels"][1]["change_interval"][0] > 0.05 and d["levels"][0]["interval"][0] < 0.1 < d["levels"][0]["interval"][1])' $trend solver --json
gives "what was faster is faster" '(len(d["levels"]) == 2 and d["levels"][1]["change"] < -0.15 and d["command"] == "named" and "command was" in d["levels"][1]["environment_changes"])' $trend named --json
expect 0 'cannot tell; 6 runs are needed to show a change, and there are 4' $trend few
expect 0 'cannot tell; 6 runs are needed to show a change, and there is 1' $trend INC16384

# units of INC, which are not mixed with seconds
expect 0 'against: 24 runs, PT in INC units' $trend against
expect 0 'Left out: 8 without INC units (--seconds follows all)' $trend against
gives "the speed of the machine does not matter" '(d["unit"] == "INC" and [l["runs"] for l in d["levels"]] == [12, 12] and 0.03 < d["levels"][1]["change"] < 0.07 and 700 < d["levels"][0]["mean"] < 780 and d["left_out"]["other_unit"] == 8)' $trend against --json
expect 0 'against: 32 runs, PT in seconds' $trend against --seconds
gives "in seconds, all runs are followed" '(d["unit"] == "s" and d["left_out"]["other_unit"] == 0 and all(0.15 < r["mean"] < 0.25 for r in d["runs"]))' $trend against --seconds --json
expect 0 'Left out: 6 in units of another INC' $trend renewed
expect 0 '^Left out: 7 with a PT of 0$' $trend none
gives "a PT of 0 is no lack of samples, and there is nothing to correlate" '(d["left_out"]["without_pt"] == 7 and d["left_out"]["few_samples"] == 0 and d["lag1"] is None and d["sd"] is None)' $trend none --json
gives "units are of one INC" '([l["runs"] for l in d["levels"]] == [7] and 1400 < d["levels"][0]["mean"] < 1560 and d["left_out"]["other_inc"] == 6)' $trend renewed --json
expect 0 'against was inc, is nothing' $trend longer --seconds
expect 0 'Left out: 8 of other machines' $trend other
expect 0 'Detectable: a change of [0-9.]* % in the middle, or of [0-9.]* % in the last 3 runs' $trend other

# an answer for scripts
expect 2 "'/opt/solver -x': slower; run 51 against run [0-9]*: +" $trend solver --fail-if-slower 5
expect 0 '' $trend solver --fail-if-slower 15
expect 0 '' $trend named --fail-if-slower 0
expect 0 '' $trend steady --fail-if-slower 0
expect 0 '' $trend few --fail-if-slower 0
expect 2 ": slower; run " $trend against --fail-if-slower 3 --json

expect 2 "'doubled': slower; " $trend doubled --fail-if-slower 5
expect 2 ': slower; run ' $trend creeping --fail-if-slower 2
expect 0 'PT drifts by +1.[0-9]* ± [0-9.]* % a run, +[0-9.]* ± [0-9.]* % from first to last' $trend creeping
gives "a drift is no staircase, and the last run is judged against the first" '(len(d["levels"]) == 1 and d["verdict"] == "slower" and 0.85 < d["drift"]["from_first_to_last"]["change"] < 1.15 and d["comparison"]["change"] > 0.85)' $trend creeping --json
expect 0 'Verdict: equal (within 2 %); ' $trend solver --since 45
expect 0 '; [0-9]* more runs should tell$' $trend steady --fail-if-slower 1.2
gives "the document says so" '(d["verdict"] == "cannot tell" and d["comparison"]["runs_missing"] > 5)' $trend steady --fail-if-slower 1.2 --json
expect 0 '^ *change may not help: the reference has 18 runs; name a longer one with --since$' $trend solver --fail-if-slower 10
gives "more do not help" '(d["comparison"]["shown"] and d["comparison"]["runs_missing"] is None)' $trend solver --fail-if-slower 10 --json
expect 0 'Verdict: slower; run 51 against run 30: ' $trend solver --since 30
expect 0 '^The last run is an outlier (+[67][0-9] %).$' $trend one
expect 0 ': equal (within' $trend one
expect 4 'cannot tell; last 2 runs against 18 before: +[67][0-9.]* ± [0-9.]* %; 1 more run$' $trend two --fail-if-slower 2 --strict
expect 0 ': slower; ' $trend three
expect 1 'run 1 is none of the runs' $trend solver --since 1
expect 1 '--since must be' $trend solver --since tomorrow
expect 1 "since must be a day .* not '2023-02-30'" $trend solver --since 2023-02-30
expect 0 'Verdict: slower; run 51 against run [23][0-9]: ' $trend solver --since 2023-11-16T00:00:00
expect 0 '6 runs of the last level are needed, and there are 4' $trend doubled --since "$($trend doubled --csv - | tail -2 | head -1 | cut -d, -f1)"
last=$($trend doubled --csv - | tail -1 | cut -d, -f1)
expect 1 "run $last is the last run of 'doubled', and is compared with an earlier one; none is since then" $trend doubled --since "$last"
expect 1 "run $last is the last run of " $trend doubled --since "$(sqlite3 "$EMP_DB" "SELECT strftime('%Y-%m-%dT%H:%M:%S', started_ns / 1000000000, 'unixepoch', 'localtime') FROM run WHERE id = $last")"
expect 0 'Runs vary by 0[.0-9]* %' $trend ticks
expect 0 "more runs do not help: the clock's steps hide 10 %" $trend ticks
gives "a clock of 10 ms does not show that ten ticks are equal" '(d["verdict"] == "cannot tell" and d["levels"][0]["interval"][0] < 0.0955 and d["levels"][0]["interval"][1] > 0.1045 and d["comparison"]["detectable"] > 0.1)' $trend ticks --json
gives "nor do ticks that the last runs have not" '(d["verdict"] == "cannot tell" and d["comparison"]["detectable"] > 0.05)' $trend 'two clocks' --json
gives "nor in units of INC" '(d["unit"] == "INC" and d["verdict"] == "cannot tell" and 0.06 < 1 - d["levels"][0]["interval"][0] / d["levels"][0]["mean"] < 0.09)' $trend 'tick pairs' --json
expect 0 "warning: 'few': cannot tell; 6 runs are needed to show a change" $trend few --fail-if-slower 0
expect 4 'cannot tell; ' $trend few --fail-if-slower 0 --strict
expect 4 "'few': cannot tell; " $trend few --strict
expect 1 '--equal-within is for' $trend few --fail-if-slower 2 --equal-within 3

# names that others chose
name=$(printf '\033]0;x\007<b>'\''"`$(id)@x\\|\n_')
name=${name%_}
expect 0 '' $trend "$name"
that "no control character comes to the screen" sh -c "! grep -q '[[:cntrl:]]' '$dir/out'"
expect 2 '' $trend "$name" --fail-if-slower 5
that "nor in the sentence" sh -c "! grep -q '[[:cntrl:]]' '$dir/out'"
for table in csv markdown; do
	expect 0 '' $trend "$name" --$table -
	that "nor in a table ($table)" sh -c "! grep -q '[[:cntrl:]]' '$dir/out'"
done
expect 1 '' $trend nobody
that "nor in the list" sh -c "! grep -q '[[:cntrl:]]' '$dir/out'"

# tables
expect 0 '^| 2023-11-16 13:13:20 | 40 | 12 | 109.[0-9]* ms | 10[0-9.]* … 11[0-9.]* ms | +9.[0-9]* ± [01].[0-9]* % | .Run 40: kernel' $trend solver --markdown -
expect 0 'Mean PT .INC units.' $trend against --markdown -
expect 0 '' $trend solver --csv "$dir/trend.csv"
that "nothing else is on the screen" [ ! -s "$dir/out" ]
that "a row for each run says of which level it is, and what is an outlier" python3 - "$dir/trend.csv" <<'P'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) == 30 and [r["level"] for r in rows] == ["1"] * 18 + ["2"] * 12, rows
assert [i for i, r in enumerate(rows) if r["outlier"] == "1"] == [24] and float(rows[24]["mean"]) > 0.4, rows[24]
assert all(r["unit"] == "s" and 0.095 < float(r["level_low"]) < float(r["level_mean"]) < float(r["level_high"]) < 0.115 for r in rows), rows
P
expect 0 ',few,s,.*,0,1,0.14[0-9]*,,,cannot tell$' $trend few --csv -
expect 1 'share standard output' $trend solver --csv - --markdown -
expect 1 'share standard output' $trend solver --csv - --json
expect 1 '--script needs a picture' $trend solver --script

# pictures
if command -v gnuplot >/dev/null; then
	for n in "solver x.png" "against x.svg" "few x.pdf" "INC16384 one.svg"; do
		that "gnuplot has nothing to say of $n" sh -c "$trend ${n% *} -o '$dir/${n#* }' 2>&1 >/dev/null | (! grep .)"
	done
	expect 0 '' $trend solver -o "$dir/z.svg" --script
	that "an outlier outside the picture is marked, with its PT" sh -c \
		"tr '\\n' ' ' <'$dir/z.svg.gnuplot' | grep -q 'outside.1. = \"441.9 ms\" outside_at.1. = 25 outside_above.1. = 1'"
	that "the legend has it" grep -q 'outliers above the picture' "$dir/z.svg"
	that "the others are drawn as runs" [ "$(sed -n '/^.runs << EOD/,/^$/p' "$dir/z.svg.gnuplot" | wc -l)" = 31 ]
	expect 0 '' $trend ticks -o "$dir/ticks.svg" --script
	that "the interval is inside the axes, wide as it is" python3 - "$dir/ticks.svg.gnuplot" <<'P'
import re, sys
script = open(sys.argv[1]).read()
low, high = (float(re.search(name + r" = (\S+)", script).group(1)) for name in (r"\npt_low", r"\npt_high"))
levels = [[float(x) for x in line.split()] for line in re.search(r"levels << EOD\n(.*?)EOD", script, re.S).group(1).split("\n") if line]
assert all(low < l < m < h < high for _, m, l, h in levels) and levels[0][3] - levels[0][2] > 0.005, (low, high, levels)
P
	that "the picture says by how much" grep -q '+[0-9.]* ± ' "$dir/x.svg"
	expect 0 '' $trend often -o "$dir/often.svg" --script
	that "no tick repeats" sh -c "test 5 = \"\$(grep -o '2023-[-0-9]* [:0-9]*' '$dir/often.svg.gnuplot' | sort | uniq -u | wc -l)\""
	for text in level runs '95 % interval' 'outliers above the picture' 'outliers below the picture'; do
		that "the legend has: $text" grep -q "<text>$text<" "$dir/often.svg"
	done
	that "it is inside the picture, and on no other text" python3 "$here/picture.py" "$dir/often.svg"
	cd "$dir" || exit 1
	that "a name runs nothing" $trend "$name" -o y.svg --script
	that "and is drawn" grep -q '(id)' y.svg
	cd - >/dev/null || exit 1
fi
expect 1 'must end with .png' $trend solver -o "$dir/x.gif"

# everything fits 80 columns
fits() { "$@" 2>&1 | awk 'length > 80 { print; wide = 1 } END { exit wide }'; }
for n in steady solver named against few other INC16384 "$name"; do
	that "the screen of $n fits 80 columns" fits $trend "$n"
done
finish
