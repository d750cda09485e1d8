#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The study clean-room: what each tool's words count as, whichever program is first; interrupted, resumed, shown. The other tools are made up here:
# they run the programs as often as asked, and always say that the second one takes longer. Usage: clean-room.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
study=$1/study/emp-study
analyze=$1/analyze/emp-analyze
mkdir "$dir/bin"
export PATH=$dir/bin:$PATH made=$dir

tool() { # NAME: the script on standard input
	{ echo '#!/bin/bash'; cat; } >"$dir/bin/$1"
	chmod +x "$dir/bin/$1"
}

# Means 1 and 1.1, sd 0.1: the ratio is 1.10 ± 0.15, and by Welch's test they differ.
tool hyperfine <<'TOOL'
while [ $# -gt 2 ]; do
	case $1 in
	-r) n=$2 ;;
	--export-json) file=$2 ;;
	esac
	shift
done
for command; do
	for _ in $(seq "$n"); do sh -c "$command" || exit; done
done
python3 - "$file" <<'PYTHON'
import json, sys
times = [0.9, 1.0, 1.1] * 12
json.dump({"results": [{"mean": 1 + x, "stddev": 0.1, "times": [t + x for t in times]} for x in (0, 0.1)]}, open(sys.argv[1], "w"))
PYTHON
TOOL

# 100 and 102 ms ± 1.5 % elapsed, which overlap; 10 and 10.2 ms ± 0.5 % of CPU time, which do not.
tool perf <<'TOOL'
n=$3
while [ "$1" != -- ]; do shift; done
shift
for _ in $(seq "$n"); do "$@" || exit; done
if [ -e "$made/perf" ]; then
	rm "$made/perf"
	printf '10.20;msec;task-clock;0.50%%;;;\n102000000;ns;duration_time;1.50%%;;;\n'
else
	touch "$made/perf"
	printf '10.00;msec;task-clock;0.50%%;;;\n100000000;ns;duration_time;1.50%%;;;\n'
fi
TOOL

tool pyperf <<'TOOL'
if [ "$1" = compare_to ]; then
	echo 'Mean +- std dev: [first] 1.00 sec +- 0.01 sec -> [second] 1.25 sec +- 0.01 sec: 1.25x slower'
	exit
fi
while [ "$1" != -- ]; do
	case $1 in
	-n) n=$2 ;;
	-o) file=$2 ;;
	esac
	shift
done
shift
for _ in $(seq "$n"); do "$@" || exit; done
case $file in *first*) value=1.0 ;; *) value=1.25 ;; esac
echo "{\"benchmarks\": [{\"runs\": [{\"values\": [$value, $value]}]}]}" >"$file"
TOOL

tool runexec <<'TOOL'
echo 'runexec: no cgroups' >&2
exit 1
TOOL

cat >"$dir/short.ini" <<'INI'
[study]
what = clean-room
samples = 3
max-time = 10min
[subject none]
command = true
INI

query() {
	sqlite3 "$EMP_DB" "$1" 2>/dev/null
}

compared() { # N: so many comparisons are in the book
	[ "$(query 'SELECT count(*) FROM study_comparison' || echo 0)" -ge "$1" ]
}

known() { # the rules of all tools that work have a claim
	[ "$(query 'SELECT count(DISTINCT rule) FROM study_claim' || echo 0)" = 7 ]
}

interrupt() { # CONDITION... : ends the study that runs when it holds
	wait_until "$@"
	kill -TERM "$pid" # a shell lets what runs beside it ignore INT
	wait "$pid"
	that "an interrupted study has status 130" test $? = 130
}

expect 0 'welch_ttest.py says so' "$study" run --dry-run clean-room
expect 0 '^A is true on CPU' "$study" run --dry-run clean-room -- true
expect 0 'emp-measure --cpu CPU -w 1 -r N --max-runs N' "$study" run --dry-run "$dir/short.ini"
expect 1 'false ended with exit status 1: a clean room needs a program that succeeds' "$study" run clean-room -- false
expect 1 "'nowhere' not found" "$study" run clean-room -- nowhere
expect 1 'a round of .* comparisons takes some .*: allow it with --max-time' "$study" run --max-time 1ns "$dir/short.ini"
that "nothing was stored" test "$(query 'SELECT count(*) FROM study')" = 0

"$study" run "$dir/short.ini" >"$dir/run.out" 2>"$dir/run.err" </dev/null &
pid=$!
interrupt known
that "a tool that fails is named" grep -q 'without benchexec: .*exit status 1' "$dir/run.err"
that "it says how to go on" grep -q 'emp-study resume' "$dir/run.err"
n=$(query 'SELECT count(*) FROM study_comparison')
said() { # RULE CLAIM: all that the rule said of the second program is this
	query "SELECT count(*) FROM study_claim JOIN study_comparison USING (block) WHERE rule = '$1'
		AND claim != CASE WHEN '$2' = 'none' THEN 'none' WHEN copy_first THEN 'faster' ELSE 'slower' END"
}
for rule in 'hyperfine-ratio none' 'hyperfine-welch slower' 'perf-elapsed none' 'perf-task-clock slower' 'pyperf slower'; do
	that "$rule, whichever is first" test "$(said $rule)" = 0
done
that "the slower copies are slower by what is planned, and a chunk of increments" test "$(query '
	SELECT count(*) FROM study_comparison JOIN study_block ON id = block WHERE slowed < size')" = 0
expect 0 'true against itself (0 %) and slowed by 2 and 5 %' "$analyze" study 1
gives "the document has each rule" '({line["rule"] for line in d["tables"]["rules"]} >= {"emp-measure", "emp-measure-duet", "pyperf"} and all(c["claim"] in ("none", "faster", "slower") for c in d["tables"]["claims"]))' "$analyze" study 1 --json
expect 1 "table 'claims' is for programs" "$analyze" study 1 --table claims
expect 1 "table 'claims' is for programs" "$analyze" study 1 --table claims --markdown -
expect 1 "is a clean room, which has no picture" "$analyze" study 1 -o room.png
expect 0 '| hyperfine, welch_ttest.py' "$analyze" study 1 --markdown -

# It goes on where it was.
"$study" resume >"$dir/run.out" 2>"$dir/run.err" </dev/null &
pid=$!
interrupt compared $((n + 1))
finish
