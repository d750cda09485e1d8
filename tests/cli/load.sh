#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-analyze load as a user types it, on runs made up here. Usage: load.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
analyze=$1/analyze/emp-analyze
here=$(dirname "$0")
ESC=$(printf '\033')

# made NAME=VALUE...: a load more in the book, with a seed of its own; its number is in $run.
seed=0
made() {
	seed=$((seed + 1))
	run=$(python3 "$here/made_up_load.py" "$EMP_DB" $seed "$@")
}

$analyze import "$here/../papers/data/emp-run-inc16384.json" >"$dir/out" # run 1, no load
made                                                                     # 2
made speed=1.2 waits=no                                                  # 3

# What emp-load showed, and what the other verbs say of it.
expect 0 '^office.ini: 5 runs, constant-load, 5 slaves on all CPUs (run 2 of the book)$' $analyze load 2
expect 0 'Rate of work, in shares  *2[67]\.[0-9]* ± 0.[0-9]* /min  *CV .* %  *95 % CI' $analyze load 2
expect 0 '^     edit ×4  *[12][09]\.' $analyze load 2
expect 0 '^     compress ×1  *[12]\.' $analyze load 2
expect 0 '^  CPUs idle  *10 %$' $analyze load 2
gives "the document says how long CPUs were idle" '(abs(d["idle_share"] - 0.1) < 1e-6 and all(r["cpus"] == 2 and abs(r["idle_share"] - 0.1) < 1e-6 for r in d["runs"]))' $analyze load 2 --json
expect 0 '^     all repetitions  *2[12]\.[0-9]* /s$' $analyze load 2
gives "the scripts have shares" '([s["share"] for s in d["scripts"]] == [40, 5] and all(abs(r["shares_per_s"] - (r["scripts"][0]["rate_per_s"] / 40 * r["scripts"][1]["rate_per_s"] / 5) ** 0.5) < 1e-6 for r in d["runs"]) and abs(d["shares_per_s"]["mean"] - sum(r["shares_per_s"] for r in d["runs"]) / 5) < 1e-6)' $analyze load 2 --json
expect 0 "Released within  *20.00 us, last ran at 5.000 us, driver's PT 700.0 us" $analyze load 2
expect 0 "'emp-analyze load 2' shows its rate of work" $analyze show 2
gives "show has the run" '(d["kind"] == "load" and d["samples"] == 5)' $analyze show 2 --json
expect 0 'office.ini  *load' $analyze list
expect 1 "run 2 is a load: 'emp-analyze load RUN RUN' compares two" $analyze compare 2 3
gives "the runs and the scripts of the document have its rates" '(d["run"] == 2 and len(d["runs"]) == 5 and all(r["kept"] for r in d["runs"]) and abs(d["rate_per_s"]["mean"] - sum(r["rate_per_s"] for r in d["runs"]) / 5) < 1e-6 and all(abs(sum(s["rate_per_s"] for s in r["scripts"]) - r["rate_per_s"]) < 1e-6 for r in d["runs"]) and [s["script"] for s in d["scripts"]] == ["edit", "compress"] and d["scripts"][0]["rate_per_s"]["interval"][0] < d["scripts"][0]["rate_per_s"]["mean"])' $analyze load 2 --json
gives "slaves have numbers, in the order of finishing too" 'all([s["slave"] for s in r["slaves"]] == [1, 2, 3, 4, 5] and r["finish_order"] == sorted(range(1, 6), key=lambda n: r["slaves"][n - 1]["finished_ns"]) for r in d["runs"])' $analyze load 2 --json
gives "how the slaves started" 'all((r["start_spread_ns"], r["last_start_ns"], r["release_ns"], r["driver_ns"]) == (4000, 5000, 20000, 700000) for r in d["runs"])' $analyze load 2 --json

expect 0 'Page waits of slaves  *25 in 10.0. s, mean' $analyze load 2
expect 0 '^ *2 … 4 ms *5 ' $analyze load 2 --page-wait-bin 2ms
expect 0 'Page waits  *not measured: no BTF' $analyze load 3
gives "the document has page waits" '(d["page_waits"]["slave"]["count"] == 25 and d["page_waits"]["read"]["bins"][0]["count"] == 100 and "missing" not in d["page_waits"])' $analyze load 2 --json

# Two. How separate loads vary is not known at first.
expect 0 'It is not known how much the rate varies' $analyze load 2 3
expect 0 '^all  *2.* /min  *3.* /min  *1\.[12].* cannot tell' $analyze load 2 3
expect 0 '^Verdict: cannot tell; it is not known how separate runs vary$' $analyze load 2 3 --fail-if-slower 5
expect 4 'cannot be told' $analyze load 2 3 --fail-if-slower 5 --strict
expect 0 '^all .* faster' $analyze load 2 3 --between-runs 1
expect 0 '^all .* slower' $analyze load 3 2 --between-runs 1
expect 2 'slower than .* by [12].* % in the time for the same work (95 % CI ' $analyze load 3 2 --between-runs 1 --fail-if-slower 5
expect 0 '' $analyze load 2 3 --between-runs 1 --fail-if-slower 5
made # 4
made # 5
made # 6
expect 0 'the rates of separate loads vary by .* % (sd of 3 loads)' $analyze load 2 3
expect 0 '^all .* faster' $analyze load 2 3
expect 0 'of the scripts are adjusted for their number' $analyze load 2 3
gives "a comparison is a member" '(d["format"] == "emp-load" and d["run"] == 3 and d["reference"]["run"] == 2 and d["comparison"]["reference"] == "run 2 (office.ini)" and d["comparison"]["verdict"] == "faster" and d["comparison"]["interval"][0] < d["comparison"]["ratio"] < d["comparison"]["interval"][1] and abs(d["comparison"]["ratio"] - d["shares_per_s"]["mean"] / d["reference"]["shares_per_s"]["mean"]) < 1e-6 and d["comparison"]["test"] == "between runs" and d["comparison"]["runs_known"] == 3 and [s["script"] for s in d["comparison"]["scripts"]] == ["edit", "compress"])' $analyze load 2 3 --json
made environment=102 "file=[edit]
slaves = 4
repetitions = 20
command = true" # 7
expect 0 'Environments differ: ' $analyze load 2 7
expect 0 "Loads differ: line 3 of the file was 'repetitions = 10', is 'repetitions = 20'" $analyze load 2 7
expect 0 'lines after it differ too' $analyze load 2 7
made coordination=before # 8
expect 0 'Loads differ: coordination was constant-load, is before' $analyze load 2 8
made scripts=edit,sort # 9
expect 0 "Only run 9 has the script 'sort'" $analyze load 2 9
expect 0 "^edit " $analyze load 2 9
that "what is not comparable is not compared" sh -c "! $analyze load 2 9 | grep '^all '"
expect 1 'do different work: their scripts differ' $analyze load 2 9 --fail-if-slower 5 --between-runs 1
made scripts=cut,sort # 10
expect 1 'run 2 (office.ini) and run 10 (office.ini) have no script in common' $analyze load 2 10

# Files.
expect 0 '' $analyze load 2 --csv "$dir/load.csv"
that "a row for each run and slave" test "$(wc -l <"$dir/load.csv")" = 26
that "the rates of a run add up to its own" python3 -c '
import csv, json, subprocess, sys
rows = list(csv.DictReader(open(sys.argv[1])))
document = json.loads(subprocess.run(sys.argv[2:], capture_output=True).stdout)
for run in document["runs"]:
    assert abs(sum(float(row["rate"]) for row in rows if row["sample"] == str(run["run"])) - run["rate_per_s"]) < 1e-6
' "$dir/load.csv" $analyze load 2 --json
expect 0 '^3,office.ini,constant-load,5,1,' $analyze load 2 3 --csv -
expect 0 '^| `edit` | 4 | .* ± .* | .* % | .* … .* |$' $analyze load 2 --markdown -
expect 0 '^| all | 5 | .* ± .* | .* ± .* | 1.* | .* … .* | faster |$' $analyze load 2 3 --markdown -

# Pictures.
for picture in '2 -o rates.svg' '2 3 -o both.png' '2 --timeline -o last.svg --script' '2 --timeline=1 -o first.pdf' '2 --page-waits -o waits.svg'; do
	that "gnuplot has nothing to say: $picture" sh -c "cd '$dir' && test -z \"\$($analyze load $picture 2>&1)\""
done
expect 0 '' $analyze load 2 --script -o "$dir/points.svg"
that "no line joins independent runs" sh -c "! grep -q 'with linespoints' '$dir/points.svg.gnuplot'"
that "panels have names" grep -q 'edit ×4' "$dir/rates.svg"
that "rows have names" grep -q 'edit 4' "$dir/last.svg"
that "waits have kinds" grep -q 'block reads' "$dir/waits.svg"
that "what did not happen has no bar" sh -c "! grep -q 'block writes' '$dir/waits.svg'"
expect 1 'run 3 has no page waits: no BTF' $analyze load 3 --page-waits -o "$dir/z.png"
that "it is the last run of the load" grep -q 'run 5 of 5' "$dir/last.svg.gnuplot"

# Names that mean something elsewhere.
made "load=$(printf '=1+1|\033[2J`x`')" "scripts=$(printf '@SUM(1)`|"\033]0;x\007,a b,cut')" # 11
hostile=$run
for form in '' --json '--csv -' '--markdown -' "-o $dir/x.svg --script" "--timeline -o $dir/y.svg --script"; do
	that "no escape comes through: $form" sh -c "$analyze load $hostile $form >'$dir/said' 2>&1 && ! cat '$dir'/said '$dir'/[xy].svg* 2>/dev/null | grep '$ESC'"
done
expect 0 "\"'@SUM(1)\`|\"\"" $analyze load $hostile --csv -
expect 0 '^| `` @SUM(1)`\\|' $analyze load $hostile --markdown -

# 80 columns, whatever the names are.
made "load=$(printf %0200d 7).ini" "scripts=$(printf %090d 7),$(printf %090d 8)" runs=12 waits=no # 12
long=$run
made "load=$(printf %0200d 7).ini" "scripts=$(printf %090d 7),$(printf %090d 8)" runs=12 waits=no speed=0.001 # 13
for runs in 2 "2 3" "2 7" "2 9" $long "$hostile $hostile" "$long $run" $run; do
	$analyze load $runs >"$dir/said" 2>&1
	that "emp-analyze load $runs fits 80 columns" sh -c "! LC_ALL=C.UTF-8 grep -E '.{81}' '$dir/said'"
done
for picture in "$long -o $dir/long.svg" "$long --timeline -o $dir/long2.svg"; do
	that "gnuplot has nothing to say: $picture" sh -c "test -z \"\$($analyze load $picture 2>&1)\""
done

# More slaves than have a number; none that counts.
made coordination=no-teardown slaves=70 # 14
expect 0 '' $analyze load $run --timeline -o "$dir/many.png"
made lost=1 # 15
expect 0 'Kept 0 of 5 runs  *discarded: lost records' $analyze load $run
expect 0 '' $analyze load $run --timeline -o "$dir/lost.png"
expect 1 'no run of the load counts' $analyze load $run -o "$dir/z.png"
expect 0 "^Verdict: unmeasurable: all samples are disturbed; see 'emp-analyze discard'$" $analyze load 2 $run
expect 0 '^Verdict: unmeasurable: all samples are disturbed' $analyze load $run 2 --fail-if-slower 2
expect 4 'are unmeasurable: all samples are disturbed' $analyze load 2 $run --strict
gives "the document says so" '(lambda c: [c["verdict"], c["unmeasurable"], c["ratio"]])(d["comparison"]) == ["unmeasurable", "all samples are disturbed", None]' $analyze load 2 $run --json
expect 0 '| all |.*| - | - | - | unmeasurable |' $analyze load 2 $run --markdown -
expect 1 "run $run has nothing to draw: no run of the load counts" $analyze load 2 $run -o "$dir/z.png"
expect 0 '^| all | 5 | ' $analyze load $run --markdown -
gives "the document says so" '([r["kept"] for r in d["runs"]] == [False] * 5 and d["runs"][0]["rate_per_s"] > 0 and d["rate_per_s"] == {"mean": None, "sd": None, "interval": None})' $analyze load $run --json

# What is not there, and what does not go together.
expect 1 "run 1 is not a load: 'emp-analyze show 1' shows it" $analyze load 1
expect 1 "run 1 is not a load" $analyze load 2 1
expect 1 'run 77 is not in the lab book' $analyze load 77
expect 1 "RUN must be the number or the name of a run, and 'office.ini' is neither" $analyze load office.ini
expect 1 'choose one' $analyze load 2 --json --csv -
expect 1 'needs a picture' $analyze load 2 --timeline
expect 1 'needs a picture' $analyze load 2 --script
expect 1 'needs a picture' $analyze load 2 --page-waits
expect 1 'two pictures; choose one' $analyze load 2 --page-waits --timeline -o "$dir/z.png"
expect 1 'draws one load' $analyze load 2 3 --page-waits -o "$dir/z.png"
expect 1 'draws one load' $analyze load 2 3 --timeline -o "$dir/z.png"
expect 1 'run 2 has no run 6 of the load; it has 5' $analyze load 2 --timeline=6 -o "$dir/z.png"
expect 1 'needs two loads' $analyze load 2 --between-runs 1
expect 1 'end with .png, .svg or .pdf' $analyze load 2 -o "$dir/z.gif"
that "no picture is left" sh -c "! ls '$dir'/z.*"

# A document that does not have its slaves.
$analyze export 2 | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(json.dumps({name: d[name] for name in d if not name.startswith(("program", "load", "page_wait")) or name == "program"} | {"uid": 32 * "0"}))' >"$dir/run.json"
$analyze import "$dir/run.json" >"$dir/imported"
expect 1 'was imported without its slaves' $analyze load "$(cat "$dir/imported")"

# Removed with all that belongs to it.
expect 0 '' $analyze remove 2
that "nothing of it is left" test "$(sqlite3 "$EMP_DB" 'SELECT (SELECT count(*) FROM load WHERE run = 2) + (SELECT count(*) FROM load_sample WHERE run = 2)
	+ (SELECT count(*) FROM sample_program WHERE run = 2)')" = 0
finish
