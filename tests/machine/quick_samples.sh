#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-measure is killed (kill -9) 20 times while it takes quick samples, each time at a random moment: all samples taken are in the book, except
# the one in flight. The program counts its own runs. Usage: quick_samples.sh BUILD [TIMES]
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
build=$1 measure=$1/measure/emp-measure times=${2:-20} warm_ups=3
cd "$dir" || exit 1
random_seed

all=0
for _ in $(seq "$times"); do
	rm -f runs
	$measure -q -w $warm_ups -N -r 100000 -- sh -c 'echo >>runs' >out 2>&1 &
	pid=$!
	wait_until test -e runs || break
	sleep 0.$(printf %03d $((RANDOM % 400)))
	kill -9 $pid || { cat out; break; }
	wait $pid 2>/dev/null
	# first the program's count: the one in flight may be about to run
	ran=$(($(wc -l <runs) - warm_ups))
	$build/analyze/emp-analyze list >out || cat out # stores what waited beside the book
	that "nothing waits any more" test ! -e "$EMP_DB-pending"
	kept=$(sqlite3 "$EMP_DB" 'SELECT count(*) FROM sample WHERE run = (SELECT max(id) FROM run)')
	that "at most one of $ran samples is lost, not $((ran - kept))" test "$kept" -ge $((ran - 1))
	that "the book is sound" sound "$EMP_DB"
	all=$((all + kept)) done=$((${done:-0} + 1))
done
echo "$all samples outlived ${done:-0} kills"
that "it was killed $times times" test "${done:-0}" = "$times"
that "samples were taken at these moments" test $all -gt "$times"
that "samples of each run are numbered from 1 on" test "$(sqlite3 "$EMP_DB" 'SELECT count(*) FROM
	(SELECT max(n) = count(*) AS whole FROM sample GROUP BY run) WHERE NOT whole')" = 0
expect 0 '' $measure -q -r 2 -- true
that "what was left is removed by the next" test -z "$(cgroups_of $pid)"
finish
