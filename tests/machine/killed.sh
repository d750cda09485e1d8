#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tools are killed (kill -9) at random moments. Their traces and processes are gone soon after, and their cgroups and directories with the
# next tool that runs as root. What is left if the guard of a trace is killed too does not record, is named by emp-setup, and goes likewise; what
# has an owner, or is not EMP's, stays. Usage: killed.sh BUILD [TIMES]
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
. "$(dirname "$0")/tracefs.sh"
build=$(realpath "$1") times=${2:-5}
cpu=$(taskset -cp $$ | sed 's,.*[ ,-],,') # the last that is online
setup=$build/setup/emp-setup
export TMPDIR=$dir
! grep -q '^flags' /proc/cpuinfo || grep -qw nonstop_tsc /proc/cpuinfo || no_invariant_counter
cp "$(command -v sleep)" "$dir/napper" # a name of its own, to look for
cat >"$dir/test.ini" <<END
[load]
directory = $dir
[script]
slaves = 3
repetitions = 1
command = $dir/napper 0.05
END

traces_of() { find "$tracing/instances" -maxdepth 1 -name "emp-trace-$1-*"; }
directories_of() { find "$dir" -maxdepth 1 -name "emp-load-$1-*"; }
none_runs() { [ -z "$(traces_of $pid)" ] && ! pgrep -x napper && ! cgroups_of $pid | sed 's,$,/cgroup.procs,' | xargs -r cat | grep -q .; }

# kill_at_random SECONDS COMMAND...: within so many seconds after its start
there=0
kill_at_random() {
	within=$1
	shift
	"$@" >"$dir/screen" 2>&1 &
	pid=$!
	pids="${pids:-} $pid"
	sleep $((RANDOM % within)).$(printf %03d $((RANDOM % 1000)))
	there=$((there + $({ traces_of $pid; cgroups_of $pid; directories_of $pid; } | wc -l)))
	kill -9 $pid || sed 's/^/    /' "$dir/screen"
	wait $pid 2>/dev/null
	wait_until none_runs
}
for _ in $(seq "$times"); do
	kill_at_random 3 "$build/measure/emp-measure" --trace --cpu $cpu -r 100000 -- "$dir/napper" 0.01
	kill_at_random 3 "$build/calibrate/emp-calibrate" jitter -q --cpu $cpu --for 1h
	kill_at_random 2 "$build/measure/emp-load" run -q -r 1000 "$dir/test.ini"
done
that "there was something to remove" test "$there" -gt 0
expect 0 '' "$setup" restore
for pid in $pids; do
	that "no trace, cgroup and directory of $pid is left" test -z "$(traces_of $pid)$(cgroups_of $pid)$(directories_of $pid)"
done

# Another EMP of root may remove what is left before it is looked at: then once more. What has been looked at is there until afterwards.
look() {
	env COLUMNS=500 "$setup" status >"$dir/status" 2>&1
	"$setup" status --json >"$dir/status.json"
	"$setup" audit -v >"$dir/audit"
}
until_seen() { # COMMAND...: leaves something behind, and `is_left` while it is there
	for _ in $(seq 20); do
		"$@"
		look
		is_left && return
	done
	return 1
}

# A duet in the middle of a slice, killed with its guard: a cgroup is left, wherever the next tool runs.
leave_cgroup() {
	EMP_DB=$dir/duet.db unshare -p -f --mount-proc "$build/measure/emp-measure" -q --order duet --cpu $cpu --accounting none \
		--slices-by freezer --slice 100ms -r 1 -w 0 "$dir/napper 1000" "$dir/napper 1001" >"$dir/screen" 2>&1 &
	parent=$!
	wait_until pgrep -x napper
	namespace=$(stat -Lc %i /proc/$(pgrep -nx napper)/ns/pid)
	kill -9 "$(pgrep -P $parent)"
	wait $parent 2>/dev/null
}
cgroups_left() { find /sys/fs/cgroup -type d -name "emp-$namespace-*"; }
is_left() { [ -n "$(cgroups_left)" ]; }
that "a cgroup is left" until_seen leave_cgroup
that "it is named" grep -q "Left behind by a killed EMP: cgroup .*/emp-$namespace-1-0\$" "$dir/status"
expect 0 '' "$setup" restore
that "it is removed, with those in it" test -z "$(cgroups_left)"

# With its namespace of process ids, its guard is killed as well.
start_in_namespace() { # NAME
	rm -rf "$dir/$1"
	mkdir "$dir/$1"
	EMP_DB=$dir/$1/book.db EMP_LOCK=$dir/$1/lock unshare -p -f --mount-proc env --default-signal=INT \
		"$build/calibrate/emp-calibrate" jitter -q --cpu $cpu --for 1h >"$dir/$1/screen" 2>&1 &
	parent=$!
	wait_until grep -q Observing "$dir/$1/screen"
	child=$(pgrep -P $parent)
	trace=$(ls "$tracing/instances" | grep emp-trace-1- | grep -vxF "$before")
}
before=$(ls "$tracing/instances")
start_in_namespace living
living=$trace living_child=$child living_parent=$parent
before="$before
$living"
mkdir "$tracing/instances/emp-trace-of-mine" "$dir/emp-load-backup" "$dir/emp-load-1-2-resultsX"
leave_trace() {
	start_in_namespace killed
	left=$trace
	kill -9 "$child"
	wait $parent 2>/dev/null
}
is_left() { cat "$tracing/instances/$left/tracing_on" >"$dir/recording" 2>&1; }
that "a trace is left" until_seen leave_trace
that "it does not record" grep -qx 0 "$dir/recording"
that "the other records" test "$(cat "$tracing/instances/$living/tracing_on")" = 1
that "it is named" grep -q "Left behind by a killed EMP: trace $left\$" "$dir/status"
that "the way out is named" grep -q 'emp-setup restore' "$dir/status"
that "what records is named" grep -q "traced by: .*$living" "$dir/status"
that "what has an owner is not left behind" sh -c "! grep -q 'Left.*$living' '$dir/status'"
that "the document says so, too" json "$dir/status.json" '({"kind": "trace", "path": "'$left'"} in d["left"] and "'$living'" in d["traced_by"])'
that "the audit says so" grep -q "^left .*trace $left" "$dir/audit"
that "and who records" grep -q "^trace .*recorded by .*$living" "$dir/audit"
expect 0 '' "$setup" restore
that "it is removed" test ! -e "$tracing/instances/$left"
that "the living one's stays" test "$(cat "$tracing/instances/$living/tracing_on")" = 1
for stranger in "$tracing/instances/emp-trace-of-mine" "$dir/emp-load-backup" "$dir/emp-load-1-2-resultsX"; do
	that "$stranger stays" rmdir "$stranger"
done
kill -INT "$living_child"
wait $living_parent
that "the living one ends as usual" grep -q 'interrupted. Next' "$dir/living/screen"
that "and its trace with it" test ! -e "$tracing/instances/$living"
finish
