#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One call of a command fails: an allocation, something that writes to the disk, or an open. No command may die by a signal.
One that fails says so in a sentence. One that succeeds has done everything. The book is sound, and an export is complete
or not there. Usage: faults.py BUILD SOURCE [N|all [COMMAND|KIND...]]: N calls of each kind in each command, drawn at random (EMP_SEED)."""
import faulthandler, json, os, random, re, shutil, signal, sqlite3, subprocess, sys, tempfile
faulthandler.register(signal.SIGTERM, chain=True)  # meson ends a test after its timeout: where it was

build, source = sys.argv[1], sys.argv[2]
most = sys.argv[3] if len(sys.argv) > 3 else "20"
only = sys.argv[4:]  # commands or kinds
seed = int(os.environ.get("EMP_SEED") or random.randrange(1 << 31))
random.seed(seed)
preload = os.path.join(build, "tests/cli/libfault.so")
place = tempfile.mkdtemp(prefix="emp-faults-")
made = os.path.join(place, "made")  # a book with runs, and documents: copied for each command
tried = os.path.join(place, "tried")
count_file = os.path.join(place, "count")
setup, calibrate, measure, analyze = (f"{build}/{tool}/emp-{tool}" for tool in ("setup", "calibrate", "measure", "analyze"))

COMMANDS = {
    "measure": [measure, "-q", "-r", "2", "-w", "0", "--accounting", "none", "--export-json", "x.json", "--export-csv", "x.csv",
                "--export-markdown", "x.md", "--", "true"],
    "calibrate": [calibrate, "-q", "run", "--short", "0.001x3", "--long", "0.002x2", "--save", "new", "--ignore-audit", "--force"],
    "profile import": [calibrate, "profile", "import", "--replace", "profile.json"],
    "profile show": [calibrate, "profile", "show", "paper-rhel6.4", "--json"],
    "list": [analyze, "list"],
    "show": [analyze, "show", "1"],
    "show --json": [analyze, "show", "1", "--json"],
    "export": [analyze, "export", "1"],
    "import": [analyze, "import", "run.json"],
    "remove": [analyze, "remove", "2"],
    "compare": [analyze, "compare", "1", "x.json"],
    "trend": [analyze, "trend", "true", "--json"],
    "load": [analyze, "load", "3", "4", "--json"],
    "fingerprint": [setup, "fingerprint", "--save"],
    "audit": [setup, "audit"],
}
SAME = {"profile show", "list", "show", "show --json", "export", "compare", "trend", "load"}  # print the same each time


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("EMP_")}
    return {**kept, "NO_COLOR": "1", "EMP_DB": f"{tried}/book.db", "EMP_LOCK": f"{tried}/lock", "LC_ALL": "C.UTF-8", **more}


def run(command, **more):
    return subprocess.run(command, cwd=tried, env=environment(**more), stdin=subprocess.DEVNULL, capture_output=True, timeout=300)


def reset():
    shutil.rmtree(tried, ignore_errors=True)
    if os.path.exists(made):
        shutil.copytree(made, tried)
    else:
        os.mkdir(tried)


def prepare():
    reset()
    for command in ([analyze, "import", f"{source}/tests/fuzz/corpus/document/run-plain.json"],
                    [measure, "-q", "-r", "3", "-w", "0", "--accounting", "none", "--export-json", "x.json", "--", "true"],
                    [calibrate, "profile", "import", f"{source}/tests/fuzz/corpus/document/profile.json"],
                    [calibrate, "constant"]):
        done = run(command)
        if done.returncode:
            sys.exit(f"{command}: {done.stderr.decode()}")
    for seed in "1", "2":
        run([f"{source}/tests/cli/made_up_load.py", f"{tried}/book.db", seed])
    shutil.copy(f"{source}/tests/fuzz/corpus/document/run-plain.json", f"{tried}/run.json")
    shutil.copy(f"{source}/tests/fuzz/corpus/document/profile.json", f"{tried}/profile.json")
    os.rename(tried, made)


def sound():
    book = f"{tried}/book.db"
    if not os.path.exists(book):
        return True
    db = sqlite3.connect(book)
    try:
        return db.execute("PRAGMA integrity_check").fetchone() == ("ok",) and not db.execute("PRAGMA foreign_key_check").fetchall()
    finally:
        db.close()


def exports_fault(name, status):
    left = [f for f in os.listdir(tried) if ".new-" in f]
    if left:
        return f"left {left}"
    if name != "measure" or status:
        return None
    if len(json.load(open(f"{tried}/x.json"))["results"][0]["times"]) != 2:
        return "the JSON is not of this run"
    if len(open(f"{tried}/x.csv").readlines()) != 2 or not open(f"{tried}/x.md").read().startswith("| Command"):
        return "an export is not complete"


def fault_of(name, done, whole):
    status, said = done.returncode, done.stderr.decode(errors="replace").strip()
    if status < 0 or status >= 128:
        return f"died, status {status}: {said}"
    if status not in (0, whole.returncode) and not re.search(r"\w+ \w+", said):
        return f"status {status} without a sentence"
    if status not in (0, whole.returncode) and len(said.splitlines()) > 4 + len(whole.stderr.splitlines()):
        return f"not a sentence: {said}"
    if status == 0 and name in SAME and done.stdout != whole.stdout:
        return f"success, but not the whole output: {said}"
    if not sound():
        return "the book is not sound"
    try:
        json.load(open(f"{tried}/x.json"))
    except ValueError:
        return "a half-written export"
    return exports_fault(name, status)


def try_command(name, kind):
    command, faults = COMMANDS[name], 0
    reset()
    whole = run(command, LD_PRELOAD=preload, EMP_FAULT=f"{kind}:0", EMP_FAULT_COUNT=count_file)
    if whole.returncode != (whole.returncode == 2 and name == "audit") * 2:
        sys.exit(f"{name}: status {whole.returncode}: {whole.stderr.decode()}")
    n = int(open(count_file).read())
    wanted = range(1, n + 1) if most == "all" else sorted(random.sample(range(1, n + 1), min(n, int(most))))
    failed = 0
    for i in wanted:
        reset()
        try:
            done = run(command, LD_PRELOAD=preload, EMP_FAULT=f"{kind}:{i}")
            fault = fault_of(name, done, whole)
            failed += done.returncode not in (0, whole.returncode)
        except subprocess.TimeoutExpired:
            fault = "hangs"
        if fault:
            print(f"FAULT: {name}, {kind}:{i}: {fault}", flush=True)
            faults += 1
    print(f"{name}, {kind}: {len(wanted)} of {n} calls, {failed} failed the command", flush=True)
    return faults


if os.geteuid():
    print("not run: needs root")
    sys.exit(1 if os.environ.get("EMP_MUST_RUN") else 77)
print(f"EMP_SEED={seed}", flush=True)
try:
    prepare()
    faults = sum(try_command(name, kind) for name in COMMANDS for kind in ("memory", "disk", "open")
                 if not only or name in only or kind in only)
finally:
    shutil.rmtree(place, ignore_errors=True)
print(f"{faults} faults")
sys.exit(faults > 0)
