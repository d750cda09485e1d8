#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each word that a comparison ends in, with its exit status, in emp-measure, emp-analyze and emp-compare-commits.
# Usage: verdicts.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
need_root
build=$1
measure="$build/measure/emp-measure -q -w 0"
analyze=$build/analyze/emp-analyze
burn=$build/tests/machine/burn
cd "$dir" || exit 1

# ends_in WORD STATUS COMMAND...: it is in the last line, at most 80 columns wide.
ends_in() {
	word=$1
	shift
	expect "$1" '' "${@:2}"
	grep -v '^emp-[a-z-]*: ' out >lines # what is said on standard error
	that "the last line is '$word'" sh -c 'tail -n 4 out; tail -n 1 lines | grep -qx "Verdict[^:]*: '"$word"'.*"'
	that "it fits" sh -c 'test "$(tail -n 1 lines | wc -m)" -le 81'
}
# result FILE NAME TIME...: hyperfine's form, with PTs in ns that were taken in turn with those of another of the file.
result() {
	python3 - "$@" <<'P'
import json, sys
path, name, start, *times = sys.argv[1:]
try:
    document = json.load(open(path))
except FileNotFoundError:
    document = {"results": []}
times = [float(t) for t in times]
document["results"].append({"command": name, "times": [t / 1e3 for t in times], "emp": {
    "pt_ns": [round(t * 1e6) for t in times],
    "start_ns": [10**18 + (2 * i + int(start)) * 10**9 for i in range(len(times))]}})
json.dump(document, open(path, "w"))
P
}

# Stored results: ms of two programs in turn.
result made.json a 0 100 101 100 102 100 101 100 101
result made.json same 1 100.1 101 100 102 100 101.1 100 101
result made.json slower 1 110 111 110 113 110 111 110 111
result made.json little 1 101 102.1 101 103 101 102 101.1 102
result made.json noisy 1 80 150 90 180 85 170 102 99
result made.json doubled 1 193 362 93 662 193 562 393 262
result made.json nothing 1 0 0 0 0 0 0 0 0
result one.json a 0 100
result one.json b 1 3000
result two.json a 0 100 101
result two.json b 1 170 670
for strict in '' --strict; do
	cannot=0
	[ -z "$strict" ] || cannot=4
	ends_in equal 0 $analyze compare $strict made.json:1 made.json:2
	ends_in 'equal (within 5 %)' 0 $analyze compare $strict --fail-if-slower 5 made.json:1 made.json:4
	ends_in slower 0 $analyze compare $strict made.json:1 made.json:4
	ends_in slower 0 $analyze compare $strict made.json:1 made.json:3
	ends_in 'slower by more than 2 %' 2 $analyze compare $strict --fail-if-slower 2 made.json:1 made.json:3
	ends_in faster 0 $analyze compare $strict made.json:3 made.json:1
	ends_in faster 0 $analyze compare $strict --fail-if-slower 2 made.json:3 made.json:1
	ends_in 'cannot tell; could have shown [0-9]* %; [0-9]* more samples ([0-9. a-z]*) should tell' $cannot \
		$analyze compare $strict --fail-if-slower 2 made.json:1 made.json:5
	ends_in 'cannot tell; could have shown [0-9]* %; [0-9]* more samples*' $cannot \
		$analyze compare $strict made.json:1 made.json:5
	ends_in 'cannot tell; it takes two samples of each' $cannot \
		$analyze compare $strict --fail-if-slower 2 one.json:1 one.json:2
	ends_in 'cannot tell; could have shown [0-9]* %; ' $cannot \
		$analyze compare $strict --fail-if-slower 2 two.json:1 two.json:2
	ends_in 'unmeasurable: shorter than the clock sees' $cannot $analyze compare $strict made.json:1 made.json:7
	that "the times of both are shown" grep -q "'a' 100.6 ms in 8 samples, 'nothing' 0 ns in 8$" "$dir/out"
done
ends_in 'equal (within 20 %)' 0 $analyze compare --equal-within 20 --strict made.json:1 made.json:2
ends_in 'cannot tell' 0 $analyze compare --equal-within 0.01 made.json:1 made.json:2
# Samples that ran at the same time were not taken in turn, also where only hyperfine's times say how long they ran.
result beside.json a 0 100 101 100 102 100 101 100 101
result beside.json b 0 100 101 100 102 100 101 100 101
python3 -c 'import json
d = json.load(open("beside.json"))
d["results"][1]["emp"]["start_ns"] = [t + 5 * 10**7 for t in d["results"][1]["emp"]["start_ns"]]
json.dump(d, open("beside.json", "w"))'
expect 0 'Not taken in turn' $analyze compare beside.json:1 beside.json:2
# Two clocks, of which ET decides.
python3 - <<'P'
import json
d = json.load(open("made.json"))
d["results"][1]["times"] = [0.15 + i / 1000 for i in range(8)]
d["results"][2]["times"] = [t / 1000 for t in (112, 250, 113, 280, 115, 113, 112, 114)]
json.dump(d, open("clocks.json", "w"))
d["results"][2]["times"] = [t / 1000 for t in (132, 900, 143, 131, 135, 2500, 142, 134)]
json.dump(d, open("waits.json", "w"))
P
ends_in 'slower by more than 2 %' 2 $analyze compare --fail-if-slower 2 clocks.json:1 clocks.json:2
# In most samples the third was on the CPU all the time, so others kept it from the CPU in two.
ends_in slower 0 $analyze compare --strict clocks.json:1 clocks.json:3
ends_in 'cannot tell' 4 $analyze compare --strict waits.json:1 waits.json:3
gives "the document has the word of the last line" \
	'(d["verdict"], d["et"]["verdict"], d["verdict_of_all"]) == ("equal", "slower", "slower")' $analyze compare --json clocks.json:1 clocks.json:2
gives "the word is in the document, with what is missing" \
	'd["verdict"] == "cannot tell" and d["samples_missing"] > 0 and d["unmeasurable"] is None and d["interval"][0] < d["ratio"]' \
	$analyze compare --json made.json:1 made.json:5
gives "and the cause" 'd["verdict"] == "unmeasurable" and d["unmeasurable"] == "shorter than the clock sees"' \
	$analyze compare --json made.json:1 made.json:7
python3 - <<'P'
import json
d = json.load(open("made.json"))
d["results"][1]["emp"]["incomplete"] = list(range(1, 9))
d["results"][2]["emp"]["held_back"] = {"unmeasurable": True, "by": "the quota of /docker/4f2a1b"}
d["results"][3]["emp"]["held_back"] = {"unmeasurable": True, "by": "memory.high of /docker/4f2a1b"}
json.dump(d, open("causes.json", "w"))
P
ends_in 'unmeasurable: all samples are disturbed' 4 $analyze compare --strict causes.json:1 causes.json:2
ends_in 'unmeasurable: held back by a quota; measure without a quota' 0 $analyze compare causes.json:1 causes.json:3
ends_in 'unmeasurable: held back by a control group; measure outside of it' 0 $analyze compare causes.json:1 causes.json:4
echo '{"results": [{"command": "a", "times": ['"$(seq -s, 1.000 0.0001 1.0019)"']}, {"command": "b", "times": ['"$(seq -s, 1.000 0.0001 1.0009),$(seq -s, 1.500 0.0001 1.5009)"']}]}' >step.json
ends_in 'unmeasurable: the speed changed in the middle; measure both in turn' 0 $analyze compare --between-runs 1 step.json:1 step.json:2

expect 1 'without --fail-if-slower' $analyze compare --equal-within 1 --fail-if-slower 1 made.json:1 made.json:2
expect 1 'without --fail-if-slower' $measure -r 2 --equal-within 1 --fail-if-slower 1 true true
expect 1 'there is only one' $measure -r 2 --strict true

# What is measured now.
ends_in slower 0 $measure -r 5 --compare pt "$burn 10" "$burn 30"
ends_in 'slower by more than 5 %' 2 $measure -r 5 --compare pt --fail-if-slower 5 "$burn 10" "$burn 30"
ends_in faster 0 $measure -r 5 --compare pt --fail-if-slower 5 --export-json faster.json "$burn 30" "$burn 10"
that "the document has the word" json faster.json 'd["comparisons"][0]["verdict"] == "faster"'
ends_in 'cannot tell; it takes two samples of each' 0 $measure -r 1 --compare pt --fail-if-slower 2 "$burn 5" "$burn 30"
ends_in 'cannot tell; it takes two samples of each' 4 $measure -r 1 --compare pt --fail-if-slower 2 --strict "$burn 5" "$burn 30"
# varied PHASE MS: it takes 10, 10, 10 + MS, 10 + MS in turn; with phase 2 the longer ones come first.
cat >varied <<P
#!/bin/sh
read -r n 2>/dev/null <"\$0.\$1" || n=0
echo \$((n + 1)) >"\$0.\$1"
exec "$burn" \$((10 + \$2 * ((n + \$1) / 2 % 2)))
P
chmod +x varied
varied="$measure -r 8 --compare pt"
ends_in 'cannot tell; could have shown [0-9]* %; ' 4 $varied --fail-if-slower 0.01 --strict './varied 0 30' './varied 2 30'
rm varied.*
ends_in 'cannot tell; could have shown [0-9]* %; ' 0 $varied --fail-if-slower 0.01 './varied 0 30' './varied 2 30'
that "the ratio comes first, with its interval" grep -qE '(times|CI) .*[0-9] … [0-9]' out
rm varied.*
# The pairs are 20 % apart in turn, so that the ratio of 1 is seen; two equal programs are told apart in one of twenty tries.
ends_in 'equal (within 40 %)' 0 $varied --equal-within 40 --strict './varied 0 2' './varied 2 2'
rm varied.*
ends_in slower 0 $measure -r 5 --compare pt "$burn 10" "$burn 11" "$burn 30"
that "of several, it names the one" grep -q "^Verdict on '" out
ends_in 'unmeasurable: all samples are disturbed' 4 $measure -r 3 --strict --compare pt --discard-unprofiled 0.0000001 \
	"sh -c '$burn 10'" "sh -c '$burn 11'"
run=$(sqlite3 "$EMP_DB" 'SELECT max(id) FROM run')
ends_in 'unmeasurable: all samples are disturbed' 0 $analyze compare $((run - 1)) "$run"

# Commits
git="git -c user.name=a -c user.email=a@example.org -c init.defaultBranch=main"
commit() { # MS MESSAGE
	printf '#!/bin/sh\nexec "%s" %s\n' "$burn" "$1" >program && chmod +x program && $git add -A && $git commit -qm "$2"
}
mkdir repository && cd repository || exit 1
$git init -q .
commit 30 base
$git checkout -q -b change
for row in 'slower 2 150' 'faster 0 10' 'equal 0 36'; do # equal is what is allowed: 20 of 60 %
	read -r word status ms <<<"$row"
	commit "$ms" "$word"
	cd "$dir" || exit 1
	ends_in "$word" "$status" env -C repository "$build/measure/emp-compare-commits" -b true -r 8 -p 60 \
		--json "$dir/$word.json" -m "$dir/$word.md" main '{tree}/program'
	that "the document has it, for all and for each" \
		json "$word.json" "d['verdict'] == '$word' and d['results'][0]['verdict'] == '$word'"
	that "the report has it" grep -q "^\*\*1 is $word" "$word.md"
	cd repository || exit 1
	$git checkout -q -B change main
done
# the base takes 10 and 40 ms in turn, the change 40 and 10
$git checkout -q main
cp ../varied program
$git commit -qam varied
$git checkout -q -B change
sed -i 's/n + [$]1/n + $1 + 2/' program
$git commit -qam 'as varied'
cd "$dir" || exit 1
for row in '0' '4 --strict'; do
	ends_in 'cannot tell' "${row%% *}" env -C repository "$build/measure/emp-compare-commits" -b true -r 8 -p 0.01 ${row#?} \
		main '{tree}/program 0 30'
done
finish
