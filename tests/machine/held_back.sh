#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A quota of CPU time and a memory limit of a control group: what they do to a program is told exactly, by the kernel's own counters, and
# blamed on no process. Usage: held_back.sh BUILD
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
build=$1 measure=$1/measure/emp-measure burn=$1/tests/machine/burn
cpu=$(($(nproc) - 1))

# The directory of a new group that has the controller, in version 1 or 2; its quota in microseconds of 0.1 s; its throttled time.
if [ -e /sys/fs/cgroup/cpu/cpu.cfs_quota_us ]; then
	cpu_groups=/sys/fs/cgroup/cpu
	set_quota() { echo "$2" >"$1/cpu.cfs_quota_us"; }
	throttled_ns() { sed -n 's/throttled_time //p' "$1/cpu.stat"; }
else
	cpu_groups=/sys/fs/cgroup
	echo +cpu >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null || { echo "not run: no cpu controller"; exit 77; }
	set_quota() { echo "$2 100000" >"$1/cpu.max"; }
	throttled_ns() { echo "$(sed -n 's/throttled_usec //p' "$1/cpu.stat")000"; }
fi
if [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
	memory_groups=/sys/fs/cgroup/memory
	set_memory() { echo "$2" >"$1/memory.limit_in_bytes"; }
else
	memory_groups=/sys/fs/cgroup
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null
	set_memory() { echo "$2" >"$1/memory.max"; }
fi
group=$cpu_groups/et-$$ limited=$memory_groups/emp-test-memory-$$ inner=$group/inner
mkdir -p "$inner" "$limited" || exit 77
loops=
clean_up() {
	[ -z "$loops" ] || kill $loops 2>/dev/null
	[ -z "$loops" ] || wait $loops 2>/dev/null
	for one in "$inner" "$group" "$limited"; do
		wait_until rmdir "$one"
	done
	rm -rf "$dir"
}
trap clean_up EXIT

within() { # GROUP COMMAND...
	sh -c 'echo $$ >"$1"/cgroup.procs && shift && exec "$@"' sh "$@"
}
of_last() { # a column of the samples of the last run, added up
	sqlite3 "$EMP_DB" "SELECT CAST(sum($1) AS INTEGER) FROM sample WHERE run = (SELECT max(id) FROM run)"
}

# Only the program is in the group, which it enters itself, so that the kernel's count is the program's; with a loop on its CPU, which
# takes what it takes, and without; on one CPU or on any, where the first wait on each has no earlier one to go by.
set_quota "$group" 2000
for where in "--cpu $cpu --neighbour off" ''; do
	for loop in 0 1; do
		[ $loop = 0 ] || { taskset -c $cpu sh -c 'while :; do :; done' & loops=$!; }
		before=$(throttled_ns "$group")
		expect 0 '' $measure -q $where -w 0 -r 8 -- sh -c "echo \$\$ >'$group'/cgroup.procs; exec '$burn' 20"
		counted=$(($(throttled_ns "$group") - before)) held=$(of_last held_back_ns)
		echo "cpu '$where', $loop loops: held back $held ns, the kernel counts $counted ns"
		that "a quota holds it back" test "$counted" -gt 20000000
		that "what is told is what the kernel counted" \
			test $((held > counted ? held - counted : counted - held)) -lt $((counted / 20 + 5000000))
		that "it is no part of W" test "$(of_last "wait_ns >= 0 AND et_ns - pt_ns - wait_ns - held_back_ns > -1000000")" = 8
		[ $loop = 0 ] || { kill $loops; wait $loops 2>/dev/null; loops=; }
	done
done
that "the group that this process is not below is not named" \
	test "$(sqlite3 "$EMP_DB" 'SELECT max(held_back_by) FROM run')" = "the quota of a control group that is not visible here"

# As in a container: emp-measure is below the group, too, and a neighbour keeps the CPU busy
taskset -c $cpu sh -c 'while :; do :; done' &
loops=$!
set_quota "$group" 2000
gives "unmeasurable, with the cause, and in no process's name" \
	"(lambda e: e['held_back']['unmeasurable'] and e['held_back']['by'] == 'the quota of /${group##*/}' and
	e['warnings'][0]['kind'] == 'unmeasurable' and 'Unmeasurable: held back by the quota of /${group##*/}: ' in e['warnings'][0]['text'])(
	d['results'][0]['emp'])" within "$inner" $measure --json -q --cpu $cpu --neighbour off -w 0 -r 2 -- "$burn" 20
expect 4 "are unmeasurable: held back by a quota; measure without a quota" within "$inner" $measure -q --cpu $cpu --neighbour off -w 0 -r 3 \
	--fail-if-slower 5 --strict "'$burn' 20" "'$burn' 21"
that "that is the verdict" grep -q '^Verdict\( (PT)\)\?: unmeasurable: held back by a quota; measure without a quota$' "$dir/out"
expect 0 '^Verdict\( (PT)\)\?: unmeasurable: held back by a quota' within "$inner" env COLUMNS=120 $measure -q --cpu $cpu --neighbour off -w 0 -r 3 --fail-if-slower 5 \
	"'$burn' 20" "'$burn' 21"
that "the first screen has the cause" grep -q "Unmeasurable: held back by the quota of /${group##*/}\\>" "$dir/out"
run=$(sqlite3 "$EMP_DB" 'SELECT max(id) FROM run')
expect 0 "held by: *the quota of /${group##*/}" $build/analyze/emp-analyze show "$run"
expect 0 unmeasurable $build/analyze/emp-analyze compare $((run - 1)) "$run"
kill $loops
wait $loops 2>/dev/null
loops=

# Two commits: all that compares them is below the group
tree=$dir/commits compare=$build/measure/emp-compare-commits
git="git -C $tree -c user.name=a -c user.email=a@example.org -c init.defaultBranch=main"
mkdir "$tree"
$git init -q
for work in 20 21; do
	printf '#!/bin/sh\nexec %s %s\n' "$burn" $work >"$tree/program"
	chmod +x "$tree/program"
	$git add program && $git commit -qm "works for $work ms" && $git checkout -q -b "next$work"
done
unmeasurable_commits() { # CAUSE STATUS COMMAND [--strict]
	cause=$1 status=$2
	shift 2
	rm -f "$dir/report.md" "$dir/report.json"
	expect "$status" '' env -C "$tree" TMPDIR="$dir" PATH="$build/analyze:$PATH" "$@" -b true -r 3 -m "$dir/report.md" --json "$dir/report.json" \
		next20~1 '{tree}/program'
	that "the last line has the word and the cause" sh -c \
		"grep -v '^emp-\\|^warning: ' '$dir/out' | tail -1 | grep -q '^Verdict\( (PT)\)\?: unmeasurable: $cause'"
	that "the report has it" sh -c "grep -qx '\*\*1 is unmeasurable\.\*\*' '$dir/report.md' && grep -q '^- .*$cause' '$dir/report.md'"
	that "the document has it" json "$dir/report.json" \
		"d['results'][0]['status'] == $status and (lambda c: [c['verdict'], c['unmeasurable']])(
		d['results'][0]['measurement']['comparisons'][0]) == ['unmeasurable', '$cause']"
}
set_quota "$group" 10000
unmeasurable_commits 'held back by a quota' 0 sh -c 'echo $$ >"$0"/cgroup.procs && exec "$@"' "$inner" "$compare"
unmeasurable_commits 'held back by a quota' 4 sh -c 'echo $$ >"$0"/cgroup.procs && exec "$@"' "$inner" "$compare" --strict
# all samples discarded, by a rule that the measurement itself is given
mkdir "$dir/discarding"
printf '#!/bin/sh\ncase " $* " in *" --fail-if-slower "*) set -- --discard-unprofiled 0.0000001 "$@" ;; esac\nexec "%s" "$@"\n' \
	"$measure" >"$dir/discarding/emp-measure"
chmod +x "$dir/discarding/emp-measure"
cp "$compare" "$dir/discarding/"
unmeasurable_commits 'all samples are disturbed' 3 "$dir/discarding/emp-compare-commits"
unmeasurable_commits 'all samples are disturbed' 4 "$dir/discarding/emp-compare-commits" --strict

# A load under the quota is unmeasurable beside one without it, which is not
load=$build/measure/emp-load analyze=$build/analyze/emp-analyze
mkdir "$dir/slaves"
printf '[load]\ndirectory = %s\n[burn]\nslaves = 2\nrepetitions = 2\ncommand = %s 20\n' "$dir/slaves" "$burn" >"$dir/held.ini"
set_quota "$group" 10000
expect 0 'Rate of work' "$load" run -q -w 0 -r 3 "$dir/held.ini"
free=$(sqlite3 "$EMP_DB" 'SELECT max(id) FROM run')
expect 0 'Rate of work' "$load" run -q -w 0 -r 3 "$dir/held.ini"
expect 0 'Rate of work' within "$inner" "$load" run -q -w 0 -r 3 "$dir/held.ini"
expect 0 '^Verdict: unmeasurable: held back by a quota; measure without a quota$' \
	$analyze load --between-runs 1 --fail-if-slower 5 "$free" $((free + 2))
expect 4 'are unmeasurable: held back by a quota; measure without a quota' \
	$analyze load --between-runs 1 --fail-if-slower 5 --strict "$free" $((free + 2))
gives "the document has the word and the cause" \
	"(lambda c: [c['verdict'], c['unmeasurable'], c['scripts'][0:1] == [] or c['scripts'][0]['verdict']] in (
	['unmeasurable', 'held back by a quota', True], ['unmeasurable', 'held back by a quota', 'unmeasurable']))(d['comparison'])" \
	$analyze load --json --between-runs 1 "$free" $((free + 2))
expect 0 '' $analyze load --between-runs 100 "$free" $((free + 1))
that "without a quota it is not" sh -c "! grep -q unmeasurable '$dir/out'"

# without a quota
set_quota "$group" "$([ "$cpu_groups" = /sys/fs/cgroup ] && echo max || echo -1)"
gives "nothing is held back without a quota" "d['results'][0]['emp']['held_back'] is None" \
	within "$inner" $measure --json -q -w 0 -r 2 -- "$burn" 20

# the memory limit kills the program, or what it has started
set_memory "$limited" 60000000
eater='python3 -c "x = bytearray(200000000)"'
expect 1 "SIGKILL) in sample 1: the memory limit of /${limited##*/} (60 MB) killed it" \
	within "$limited" $measure -q -w 0 -r 2 "$eater"
expect 1 "exit status 137 in sample 1: the memory limit of /${limited##*/} (60 MB) killed one of its processes" \
	within "$limited" $measure -q -w 0 -r 2 -- sh -c "$eater; exit \$?"
expect 0 "the memory limit of /${limited##*/} (60 MB) killed a process" \
	within "$limited" $measure -v -q -w 0 -r 2 -- sh -c "$eater; exit 0"
expect 0 'Kept 2 of 2' within "$limited" $measure -v -q -w 0 -r 2 -- true
that "no kill is spoken of where there was none" sh -c "! grep -q 'killed a process' '$dir/out'"
expect 1 'SIGKILL) in sample 1; -i' within "$limited" $measure -q -w 0 -r 2 -- sh -c 'kill -9 $$'
# a frozen group above, with the time where the kernel counts it
unified=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
frozen=$unified/emp-test-frozen-$$
if mkdir "$frozen" 2>/dev/null && [ -e "$frozen/cgroup.freeze" ]; then
	within "$frozen" $measure -q -w 0 -r 1 -- sh -c "touch '$dir/in'; exec '$burn' 200" >"$dir/out" 2>&1 &
	wait_until test -e "$dir/in"
	echo 1 >"$frozen/cgroup.freeze"
	wait_until grep -q 'frozen 1' "$frozen/cgroup.events"
	sleep 0.3
	echo 0 >"$frozen/cgroup.freeze"
	wait $!
	that "the freezer is named" grep -q "held back by the freezer of /${frozen##*/}" "$dir/out"
	[ ! -e "$frozen/cgroup.stat.local" ] ||
		that "with its time" test "$(of_last held_back_ns)" -ge 290000000
	wait_until rmdir "$frozen"
fi
finish
