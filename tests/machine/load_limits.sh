#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-load with limits for its slaves, which need the cpu and memory controllers of cgroup v2: weights show in the slaves' CPU time; a slave that
# exceeds its memory is named; nothing is left behind, and earlier runs are kept. Without the controllers: the message of emp-load. Usage: load_limits.sh BUILD
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
build=$(realpath "$1")
load=$build/measure/emp-load
cd "$dir" || exit 1
mkdir slaves
cp "$build/tests/machine/burn" . # from here it starts without waiting for a disk

# not_run WORDS: what cannot be had here
not_run() {
	[ $faults = 0 ] || finish
	echo "not run: $1"
	[ -z "${EMP_MUST_RUN:-}" ] || exit 1
	exit 77
}

# load_file: of the sections on standard input
load_file() {
	printf '[load]\ndirectory = %s\ntimeout = 300s\n' "$dir/slaves" >test.ini
	cat >>test.ini
}
delegate='systemd-run --scope -q -p Delegate=yes'
newest() { sqlite3 "$EMP_DB" "SELECT $1 FROM sample_program WHERE run = (SELECT max(run) FROM sample_program) $2"; }
runs() { sqlite3 "$EMP_DB" 'SELECT count(*) FROM sample'; }
cgroups() { find "$top" -type d -name 'emp-*-*-*'; }
nothing_left() {
	that "no directory is left" test -z "$(ls slaves)"
	that "no cgroup is left" test -z "$(cgroups)"
	that "no slave is left" test -z "$(pgrep -f "$load slave")"
}

top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
for controller in cpu memory; do
	grep -qw $controller "$top/cgroup.controllers" && continue
	name=$([ $controller = cpu ] && echo weight || echo memory)
	printf '[a]\n%s = 1000\ncommand = true\n' $name | load_file
	expect 1 "cgroup v2 has no $controller controller here" $load run -q test.ini
	echo "cgroup v2 has no $controller controller here: only the message was tried (tests/machine/in_vm.sh has a kernel with all of them)"
	finish
done
$delegate true || not_run "needs systemd, which gives a process a cgroup"

# ratio FIRST SECOND: of the CPU time of two slaves on one CPU, the second's to the first's, with these lines in their sections
ratio() {
	printf '%s\n' '[first]' 'repetitions = 1' "command = $dir/burn 1500" "$1" '[second]' 'repetitions = 1' "command = $dir/burn 1500" "$2" | load_file
	sed -i 's/\[load\]/&\ncpus = 0/' test.ini
	expect 0 'Rate of work' $delegate $load run -q -w 0 -r 1 test.ini
	newest 'pt_ns' 'ORDER BY program' | awk '{ pt[NR] = $1 } END { print pt[2] / pt[1] }'
}
is_within() { awk -v low="$1" -v high="$2" -v x="$3" 'BEGIN { exit !(x >= low && x <= high) }'; }

ratio=$(ratio 'nice = 0' 'nice = 0')
that "two slaves have the same: 1 : $ratio" is_within 0.7 1.4 "$ratio"
ratio=$(ratio 'weight = 100' 'weight = 300')
that "one has three times the other's weight and CPU time: 1 : $ratio" is_within 2.4 3.6 "$ratio"
echo "weights 100 : 300, CPU time 1 : $ratio"
that "both runs are kept" test "$(runs)" = 2
nothing_left

# A command that needs more than its slave may have; one that a shell does not miss; the slave itself.
over() { # LINE TEXT
	printf '%s\n' '[other]' 'repetitions = 3' 'command = sleep 0.1' '[hog]' "$@" | load_file
}
over 'memory = 64M' 'command = dd if=/dev/zero of=/dev/null bs=200M count=1'
expect 1 "slave 'hog' exceeded its memory limit, 64M: line 9, 'dd .*', was killed by signal 9" $delegate $load run -q test.ini
nothing_left
over 'memory = 65M' 'shell = dd if=/dev/zero of=/dev/null bs=200M count=1 || true'
expect 1 "slave 'hog' exceeded its memory limit, 65M" $delegate $load run -q test.ini
over 'memory = 64K' 'command = true'
expect 1 "slave 'hog' exceeded its memory limit, 64K" $delegate $load run -q test.ini
nothing_left
over 'memory = 256M' 'command = dd if=/dev/zero of=/dev/null bs=100M count=1'
expect 0 'Rate of work' $delegate $load run -q -w 0 -r 2 test.ini
that "the earlier runs are kept, beside the new ones" test "$(runs)" = 4
nothing_left

# In a cgroup with other processes.
expect 1 "has other processes, so it cannot pass on the memory controller: put 'systemd-run" \
	$delegate sh -c "$load run -q test.ini; exit \$?"
nothing_left

# ^C and kill -9.
over 'memory = 256M' 'command = true'
before=$(runs)
for signal in INT KILL; do
	$delegate env --default-signal=INT $load run -q -w 0 -r 1000 test.ini >said 2>&1 &
	pid=$!
	wait_until eval '[ "$(runs)" -gt $before ]'
	kill -$signal $pid
	wait $pid 2>/dev/null
	wait_until eval '[ -z "$(cgroups)" ]'
	before=$(($(runs) + 1))
	expect 0 '' $delegate $load run -q -w 0 -r 1 test.ini # removes the directory that the killed one has left
	nothing_left
done
finish
