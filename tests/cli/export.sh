#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What export writes, import reads: each kind of run gives the same answers in another book. Usage: export.sh BUILD
set -u
set -- "$(realpath "$1")" "$(realpath "$0")"
. "$(dirname "$2")/expect.sh"
analyze=$1/analyze/emp-analyze
calibrate=$1/calibrate/emp-calibrate
measure=$1/measure/emp-measure
here=$(dirname "$2")
cd "$dir" || exit 1

# runs 1 and 2: a calibration and its profile, with names as nobody should give them
python3 - "$here" <<'END_OF_RUNS'
import json, random
draw = random.Random(5)
NAMES = ["", "a b", 'q"uo\\te', "new\nline", "t\tab\x01\x7f", "é→𝄞", "\\xff", "[0]"]
def run(program, kind, ms, n, **more):
    samples = []
    for i in range(1, n + 1):
        pt = int(ms * 1e6 * draw.gauss(1, 0.001))
        executions = [{"name": who, "pt_ns": draw.randrange(10**5), "pid": 100 + k, "unit": who + ".service", "exe": "/opt/" + who, "cpu": 1, "same_cpu_ns": 0,
                       **({"kind": "kernel"} if k == 3 else {})} for k, who in enumerate(NAMES)]
        if i % 9 == 0:
            executions.append({"name": "", "pt_ns": 30_000_000, "cpu": 1, "same_cpu_ns": 30_000_000})
        samples.append({"n": i, "start_ns": 1700000000_000000000 + i * 10**9, "et_ns": pt + 30_000_000 * (i % 9 == 0) + 10**5, "pt_ns": pt, "wait_ns": 30_000_000 * (i % 9 == 0),
                        "max_rss_bytes": 4096 * i, "disturbance_counters": {"steal_ns": 10**7, "clock_rate_ppb": -5} if i % 3 else None, "executions": executions})
    json.dump({"format": "emp-run", "version": 1, "program": program, "kind": kind, "task_length_s": ms / 1e3, "resolution_ns": 1, "cpu": 1, "backend": "bpf",
               "wait_source": "bpf", "machine": "bo\"x", "environment": {"digest": "d" * 64, "identity": {}, "settings": {}}, "samples": samples, **more}, open(program + ".json", "w"))
run("INC0.1", "short", 100, 120)
run("INC0.5", "long", 500, 12)
run("prog", "measure", 100, 20, profile="lab", command=["prog", "", "a b", "é\n"], notes="audit: not fit", other_cpus=True)
run("\x1b[31m", "measure", 101, 20, profile="lab", state="interrupted", name="n \"1\"", command="one text")
END_OF_RUNS
expect 0 '^2$' $analyze import INC0.1.json INC0.5.json
expect 0 "Saved as 'lab'\|lab" $analyze cutoffs --short 1 --long 2 --save lab
expect 0 '^4$' $analyze import prog.json "$(printf '\033[31m').json"
expect 0 '' $calibrate profile show lab
that "the profile has a cutoff for the process without a name" sqlite3 "$EMP_DB" "SELECT 1 / count(*) FROM cutoff WHERE daemon = ''"
# runs 5 and 6 of interruptions, 7 and 8 of loads, and duets of two programs each
for run in "20 1 backupd" "20 2 kinds"; do python3 "$here/made_up_jitter.py" "$EMP_DB" $run >out; done
python3 "$here/made_up_load.py" "$EMP_DB" 1 >out
python3 "$here/made_up_load.py" "$EMP_DB" 2 speed=1.1 waits=no >out
python3 "$here/made_up_runs.py" "$EMP_DB" >out
$measure -r 3 -w 0 -n '' -n two --order duet 'sh -c :' "sh -c 'exit 0'" >out 2>&1 || cat out
python3 - <<'END_OF_BOOK'
import os, sqlite3
db = sqlite3.connect(os.environ["EMP_DB"])
db.execute("UPDATE source SET name = '' WHERE name = 'backupd'")
db.execute("UPDATE program SET name = '', command = NULL WHERE n = 2")
db.execute("INSERT OR REPLACE INTO measurement VALUES (1, 'inc_per_second', 3.25e9 / 3, '1/s', NULL), (1, 'correlation_0', 0.3, '1', 'i1'), (1, 'correlation_samples_0', 120, '1', 'i1')")
db.execute("INSERT INTO resume_point VALUES (1, 5, 1700000005000000000, 'cut off', 1), (1, 9, 1700000009000000000, 'failed', (SELECT max(id) FROM environment))")
db.commit()
END_OF_BOOK
# the last ones: of nothing is more known than must be; and with what only few runs have
cat >bare.json <<'END_OF_BARE'
{"format": "emp-run", "version": 1, "program": "", "task_length_s": 0.1, "resolution_ns": 1, "kind": "measure", "samples": [
 {"n": 7, "start_ns": 0, "et_ns": 0, "pt_ns": 0, "executions": []}, {"n": 9, "start_ns": 1, "et_ns": 1, "pt_ns": 0, "disturbance_counters": {}, "executions": []}]}
END_OF_BARE
cat >rules.json <<'END_OF_RULES'
{"format": "emp-run", "version": 1, "program": "x", "task_length_s": 0, "resolution_ns": 1, "kind": "measure", "unprofiled_share_ppm": 10000, "other_cpus": true,
 "program_digest": "p", "output_digest": "", "name_patterns": "[x]\nname = x*\n", "held_back_by": "the quota of /x", "correlation": {"lag1": 0.30000000000000004, "samples": 9},
 "warnings": [{"n": 1, "kind": "noise", "text": "noisy"}], "machine": {"a": 1.0, "b": [1e300, "\u00e9"]}, "environment": "digest only", "samples": [
 {"n": 1, "start_ns": 1, "et_ns": 9, "pt_ns": 8, "wait_ns": 0, "held_back_ns": 0, "et_late_ns": 0, "incomplete": true, "max_rss_bytes": 1, "max_rss_at_most": true,
  "disturbance_counters": {"temperature_change_millicelsius": -5, "clock_speed_ppm": 1, "smis": 0}, "executions": [{"name": "a", "pt_ns": 2, "tick_ns": 0}]}]}
END_OF_RULES
expect 0 '' $analyze import bare.json rules.json

# all of them, in order, into another book
runs=$(sqlite3 "$EMP_DB" 'SELECT id FROM run ORDER BY id')
copy=$dir/copy.db
number=0
for run in $runs; do
	reference=$(sqlite3 "$EMP_DB" "SELECT reference FROM duet WHERE run = $run")
	number=$((number + 1))
	[ -z "$reference" ] || [ "$reference" = "$run" ] || continue # it came with the first program
	expect 0 '' $analyze export "$run"
	cp out "$run.json"
	status=0
	$analyze --db "$copy" import "$run.json" >id 2>&1 || status=$?
	that "run $run is read as run $number" grep -qx "$number" id
	[ $status = 0 ] || cat id
done
that "no run is missing" test "$(sqlite3 "$copy" 'SELECT count(*) FROM run')" = "$(echo "$runs" | wc -l)"

# VERB...: the same answer from both, but for the numbers of runs
same() {
	status=0 other=0
	"$analyze" "$@" >one 2>&1 </dev/null || status=$?
	"$analyze" --db "$copy" "$@" >two 2>&1 </dev/null || other=$?
	sed -i "s|$copy|BOOK|; s|$EMP_DB|BOOK|" one two
	that "emp-analyze $* answers the same" diff one two
	that "emp-analyze $* ends the same" test $status = $other
	[ $status -le 1 ] || [ $status = 3 ] || cat one
}
that "the numbers are those of the other book" test "$(echo $runs)" = "$(seq -s ' ' "$(echo "$runs" | wc -l)")"
for form in --json ''; do
	same list $form
	for run in 1 2 3 4 9 40 100 150 $(sqlite3 "$EMP_DB" 'SELECT run FROM duet ORDER BY run' | sed -n '1,2p;$p'); do same show "$run" $form; done
	same discard 3 --profile lab $form
	same discard 4 --profile lab $form
	same daemons 1 $form
	same jitter 5 $form
	same jitter 6 --all $form
	same jitter 5 --combinations $form
	same load 7 $form
	same load 8 $form
	same compare 3 4 $form
	same trend solver $form
	same trend against $form
done
same load 7 8
same jitter 6 --baseline 5
same protocols 3 4
for run in $runs; do
	[ -s "$run.json" ] || continue # the other programs of duets come with the first
	$analyze --db "$copy" export "$run" >two
	that "run $run comes out byte for byte as it went in" cmp "$run.json" two
done

# each profile is there once, in whatever order it comes
$calibrate profile export lab >lab.json
for order in "3.json lab.json" "lab.json 3.json 4.json"; do
	rm -f once.db
	for file in $order 3.json; do
		case $file in
		lab.json) expect 0 lab $calibrate --db once.db profile import --replace lab.json ;;
		*) expect 0 '' $analyze --db once.db import "$file" ;;
		esac
	done
	that "imported in the order $order: one profile" test "$(sqlite3 once.db 'SELECT count(*) FROM profile')" = 1
	$calibrate --db once.db profile export lab >two
	that "imported in the order $order: the profile comes out as it went in" cmp lab.json two
done

# a process of any user that has no name
python3 -c 'import ctypes
ctypes.CDLL(None).prctl(15, b"", 0, 0, 0)
while True: pass' &
busy=$!
expect 0 '' $measure -r 2 -w 0 -- sleep 0.3
kill $busy
run=$(sqlite3 "$EMP_DB" 'SELECT max(id) FROM run')
$analyze export "$run" >nameless.json
[ "$(id -u)" != 0 ] || that "it was seen" json nameless.json 'any(e["name"] == "" for s in d["samples"] for e in s["executions"])'
expect 0 '^1$' $analyze --db nameless.db import nameless.json
expect 0 '^1$' $analyze --db again.db import nameless.json
for db in nameless again; do $analyze --db $db.db export 1 >$db; done
that "and comes out as it went in" diff nameless again

# clocks
if $calibrate clocks --quick >out 2>&1 || $calibrate clocks >out 2>&1; then
	$analyze clocks --json >clocks.json
	expect 0 '^1$' $analyze --db "$copy" import clocks.json
	same clocks
	$analyze --db "$copy" clocks --json >two
	that "a calibration of the clocks comes out as it went in" diff clocks.json two
fi

# one sample of 200,000 executions, 9 MB: neither way holds it in memory
grep -q __asan_init "$analyze" || that "a large sample takes no memory" python3 - "$analyze" <<'END_OF_SAMPLE'
import os, subprocess, sys
def memory(*command, output):
    with open(output, "w") as file:
        process = subprocess.Popen([sys.argv[1], "--db", "large.db", *command], stdout=file)  # kept: else Python may wait for it first
        _, status, usage = os.wait4(process.pid, 0)
    return status, usage.ru_maxrss
with open("large.json", "w") as file:
    print('{"format": "emp-run", "version": 1, "program": "x", "task_length_s": 1, "resolution_ns": 1, "samples": [{"n": 1, "start_ns": 1, "et_ns": 5, "pt_ns": 4, "executions": [', file=file)
    for i in range(200000):
        print('{"name": "daemon%d", "pt_ns": %d, "pid": %d},' % (i % 100, i, i + 1), file=file)
    print('{"name": "last", "pt_ns": 1}]}]}', file=file)
status, least = memory("list", "--help", output="out")
for command, output in ((("import", "large.json"), "id"), (("export", "1"), "large-again.json")):
    failed, most = memory(*command, output=output)
    print(command, failed, most - least, "KB more than", least)
    status |= failed or most - least > 16000
sys.exit(status != 0)
END_OF_SAMPLE

# one program of a duet brings the other; what is left out is not there
second=$(sqlite3 "$EMP_DB" 'SELECT max(run) FROM duet')
$analyze export "$second" >second.json
expect 0 '^2$' $analyze --db "$dir/duet.db" import second.json
expect 0 '' $analyze --db "$dir/duet.db" show 2
cp out two
$analyze show "$second" >one
sed -i "s/^Run $second /Run 2 /; s/run $second\b/run 2/; s/run $((second - 1))\b/run 1/" one
$analyze export --no-profile --no-environment 3 >bare.json
that "profile and environment can be left out" json bare.json 'd["profile"] == "lab" and not {"profile_document", "environment", "machine", "measurements"} & d.keys()'
expect 0 '^1$' $analyze --db "$dir/bare.db" import bare.json
expect 0 "^The profile 'lab' is not in the book: it discards no samples" $analyze --db "$dir/bare.db" show 1
that "import says nothing if the book has none of that name" test "$($analyze --db "$dir/bare.db" import bare.json 2>&1)" = 2
$analyze export --no-profile 3 >named.json
cp "$copy" named.db
$analyze --db named.db import 3.json named.json >numbers 2>err
that "import says whose profile a run has" grep -qx "Run $(tail -n 1 numbers): the profile 'lab' is not in its document; that of the lab book is used" err
that "and says nothing of others" test "$(cat numbers err | wc -l)" = 3

# another profile of that name is not replaced; this one is kept for the run
sed 's/"short_ns": [0-9]*/"short_ns": 1000000000/g; s/"long_ns": [0-9]*/"long_ns": 1000000000/g; s/"below_ns": [0-9]*/"below_ns": 1000000000/g; s/"atleast_ns": [0-9]*/"atleast_ns": 1000000000/g' 3.json >other.json
$calibrate --db "$copy" profile export lab >one
number=$($analyze --db "$copy" import other.json)
$calibrate --db "$copy" profile export lab >two
that "the profile stays" diff one two
expect 0 'Kept 20 of 20' $analyze --db "$copy" show "$number"
expect 0 'Kept 18 of 20' $analyze --db "$copy" show 3

# what is not whole is refused, and nothing of it stays
before=$(sqlite3 "$copy" 'SELECT count(*) FROM run')
head -c 3000 3.json >cut.json
expect 1 "'cut.json' was not imported: 'cut.json' is not JSON: line [0-9]*, column [0-9]*: the end of a value expected near end of file" $analyze --db "$copy" import cut.json
sed 's/"n": 7,/"n": 7 "x",/' 3.json >wrong.json
expect 1 "is not JSON: line [0-9]*, column [0-9]*: ',' or the end of the object or array expected near '\"'" $analyze --db "$copy" import wrong.json
sed 's/"pt_ns": \([0-9]*\), "user/"pt_ns": -\1, "user/; s/"source": [0-9]*/"source": 99999/' 5.json >wrong.json
expect 1 "'jitter_[a-z]*', entry [0-9]*: '[a-z]*' is 99999, which is not among the 'sources'" $analyze --db "$copy" import wrong.json
that "nothing was stored" test "$(sqlite3 "$copy" 'SELECT count(*) FROM run')" = "$before"
expect 0 '' sh -c "$analyze export 3 | $analyze import -"
finish
