#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a new user types, and what the tools answer: slips of the keyboard, commands that fail, parameters, long names.
# Usage: first-use.sh BUILD SOURCE
set -u
. "$(dirname "$0")/expect.sh"
build=$1
data=$2/tests/papers/data
analyze=$build/analyze/emp-analyze
calibrate=$build/calibrate/emp-calibrate
measure="$build/measure/emp-measure -q"
setup=$build/setup/emp-setup
cd "$dir" || exit 1
export PATH="$build/measure:$PATH"

# a calibration of more than an hour is confirmed
days="--short 1000x4 --long 2000x4 --ignore-audit --save days"
expect 1 'not started: this calibration takes 4 h 10 min, .* add --yes' $calibrate -q run $days
expect 1 'not started: this calibration takes .* d' $calibrate -q run --preset paper --save days --ignore-audit
that "nothing was begun" sh -c "! sqlite3 '$EMP_DB' 'SELECT profile FROM calibration' | grep ."

# a command that fails: the whole line, what it wrote, what to do
printf '#!/bin/sh\nfor i in 1 2 3 4 5 6 7; do echo "step $i of $1" >&2; done\nprintf "\\033[2Jgone" >&2\nexit ${2:-3}\n' >fails
chmod +x fails
expect 1 "'./fails two 4' ended with exit status 4 in warm-up 1; -i measures it anyway, --show-output shows what it prints$" \
	$measure -L x two,three './fails {x} 4'
that "its last five lines follow" test "$(grep -c '^  ' out)" = 5
that "they are the last" grep -qx '  step 7 of two' out
that "they do nothing to a terminal" grep -qx '  ?\[2Jgone' out
expect 1 "'change: ./fails b' ended with exit status 3 in warm-up 1" $measure --order duet -r 2 -n base -n change true './fails b'
that "of the program that failed" grep -qx '  step 7 of b' out
expect 1 "'sh -c 'kill -KILL \$\$'' was killed by signal 9 (SIGKILL) in sample 1" $measure -w 0 -- sh -c 'kill -KILL $$'
expect 1 "'kill -SEGV \$\$' was killed by signal 11 (SIGSEGV)$" $measure -p 'kill -SEGV $$' true
expect 124 '^  still here$' $measure --timeout 3 -- sh -c 'echo still here >&2; sleep 1000'
expect 1 '^  in sample 2$' $measure -w 0 -r 3 -S sh 'test $HYPERFINE_ITERATION = 0 || { echo in sample 2 >&2; exit 1; }'
that "not what an earlier sample wrote" test "$(grep -c '^  in sample' out)" = 1
expect 1 '^./fails: shown' $measure --show-output -w 0 -S sh 'echo ./fails: shown >&2; false'
that "which is not shown twice" test "$(grep -c shown out)" = 2
echo 'echo harmless >&2' >harmless
expect 0 '' $measure -r 2 sh\ harmless
that "nothing is shown of a program that succeeds" sh -c '! grep -x " *harmless" out'
expect 0 '' $measure -r 2 -S sh 'head -c 50000000 /dev/zero >&2'
expect 1 '^  the end$' $measure -S sh 'head -c 50000000 /dev/zero >&2; echo >&2; echo the end >&2; false'

# parameters
printf '2\n10\n1\n' >numbers
expect 0 '' $measure -r 2 -L opt ',-n' --export-json p.json 'sort {opt} numbers'
that "an empty value is no argument" json p.json '[r["command"] for r in d["results"]] == ["sort  numbers", "sort -n numbers"]'
expect 0 '' $measure -r 2 -L opt '-n -r,-n' -- 'sort {opt} numbers'
expect 0 '' $measure -r 2 -L opt 'a b,c' -S bash 'echo {opt}'
expect 1 "sort: .*invalid option" $measure -r 2 -L opt '-n -r' -- sort {opt} numbers
expect 1 "'|' needs a shell" $measure -N -r 2 -L opt '| cat' 'sort {opt}'
expect 0 "parameter 'x' is not used: no command has {x}" $measure -r 2 -L x 1,2 'echo hi'
expect 0 '' $measure -r 2 -L x 1,2 -p 'echo {x}' 'echo hi'
that "a parameter of --prepare is used" sh -c "! grep 'is not used' out"
expect 1 'runs 5 is less than --min-runs 10' $measure -r 5 -m 10 true
expect 1 'runs 5 is more than --max-runs 4' $measure -r 5 -M 4 true

# what only a shell knows
expect 1 "'FOO=1' needs a shell, in: FOO=1 true; there is none with -N" $measure -N 'FOO=1 true'
expect 1 "'cd' needs a shell: omit --, and quote the command line: 'cd /'" $measure -- cd /
expect 0 '^  Run by sh -c (start alone: PT [^,]*, ET [^,]*, not subtracted)$' $measure -r 2 'FOO=1 true'

# slips
expect 1 "unknown verb 'lsit' (did you mean 'list'?)" $analyze lsit
expect 1 "unknown verb 'xyzzy';" $analyze xyzzy
expect 1 "unknown option '-1'; if it is the command's, put -- before the command:$" $measure gzip -1 fails
that "what to type is on a line of its own" grep -q '^  emp-measure -q -- gzip -1 fails$' "$dir/out"
# a comparison that fails still shows its results
shown() { # WORD: the table and the verdict
	that "the rows of a failed comparison are shown" grep -q 'KEPT$\|KEPT  DISCARDED$' "$dir/out"
	that "and its verdict: $1" grep -q "^Verdict.*: $1" "$dir/out"
}
expect 2 'slower' $measure -w 0 -r 4 --fail-if-slower 5 -n quick -n slow "$build/tests/machine/burn 10" "$build/tests/machine/burn 30"
shown slower
expect 1 'different work' $measure -w 0 -r 4 --same-output -n quick -n slow 'echo a' 'echo b'
shown 'different work'
expect 4 'cannot tell' $measure -w 0 -r 1 --strict -n quick -n slow true 'sh -c true'
shown 'cannot tell'
expect 1 "'bad: false' ended with exit status 1 in sample 1" $measure -w 0 -r 2 --order sequence -n good -n bad true false
that "what was taken before a program failed is shown" grep -q 'good' "$dir/out"

before=$(sqlite3 "$EMP_DB" 'SELECT count(*) FROM run')
for words in 'gzip -c fails' 'gzip -k -r fails' 'sort -n fails' 'xz -T1 fails' 'nice -n 5 true' 'env -i true' 'ls -v' 'sort --check fails' \
	'cp fails copy -r x' 'sort fails -c'; do
	expect 1 "^  emp-measure -q -- $words$" $measure $words
done
that "none of them was measured" test "$(sqlite3 "$EMP_DB" 'SELECT count(*) FROM run')" = "$before"
expect 1 "^  emp-measure -q -- ./pro -n 'a b'$" "$build/measure/emp-measure" -q ./pro -n 'a b'
expect 0 '' $measure true false -w 0 -r 2 -i
expect 0 '' $measure -w 0 -r 2 true --export-json "$dir/after.json"
expect 0 'Run by sh -c' $measure -r 2 -w 0 'LC_ALL=C sort fails'
expect 0 '' $measure -r 2 -w 0 'env LC_ALL=C sort fails'
expect 1 "unknown option '--rnus' (did you mean '--runs'?)" $measure --rnus 3 true
expect 1 "unknown option '--export-jsn=a' (did you mean '--export-json'?)" $measure --export-jsn=a true
expect 1 "there is no check 'irq.defalt' (did you mean 'irq.default'?)" $setup apply --dry-run --only irq.defalt
expect 1 "preset must be quick, hour, day or paper, not 'quik' (did you mean 'quick'?)" $calibrate run --preset quik --save a
expect 1 "order must be .*, not 'due' (did you mean 'duet'?)" $measure --order due true
expect 0 '^emp-compare-commits [0-9]' emp-compare-commits --version
expect 1 "option '--runs' needs a value" emp-compare-commits --runs
expect 1 "unknown option '--rusn'" emp-compare-commits --rusn 3 a b
expect 1 "'nowhere' is not known here\|no commit is checked out" emp-compare-commits --runs=3 --markdown "$dir/m" -p 3 nowhere "{tree}/true"

# a run's own profile, several outputs, an imported profile
rm "$EMP_DB"
expect 0 '^1$' $analyze import "$data/emp-run-inc128.json" "$data/emp-run-inc16384.json"
expect 0 '' $analyze cutoffs --short 1 --long 2 --save lab1
expect 1 "profile 'lab1' was imported: the fingerprint of its machine is not in this book" $setup verify lab1
expect 1 'run 1 was measured without a profile: name the profile with --profile' $analyze protocols 1
expect 0 '' $measure -r 3 --profile lab1 -n mine true
run=$(sqlite3 "$EMP_DB" 'SELECT max(id) FROM run')
expect 0 "^ *$run *PT *2 sd " $analyze protocols "$run"
gives "discard, too, and its JSON names the profile" "d['run'] == $run" $analyze discard "$run" --json
gives "protocols --json names it" "d['runs'][0]['profile'] == 'lab1'" $analyze protocols "$run" --json
expect 0 '' $measure -r 3 --profile lab1 -n mine true
gives "trend writes several files, and JSON" 'd["command"] == "mine"' $analyze trend mine --csv t.csv --markdown t.md -o t.svg --json
that "all three are written" test -s t.csv -a -s t.md -a -s t.svg
expect 1 'share standard output: give all but one a file' $analyze trend mine --csv - --markdown -

# help in groups, the width of the terminal
$measure --help >help
that "help has groups" sh -c "grep -c '^[A-Z].*:$' help | grep -qx 11"
expect 0 '' sh -c "COLUMNS=120 $measure --help | awk 'length > 80' | grep ."
long=$(printf '%0150d' 0)
widest() { # COLUMNS COMMAND...: of the first line
	COLUMNS=$1 PYTHONUTF8=1 python3 -c 'import subprocess, sys; print(len(subprocess.run(sys.argv[1:], text=True, stdout=-1).stdout.splitlines()[0]))' "${@:2}"
}
export LC_ALL=C.UTF-8
for columns in 20:60 80:80 100:100 300:120; do
	that "with $columns columns a screen is ${columns#*:} wide" test "$(widest "${columns%:*}" $measure -r 2 -- echo "$long")" = "${columns#*:}"
done
expect 0 '' $measure -r 2 "echo $long a $long" "echo $long b $long"
that "names that would look the same are shortened where they are the same" test "$(grep -c '^ *[0-9][0-9]* *echo 0*… *[ab] *…0* *[0-9]' out)" = 2
expect 0 '' $measure -r 2 "echo a $long" "echo b $long"
that "others are shortened in the middle" test "$(grep -c '^ *[0-9][0-9]* *echo [ab] 0*…0* *[0-9]' out)" = 2
finish
