#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What emp-measure prints first: at most 5 lines of 80 columns, for several programs a line each, that name who disturbed, with and without a profile. Usage: first-screen.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
need_root
build=$1
measure=$build/measure/emp-measure
burn=$build/tests/machine/burn
cpu=$(($(nproc) - 1))

fits() { # OUTPUT LINES: no more lines than these, none wider than 80 columns
	python3 -c '
import sys
lines = open(sys.argv[1]).read().splitlines()
wide = [line for line in lines if len(line) > 80]
sys.exit(wide and f"too wide: {wide}" or len(lines) > int(sys.argv[2]) and f"{len(lines)} lines")' "$@"
}
screen() { # LINES STATUS TEXT COMMAND...
	lines=$1
	shift
	expect "$@"
	grep -v '^emp-measure: ' "$dir/out" >"$dir/screen"
	that "it fits: $*" fits "$dir/screen" "$lines"
}

# a daemon that takes half of the CPU is named without a profile; other work of this machine comes after both
ahead="$(realpath "$(dirname "$0")/../machine/ahead.sh")"
cp "$build/tests/bench/noisy" "$dir/backupd"
chrt -f 10 taskset -c $cpu "$dir/backupd" 20 40 &
noisy=$!
until [ "$(cat /proc/$noisy/comm)" = backupd ]; do sleep 0.01; done
screen 5 0 '^  Disturbed by  .*backupd ~\?[0-9.]* m\?s' "$ahead" $measure -q -r 5 --cpu $cpu --neighbour off --export-json "$dir/plain.json" -- $burn 100
that "what it took is in the document" json "$dir/plain.json" \
	'[o for o in d["results"][0]["emp"]["others"] if o["daemon"] == "backupd"][0]["total_ns"] > 50e6 and not d["results"][0]["emp"]["unprofiled"]'
expect 0 '^  backupd .* no *$' $measure -q -v -r 3 --cpu $cpu --neighbour off -- $burn 100

# what an interval of few samples assumes
screen 5 0 '  95 % CI if iid [0-9]' $measure -q -r 5 --cpu $cpu --neighbour off -- $burn 10
screen 5 0 '  95 % CI [0-9]' $measure -q -r 8 --cpu $cpu --neighbour off -- $burn 10

# samples in which it took more than its share
screen 5 3 'Kept 0 of 4  *discarded: ' "$ahead" $measure -q -r 4 --cpu $cpu --neighbour off --discard-unprofiled 10% --export-json "$dir/share.json" -- $burn 100
expect 0 "Kept 0 of 4  *discarded: backupd" "$build/analyze/emp-analyze" show "$("$build/analyze/emp-analyze" list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][-1]["run"])')"
that "the reason is in the document" json "$dir/share.json" \
	'{o["sample"] for o in d["results"][0]["emp"]["by_unprofiled"] if o["daemon"] == "backupd"} == {1, 2, 3, 4} and all(o["pt_ns"] > o["limit_ns"] for o in d["results"][0]["emp"]["by_unprofiled"])'
expect 3 'sample 2: backupd.* used .*, unprofiled; allowed ' "$ahead" $measure -q -v -r 3 --cpu $cpu --neighbour off --discard-unprofiled 10% -- $burn 100
expect 3 'only 0 of 6 samples' "$ahead" $measure -q --retain 2 -M 6 --cpu $cpu --neighbour off --discard-unprofiled 1% -- $burn 100
expect 1 'discard-unprofiled must be a percentage' $measure --discard-unprofiled most true

# the names that profiles are made by group it here too
echo 'back* = saver' >"$dir/names.ini"
export EMP_NAMES=$dir/names.ini
echo '{"format": "emp-profile", "version": 1, "name": "named", "resolution_ns": 1,
	"short": {"program": "INC1", "samples": 10, "l_samples": []}, "long": {"program": "INC10", "samples": 4, "l_samples": []}, "cutoffs": [{"daemon": "saver", "short_ns": 1000000,
	"long_ns": 1000000, "below_ns": 1000000, "atleast_ns": 1000000}]}' >"$dir/named.json"
expect 0 '' "$build/calibrate/emp-calibrate" profile import "$dir/named.json"
screen 5 3 'discarded: .*saver' $measure -q -r 3 --cpu $cpu --neighbour off --profile named --export-json "$dir/named-result.json" -- $burn 100
that "it is in the profile" json "$dir/named-result.json" '"backupd" not in str(d["results"][0]["emp"]["unprofiled"]) and "saver" not in str(d["results"][0]["emp"]["unprofiled"]) and [o["in_profile"] for o in d["results"][0]["emp"]["others"] if o["daemon"] == "saver"] == [True]'
run=$(sqlite3 "$EMP_DB" 'SELECT max(id) FROM run')
expect 0 'saver.* used .*, cutoff 1.000 ms' "$build/analyze/emp-analyze" show "$run"
unset EMP_NAMES
kill $noisy
wait $noisy 2>/dev/null

# a profile of another CPU
"$build/calibrate/emp-calibrate" -q run --short 0.02x10 --long 0.1x4 --cpu $cpu --save here --anyway --force >/dev/null 2>&1
sqlite3 "$EMP_DB" "DELETE FROM cutoff" # whatever else ran meanwhile is no reason to discard
screen 5 0 "^  Warning: profile 'here' was made on CPU $cpu, this run is not pinned\(; [0-9]* more (-v)\)\?$" $measure -q -r 3 --profile here -- $burn 5
screen 5 0 '^  PT' $measure -q -r 3 --profile here --cpu $cpu --neighbour off -- $burn 5
that "nothing is said of the same CPU" sh -c "! grep 'was made on' '$dir/screen'"

# without privileges, in a container, without cgroups
chmod 755 "$dir"
install -d -o 65534 "$dir/nobody"
screen 5 0 '^  Accounting off (needs root or file capabilities' setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$dir/nobody" EMP_DB= XDG_DATA_HOME= \
	$measure -q -r 3 -- $burn 5
screen 5 0 '^  PT (mean' unshare --pid --fork --mount-proc $measure -q -r 3 -- $burn 5
mkdir "$dir/home"
expect 0 "the lab book .* cannot be written (Read-only file system); the measurement goes on in a new one, '$dir/nobody/emp-book-" \
	unshare -m sh -c 'mount -t tmpfs -o ro none "$0" && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"' "$dir/home" \
	env HOME="$dir/home" TMPDIR="$dir/nobody" EMP_DB= XDG_DATA_HOME= $measure -q -r 2 -w 0 -- true
that "it says how to keep the runs, and the result is there" sh -c "grep -q 'name it with --db FILE or EMP_DB' '$dir/out' && grep -q '^  PT (mean' '$dir/out'"
screen 5 0 '^  PT (mean' unshare --pid --fork --mount-proc setpriv --bounding-set=-all --inh-caps=-all $measure -q -r 3 -- $burn 5

# long names, failures, one sample, several programs
long=$(printf 'x%.0s' {1..200})
screen 5 0 'x…x*  run [0-9]*$' $measure -q -r 3 -- echo "$long"
screen 5 0 'the program failed in 3 of 3 samples' $measure -q -i -r 3 -- false
screen 5 0 'Kept 1 of 1' $measure -q -r 1 -- true
screen 12 0 ' times slower than ' $measure -q -r 4 "$burn 5" "$burn 10"
screen 12 0 ' is .* times slower than ' $measure -q -r 4 "$burn $long 5" "$burn $long 10"

# several programs are rows of one line at each width, with the same names in the rows as in the sentence and the verdict
for columns in 60 80 120; do
	COLUMNS=$columns expect 0 '^Verdict' $measure -q -r 3 -w 0 "$burn 5 $long" "$burn 10" "sh -c :" "sh -c ': and more words than are needed'"
	that "no line is wider than $columns columns" python3 -c 'import sys; sys.exit(max(map(len, open(sys.argv[1]).read().splitlines())) > int(sys.argv[2]))' "$dir/out" $columns
	that "a row for each, then who has the lowest mean, and the answer is the last line in $columns columns" python3 -c '
import re, sys
lines = open(sys.argv[1]).read().splitlines()
at = next(i for i, line in enumerate(lines) if "COMMAND" in line)
rows = lines[at + 1:at + 5]
fastest = next(line for line in lines if line.startswith("Fastest by mean PT: ")).split(": ", 1)[1]
assert all(re.search(r" ± ", row) for row in rows), rows
means = [float(re.search(r"([0-9.]+) ± ", row)[1]) for row in rows]
assert fastest in rows[means.index(min(means))], (fastest, rows)
assert "95 % CI" in lines[at] or any(line.startswith("  Not in ") and "95 % CI" in line for line in lines)
assert lines[-1].startswith("Verdict on "), lines[-1]' "$dir/out"
done
that "the quotes of a name that ends in a colon" sh -c "$measure -q -r 3 -w 0 --equal-within 99 'sh -c :' 'sh -c  :' | grep -q \"^'sh -c  :'\\?: [0-9.]* times\\|^sh -c  : is .* times\\|^sh -c  :\$\""
expect 0 '^  all: 2 processes left behind in 2 of 2 samples' $measure -q -r 2 -w 0 -S sh 'sleep 1000 & :' 'sleep 1001 & :'
that "what all programs have is said once" test "$(grep -c 'left behind in' "$dir/out")" = 1
lines=(); for i in $(seq 300); do lines+=("sh -c ': $i'"); done
screen 312 0 '^Verdict' $measure -q -r 2 -w 0 "${lines[@]}"

# what was taken before an interruption
expect 124 'keep the [0-9]* samples' timeout -s INT 3 $measure -q -r 2000 "$burn 5" "$burn 10" "$burn 15"
that "all that is known is shown" sh -c "grep -q '± .* [0-9]*/[0-9]*$' '$dir/out' && grep -q '^Verdict' '$dir/out'"

# colours: on a terminal, not with NO_COLOR (which expect.sh sets)
that "a terminal gets bold and red" sh -c "env -u NO_COLOR TERM=xterm script -qec '$measure -q -r 4 -n a -n b \"$burn 5\" \"$burn 15\"' /dev/null | grep -q '\[1m.*\[31m.*slower'"
that "NO_COLOR is honoured" sh -c "! TERM=xterm script -qec '$measure -q -r 2 \"$burn 5\"' /dev/null | grep -q '\['"
finish
