#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-measure as a user types it, and as things go wrong. Usage: measure.sh BUILD
set -u
. "$(dirname "$0")/expect.sh"
need_root
build=$1
measure=$build/measure/emp-measure
burn=$build/tests/machine/burn

# a result
expect 0 '^  PT (mean ± σ) .* 95 % CI if iid ' $measure -q -r 5 --export-json "$dir/result.json" -- true
that "times are seconds, one a sample" json "$dir/result.json" \
	'len(d["results"][0]["times"]) == 5 and all(0 < t < 5 for t in d["results"][0]["times"])'
that "there is an emp object" json "$dir/result.json" \
	'd["results"][0]["emp"]["pt"]["raw"]["n"] == 5 and d["results"][0]["emp"]["backend"] == "bpf"'
that "each sample has its disturbance counters, under the old name too" json "$dir/result.json" \
	'len(d["results"][0]["emp"]["disturbance_counters"]) == 5 and "sentinels" not in d["results"][0]["emp"]'
expect 0 '' $measure -q -r 1 -w 0 --export-json "$dir/one.json" true 'sh -c :'
that "an interval that one sample does not show is null" json "$dir/one.json" \
	'd["comparisons"][0]["interval"] is None and all(emp["pt_interval_ns"] is None is emp["pt"]["kept"]["interval_ns"] for emp in (r["emp"] for r in d["results"]))'
expect 0 '' $measure -q -r 20 --cpu 0 --neighbour off --export-json "$dir/true.json" -- true
that "PT begins with ET: what EMP does before exec is not in it" json "$dir/true.json" \
	'(lambda emp: emp["before_exec_ns"] > 0 and all(0 < p < 1e9 * e + 50000 for p, e in zip(emp["pt_ns"], d["results"][0]["times"])))(d["results"][0]["emp"])'
taskset -c 0 sh -c 'while :; do :; done' &
loop=$!
expect 0 '' $measure -q -r 300 --cpu 0 --neighbour off -- true
kill $loop
that "PT and W are no longer than ET, also if the program loses the CPU after its end" test \
	"$(sqlite3 "$EMP_DB" 'SELECT count(*), sum(pt_ns + wait_ns > et_ns + 1000000) FROM sample WHERE run = (SELECT max(id) FROM run)')" = '300|0'
expect 0 'Not in PT: .* of CPU time per sample, before the program is executed' $measure -q -v -r 2 -- true
expect 0 'No profile: no sample is discarded because of a daemon' $measure -q -v -r 3 -- true
expect 0 "^sh -c 'exit 0' '' " $measure -q -r 2 -w 0 -- sh -c 'exit 0' ''

# programs that go wrong
expect 1 "command 'no-such-command' not found in PATH" $measure -- no-such-command
expect 0 'sleep 0.01' $measure -q -r 2 -- 'sleep 0.01'
expect 1 'cannot execute' $measure -- /etc/passwd
echo 'exit 0' >"$dir/plain"
echo '#!/no/such/shell' >"$dir/lost"
chmod +x "$dir/plain" "$dir/lost"
expect 1 'Exec format error; a script needs a #! line' $measure -q -- "$dir/plain"
expect 1 'the interpreter that its first line names, or its loader, is missing' $measure -q -- "$dir/lost"
expect 1 "ended with exit status 3 in warm-up 1; -i measures it anyway" $measure -q -- sh -c 'exit 3'
expect 1 'killed by signal 11 (SIGSEGV) in sample 1' $measure -q -w 0 -- sh -c 'kill -SEGV $$'
expect 0 'the program failed in 2 of 2 samples' $measure -q -i -r 2 -- sh -c 'exit 3'
expect 124 'ran longer than 100.0 ms' $measure -q --timeout 0.1 -- sleep 1234.$$
that "a time-out leaves nothing running" sh -c "! pgrep -fx 'sleep 1234.$$'"

# options that go wrong
expect 1 "unknown option '--no-such'" $measure --no-such -- true
expect 1 "runs must be a whole number from 1" $measure -r 0 -- true
expect 1 'too few arguments' $measure
expect 1 "no profile.*'nobody'\|'nobody'" $measure --profile nobody -- true
expect 1 'accounting must be auto, bpf, taskstats or none' $measure --accounting magic -- true
expect 1 'CPU 4000 does not exist: choose one of 0' $measure -q -r 2 --cpu 4000 -- true
expect 1 'cannot write' $measure -q -r 2 --export-json "$dir/none/x.json" -- touch "$dir/ran"
expect 1 'CPU 4000 does not exist: choose one of 0' $measure -q -r 2 --affinity 0,4000 -- touch "$dir/ran"
expect 1 "cannot write '': No such file" $measure -q -r 2 --export-json= -- touch "$dir/ran"
expect 1 'compares commands, and there is only one' $measure -q -r 2 --fail-if-slower 5 -- touch "$dir/ran"
expect 1 'two exports cannot share the file' $measure -q -r 2 --export-csv "$dir/x" --export-json "$dir/x" -- touch "$dir/ran"
expect 1 'it is a directory' $measure -q -r 2 --export-csv "$dir" -- touch "$dir/ran"
that "nothing was run for results that could not be written" test ! -e "$dir/ran"

# a locked machine
echo 'my thesis' >"$dir/lock"
flock "$dir/lock" sleep 1000 &
holder=$!
wait_until grep -q "FLOCK *ADVISORY *WRITE $holder " /proc/locks
EMP_LOCK=$dir/lock expect 1 "flock (process $holder, since .*) has locked this machine.*--ignore-lock" \
	$measure -q -r 2 -- true
EMP_LOCK=$dir/lock expect 0 'PT (mean' $measure -q -r 2 --ignore-lock -- true
EMP_LOCK=$dir/lock expect 0 'PT (mean' $measure -q -r 2 --anyway -- true
pkill -P $holder
wait $holder 2>/dev/null
EMP_LOCK=$dir/lock expect 0 'PT (mean' $measure -q -r 2 -- true
that "a file that is no lock stays as it is" test "$(cat "$dir/lock")" = 'my thesis'

# stopped amid the first sample (as by ^Z), and continued a second later
stopped_amid() { # the program runs until the file "go" is there, and starts nothing: a shell that waits for its child's exec does not stop
	setsid $measure -q -v -r 2 -w 0 --export-json "$dir/stopped.json" -- sh -c 'touch "$0/started"; until [ -e "$0/go" ]; do :; done' "$dir" &
	pid=$!
	wait_until test -e "$dir/started"
	kill -STOP -- -$pid
	wait_until sh -c "! ps -o stat= -s $pid | grep -v '^[TZ]'"
	stopped_ns=$(date +%s%N)
	sleep 1 # so long is the stop
	touch "$dir/go"
	kill -CONT -- -$pid
	wait $pid
}
expect 0 '1 sample was stopped (^Z) and taken again' stopped_amid
that "the stop is in no sample" json "$dir/stopped.json" \
	"[start > $stopped_ns for start in d['results'][0]['emp']['start_ns']] == [True, True]"

# names that are no UTF-8, descriptors that are not there
expect 0 "^echo '.xff.xfe'  *run" $measure -q -r 2 --export-json "$dir/bytes.json" -- echo $'\xff\xfe'
that "the document is still JSON" json "$dir/bytes.json" 'd["results"][0]["command"] == r"echo '"'"'\xff\xfe'"'"'"'
closed() { "$@" >&-; }
expect 1 'cannot write to standard output: Bad file descriptor' closed $measure -q -r 2 -- true
expect 1 'cannot write to standard output: No space' sh -c "$measure -q -r 2 -- true >/dev/full"
expect 1 'cannot write to standard output: No space' sh -c "$measure -q -r 20 --json -- true >/dev/full"
expect 0 '' sh -c "$measure -q -r 2 -- cat <&-"
reader_gone() { # it prints to a pipe that nobody reads
	python3 -c 'import os, signal, sys; signal.signal(signal.SIGPIPE, signal.SIG_DFL); r, w = os.pipe(); os.close(r); os.dup2(w, 1); os.execvp(sys.argv[1], sys.argv[1:])' "$@" &
	pid=$!
	wait $pid
}
expect 1 'cannot write to standard output: Broken pipe' reader_gone $measure -q -r 2 -- sh -c 'grep SigBlk /proc/self/status >"$0"' "$dir/blocked"
that "its cgroup is removed" test -z "$(cgroups_of $pid)"
that "the program has no signal blocked" grep -q ':[[:space:]]*0*$' "$dir/blocked"
expect 1 "unknown option '-x'" $measure -q -xy true
that "nothing is printed without samples" sh -c "! $measure -q -- false | grep ."

# orphans: counted in a cgroup, said to be partial without one
expect 0 '' $measure -q -r 2 -w 0 --export-json "$dir/orphan.json" -- $burn --orphan 150
that "an orphan's CPU time is counted" json "$dir/orphan.json" \
	'all(149e6 <= t <= 158e6 for t in d["results"][0]["emp"]["pt_ns"]) and not d["results"][0]["emp"]["pt_partial"]'
no_cgroup='awk "\$(NF-2) == \"cgroup2\" || / - cgroup2 / { print \$5 }" /proc/self/mountinfo | while read m; do umount -l "$m"; done'
expect 0 '^  No cgroup v2 (see -v): orphans are not counted in PT$' unshare -m sh -c "$no_cgroup; exec \"\$@\"" sh $measure -q -v -r 2 -- $burn --orphan 50
expect 0 'PT is partial: .*no cgroup v2 is mounted' env COLUMNS=120 unshare -m sh -c "$no_cgroup; exec \"\$@\"" sh $measure -q -v -r 2 -- $burn --orphan 50

# backends
touch "$dir/storm" # of processes that end while a sample is evaluated
while [ -e "$dir/storm" ]; do env true; done &
for _ in 1 2 3 4 5; do expect 0 'Accounting: taskstats' $measure -q -v -r 2 --accounting taskstats -- true; done
rm "$dir/storm"
wait $!
expect 0 '^  Accounting off (--accounting none): daemons not named$' $measure -q -v -r 2 --accounting none -- true
: >"$dir/empty"
expect 0 'Accounting: taskstats (.*bpf' unshare -m sh -c "mount -t tmpfs none /sys/kernel/btf && exec \"\$@\"" sh $measure -q -v -r 2 -- true

# an ordinary user
chmod 755 "$dir"
install -d -o 65534 "$dir/nobody"
expect 0 '^  Accounting off (needs root or file capabilities): daemons, orphans not counted$' setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$dir/nobody" EMP_DB= XDG_DATA_HOME= \
	$measure -q -v -r 3 -- true
that "the ordinary user has a book of its own" test -s "$dir/nobody/.local/share/emp/emp.db"

cp "$(command -v setpriv)" "$dir/become"
chmod 4755 "$dir/become"
for command in "'$dir/become' --reuid 0 sleep 1234.$$" "sh -c \"'$dir/become' --reuid 0 sleep 1234.$$ & sleep 0.3\""; do
	expect 1 "^emp-measure: this user may not kill \('$dir/become'\|the 1 process that the program left\)" timeout 300 \
		setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$dir/nobody" EMP_DB= XDG_DATA_HOME= \
		$measure -q -w 0 -r 1 --timeout 2s --linger 1s "$command"
	pkill -fx "sleep 1234.$$"
done

has_samples() { # N: the newest run has at least so many
	[ "$(sqlite3 "$EMP_DB" 'SELECT count(*) FROM sample WHERE run = (SELECT max(id) FROM run)')" -ge "$1" ]
}

# ^C in the middle
before=$(sqlite3 "$EMP_DB" 'SELECT max(id) FROM run')
env --default-signal=INT $measure -q -r 1000 -- sleep 0.05 >"$dir/interrupted" 2>&1 &
wait_until sh -c "[ \$(sqlite3 '$EMP_DB' 'SELECT max(id) FROM run') -gt $before ]"
wait_until has_samples 6
kill -INT $!
wait $!
that "^C is exit status 130" test $? = 130
that "^C is reported" grep -q 'interrupted: run [0-9]* keeps the [0-9]* samples' "$dir/interrupted"
that "the book is sound" sound "$EMP_DB"
that "the samples before are in the book" test "$(sqlite3 "$EMP_DB" "SELECT count(*) > 5 FROM sample JOIN run ON run.id = run WHERE state = 'interrupted'")" = 1

# ^C in a command between samples is the whole terminal's
env --default-signal=INT setsid $measure -q -r 1000 -w 0 --prepare ": >'$dir/preparing'; exec sleep 1000" -- true >"$dir/interrupted" 2>&1 &
wait_until test -e "$dir/preparing"
kill -INT -- -$!
wait $!
that "^C in --prepare is exit status 130" test $? = 130
that "^C before the first sample is reported" grep -q 'interrupted before the first sample' "$dir/interrupted"

# nohup: HUP does not count
expect 0 'Kept [0-9]* of 10' sh -c 'trap "" HUP; "$@" & until [ -e "$0" ]; do sleep 0.05; done; kill -HUP $!; wait $!' \
	"$dir/running" $measure -q -r 10 -- sh -c 'touch "$0"; sleep 0.1' "$dir/running"

# kill -9 in the middle
before=$(sqlite3 "$EMP_DB" 'SELECT max(id) FROM run')
$measure -q -r 1000 -- sleep 0.05 >/dev/null 2>&1 &
wait_until sh -c "[ \$(sqlite3 '$EMP_DB' 'SELECT max(id) FROM run') -gt $before ]"
wait_until has_samples 6
killed=$(sqlite3 "$EMP_DB" 'SELECT max(id) FROM run')
analyze=$build/analyze/emp-analyze
gives "a run is shown as running" "d['state'] == 'running'" $analyze show --json "$killed"
expect 0 "^Run $killed is still running, and has [0-9]* samples$" $analyze compare "$killed" "$killed"
kill -KILL $!
wait $! 2>/dev/null
gives "and as interrupted after its process was killed" "d['runs'][-1]['state'] == 'interrupted'" $analyze list --json
expect 0 ", interrupted$" $analyze show "$killed"
expect 0 "^Run $killed was interrupted after [0-9]* samples$" $analyze compare "$killed" "$before"
gives "in documents, too" "[r['state'] for r in d['runs']] == ['interrupted', 'done']" $analyze compare --json "$killed" "$before"
expect 0 "^Run $killed was interrupted after" $analyze cutoffs --force --short "$before" --long "$killed" --save cut
expect 0 "^Run $killed was interrupted after" "$build/calibrate/emp-calibrate" profile show cut
"$build/calibrate/emp-calibrate" profile remove cut
that "the book is sound after kill -9" sound "$EMP_DB"
that "no sample but the one in flight is lost" test "$(sqlite3 "$EMP_DB" "SELECT max(n) = count(*) AND count(*) > 5 FROM sample WHERE run = (SELECT max(id) FROM run)")" = 1

# a profile from another environment: what is different is named
"$build/calibrate/emp-calibrate" -q run --short 0.02x10 --long 0.1x4 --save here --anyway --force >/dev/null 2>&1
sqlite3 "$EMP_DB" "DELETE FROM cutoff" # whatever else ran meanwhile is no reason to discard
expect 0 'PT (mean' $measure -q -r 2 --profile here -- true
that "nothing is said where nothing changed" sh -c "! grep -q 'may not hold' '$dir/out'"
sqlite3 "$EMP_DB" "INSERT INTO environment(digest, document) SELECT 'dull', json_set(document, '$.settings.of_another_version', 1) FROM environment
	WHERE document IS NOT NULL LIMIT 1; UPDATE profile SET environment_digest = 'dull' WHERE name = 'here'"
expect 0 'PT (mean' $measure -q -v -r 2 --profile here -- true
that "nor where the digest is another, and nothing that matters" sh -c "! grep -q 'may not hold\|another environment' '$dir/out'"
expect 0 'None: the profile holds' "$build/setup/emp-setup" verify here
sqlite3 "$EMP_DB" "INSERT INTO environment(digest, document) SELECT 'older', json_set(document, '$.identity.kernel.release', '1.2.3') FROM environment
	WHERE document IS NOT NULL LIMIT 1; UPDATE profile SET environment_digest = 'older' WHERE name = 'here'"
expect 0 "Warning: profile 'here' may not hold: kernel.release was '1.2.3'" $measure -q -v -r 2 --profile here -- true
run=$(sqlite3 "$EMP_DB" 'SELECT max(id) FROM run')
expect 0 "Warning: profile 'here' may not hold: kernel.release was '1.2.3', is '" env COLUMNS=120 "$build/analyze/emp-analyze" show -v "$run"
that "it is the first of the warnings" test "$(sqlite3 "$EMP_DB" "SELECT kind FROM note WHERE run = $run AND n = 1")" = profile
expect 0 'Kept' "$build/analyze/emp-analyze" show -v "$run"
that "all of it with -v" sh -c "tr -s '\\n ' ' ' <'$dir/out' | grep -q \"('emp-setup verify here' says what to repeat)\""
expect 0 "Since profile 'here' was made: .*kernel.release was .1.2.3., is" $measure -q -v -r 2 --profile here -- true
"$build/calibrate/emp-calibrate" profile import "$(dirname "$0")/../../profiles/paper-rhel6.4.json" >/dev/null
that "an imported profile is used (status 3: its daemons ran)" sh -c '"$@"; s=$?; [ $s = 0 ] || [ $s = 3 ]' sh $measure -q -r 2 --profile paper-rhel6.4 -- true
that "in a run of its own" test "$(sqlite3 "$EMP_DB" "SELECT profile FROM run ORDER BY id DESC LIMIT 1")" = paper-rhel6.4

# a full disk
full='mount -t tmpfs -o size=256k none "$0" && EMP_DB="$0/book.db" "$@"; s=$?; sqlite3 "$0/book.db" "PRAGMA integrity_check" >"$0/../sound"; exit $s'
mkdir "$dir/full"
expect 1 'goes on in a copy' env TMPDIR="$dir" unshare -m sh -c "$full" "$dir/full" $measure -q -r 1000 -- true
that "the book on the full disk is sound" grep -qx ok "$dir/sound"

# output of the program
expect 0 '^hello$' $measure -q -r 1 -w 0 --show-output -- echo hello
# A sanitizer must be the first library of a program, and env has none.
grep -q __asan_ "$build/lib/clock/libemp-clock-preload.so" ||
	expect 0 '^LD_PRELOAD=.*/libemp-clock-preload.so$' $measure -q -r 1 -w 0 --show-output --fast-clock -- env
$measure -q -r 1 -w 0 -- echo hello >"$dir/silent"
that "the program's output is not ours" sh -c "! grep -qx hello '$dir/silent'"
printf '1\n2\n3\n' | while read -r line; do
	$measure -q -r 1 -w 0 --style none --show-output -- cat >/dev/null
	echo "$line"
done >"$dir/lines"
that "the caller's input is not the program's" test "$(tr -d '\n' <"$dir/lines")" = 123

# the terminal of a program that ends before it has put it back
for end in "sleep 1000" "kill -KILL \$\$" "exit 3"; do
	raw="stty raw -echo </dev/tty; $end"
	that "the terminal is as before after '$end'" sh -c 'test "$1" = "$2"' '' "$(
		TERMINAL="$measure -q -w 0 -r 1 --timeout 1s -S sh --style none -- '$raw'" \
			script -qec 'stty -g; eval "$TERMINAL" >/dev/null 2>&1; stty -g' /dev/null </dev/null |
			tr -d '\r' | uniq | wc -l)" 1
done

for hook in setup prepare conclude cleanup; do # likewise
	for end in 'exit 3' 'kill -INT $PPID; exec sleep 1000'; do
		that "the terminal is as before after --$hook with '$end'" sh -c 'test "$1" = "$2"' '' "$(
			COMMAND="stty raw -echo </dev/tty; $end" TERMINAL="$measure -q -w 0 -r 1 --style none --$hook \"\$COMMAND\" true" \
				script -qec 'stty -g; eval "$TERMINAL" >/dev/null 2>&1; stty -g' /dev/null </dev/null |
				tr -d '\r' | uniq | wc -l)" 1
	done
done

# what --prepare began is concluded
expect 1 'ended with exit status 1 in sample 1' $measure -q -r 3 -w 0 --conclude "echo failed >>'$dir/concluded'" -- false
expect 124 'ran longer' $measure -q -r 3 -w 0 --timeout 10ms --conclude "echo late >>'$dir/concluded'" -- sleep 1000
expect 1 "^emp-measure: --prepare 'false' ended" $measure -q -r 3 -w 0 --prepare false --conclude "echo not >>'$dir/concluded'" -- true
$measure -q -r 3 -w 0 --conclude "echo interrupted >>'$dir/concluded'" -- sleep 1000 2>/dev/null &
wait_until pgrep -P $! -x sleep
kill -TERM $!
wait $!
that "once for each sample that began" test "$(tr '\n' ' ' <"$dir/concluded")" = "failed late interrupted "

# what the program leaves behind
expect 0 '^  2 processes left behind in 2 of 2 samples: in PT, not in ET\(; [0-9]* more (-v)\)\?$' \
	$measure -q -r 2 -w 0 --cpu 0 --neighbour off --export-json "$dir/left.json" -- "$burn" --orphan 60
that "its PT is no part of ET" sh -c "! grep -q 'on CPU\|impossible' '$dir/out'"
that "how long it waited is not known" test \
	"$(sqlite3 "$EMP_DB" 'SELECT count(*), sum(wait_ns IS NULL) FROM sample WHERE run = (SELECT max(id) FROM run)')" = '2|2'
# hooks between the samples make short programs longer, and long ones hardly
expect 0 'PT may be about 0.1 ms (.* %) longer because of --prepare' $measure -v -q -r 2 --prepare true -- true
expect 0 'longer because of --conclude' $measure -v -q -r 2 --conclude true -- true
expect 0 'PT (mean' $measure -v -q -r 2 --setup true --cleanup true -- true
that "hooks that run once do not matter" test "$(grep -c 'longer because' "$dir/out")" = 0
expect 0 'PT (mean' $measure -v -q -r 2 --prepare true -- "$build/calibrate/emp-inc" --iterations 200000000
that "nor do they to a program of more than 5 ms" test "$(grep -c 'longer because' "$dir/out")" = 0

# Figures for other services: see also analyze-commits.sh.
expect 0 '' $measure -q -r 3 -n 'one, "1"' -n two --export bencher="$dir/b.json" --export github-action-benchmark="$dir/g.json" \
	--export otava-csv="$dir/o.csv" true 'sleep 0.01'
that "bencher has both clocks, with their intervals" json "$dir/b.json" 'd["two"]["latency"]["lower_value"] < d["two"]["latency"]["value"] < d["two"][
	"latency"]["upper_value"] and d["two"]["latency"]["value"] > 1e7 and set(d["one, \"1\""]) == {"cpu-time", "latency"} and "latency-ratio" in d["two"]'
that "github-action-benchmark has the same" json "$dir/g.json" '[x["unit"] for x in d if x["name"] == "two: latency"] == ["ns"] and d[0]["range"].startswith("±")'
that "otava-csv is a heading and a row" python3 -c 'import csv, sys
head, row = csv.reader(open(sys.argv[1]))
assert head[:2] == ["time", "one, \"1\": cpu-time"] and len(head) == len(row) == len(set(head)) and float(row[1]) > 0, head' "$dir/o.csv"
expect 0 '^{$' $measure -q -r 2 --export bencher=- true
expect 1 "'bencher=x' is a second bencher" $measure -r 2 --export bencher=- --export bencher=x true
expect 1 "must be bencher, github-action-benchmark or otava-csv, not 'benchr' (did you mean 'bencher'?)" $measure --export benchr=x true
expect 1 'two exports cannot share the file' $measure --export bencher="$dir/x" --export-json "$dir/x" true
finish
