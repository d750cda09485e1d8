#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that alternate on one CPU, in both ways: what they may do, and that nothing is left behind or frozen however the
# measurement ends. Usage: duet.sh BUILD
set -u
. "$(dirname "$0")/../cli/expect.sh"
need_root
build=$1
measure=$build/measure/emp-measure
burn=$build/tests/machine/burn
inc="$build/calibrate/emp-inc --iterations"
cpu=$(($(nproc) - 1))
ways=scheduler
[ "$(nproc)" = 1 ] || ways='scheduler freezer'

duet() { # OPTION... COMMAND...
	"$measure" -q --order duet --cpu "$cpu" --neighbour off --accounting none "$@"
}

query() {
	sqlite3 "$EMP_DB" "$1"
}

last() { # the last run of a duet
	query 'SELECT max(run) FROM duet'
}

frozen() { # PID: whether a cgroup of that emp has stopped processes
	for d in $(cgroups_of "$1"); do
		grep -q 1 "$d/cgroup.freeze" && grep -q 'populated 1' "$d/cgroup.events" && return 0
	done
	return 1
}

guard_of() { # PID: the process that cleans up if that emp is killed
	for guard in $(pgrep -x emp-guard); do
		readlink "/proc/$guard/fd/1" | grep -q -e "-$1-[0-9]*$" && echo "$guard" && return 0
	done
	return 1
}

# goes_on: whether what a killed duet has started goes on. Another tool of root that begins just then removes it, and is no fault.
goes_on() {
	"$measure" -q --order duet --neighbour off --cpu "$cpu" --accounting none --slices-by "$way" --slice 100ms -r 1 -w 0 --alone 0 "sh -c 'sleep 7654.$$ & wait'" "sh -c 'sleep 8765.$$ & wait'" >"$dir/duet" 2>&1 &
	pid=$!
	wait_until pgrep -fx "sleep 8765.$$"
	[ "$way" = scheduler ] || wait_until frozen "$pid"
	kill -KILL "$pid"
	wait "$pid" 2>"$dir/killed"
	wait_until eval "! frozen $pid"
	pgrep -fx "sleep 8765.$$" >"$dir/that"
}

for way in $ways; do
	duet="duet --slices-by $way"

	# what the programs do
	expect 0 "Duet on CPU $cpu, slices by the $way: 10.00 ms requested" $duet --slice 10ms -r 4 "$inc 200000000" "$inc 200000000"
	[ "$way" = freezer ] || that "waiting for a turn is no CPU pressure" [ "$(query "SELECT count(*), count(cpu_pressure_ns) FROM counters WHERE run = $(last)")" = '4|0' ]
	that "each program started first as often" [ "$(query "SELECT count(*), sum(position) FROM duet_sample WHERE run = $(last)")" = '4|6' ]
	that "samples of one number were taken together" [ "$(query "SELECT count(*) FROM sample a JOIN sample b USING (n) WHERE a.run = $(last) AND b.run = $(last) - 1
		AND a.start_ns < b.start_ns + b.et_ns AND b.start_ns < a.start_ns + a.et_ns")" = 4 ]
	for script in 'for i in 1 2 3; do (:); done; wait' 'sleep 0.05' '(while kill -CONT $$; do sleep 0.01; done) 2>&- & kill -STOP $$' 'setsid sh -c "sleep 0.1" & exit 0' ':'; do
		expect 0 '^Verdict' $duet -r 3 -w 0 --alone 0 "sh -c '$script'" "$inc 20000000"
	done
	expect 0 '^Verdict' $duet -r 3 --alone 0 "$burn 5" "$burn --orphan 20"
	expect 0 '^Verdict' $duet --slice 10ms -r 3 --alone 0 --export-json "$dir/threads.json" "$burn --threads 2 300" "$burn 300"
	echo "CPU times, slices by the $way: $(python3 -c 'import json, sys
print(*[r["emp"]["pt_ns"] for r in json.load(open(sys.argv[1]))["results"]])' "$dir/threads.json")"
	# A program's clock starts before exec, but PT with it. A program looks at its clock once more after a pause of the host's that
	# is not counted as steal, and then has too much.
	that "the CPU time of two threads is exact" json "$dir/threads.json" 'all(min(t) >= 299.5e6 and sorted(t)[1] < 303e6 for t in (r["emp"]["pt_ns"] for r in d["results"]))'
	that "they alternate with the other program" json "$dir/threads.json" 'd["duet"]["mean_slice_ns"] < 40e6'
	expect 0 'LEFT OVER' $duet -r 3 -w 0 "$inc 3000000" "$inc 300000000"
	that "most of the longer one ran alone" [ "$(query "SELECT sum(together_ns) * 4 < sum(et_ns) FROM duet_sample JOIN sample ON sample.run = duet_sample.run AND n = sample
		WHERE sample.run = $(last)")" = 1 ]
	expect 0 'LEFT OVER' $duet --repeat --slice 10ms -r 3 -w 0 --export-json "$dir/repeated.json" "$inc 3000000" "$inc 300000000"
	that "each turn of the longer one counts" json "$dir/repeated.json" 'd["duet"]["programs"][1]["slice_ns"] is None or d["duet"]["programs"][1]["slice_ns"] < 30e6'
	that "with --repeat the shorter one ran often" [ "$(query "SELECT min(repetitions) > 2 FROM duet_sample WHERE run = $(last) - 1")" = 1 ]
	expect 0 '' $duet --slice 10ms -r 3 "$inc 80000000" "$inc 100000000" "$inc 120000000"
	that "three programs each started first once" [ "$(query "SELECT count(DISTINCT position) FROM duet_sample WHERE run = $(last)")" = 3 ]
	expect 1 "ended with exit status 3 in sample 1" $duet -r 3 -w 0 --alone 0 "$inc 20000000" "sh -c 'exit 3'"
	expect 124 'ran longer than 300.0 ms in sample 1' $duet --timeout 0.3 -w 0 --alone 0 "$inc 20000000" "sleep 4321.$$"
	that "a time-out leaves nothing running" sh -c "! pgrep -fx 'sleep 4321.$$'"
	expect 1 "stopped itself in sample 1" $duet -r 1 -w 0 --alone 0 "sh -c 'kill -STOP \$\$'" "$inc 20000000"

	# interrupted in the middle of a slice
	env --default-signal=INT "$measure" -q --order duet --neighbour off --cpu "$cpu" --accounting none --slices-by "$way" --slice 100ms -r 1 -w 0 --alone 0 "sleep 5432.$$" "sleep 6543.$$" >"$dir/duet" 2>&1 &
	wait_until pgrep -fx "sleep 6543.$$"
	pid=$!
	kill -INT "$pid"
	wait $!
	that "an interrupted duet ends with 130" [ $? = 130 ]
	that "and leaves nothing" sh -c "! pgrep -fx 'sleep (5432|6543).$$'"
	that "and no cgroup" [ -z "$(cgroups_of "$pid")" ]

	# ^C of a terminal, which the programs get as well
	env --default-signal=INT setsid "$measure" -q --order duet --neighbour off --cpu "$cpu" --accounting none --slices-by "$way" --slice 100ms -r 1 -w 0 --alone 0 "sleep 5432.$$" "sleep 6543.$$" >"$dir/duet" 2>&1 &
	pid=$!
	wait_until pgrep -fx "sleep 6543.$$"
	kill -INT -- "-$pid"
	wait "$pid"
	that "^C ends a duet with 130" [ $? = 130 ]
	that "and leaves nothing" sh -c "! pgrep -fx 'sleep (5432|6543).$$'"

	# ^Z and fg
	setsid "$measure" -qv --order duet --neighbour off --cpu "$cpu" --accounting none --slices-by "$way" -r 2 -w 0 --alone 0 "sh -c 'touch $dir/begun; until [ -e $dir/go ]; do sleep 0.05; done; exec $burn 100'" "$inc 400000000" >"$dir/duet" 2>&1 &
	pid=$!
	wait_until test -e "$dir/begun"
	kill -STOP -- "-$pid"
	wait_until sh -c "ps -o stat= -p $pid | grep -q ^T" # frozen programs do not stop
	touch "$dir/go"
	kill -CONT -- "-$pid"
	wait "$pid"
	that "a duet that was stopped goes on" [ $? = 0 ]
	that "its sample is taken again" grep -q '1 sample was stopped (^Z) and taken again' "$dir/duet"
	rm "$dir/begun" "$dir/go"

	# killed in the middle of a slice: what the programs started goes on, and is not left frozen
	for _ in 1 2 3 4 5; do goes_on && break; done
	that "the processes that were started go on" pgrep -fx "sleep 8765.$$"
	expect 0 '' $duet -r 1 -w 0 --alone 0 true true
	that "the next measurement removes them" sh -c "! pgrep -fx 'sleep (7654|8765).$$'"
	that "and their cgroups" [ -z "$(cgroups_of "$pid")" ]
	[ "$way" = freezer ] || continue

	# so it does if the guard of the killed one, which lets the programs go on, comes to run later
	"$measure" -q --order duet --neighbour off --cpu "$cpu" --accounting none --slices-by "$way" --slice 100ms -r 1 -w 0 --alone 0 "sh -c 'sleep 5432.$$ & wait'" "sh -c 'sleep 6543.$$ & wait'" >"$dir/duet" 2>&1 &
	pid=$!
	wait_until pgrep -fx "sleep 6543.$$"
	wait_until guard_of "$pid"
	guard=$(guard_of "$pid")
	kill -STOP "$guard"
	kill -KILL "$pid"
	wait "$pid" 2>"$dir/killed"
	expect 0 '' $duet -r 1 -w 0 --alone 0 true true
	that "the next measurement removes frozen programs" sh -c "! pgrep -fx 'sleep (5432|6543).$$'"
	that "and their cgroups, though the guard has not ended" [ -z "$(cgroups_of "$pid")" ]
	kill -CONT "$guard"
done

# the work of a program in units of INC: 10 % more of it is 10 % more, beside other work; the machine may be slow, and each figure says how sure it is
setsid sh -c "taskset -c $cpu '$burn' 3600000" &
busy=$!
watched() {
	"$measure" -q --order duet --cpu "$cpu" --neighbour off --accounting bpf "$@"
}
expect 0 'taken by others' watched -v -r 2 -w 0 --alone 0 "$inc 3000000" "$inc 100000000"
that "others took no more from the shorter one than its ET" [ "$(query "SELECT count(*), min(wait_ns * 5 > et_ns), max(wait_ns >= et_ns) FROM sample WHERE run = $(last) - 1")" = '2|1|0' ]
expect 0 '' watched -r 1 -w 0 --alone 0 'sleep 0.3' 'sleep 0.3'
that "others take nothing from programs that sleep" [ "$(query "SELECT count(*), max(wait_ns * 2 > et_ns) FROM sample WHERE run >= $(last) - 1")" = '2|0' ]
expect 0 '' "$measure" -q --order duet --cpu "$cpu" --probe 5% --accounting none -r 2 -w 0 "$inc 200000000" "$inc 200000000"
that "the CPU time of probes is part of what observing took" [ "$(query "SELECT min(probe_ns > 0), max(probe_ns > observer_ns) FROM sample WHERE run >= $(last) - 1")" = '1|0' ]
# By the scheduler, readings are a slice apart unless their share is given: eight within a sample of 0.2 s, or fifty; none in slices above 25 ms.
probed() { # OPTION...: the CPU time of readings within a sample
	expect 0 '' "$measure" -q --order duet --slices-by scheduler --cpu "$cpu" --accounting none -r 2 -w 0 --alone 0 "$@" "$inc 400000000" "$inc 400000000"
	probed_ns=$(query "SELECT max(probe_ns) FROM sample WHERE run >= $(last) - 1")
}
probed --slice 50ms
that "none within long slices" [ "$probed_ns" = 0 ]
probed --slice 25ms --probe auto
few=$probed_ns
probed --slice 25ms --probe 5%
that "readings end the turns: $few and $probed_ns ns" [ 0 -lt "$few" -a "$few" -lt $((probed_ns / 2)) ]
for n in 10 11; do
	"$measure" -q --accounting none --cpu "$cpu" --neighbour off --against inc -r 10 -n "awk $n" --export-json "$dir/inc$n" -- awk "BEGIN { for (i = 0; i < ${n}00000; i++) for (k = 0; k < 10; k++) x += i * k }" >"$dir/screen$n" 2>&1 || cat "$dir/screen$n"
	that "the screen has them" grep -q 'In INC units *[0-9.]* ± [0-9.]* ' "$dir/screen$n"
done
kill -- -"$busy"
wait "$busy" 2>"$dir/killed"
that "10 % more work is 10 % more units of INC" python3 - "$dir/inc10" "$dir/inc11" <<'P'
import json, math, sys
a, b = (json.load(open(f))["results"][0]["emp"]["inc_units"] for f in sys.argv[1:])
half = [math.log(u["interval"][1] / u["mean"]) for u in (a, b)]
off = math.log(b["mean"] / a["mean"] / 1.1)
print(a, b, "off by", off)
assert abs(off) < 0.01 + 1.7 * math.hypot(*half) and max(half) < 0.2
P
that "INC has no result of its own" json "$dir/inc10" 'len(d["results"]) == 1 and d["comparisons"] == [] and len(d["duet"]["programs"]) == 2'
that "INC covered most of the program" [ "$(query "SELECT count(*) FROM duet JOIN sample USING (run) JOIN duet_sample ON duet_sample.run = duet.run AND sample = n
	WHERE increments > 0 AND duet.run = $(last) AND repetitions >= 1")" = 10 ]
that "the command's name is in the book" [ "$(query "SELECT name FROM run WHERE id = $(last) - 1")" = "awk 11" ]
expect 0 'In INC units' "$build/analyze/emp-analyze" show "$(($(last) - 1))"
gives "its document, too" "d['inc_units']['run'] == $(last) and d['inc_units']['mean'] > 0" "$build/analyze/emp-analyze" show --json "$(($(last) - 1))"
expect 0 'awk 11: 1 run, PT in INC units' "$build/analyze/emp-analyze" trend 'awk 11'
expect 0 'In INC units' "$measure" -q --cpu "$cpu" --neighbour off --accounting none --against inc -r 2 -w 0 -- true # which starts often
that "a short program runs several times in a sample" [ "$(query "SELECT min(repetitions) > 3 FROM duet_sample WHERE run = $(last) - 1")" = 1 ]
expect 1 '--against inc measures one command, and there are 2' "$measure" -q --against inc true false
expect 1 "--against must be inc, not 'it'" "$measure" -q --against it true
for order in interleave shuffle sequence; do
	expect 1 'the program and INC alternate: no other --order' "$measure" -q --against inc --order $order true
done
expect 1 '--against inc needs two samples or more: -r 2' "$measure" -q --against inc -r 1 true

# what goes wrong while a program alternates with INC
against="$measure -q --neighbour off --accounting none --cpu $cpu --against inc"
expect 1 "'false' ended with exit status 1 in warm-up 1" $against -r 2 -- false
expect 0 'In INC units' $against -r 2 -i -- false
expect 1 "cannot execute '$dir/nothing': No such file" $against -r 2 -- "$dir/nothing"
expect 124 "'sleep 4321.$$' ran longer than 300.0 ms in warm-up 1" $against --timeout 0.3 -- sleep "4321.$$"
that "a time-out leaves nothing running" sh -c "! pgrep -fx 'sleep 4321.$$'"
end_with() { # SIGNAL WHO: to the tool, or to INC, in the first sample
	env --default-signal=INT "$measure" -q -i --neighbour off --accounting none --cpu "$cpu" --against inc -r 2 -- sh -c "[ ! -e $dir/warm ] || { echo \$\$ >$dir/pid; until [ -e $dir/go ]; do sleep 0.05; done; }; touch $dir/warm" >"$dir/duet" 2>&1 &
	pid=$!
	wait_until sh -c "[ -s $dir/pid ] && pgrep -P $pid -x emp-inc"
	program=$(cat "$dir/pid")
	case $2 in
	tool) kill "-$1" "$pid" ;;
	emp-inc) # one may end before it is hit; the next follows
		wait_until sh -c "kill -$1 \$(pgrep -P $pid -x emp-inc)"
		touch "$dir/go"
		;;
	esac
	wait "$pid" 2>"$dir/killed"
	status=$?
	rm -f "$dir/warm" "$dir/pid" "$dir/go"
}
end_with INT tool
that "an interrupted one ends with 130" [ $status = 130 ]
that "and leaves nothing" sh -c "! kill -0 $program"
that "and no cgroup" [ -z "$(cgroups_of "$pid")" ]
end_with KILL emp-inc
that "INC must not fail, whatever the program may" grep -q "'INC' was killed by signal 9 (SIGKILL) in sample 1$" "$dir/duet"
that "its end is a failure" [ $status = 1 ]
end_with KILL tool
wait_until sh -c "! ps -o stat= -p $program | grep -v ^Z" # a program is killed if the tool is
expect 0 'In INC units' $against -r 2 -- true
that "the next measurement removes its cgroups" [ -z "$(cgroups_of "$pid")" ]
mkdir "$dir/alone"
cp "$build/measure/emp-measure" "$build/setup/emp-setup" "$dir/alone"
expect 1 "--against inc: emp-inc is not in $dir/alone; install all tools of the suite" "$dir/alone/emp-measure" -q --against inc true

# what is missing
chmod 755 "$dir"
install -d -o 65534 "$dir/nobody"
ordinary() { # COMMAND...: as an ordinary user
	setpriv --reuid 65534 --clear-groups env EMP_DB="$dir/nobody/book.db" "$@"
}
expect 0 'slices by the scheduler' ordinary "$measure" -q --order duet --slice 10ms --neighbour off -r 3 --cpu "$cpu" "$inc 200000000" "$inc 200000000"
that "nothing is said of a freezer that is not needed" sh -c "! grep 'the freezer' '$dir/out'"
expect 0 'In INC units' ordinary "$measure" -q --neighbour off --against inc -r 2 --cpu "$cpu" -- true
that "nor here" sh -c "! grep 'the freezer' '$dir/out'"
expect 1 '--slices-by: the freezer needs a cgroup' ordinary "$measure" -q --order duet --slices-by freezer "$inc 40000000" "$inc 40000000"
expect 0 'slices by the scheduler' ordinary "$measure" -q --order duet -r 2 -w 0 'sh -c "(sleep 0.2; exit) &"' "$inc 40000000"
expect 0 'slices by the scheduler' taskset -c "$cpu" "$measure" -q --order duet --slice 1ms -r 3 --accounting none "$inc 40000000" "$inc 40000000"
that "nor of one that cannot be had" sh -c "! grep 'the freezer' '$dir/out'"
expect 1 'the freezer is driven from another CPU, and there is none' taskset -c "$cpu" "$measure" -q --order duet --slices-by freezer "$inc 40000000" "$inc 40000000"

# when a duet is suggested: the programs' times follow one another up and down, as on a machine whose speed changes, or do not
hint='--order auto may cancel that'
turns() { # FILE COMMAND...: two programs in turn: the next one to start takes as many ms as the next line of FILE says; a warm-up of each 100
	printf '100\n100\n' | cat - "$1" >"$dir/nobody/times"
	chown -R 65534 "$dir/nobody"
	shift
	next="$burn \$(sed -n 1p $dir/nobody/times); sed -i 1d $dir/nobody/times"
	"$@" "$measure" -q --cpu "$cpu" --neighbour off -r 12 --export-json "$dir/nobody/turns.json" "sh -c '$next'" "sh -c '$next; exit'" | tee "$dir/screen"
}
for i in $(seq 24); do echo $((100 + 10 * (i > 12 ? 24 - i : i))); done >"$dir/follow"
sort -R --random-source=<(yes 3) "$dir/follow" >"$dir/independent"
awk '{ print int($1 / 20) }' "$dir/follow" >"$dir/short"
for _ in 1 2 3; do # until no file has to be read, since a duet is for programs that compute
	turns "$dir/follow" env >"$dir/out"
	json "$dir/nobody/turns.json" 'all(sum(r["emp"]["pt_ns"]) > 0.8 * sum(r["emp"]["et_ns"]) for r in d["results"])' && break
done
expect 0 "$hint" cat "$dir/screen"
that "it is in the document" json "$dir/nobody/turns.json" 'd["advice"]["order"] == "duet" and d["advice"]["p"] < 0.05'
suggested_nothing() {
	! grep -e "$hint" "$dir/screen" && json "$dir/nobody/turns.json" 'd["advice"]["order"] is None'
}
expect 0 'Verdict.*: \(equal\|cannot tell\)' turns "$dir/independent" env
that "independent times are no reason" suggested_nothing
expect 0 '' turns "$dir/short" env
if json "$dir/nobody/turns.json" 'max(r["mean"] for r in d["results"]) < 0.05'; then
	that "programs of less than five slices are no reason" suggested_nothing
else
	echo "not tried: programs of less than five slices; to start one takes longer here"
fi
expect 0 '' turns "$dir/follow" chrt -f 1 setpriv --reuid 65534 --clear-groups env EMP_DB="$dir/nobody/book.db"
that "none is suggested where none can be had" suggested_nothing
finish
