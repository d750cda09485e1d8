#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A calibration is killed (kill -9) 50 times in a row and resumed each time: every other time at a random moment after its start, otherwise
# at a random moment after its first new sample, however long that takes. No sample except the one in flight is lost, none is stored twice, the
# book is intact, and nothing is left on the machine. Usage: cut_off.sh BUILD [TIMES]
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
build=$1 times=${2:-50}
calibrate=$build/calibrate/emp-calibrate
short=$((12 * times)) long=20

$calibrate constant >/dev/null || exit 1
query() { sqlite3 -cmd '.timeout 60000' "$EMP_DB" "$1"; }
all=0 running=0 most=0
for i in $(seq "$times"); do
	before=$(query 'SELECT count(*) FROM sample')
	$calibrate -q run --resume --short 0.02x$short --long 0.1x$long --save cut --ignore-audit --force >"$dir/run" 2>&1 &
	pid=$!
	if [ $((i % 2)) = 0 ]; then
		while [ "$(query 'SELECT count(*) FROM sample')" = "$before" ] && kill -0 $pid 2>/dev/null; do
			sleep 0.02
		done
		sleep 0.$(printf %03d $((RANDOM % 150)))
	else
		sleep 0.$(printf %03d $((RANDOM % 500)))
	fi
	# the book as another process sees it at this moment: what is in it must still be there afterwards
	seen=$(query 'SELECT count(*) FROM sample')
	kill -9 $pid 2>/dev/null || { sed 's/^/    /' "$dir/run"; break; }
	wait $pid 2>/dev/null
	"$build/analyze/emp-analyze" list >/dev/null # stores the samples that were not in the book yet
	after=$(query 'SELECT count(*) FROM sample')
	[ "$after" -ge "$seen" ] && [ "$seen" -ge "$before" ] || { echo "FAULT: $before, $seen, then $after samples"; faults=$((faults + 1)); }
	all=$((all + 1)) running=$((running + (after > before))) most=$((after - before > most ? after - before : most))
	pids="${pids:-} $pid"
done
echo "killed $all times, $running of them after new samples (up to $most)"
that "it was killed $times times" test $all = "$times"
that "samples were being taken at half of these moments" test $running -ge $((times / 2))
that "the book is sound after them" sound "$EMP_DB"
expect 0 "Profile 'cut'" $calibrate -q run --resume --save cut
that "the book is sound in the end" sound "$EMP_DB"
that "every sample is there once" test "$(query "SELECT group_concat(kind || c || ' ' || a || '-' || b, ', ')
	FROM (SELECT kind, count(*) AS c, min(n) AS a, max(n) AS b FROM run JOIN sample ON id = run GROUP BY run)")" = "short$short 1-$short, long$long 1-$long"
that "samples follow each other in time" test "$(query 'SELECT count(*) FROM sample AS a JOIN sample AS b ON a.run = b.run AND b.n = a.n + 1
	WHERE b.start_ns < a.start_ns + a.et_ns')" = 0
that "all of INC's runs are as long as one" test "$(query 'SELECT min(pt_ns) > 0.5 * max(task_length_ns) FROM sample JOIN run ON id = run GROUP BY run' | sort -u)" = 1
that "the resume points are in the book" test "$(query 'SELECT count(*) FROM resume_point')" -ge $((running - 1))
for pid in $pids; do
	that "no cgroup of process $pid is left" test -z "$(cgroups_of "$pid")"
done
that "the lock is free" flock -n "$EMP_LOCK" true
that "no INC is left" test -z "$(pgrep -f "^inc --iterations $(query "SELECT json_extract(command, '\$[2]') FROM run WHERE kind = 'short'")\$")"
finish
