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
export EMP_DB=$dir/book.db EMP_LOCK=$dir/lock
cd "$dir" || exit 1
sqlite3 "$EMP_DB" <"$data/book.sql"

# answers.json holds the commands and the JSON that 0.1.0 printed. New members may be there, and sentences for people may
# read differently; nothing else may differ.
that "each verb gives the answers of 0.1.0" python3 - "$data/answers.json" "$build" <<'PYTHON'
import json, subprocess, sys

SENTENCES = {"next", "why", "warnings", "notes"}

def differ(old, new, where):
    if where.rpartition(".")[2] in SENTENCES:
        return [] if type(old) == type(new) else [f"{where}: {old!r} is now {new!r}"]
    if isinstance(old, dict) and isinstance(new, dict):
        return [f for k in old for f in (differ(old[k], new[k], f"{where}.{k}") if k in new else [f"{where} has no {k}"])]
    if isinstance(old, list) and isinstance(new, dict): # a bare array has become a document that holds it
        return min((differ(old, m, where) for m in new.values() if isinstance(m, list)), key=len, default=[f"{where} is no array"])
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [f for i, (a, b) in enumerate(zip(old, new)) for f in differ(a, b, f"{where}[{i}]")]
    return [] if old == new else [f"{where}: {old!r} is now {new!r}"]

faults = []
for command, answer in json.load(open(sys.argv[1])).items():
    tool, *rest = command.split()
    path = f"{sys.argv[2]}/{tool.removeprefix('emp-')}/{tool}"
    done = subprocess.run([path, *rest, "--json"], capture_output=True, text=True)
    if done.returncode != answer["status"]:
        faults.append(f"{command}: status {done.returncode}: {done.stderr}")
    else:
        faults += differ(answer["json"], json.loads(done.stdout), command)
print("\n".join(faults))
sys.exit(len(faults) > 0)
PYTHON
that "the book is sound" sound "$EMP_DB"

# documents
expect 0 '^1$' $analyze --db new.db import "$data/run.json"
$analyze --db new.db export 1 >again.json
that "a run of 0.1.0 keeps all it had" json again.json "(lambda o: all(d.get(k) == o[k] for k in o))(json.load(open('$data/run.json')))"
expect 0 '' $calibrate --db new.db profile import "$data/profile.json"
$calibrate --db new.db profile export planted >again.json
that "a profile of 0.1.0 keeps all it had" json again.json "(lambda o: all(d.get(k) == o[k] for k in o))(json.load(open('$data/profile.json')))"
expect 0 '' $analyze --db new.db compare "$data/measure.json" "$data/measure.json"
finish
