#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-calibrate as a user types it: a calibration in small, its profile in and out of books, and what goes wrong.
# Usage: calibrate.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
need_root
build=$1
calibrate=$build/calibrate/emp-calibrate
inc=$build/calibrate/emp-inc

has() { [ "$(sqlite3 "$EMP_DB" "SELECT count(*) $1")" != 0 ]; } # FROM-CLAUSE: the book has such a row
sampling() { # PROFILE: waits until its short run has a sample
	wait_until has "FROM sample JOIN calibration ON run = short_run WHERE profile = '$1'"
}

# the constant
expect 1 "no constant is stored" "$inc" 1
expect 0 'Speed of INC: [1-9] of 9' $calibrate constant
that "the constant is measured now" grep -q 'increments/s.*measured now' "$dir/out"
expect 0 'increments/s.*measured before' $calibrate constant
that "what takes no time has no progress" sh -c "! grep 'Speed of INC' '$dir/out'"
expect 0 'measured now' $calibrate --db "$dir/quiet.db" constant -q
that "-q shows no progress" sh -c "! grep 'Speed of INC' '$dir/out'"
expect 0 '' "$inc" 0.05
mv "$EMP_DB.inc" "$dir/saved.inc"
mkfifo "$EMP_DB.inc"
expect 1 "'$EMP_DB.inc' is a named pipe, and EMP keeps a file of its own there; move it away" timeout 60 "$inc" 0.05
expect 1 "'$EMP_DB.inc' is a named pipe" timeout 60 $calibrate constant
rm "$EMP_DB.inc"
ln -s "$dir/saved.inc" "$EMP_DB.inc"
expect 0 '' "$inc" 0.05
rm "$EMP_DB.inc"
mv "$dir/saved.inc" "$EMP_DB.inc"
expect 0 '' "$inc" --iterations 1000
expect 1 'SECONDS must be a time above zero' "$inc" -1
expect 1 'usage: emp-inc' "$inc"

# a CPU that cannot be had is refused before anything is stored
expect 1 'CPU 4000 does not exist: choose one of 0' $calibrate constant --cpu 4000
expect 1 'CPU 4000 does not exist: choose one of 0' $calibrate run --short 0.02x10 --long 0.1x4 --save a --cpu 4000 --anyway
that "no calibration was begun" test "$(sqlite3 "$EMP_DB" 'SELECT count(*) FROM calibration')" = 0

# a calibration
expect 1 'name the profile with --save' $calibrate run --short 0.02x10 --long 0.1x4
expect 1 "LENGTHxCOUNT such as" $calibrate run --short 5 --save a
expect 1 "short must be a whole number from 2" $calibrate run --short 0.1x1 --save a
expect 0 "Profile 'a'" $calibrate -q run --short 0.02x80 --long 0.1x6 --save a --anyway --force
expect 0 "5 INC samples resolve .* interleaved, .* between separate runs" $calibrate profile show a
that "both runs are done, with all samples" test "$(sqlite3 "$EMP_DB" "SELECT group_concat(kind || n) FROM (SELECT kind, count(*) AS n FROM run JOIN sample ON run = id WHERE state = 'done' GROUP BY run)")" = short80,long6
expect 1 "has a profile 'a' already" $calibrate -q run --short 0.02x10 --long 0.1x4 --save a --anyway
$calibrate --json -q run --short 0.02x10 --long 0.1x4 --save b --ignore-audit --force >"$dir/b.json" 2>/dev/null
that "--json prints the profile" json "$dir/b.json" 'd["name"] == "b" and d["short"]["samples"] == 10'
if ! "$build/setup/emp-setup" audit >/dev/null; then
	expect 2 'not fit for timing.*--ignore-audit' $calibrate -q run --short 0.02x10 --long 0.1x4 --save c
fi

# what a duet resolves, where the scheduler's slices can be set
beside=(env EMP_DB="$dir/duet.db")
if "${beside[@]}" "$build/measure/emp-measure" -q -r 1 -w 0 --cpu 0 --order duet --slices-by scheduler --aa -- true >"$dir/out" 2>&1; then
	expect 0 "Resolution: [0-9]* INC samples resolve .* by duet, .* interleaved, .* %" \
		"${beside[@]}" $calibrate -q run -v --short 0.05x60 --long 0.1x4 --cpu 0 --save duet --ignore-audit --force
	that "with -v, the papers' words are explained" grep -q 'L-samples: those above' "$dir/out"
	"${beside[@]}" $calibrate profile export duet >"$dir/duet.json"
	that "the document has what a duet resolves" json "$dir/duet.json" 'all(0 < row["duet"] for row in d["resolving"])'
else
	cat "$dir/out"
fi

# what is printed fits a terminal, repeats the options that matter, and keeps to standard error with --json
$calibrate --db "$dir/c d.db" -q run --preset day --short 0.02x10 --long 0.1x4 --cpu 0 --save c --ignore-audit --force >"$dir/screen"
that "--short and --long override a preset" grep -q '^Plan: INC0.02 x 10 and INC0.1 x 4, ' "$dir/screen"
that "there is a line for each run" test "$(grep -c '^Run [12] *INC0' "$dir/screen")" = 2
if [ "$(sqlite3 "$dir/c d.db" 'SELECT wait_source FROM run WHERE id = 1')" = bpf ]; then
	that "by W, it shows the W of the central cluster" test "$(grep -c '^Run .* central W up to [0-9.]* [num]*s ([0-9]*), ' "$dir/screen")" = 2
else
	that "by ET, it shows the ETs of the central cluster" test "$(grep -c '^Run .* central [0-9.]* m*s … [0-9.]* m*s ([0-9]*), ' "$dir/screen")" = 2
fi
that "no line is longer than 80 columns" test -z "$(grep -E '.{81}' "$dir/screen" | grep -v "$dir")"
that "the hint has the book and the CPU" grep -qF "Next: emp-measure --db '$dir/c d.db' --profile c --cpu 0 -- COMMAND" "$dir/screen"
expect 1 'preset must be quick, hour, day or paper' $calibrate run --preset week --save w
expect 0 ', CPU 0, resolution 1 ns' $calibrate --db "$dir/c d.db" profile show c
for verb in 'status emp-calibration' 'profile\tlist emp-profiles' 'profile\tshow\ta emp-profile' 'constant emp-constant'; do
	IFS=' ' read -r words format <<<"$verb"
	IFS=$'\t' read -ra words <<<"$(printf "$words")"
	$calibrate --json "${words[@]}" >"$dir/document.json"
	that "${words[*]} --json is an $format document" json "$dir/document.json" "d['format'] == '$format' and d['version'] == 1"
done

# a calibration of days: a terminal is asked, a script is not
terminal() { script -qec "$*" /dev/null; }
days="--short 1000x4 --long 2000x4 --ignore-audit"
printf 'n\n' | terminal $calibrate -q run $days --save days >"$dir/asked"
that "a terminal is asked" grep -q 'This calibration takes 4 h 10 min, until .* Continue? \[y/N\]' "$dir/asked"
that "no is no" grep -q 'not started; --preset quick' "$dir/asked"
that "nothing was begun" test "$(sqlite3 "$EMP_DB" "SELECT count(*) FROM calibration WHERE profile = 'days'")" = 0
env --default-signal=INT $calibrate -q run --yes $days --save days >"$dir/days" 2>&1 </dev/null &
first=$!
wait_until has "FROM calibration WHERE profile = 'days'"
kill -INT $first
wait $first
that "a script is not asked, and ^C ends it" test $? = 130
sqlite3 "$EMP_DB" "DELETE FROM calibration WHERE profile = 'days'"

# a name that the user groups is the same daemon in the profile and in what is said about it
echo 'flush-* = flush' >"$dir/names.ini"
python3 - >"$dir/flush.json" <<'END'
import json
times = {n: 200 for n in range(10, 100, 20)}
print(json.dumps({"format": "emp-run", "version": 1, "program": "INC0.1", "task_length_s": 0.1, "resolution_ns": 1, "samples": [
    {"n": n, "start_ns": n * 10**9, "et_ns": 10**8 + n % 7 * 10**5 + times.get(n, 0) * 10**6, "pt_ns": 10**8,
     "executions": [{"name": f"flush-{n}", "pt_ns": times[n] * 10**6, "kernel": True}] if n in times else []} for n in range(1, 101)]}))
END
flush=$("$build/analyze/emp-analyze" --db "$dir/flush.db" import "$dir/flush.json")
EMP_NAMES=$dir/names.ini expect 0 'kernel thread: it works for other' "$build/analyze/emp-analyze" --db "$dir/flush.db" daemons "$flush"
EMP_NAMES=$dir/names.ini expect 0 '5 long executions, median 200.0 ms' "$build/analyze/emp-analyze" --db "$dir/flush.db" daemons "$flush"

# what comes from a book is quoted for a shell, and has no control characters
python3 - >"$dir/odd.json" <<'END'
import json
print(json.dumps({"format": "emp-run", "version": 1, "program": "INC1\x1b[2J", "task_length_s": 1, "resolution_ns": 1, "samples": [
    {"n": n, "start_ns": n * 10**10, "et_ns": 10**9 + n % 7 * 10**5, "pt_ns": 10**9, "executions": []} for n in range(1, 21)]}))
END
odd=$("$build/analyze/emp-analyze" import "$dir/odd.json")
expect 0 "profile 'o \$(id)' -- COMMAND" $calibrate -q run --short 0.01x2 --reuse-long "$odd" --save 'o $(id)' --ignore-audit --force
that "control characters are replaced" grep -qF 'INC1?[2J x 20' "$dir/out"
sqlite3 "$EMP_DB" "UPDATE calibration SET state = 'open', short_samples = 9 WHERE profile = 'o \$(id)';
	UPDATE sample SET start_ns = start_ns - n * 3600000000000 WHERE run = (SELECT short_run FROM calibration WHERE profile = 'o \$(id)')"
expect 0 '^Left: 70.00 ms' $calibrate status # the clock was set back
sqlite3 "$EMP_DB" "DELETE FROM calibration WHERE profile = 'o \$(id)'"
expect 1 'must not take longer than 366 days' $calibrate -q run --short 40000000x2 --long 50000000x2 --save o --ignore-audit
sqlite3 "$EMP_DB" "UPDATE run SET task_length_ns = 1000000000000000000 WHERE id = $odd"
"$build/analyze/emp-analyze" cutoffs --short "$odd" --long "$odd" --save odd >"$dir/out"
env --default-signal=INT $calibrate -q revalidate odd --ignore-audit >"$dir/odd" 2>&1 &
first=$!
wait_until grep -q '^Plan: ' "$dir/odd"
kill -INT $first
wait $first
that "it takes no negative time" grep -q '^Plan: INC1000000000 x 10, 106752 d' "$dir/odd"

# profiles between books
expect 0 '^a  *20[0-9][0-9]-' $calibrate profile list
expect 0 "Profile 'a'" $calibrate profile show a
$calibrate profile export a >"$dir/a.json"
expect 0 '^a$' $calibrate --db "$dir/other.db" profile import "$dir/a.json"
$calibrate --db "$dir/other.db" profile export a >"$dir/again.json"
that "a profile is the same after export and import" cmp "$dir/a.json" "$dir/again.json"
expect 1 'already; --replace replaces it' $calibrate --db "$dir/other.db" profile import "$dir/a.json"
expect 0 '^a$' $calibrate --db "$dir/other.db" profile import --replace "$dir/a.json"
expect 0 '' $calibrate --db "$dir/other.db" profile remove a
expect 1 "'a'" $calibrate --db "$dir/other.db" profile show a
expect 0 'has no profiles' $calibrate --db "$dir/other.db" profile list
echo '{"format": "emp-run"}' >"$dir/wrong.json"
expect 1 'was not imported' $calibrate profile import "$dir/wrong.json"
expect 1 'is not JSON: line 1' $calibrate profile import /etc/passwd
expect 1 "must be list, show, export, import or remove" $calibrate profile dance
expect 1 'usage: emp-calibrate profile show NAME' $calibrate profile show

# ^C, what another terminal sees, and going on
expect 1 'no calibration to resume in' $calibrate resume
expect 1 'no calibration to resume in' $calibrate resume last
expect 1 "no calibration for profile 'nobody' to resume in" $calibrate resume nobody
expect 1 "no calibration for a profile 'nobody' is in this book" $calibrate status nobody
env --default-signal=INT $calibrate -q run --short 0.05x100 --long 0.1x4 --save d --anyway --force >"$dir/interrupted" 2>&1 &
first=$!
sampling d
expect 0 "running, process $first" $calibrate status
expect 1 "emp-calibrate (process $first, since .*) has locked this machine" $calibrate -q run --short 0.02x10 --long 0.1x4 --save e --anyway
kill -INT $first
wait $first
that "^C is exit status 130" test $? = 130
that "^C is reported, with the command to resume" grep -q "interrupted: run .*; to resume: emp-calibrate resume" "$dir/interrupted"
that "the book is sound" sound "$EMP_DB"
expect 0 "stopped; to resume: emp-calibrate resume" $calibrate status
there=$(sqlite3 "$EMP_DB" "SELECT count(*) FROM sample WHERE run = (SELECT max(id) FROM run)")
expect 0 "resumed at sample $((there + 1)) of 100" $calibrate -q resume
expect 0 "Profile 'd'" $calibrate profile show d
expect 0 "interrupted before sample $((there + 1)), resumed" $calibrate status
$calibrate --json status >"$dir/status.json"
that "status is JSON too" json "$dir/status.json" "d['state'] == 'done' and d['short']['samples'] == 100 and d['short']['resume_points'][0]['sample'] == $there + 1 and d['short']['seams'] == d['short']['resume_points'] and d['format'] == 'emp-calibration' and d['version'] == 1"
expect 1 'is complete' $calibrate resume "$(sqlite3 "$EMP_DB" 'SELECT max(id) FROM run')"
expect 1 'is not part of a calibration\|run 99 is not in' $calibrate resume 99
expect 0 'nothing to do' $calibrate run --resume --save d

# The same ^C from a terminal is INC's too.
setsid -w sh -c 'trap "" INT; "$@" & wait $!' sh timeout 600 env --default-signal=INT $calibrate -q run --resume --short 0.05x100 --long 0.1x4 --save f --anyway --force >"$dir/group" 2>&1 &
sampling f
pid=$(sqlite3 "$EMP_DB" "SELECT owner FROM calibration WHERE profile = 'f'" | cut -d' ' -f2)
kill -INT -- "-$(ps -o pgid= -p "$pid" | tr -d ' ')"
wait $!
that "a signal to the whole group is an interruption, not a failure of INC" grep -q 'interrupted: run' "$dir/group"
expect 0 "Profile 'f'" $calibrate -q run --resume --save f
that "its short run is whole" test "$(sqlite3 "$EMP_DB" "SELECT count(*) || min(n) || max(n) FROM sample WHERE run = (SELECT short_run FROM calibration WHERE profile = 'f')")" = 1001100

# After an upgrade: whatever the verdict is on a busy machine, it is one of four, and the numbers are there.
for i in 1 2 3; do
	$calibrate -q --json revalidate f --for 2s --anyway >"$dir/verdict.json" 2>"$dir/err"
	status=$?
	that "the verdict goes with the exit status" json "$dir/verdict.json" "(d['verdict'] == 'stands') == (d['validity'] == 'holds') == ($status == 0) and $status in (0, 2) and d['format'] == 'emp-revalidation'"
	that "INC's times are compared" json "$dir/verdict.json" "any('of CPU time now and took' in f['words'] for f in d['findings']) and not d['changes']"
	[ $status = 0 ] && break
done
expect 1 "no profile 'nobody'\|'nobody'" $calibrate -q revalidate nobody --anyway
$calibrate --db "$dir/other.db" -q profile import "$dir/a.json" >/dev/null
expect 1 'was imported' $calibrate --db "$dir/other.db" -q revalidate a --anyway
long=$(sqlite3 "$EMP_DB" "SELECT long_run FROM calibration WHERE profile = 'f'")
expect 0 "Run $long *INC0.1 x 4 " $calibrate -q run --short 0.02x20 --reuse-long "$long" --save h --anyway --force
that "the long run is the one there was" test "$($calibrate profile export h | python3 -c 'import json, sys; print(json.load(sys.stdin)["long"]["samples"])')" = 4
expect 0 "Plan: INC0.02 x 20 and run $long, INC0.1 x 4" $calibrate -q run --short 0.02x20 --reuse-long f --save h --replace --anyway --force
expect 1 "'nobody' has no long run in the lab book" $calibrate -q run --short 0.02x20 --reuse-long nobody --save i --anyway
expect 1 'cannot be the long run' $calibrate -q run --short 0.2x20 --reuse-long "$long" --save i --anyway

# Another environment.
$calibrate -q run --short 0.05x100 --long 0.1x4 --save g --anyway --force >/dev/null 2>&1 &
sampling g
kill -9 $!
wait $! 2>/dev/null
expect 0 "stopped; to resume: emp-calibrate resume" $calibrate status
sqlite3 "$EMP_DB" "INSERT INTO environment(digest, document)
	SELECT 'other', json_set(document, '\$.settings.memory.ksm', '9') FROM environment LIMIT 1;
	INSERT INTO measurement SELECT (SELECT id FROM environment WHERE digest = 'other'), name, value, unit, inc_digest FROM measurement;
	UPDATE run SET environment = (SELECT id FROM environment WHERE digest = 'other') WHERE id = (SELECT max(short_run) FROM calibration)"
expect 2 "environment has changed.*memory.ksm was '9', is .*--ignore-changes" $calibrate -q resume
expect 2 "environment has changed" $calibrate -q resume --ignore-audit
expect 0 "Environment: changed (memory.ksm was '9'" $calibrate -q resume --anyway
finish
