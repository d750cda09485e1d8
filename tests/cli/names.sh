#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Names that any user chooses (of processes, units, programs, commands) do nothing where they are shown: on a terminal, in
# gnuplot, in tables and in CSV.
# Usage: names.sh BUILD SOURCE
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/expect.sh"
analyze=$1/analyze/emp-analyze
measure=$1/measure/emp-measure
data=$2/tests/papers/data
cd "$dir" || exit 1

quiet_terminal() { # STATUS COMMAND...: nothing reaches the terminal that it would act on
	want=$1 status=0
	shift
	script -qec "$*" /dev/null </dev/null >"$dir/terminal" 2>&1 || status=$?
	cat "$dir/terminal"
	[ $status = "$want" ] && [ -s "$dir/terminal" ] && ! grep -qP '\x1b(?!\[[0-9]*[mK])|\x07|\xc2\x9b|\xe2\x80\xae' "$dir/terminal"
}

# a run whose daemons, units and program try everything
python3 - "$data/emp-run-inc128.json" <<'PYTHON'
import json, sys
run = json.load(open(sys.argv[1]))
run["program"] = "'x`touch ran`\x1b]0;PWN\x07\u009b2J\u202e@y\"$(touch ran)"
run["notes"] = "\x1b[2J"
for sample in run["samples"]:
    for execution in sample["executions"]:
        execution["name"] = "'" + execution["name"] + "`touch ran`\x1b]0;P\x07\u009b\"\\"
        execution["unit"] = "\x1b]2;unit\x07.service"
json.dump(run, open("run.json", "w"))
PYTHON
expect 0 '^1$' $analyze import run.json
for verb in list "show 1" "show 1 --json" "daemons 1 --all" "sample-size 1" "export 1" "compare 1 1"; do
	that "nothing of a name reaches the terminal from $verb" quiet_terminal 0 $analyze $verb
done
that "nor from an error message" quiet_terminal 1 $analyze --db "'$(printf 'no\033]0;PWN\007')'" list

# a name that is longer than the text that says why, and a digest that is none
python3 - <<'PYTHON'
import json
run = {"format": "emp-run", "version": 1, "program": "P", "task_length_s": 1, "resolution_ns": 1, "environment": {"digest": "1234567" + "é" * 9},
       "kind": "short", "samples": [{"n": n, "start_ns": n * 2 * 10**9, "et_ns": 10**9 + n % 7, "pt_ns": 9 * 10**8, "executions": [
           {"name": "é" * 150, "pt_ns": 10**8}]} for n in range(1, 41)]}
json.dump(run, open("long.json", "w"))
for name in "aé":
    result = {"command": "c", "times": [1, 2], "emp": {"environment": "1234567" + name * 30, "profile": "lab", "profile_noise": "busy"}}
    json.dump({"results": [result]}, open(f"{name}.json", "w"))
PYTHON
expect 0 '^2$' $analyze import long.json
that "show cuts no character of the digest" sh -c "$analyze show 2 >shown && iconv -f UTF-8 -t UTF-8 shown | grep -q 'environment: 1234567é'"
that "nor of the name in the verdict" sh -c "! grep -q 'xc3' shown"
that "show --json has the verdict" sh -c "$analyze show 2 --json | grep -q '\"why\": \"a busy CPU'"
that "so has compare, for the environments" sh -c "$analyze compare a.json é.json --json >compared && grep -q '\"environment_changes\"' compared"
that "and the marks of the profiles of both" json compared '[f["profile_noise"] for f in d["files"]] == ["busy"] * 2'

# gnuplot
for kind in svg png pdf; do
	for option in "" --samples --zooms; do
		that "gnuplot draws names as they are ($kind $option)" sh -c "! $analyze scatter 1 $option -o picture.$kind 2>&1 | grep ."
	done
done
that "the picture has the quote" grep -q "'x\`touch ran\`" picture.svg
expect 0 '' $analyze scatter 1 --script -o '|touch ran;.svg'
that "a picture is a file, whatever its name" test -s '|touch ran;.svg'
expect 0 '' gnuplot '|touch ran;.svg.gnuplot'
expect 0 '' $analyze scatter 1 -o "'\"it\`touch ran\`@.svg"
that "with quotes, too" test -s "'\"it\`touch ran\`@.svg"
that "nothing ran" test ! -e ran

# exports
expect 0 '' $measure -N -r 2 -w 0 --export-csv out.csv --export-markdown out.md --reference-name '=1+1' --reference true -L x -1 'true {x}'
that "a formula in CSV is text, and a number below zero a number" sh -c "grep -q \"^'=1+1,\" out.csv && grep -q '^true -1,.*,-1,' out.csv"
expect 0 '' $measure -r 2 -w 0 -S sh --export-markdown out.md 'echo `true` | cat'
that "a command stays in its cell of Markdown" grep -qF '| `` echo `true` \| cat `` |' out.md
cp /bin/true "$(printf 'x\033]0PWN\007')"
that "nor from a command line" quiet_terminal 0 $measure -N -r 2 -w 0 "'./$(printf 'x\033]0PWN\007')'"
finish
