#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What emp 0.1.0 left still works: its book, its documents, and every number that it gave for them.
# Usage: older.sh BUILD SOURCE
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/expect.sh"
build=$1
data=$2/tests/unit/data/0.1.0
analyze=$build/analyze/emp-analyze
calibrate=$build/calibrate/emp-calibrate
cd "$dir" || exit 1
sqlite3 "$EMP_DB" <"$data/book.sql"

# answers.json holds the commands and the JSON that 0.1.0 printed. Comparisons keep all samples without a named cause
# now, pairs are without the drift within them, and a size is judged by all blocks of it. Others took nine tenths of the samples of run 1, which was called clean.
# The daemon of runs 4 and 5 runs every 3 s in one and every 10 s in the other, which is no period.
that "each verb gives the answers of 0.1.0" python3 - "$here" "$data/answers.json" "$build" <<'PYTHON'
import json, subprocess, sys
sys.path.insert(0, sys.argv[1])
from same import differences

CHANGED = ["emp-analyze compare 6 7." + member for member in ("interval", "mann_whitney_p", "smallest_difference", "reference", "command", "ratio", "verdict: 'no difference shown' is now 'cannot tell'")]
CHANGED += ["emp-analyze sample-size 4 --profile planted." + member for member in ("suggested", "pt[4].close", "et[4].close")]
CHANGED += ["emp-analyze daemons 1.central[1].sd_ns: 0.0 is now None"]
CHANGED += [f"emp-analyze {verb} 1.shape: 'clean' is now 'busy'" for verb in ("show", "daemons")]
CHANGED += ["emp-analyze cutoffs --short 4 --long 5.cutoffs[0]." + member for member in ("period_s: 3.041721 is now None", "firm", "task_time_s", "below_ns")]
faults = []
for command, answer in json.load(open(sys.argv[2])).items():
    tool, *rest = command.split()
    path = f"{sys.argv[3]}/{tool.removeprefix('emp-')}/{tool}"
    done = subprocess.run([path, *rest, "--json"], capture_output=True, text=True)
    if done.returncode != answer["status"]:
        faults.append(f"{command}: status {done.returncode}: {done.stderr}")
    else:
        faults += differences(answer["json"], json.loads(done.stdout), command)
CHANGED += [f"emp-analyze list[{run}].task_length_ns: 0 is now None" for run in (2, 5, 6, 7)] + ["emp-analyze show 8.task_length_ns: 0 is now None"]
DROPPED = tuple(" has no " + member for member in ("purpose", "sentinels", "kernel"))  # second names of members, which are still read
faults = [fault for fault in faults if not fault.startswith(tuple(CHANGED)) and not (fault.startswith("emp-analyze export") and fault.endswith(DROPPED))]
print("\n".join(faults))
sys.exit(len(faults) > 0)
PYTHON
that "the book is sound" sound "$EMP_DB"
that "released steps of the schema are as they were" sh -c 'cd "$1" && sha256sum --quiet -c tests/unit/data/shipped-schema' sh "$2"

# reading it leaves it as it is; the first verb that writes upgrades it, says so, and keeps a copy
expect 0 '"uid"' $analyze export 4
that "a run is exported as the same run each time" cmp out <($analyze export 4)
that "the book is still that of 0.1.0" test "$(sqlite3 "$EMP_DB" 'PRAGMA user_version')" = 2
expect 0 "emp-analyze: the lab book '$EMP_DB' is upgraded; older versions of EMP can read its copy '$EMP_DB.version2'" \
	$analyze import "$data/run.json"
that "the copy is that of 0.1.0" test "$(sqlite3 "$EMP_DB.version2" 'PRAGMA user_version')" = 2
that "the copy has the runs" test "$(sqlite3 "$EMP_DB.version2" 'SELECT count(*) FROM run')" = 11
that "its mode is the book's" test "$(stat -c %a "$EMP_DB.version2")" = "$(stat -c %a "$EMP_DB")"
that "it is said once" test "$($analyze import "$data/run.json" 2>&1)" = 13

# documents
expect 0 '^1$' $analyze --db new.db import "$data/run.json"
$analyze --db new.db export 1 >again.json
python3 - "$data/run.json" >run.json <<'PYTHON'
import json, sys
renamed = {"purpose": "kind", "sentinels": "disturbance_counters"}
def newer(d):
    if d.get("kernel") is True:
        d = {**d, "kind": "kernel"}
        del d["kernel"]
    return {renamed.get(name, name): value for name, value in d.items()}
print(json.dumps(json.load(open(sys.argv[1]), object_hook=newer)))
PYTHON
that "a run of 0.1.0 keeps all it had" python3 "$here/same.py" run.json again.json
expect 0 '' $calibrate --db new.db profile import "$data/profile.json"
$calibrate --db new.db profile export planted >again.json
that "a profile of 0.1.0 keeps all it had" python3 "$here/same.py" "$data/profile.json" again.json
expect 0 '' $analyze --db new.db compare "$data/measure.json" "$data/measure.json"
finish
