#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Probes for a neighbour, on the real processor: what the program does is not taken for a neighbour, and the time of the probes is in none
# of its times. Whether there is a neighbour is not ours to decide: no check depends on it. Usage: neighbour.sh BUILD
set -u
. "$(dirname "$0")/../cli/expect.sh"
build=$1 measure=$1/measure/emp-measure inc=$1/calibrate/emp-inc
cpu=$(($(nproc) - 1))
of_run() { sqlite3 "$EMP_DB" "SELECT $2 FROM sample WHERE run = $1"; }

# A program that takes a branch a cycle, and one that takes few, in turn: if the probes saw the program, the first would have a neighbour
# all the time and the second none.
expect 0 "Verdict" $measure -q --ignore-lock --cpu "$cpu" -r 10 --neighbour off "$inc --branches 150000000" "$inc --iterations 150000000"
that "each sample was probed" test "$(sqlite3 "$EMP_DB" "SELECT count(*) FROM sample WHERE neighbour_ppm >= 0 AND probe_ns > 0")" = 20
apart=$(sqlite3 "$EMP_DB" "SELECT abs((SELECT avg(neighbour_ppm) FROM sample WHERE run = 1) - (SELECT avg(neighbour_ppm) FROM sample WHERE run = 2)) < 500000")
that "the program is not taken for a neighbour" test "$apart" = 1

# A fifth of the time for probes, beside another program on the CPU: neither is in ET - PT - W.
taskset -c "$cpu" sh -c 'while :; do :; done' &
other=$!
expect 0 'Kept' $measure -q --ignore-lock --cpu "$cpu" -r 10 --neighbour off --probe 20% "$inc --iterations 300000000"
kill $other
wait $other 2>/dev/null
that "probes took more than a twentieth of the samples" test "$(of_run 3 'sum(probe_ns) * 20 > sum(pt_ns)')" = 1
that "ET is PT and W" test "$(of_run 3 'max(et_ns - pt_ns - wait_ns) < avg(et_ns) / 50')" = 1
that "W is no less than nothing" test "$(of_run 3 'min(wait_ns) >= 0')" = 1

# A sibling that this machine sees: who ran there is named. The kernel's list is made up, since virtual machines seldom have one.
if [ "$cpu" -gt 0 ] && [ "$(id -u)" = 0 ]; then
	echo "0,$cpu" >"$dir/siblings"
	cp "$1/tests/machine/burn" "$dir/beside"
	nice -n -10 taskset -c 0 "$dir/beside" 600000 &
	other=$!
	expect 0 'Same core (CPU 0): .*beside [0-9]' unshare -m sh -c "mount --bind '$dir/siblings' /sys/devices/system/cpu/cpu$cpu/topology/thread_siblings_list
		exec $measure -q --ignore-lock --cpu $cpu -r 3 -- $inc --iterations 300000000"
	kill $other
	wait $other 2>/dev/null
fi

# Not asked for
expect 0 'Kept' $measure -q --ignore-lock --cpu "$cpu" -r 2 --probe off -- "$inc" --iterations 1000000
that "not probed" test "$(of_run 5 'count(neighbour_ppm)')" = 0
expect 0 'Kept' $measure -q --ignore-lock -r 2 -- "$inc" --iterations 1000000
that "not probed without a CPU" test "$(of_run 6 'count(neighbour_ppm)')" = 0
expect 1 'name the one' $measure --probe 1% -- "$inc" --iterations 1000000
expect 1 'at most 20' $measure --cpu "$cpu" --probe 21% -- "$inc" --iterations 1000000
# Probes that do not get the CPU are given up, and a signal ends the run: another task has it, of a higher real-time priority.
if [ "$cpu" -gt 0 ] && taskset -c "$cpu" chrt -f 50 true 2>/dev/null; then
	taskset -c "$cpu" chrt -f 50 "$1/tests/machine/burn" 20000 &
	other=$!
	sleep 0.2
	begun=$(date +%s)
	timeout -s INT 1 $measure -q --ignore-lock --cpu "$cpu" -r 2 -- "$inc" --iterations 1000000 >"$dir/interrupted" 2>&1
	that "a signal is answered" test "$(($(date +%s) - begun))" -lt 10
	kill -9 $other
	wait $other 2>/dev/null
fi

# The time of the probes is not taken out of a sleep, which they do not make longer, whether W is known or not.
slept() { sqlite3 "$EMP_DB" "SELECT min(et_ns) >= 500000000 FROM sample WHERE run = (SELECT max(id) FROM run)"; }
for accounting in auto none; do
	expect 0 'Kept' $measure -q --ignore-lock --cpu "$cpu" -r 3 --neighbour off --probe 20% --accounting $accounting -- sh -c 'sleep 0.5; true'
	that "a sleep is no shorter ($accounting)" test "$(slept)" = 1
done
expect 0 'left behind' $measure -q --ignore-lock --cpu "$cpu" -r 2 --neighbour off --probe 20% -- sh -c 'sleep 0.7 & sleep 0.5; true'
that "beside processes left behind" test "$(slept)" = 1
finish
