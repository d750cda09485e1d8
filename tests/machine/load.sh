#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# emp-load: the barrier, the three coordinations, and slaves that fail, hang, are killed, leave processes behind or fill the disk; ^C and kill -9 of
# the driver. Whatever happens, no process, cgroup or file is left, and earlier runs are kept. Usage: load.sh BUILD
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
shipped=$(cd "$(dirname "$0")/../../profiles/loads" && pwd)
build=$1 load=$1/measure/emp-load analyze=$1/analyze/emp-analyze
cd "$dir" || exit 1
mkdir slaves
cp "$(command -v sleep)" ./waiter # a name of its own, to look for
cp "$build/tests/machine/burn" .
PATH=$dir:$PATH

# load_file SLAVES REPETITIONS LINE...: the load of one script
load_file() {
	printf '[load]\ndirectory = %s\ntimeout = 60s\n[script]\nslaves = %d\nrepetitions = %d\n' "$dir/slaves" "$1" "$2" >test.ini
	shift 2
	printf '%s\n' "$@" >>test.ini
}

# nothing_left NAME: no process of that name runs, no cgroup and no directory of a load is there.
nothing_left() {
	that "no '$1' is left" test -z "$(pgrep -x "$1")"
	that "no directory is left" test -z "$(ls slaves)"
}
runs() { sqlite3 "$EMP_DB" 'SELECT count(*) FROM sample'; }
newest() { sqlite3 "$EMP_DB" "SELECT $1 FROM sample_program WHERE run = (SELECT max(run) FROM sample_program) $2"; }

# Each does its share, none before the barrier, and those with a constant load do more.
for coordination in before no-teardown constant-load; do
	load_file 4 3 'setup = touch ready' 'command = waiter 0.01' 'teardown = touch torn'
	cat >>test.ini <<-END
		[slow]
		repetitions = 2
		setup = sleep 0.3
		command = waiter 0.2
		teardown = sleep 0.3
	END
	expect 0 'Rate of work' $load run -q -w 0 -r 2 --coordination $coordination --export-json out.json test.ini
	that "$coordination is in the document" grep -q "\"$coordination\"" out.json
	that "none began before its release" test "$(newest 'count(*)' 'AND finished_ns < 0')" = 0
	that "each has done its share" test "$(newest 'min(repetitions)' 'AND program < 5')" -ge 3
	least=$(newest 'min(repetitions)' 'AND program < 5') took=$(sqlite3 "$EMP_DB" 'SELECT et_ns / 1000000 FROM sample ORDER BY run DESC LIMIT 1')
	case $coordination in
	constant-load) that "they went on until the slow one had finished" test "$least" -gt 3 ;;
	no-teardown) that "they waited" test "$(newest 'max(repetitions)' 'AND program < 5')" = 3 ;;
	before) that "the teardown is part of it: $took ms" test "$took" -ge 700 ;;
	esac
done
nothing_left waiter
that "all six runs are kept" test "$(runs)" = 6

# What emp-load showed comes back from the book.
expect 0 '' $load run -q -w 0 -r 3 --export-json out.json test.ini
cp out shown
that "the screen comes back" sh -c "$analyze load 4 | cmp - shown"
$analyze load 4 --json >again.json
that "the document comes back" cmp again.json out.json
$load run -q -w 0 -r 2 --json test.ini >out.json 2>shown
$analyze load 5 --json >again.json
that "--json prints the document" cmp again.json out.json
that "and the reader has the screen" grep -q 'Rate of work' shown
expect 0 'Verdict: cannot tell; it is not known how separate runs vary' $analyze load 4 5
that "a row for each slave of each run" test "$($analyze load 4 5 --csv - | wc -l)" = 26
kept=$(runs)

# Mistakes are named with their line.
load_file 1 1 'command = there-is-no-such-program'
expect 1 "test.ini, line 7: .*there-is-no-such-program" $load run test.ini
load_file 1 1 'think = sometimes'
expect 1 'test.ini, line 7: think must be' $load check test.ini
load_file 1 1 'comand = true'
expect 1 "test.ini, line 7: there is no 'comand'" $load check test.ini
expect 1 'cannot read .none.ini' $load run none.ini
load_file 1 1 'command = true'
sed -i '1a cpus = 0,999' test.ini
expect 1 'test.ini: cpus: CPU 999 does not exist: choose one of' $load check test.ini
expect 1 'test.ini: cpus: CPU 999 does not exist: choose one of' $load run -q test.ini

# Slaves that fail.
load_file 3 5 'command = sh -c "exit 3"'
expect 1 "slave 'script [123]': line 7, .*, ended with exit status 3" $load run -q test.ini
load_file 3 5 'setup = false' 'command = true'
expect 1 "slave 'script [123]': setup 'false' ended with exit status 1" $load run -q test.ini
load_file 2 1 'command = sh -c "kill -9 $PPID"'
sed -i 's/command = sh -c "\(.*\)"/shell = \1/' test.ini
expect 1 "slave 'script [12]' was killed" $load run -q test.ini
load_file 2 1 'command = waiter 1000'
sed -i 's/60s/1s/' test.ini
expect 124 'had not finished after 1.000 s' $load run -q test.ini
nothing_left waiter
that "nothing of them is in the book" test "$(runs)" = $kept

# What was set up is torn down, also after a failure; in a directory that a shell must quote, or that has no leading slash.
for slaves in "$dir/it's a place" "it's a place"; do
	mkdir -p "$slaves"
	load_file 2 1 'setup = echo "setup $EMP_LOAD_SLAVE"' 'shell = touch "$TMPDIR/x"; echo "work $EMP_LOAD_SLAVE in $EMP_LOAD_FILE_DIR"; exit 3' \
		'teardown = [ "$TMPDIR" = "$PWD" ] && echo "teardown $EMP_LOAD_SLAVE"'
	sed -i "s|^directory = .*|directory = $slaves\nsetup = echo begin\nteardown = echo end in \$EMP_LOAD_FILE_DIR|" test.ini
	expect 1 'ended with exit status 3' $load run -q --show-output test.ini
	for said in begin 'setup 1' 'setup 2' "work [12] in $dir" 'teardown 1' 'teardown 2' "end in $dir"; do
		that "'$said' was said" grep -qx "$said" "$dir/out"
	done
	that "no directory is left in '$slaves'" test -z "$(ls "$slaves")"
done
load_file 1 1 'setup = false' 'command = true' 'teardown = echo teardown'
expect 1 "setup 'false' ended" $load run -q --show-output test.ini
that "what was not set up is not torn down" sh -c "! grep -qx teardown '$dir/out'"

# A slave's processes end with it, whatever session they are in; and they do not stop the load.
load_file 2 2 "command = setsid -f waiter 1000"
expect 0 'Rate of work' $load run -q -w 0 -r 1 test.ini
nothing_left waiter

# A full disk.
mkdir small
mount -t tmpfs -o size=1m none small || exit 77
load_file 1 1 'command = dd if=/dev/zero of=file bs=1M count=8'
sed -i "s|$dir/slaves|$dir/small|" test.ini
expect 1 "line 7, 'dd .*', ended with exit status 1" $load run -q test.ini
that "nothing is left on it" test -z "$(ls small)"

# An overlay of two file systems, whose files have another device than their directories.
mkdir lower small/upper small/work overlay
mount -t overlay -o "lowerdir=$dir/lower,upperdir=$dir/small/upper,workdir=$dir/small/work" none overlay || exit 77
load_file 1 1 'command = mkdir -p a/b' 'command = touch a/b/file file'
sed -i "s|$dir/slaves|$dir/overlay|" test.ini
expect 0 'Rate of work' $load run -q -w 0 -r 1 test.ini
that "nothing is left on an overlay" test -z "$(ls overlay)"
umount overlay small

# ^C keeps the runs so far; kill -9 too, and the next run removes what is left.
load_file 3 1 'command = waiter 0.2'
before=$(runs)
env --default-signal=INT $load run -q -w 0 -r 1000 test.ini >said 2>&1 &
pid=$!
wait_until eval '[ "$(runs)" -ge $((before + 2)) ]'
kill -INT $pid
wait $pid
that "interrupted is 130" test $? = 130
that "it says what is kept" grep -q 'interrupted: run [0-9]* keeps the [0-9]* runs' said
nothing_left waiter
load_file 1 1 "shell = echo >$dir/begun; waiter 600"
env --default-signal=INT $load run -q -w 0 -r 2 test.ini >said 2>&1 &
pid=$!
wait_until test -s begun
kill -INT $pid
wait $pid
that "interrupted at once is 130" test $? = 130
that "it does not say that it keeps none" grep -q 'interrupted before the first run had ended' said
nothing_left waiter
load_file 3 1 'command = waiter 0.2'
before=$(runs)
$load run -q -w 0 -r 1000 test.ini >said 2>&1 &
pid=$!
wait_until eval '[ "$(runs)" -ge $((before + 2)) ]'
kill -9 $pid
wait $pid 2>/dev/null
wait_until eval '[ -z "$(pgrep -x waiter)" ]'
that "no process outlives the driver" test -z "$(pgrep -f "$load slave")"
expect 0 '' $load run -q -w 0 -r 1 test.ini
nothing_left waiter
that "its cgroups are removed by the next" test -z "$(cgroups_of $pid)"
that "the book is sound" sound "$EMP_DB"

# ^Z: the slaves go on while their driver is stopped, so that run of the load is taken again.
load_file 2 1 "shell = echo >>$dir/begun; waiter 0.5"
: >begun
$load run -q -w 0 -r 1 --coordination no-teardown test.ini >said 2>&1 &
pid=$!
wait_until test -s begun
kill -STOP $pid
wait_until eval '[ -z "$(pgrep -x waiter)" ]'
kill -CONT $pid
wait $pid
that "a load that was stopped ends as usual" test $? = 0
that "its run was taken again" test "$(wc -l <begun)" = 4
that "what is stored was not stopped" test "$(newest 'count(*)' '')" = 2

# A driver that is killed before a slave has asked to die with it; strace holds the slave up there.
if command -v strace >/dev/null; then
	load_file 2 1 'command = waiter 1'
	strace -f -qq -o traced -e trace=prctl,execve -e inject=prctl:delay_enter=200000 $load run -q -w 0 -r 1 test.ini >/dev/null 2>&1 &
	tracer=$!
	slave_begins() { driver=$(pgrep -P $tracer) && slave=$(cgroups_of "$driver" | sed 's,$,/cgroup.procs,' | xargs cat) && [ -n "$slave" ]; }
	wait_until slave_begins
	kill -KILL "$driver"
	wait_until eval 'grep -q "^$slave .*execve" traced || ! kill -0 $slave'
	that "it does not begin" sh -c "! grep '^$slave .*execve' traced"
	kill -KILL "$slave" 2>/dev/null
	wait $tracer
fi

# The shipped ones can be read, if what they start is here; and one is run.
for file in "$shipped"/*.ini; do
	case $file in *database*) command -v pgbench >/dev/null || continue ;; esac
	expect 0 'slaves on' $load check "$file"
done
sed "s|\[load\]|&\ndirectory = $dir/slaves|" "$shipped/mason.ini" >mason.ini
expect 0 'edit-and-flush' $load run -q -w 0 -r 1 mason.ini
nothing_left waiter
mkdir temporary
load_file 2 3 'command = mktemp'
expect 0 'slaves on' env TMPDIR="$dir/temporary" $load run -q -w 0 -r 1 test.ini
that "temporary files of commands go with their slave" test -z "$(ls temporary)"

# A handicap takes what it says, also beside other work.
load_file 2 3 'command = waiter 0.05'
expect 0 'TAKEN .* LOST' $load verify -q -r 2 test.ini
cp out taken
that "the handicaps took 2, 5 and 10 %" awk '$2 == "%" { n++; w = n == 1 ? 2 : n == 2 ? 5 : 10; if ($1 < w * .7 || $1 > w * 1.3) bad = 1 }
	END { exit bad || n != 3 }' taken
expect 0 ' - *-$' $load verify -q -r 1 test.ini # no spread, so no number of pairs
that "none of them is left" test -z "$(pgrep -x emp-handicap)"

# Slaves have the policy of whoever started the driver, which has it again after each release.
load_file 1 1 "shell = chrt -p \$\$ >>$dir/policy"
expect 0 'Rate of work' chrt -b 0 $load run -q -w 0 -r 2 test.ini
that "a slave keeps its policy" sh -c 'grep -q SCHED_BATCH policy && ! grep SCHED_OTHER policy'
expect 0 'Rate of work' $load run -q -w 0 -r 1 test.ini
that "and has the usual one otherwise" grep -q SCHED_OTHER policy

# Who has how much of one CPU, though each slave has a session of its own: nice 15 has the weight 36, nice 0 has 1024.
load_file 1 1 "command = $dir/burn 1500"
printf '[nice]\nnice = 15\ncommand = %s\n' "$dir/burn 60" >>test.ini
sed -i '1a cpus = 0' test.ini
expect 0 'Rate of work' $load run -q -w 0 -r 2 test.ini
share=$(newest 'sum(pt_ns * (program = 2)) * 1.0 / sum(pt_ns * (program = 1))' '')
that "nice 15 has $share of the CPU time of nice 0" awk -v share="$share" 'BEGIN { exit !(share > 0.015 && share < 0.08) }'
if [ "$(cat /proc/sys/kernel/sched_autogroup_enabled 2>/dev/null)" = 1 ]; then
	expect 1 "slave 'nice': nice 15 would have no effect: cannot write /proc/self/autogroup: Read-only" \
		unshare -m sh -c "mount -o bind,ro /proc /proc && mount -o remount,bind,ro /proc && $load run -q test.ini"
fi
load_file 1 1 "shell = grep -w se.slice /proc/self/sched >>$dir/slice || true" 'slice = 12ms'
expect 0 'Rate of work' $load run -q -w 0 -r 1 test.ini
that "commands have the slave's slice" sh -c '! grep -v " 12000000$" slice'

# The notes on a result are stored with it, and told again.
load_file 1 1 'command = true'
python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); d.update(name="elsewhere", environment={"digest": "0" * 64}, cutoffs=[]); json.dump(d, sys.stdout)' \
	"$shipped/../paper-rhel6.4.json" >elsewhere.json
expect 0 elsewhere "$build/calibrate/emp-calibrate" profile import elsewhere.json
expect 0 "^  Warning: profile 'elsewhere' is from an environment that is not in the book" $load run -q -w 0 -r 2 --profile elsewhere test.ini
run=$(newest 'max(run)' '')
expect 0 '' "$build/calibrate/emp-calibrate" profile remove elsewhere
for verb in load show; do
	expect 0 "^  Warning: profile 'elsewhere' is from an environment that is not in" $analyze $verb "$run"
done
gives "the document has it" 'd["warnings"][0]["kind"] == "profile"' $analyze load "$run" --json

# Two hundred at once.
load_file 200 2 'command = true'
expect 0 'Released within' $load run -q -w 0 -r 1 test.ini
grep Released "$dir/out"
nothing_left waiter
finish
