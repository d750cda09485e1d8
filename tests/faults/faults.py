#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The fault matrix: one thing goes wrong in a short job of a tool, and nothing may be lost or left behind.

memory, open   an allocation or an open fails
book           a system call of SQLite on the files of the book fails (EIO), by the interface of its VFS for that
io, full       a system call that writes, truncates, syncs or renames fails with EIO or ENOSPC: of the book, documents and reports
short          such a call writes only a half
kill           SIGKILL before a system call that can change anything outside the process

No command may die by a signal. One that fails says so in a sentence. One that succeeds has done everything; a short write is no
failure. The book is sound, and an export is complete or not there. After a kill, the trace of the killed process is gone at once; its
cgroups, processes and temporary files are gone after 'emp-setup restore', which a user runs next. All settings of the machine are as
before, its run does not look like one that is being measured, and the book can be used.

Usage: faults.py BUILD SOURCE [N|all [COMMAND|KIND...]]: N calls of each kind in each command, drawn at random (EMP_SEED)."""
import faulthandler, json, os, random, re, shutil, signal, sqlite3, subprocess, sys, tempfile, time

import machine_state

faulthandler.register(signal.SIGTERM, chain=True)  # meson ends a test after its timeout: where it was

build, source = (os.path.realpath(path) for path in sys.argv[1:3])
most = sys.argv[3] if len(sys.argv) > 3 else "2"
only = sys.argv[4:]  # commands or kinds
seed = int(os.environ.get("EMP_SEED") or random.randrange(1 << 31))
random.seed(seed)
preload, inject = (os.path.join(build, "tests/faults", name) for name in ("libfault.so", "inject"))
place = os.path.realpath(tempfile.mkdtemp(prefix="emp-faults-"))
made = os.path.join(place, "made")  # a book with runs, and documents: copied for each command
tried = os.path.join(place, "tried")
count_file = os.path.join(place, "count")
setup, calibrate, measure, analyze = (f"{build}/{tool}/emp-{tool}" for tool in ("setup", "calibrate", "measure", "analyze"))
load, inc, cpu = f"{build}/measure/emp-load", f"{build}/calibrate/emp-inc", str(os.cpu_count() - 1)
PRELOADED, INJECTED = ("memory", "open", "book"), ("io", "full", "short")

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

# Short jobs that are killed. What 'emp-setup apply' sets here disturbs nobody; its journal is in a folder of this test.
private = ["unshare", "-m", "sh", "-c", f"mount --bind {place}/lib /var/lib && exec \"$@\"", "sh"]
KILLED = {
    "kill measure": [measure, "-q", "-r", "1", "-w", "0", "--export-json", "x.json", "--", "true"],
    "kill measure --trace": [measure, "-q", "-r", "1", "-w", "0", "--trace", "--cpu", cpu, "--", "true"],
    "kill duet": [measure, "-q", "-r", "2", "-w", "0", "--order", "duet", "--cpu", cpu, f"{inc} --iterations 3000000", f"{inc} --iterations 4000000"],
    "kill calibrate": [calibrate, "-q", "run", "--short", "0.001x3", "--long", "0.002x2", "--save", "new", "--ignore-audit", "--force"],
    "kill clocks": [calibrate, "-q", "clocks", "--cpu", cpu],
    "kill clockd": ["systemd-socket-activate", "--seqpacket", "-l", f"{tried}/clock", f"{build}/clock/emp-clockd", "--idle", "100ms"],
    "kill jitter": [calibrate, "-q", "jitter", "--cpu", cpu, "--for", "200ms"],
    "kill load": [load, "run", "-q", "-r", "1", "office.ini"],
    "kill import": [analyze, "import", "run.json"],
    "kill remove": [analyze, "remove", "2"],
    "kill picture": [analyze, "trend", "true", "-o", "x.svg"],
    "kill fingerprint": [setup, "fingerprint", "--save"],
    "kill apply": [setup, "apply", "--only", "vmstat,hung"],
    "kill restore": [setup, "restore"],
}
BY_NAME = {"kill clocks"}  # reads clocks a million times: under ptrace it takes a minute


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("EMP_")}
    return {**kept, "NO_COLOR": "1", "EMP_DB": f"{tried}/book.db", "EMP_LOCK": f"{tried}/lock", "LC_ALL": "C.UTF-8", "TMPDIR": f"{place}/tmp", **more}


def run(command, **more):
    return subprocess.run(command, cwd=tried, env=environment(**more), stdin=subprocess.DEVNULL, capture_output=True, timeout=300)


def reset():
    shutil.rmtree(tried, ignore_errors=True)
    if os.path.exists(made):
        shutil.copytree(made, tried)
    else:
        os.mkdir(tried)


def prepare():
    os.mkdir(f"{place}/tmp")
    os.mkdir(f"{place}/lib")
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
    with open(f"{tried}/office.ini", "w") as file:
        file.write("[work]\nslaves = 2\ncommand = true\n")
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
    left = [f for f in os.listdir(tried) if f.startswith(".emp-")]
    if left:
        return f"left {left}"
    if name != "measure" or status:
        return None
    if len(json.load(open(f"{tried}/x.json"))["results"][0]["times"]) != 2:
        return "the JSON is not of this run"
    if len(open(f"{tried}/x.csv").readlines()) != 2 or not open(f"{tried}/x.md").read().startswith("| Command"):
        return "an export is not complete"


def copy_fault(said):
    """A measurement whose book could not be written is in a copy, in a folder of its own, which is removed."""
    left = re.search(r"goes on in a copy of it, '(.*/emp-book-\w+)/book\.db'", said)
    if not left:
        return None
    db = sqlite3.connect(f"{left[1]}/book.db")
    try:
        if db.execute("PRAGMA integrity_check").fetchone() != ("ok",) or db.execute("PRAGMA foreign_key_check").fetchall():
            return "the copy is not sound"
        if "is stored in" in said and db.execute("SELECT count(*) FROM sample WHERE run = (SELECT max(id) FROM run)").fetchone()[0] != 2:
            return f"the copy has not all samples: {said}"
    finally:
        db.close()
        shutil.rmtree(left[1])


def fault_of(name, kind, done, whole):
    status, said = done.returncode, done.stderr.decode(errors="replace").strip()
    if status < 0 or status >= 128:
        return f"died, status {status}: {said}"
    if kind == "short" and status != whole.returncode:
        return f"status {status}, though a short write is no error: {said}"
    if status not in (0, whole.returncode) and not re.search(r"\w+ \w+", said):
        return f"status {status} without a sentence"
    if status not in (0, whole.returncode) and len(said.splitlines()) > 4 + len(whole.stderr.splitlines()):
        return f"not a sentence: {said}"
    if status == 0 and name in SAME and done.stdout != whole.stdout:
        return f"success, but not the whole output: {said}"
    if not sound():
        return "the book is not sound"
    if fault := copy_fault(said):
        return fault
    try:
        json.load(open(f"{tried}/x.json"))
    except ValueError:
        return "a half-written export"
    return exports_fault(name, status)


def with_fault(name, kind, n):
    if kind in PRELOADED:
        return run(COMMANDS[name], LD_PRELOAD=preload, EMP_FAULT=f"{kind}:{n}", EMP_FAULT_COUNT=count_file)
    return run([inject, kind, str(n), count_file, tried] + COMMANDS[name])


def counted():
    with open(count_file) as file:
        return int((file.read().split() * 2)[1])  # N, or PID N CALL


def drawn(n):
    return range(1, n + 1) if most == "all" else sorted(random.sample(range(1, n + 1), min(n, int(most))))


def try_command(name, kind):
    faults = failed = 0
    reset()
    whole = with_fault(name, kind, 0)
    if whole.returncode != (whole.returncode == 2 and name == "audit") * 2:
        sys.exit(f"{name}: status {whole.returncode}: {whole.stderr.decode()}")
    n = counted()
    for i in drawn(n):
        reset()
        try:
            done = with_fault(name, kind, i)
            fault = fault_of(name, kind, done, whole)
            failed += done.returncode not in (0, whole.returncode)
        except subprocess.TimeoutExpired:
            fault = "hangs"
        if fault:
            print(f"FAULT: {name}, {kind}:{i}: {fault}", flush=True)
            faults += 1
    print(f"{name}, {kind}: {len(drawn(n))} of {n} calls, {failed} failed the command", flush=True)
    return faults


def soon(what):
    """What is still there after a few seconds; the kernel frees some things later."""
    end = time.monotonic() + 5 * int(os.environ.get("EMP_TIMEOUT_MULTIPLIER") or 1)
    while (left := what()) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def clean_up():
    """What a user does next. If it fails, its status and words are what is left."""
    commands = [measure, "-q", "-r", "1", "-w", "0", "--accounting", "none", "--", "true"], [analyze, "list"], private + [setup, "restore"]
    return [f"then {command[-2:]} ends with {done.returncode}: {done.stderr.decode()}" for command in commands
            if (done := run(command)).returncode]


def states_after_kill():
    """The states of runs that say that they are being measured."""
    listed = json.loads(run([analyze, "list", "--json"]).stdout or '{"runs": []}')
    return [f"run {r['run']} is {r['state']}" for r in listed["runs"] if r["state"] in ("open", "running")]


def ask_clock(service):
    """A program that uses emp-clock.service, and ends."""
    answer = b""
    while service.poll() is None and not answer:
        with subprocess.Popen([f"{build}/tests/machine/clock_client", "once"], env=environment(EMP_CLOCK_SOCKET=f"{tried}/clock"),
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as client:
            answer = client.stdout.readline()
            client.kill()


def killed(name, n, before):
    """What is left of a job whose n-th system call was its last, and which settings differ; its number of system calls and its last one."""
    mark = f"EMP_FAULT_JOB={os.getpid()}-{time.monotonic_ns()}"
    reset()
    job = (private if name in ("kill apply", "kill restore") else []) + [inject, "kill", str(n), count_file, tried] + KILLED[name]
    if name == "kill restore":
        run(private + KILLED["kill apply"])
    job = subprocess.Popen(job, cwd=tried, env=environment(**dict([mark.split("=")])), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if name == "kill clockd":
        ask_clock(job)
    said = job.communicate(timeout=300)[1]
    with open(count_file) as file:
        pid, calls, call = file.read().split()
    if n == 0 and job.returncode:
        sys.exit(f"{name}: status {job.returncode}: {said.decode()}")
    left = soon(lambda: machine_state.traces_of(pid)) + clean_up() + states_after_kill()
    left += soon(lambda: machine_state.made_by(pid, mark, f"{place}/tmp"))
    if not sound():
        left.append("a book that is not sound")
    return left, soon(lambda: machine_state.differences(before, machine_state.snapshot())), int(calls), call


def try_kills(name):
    faults = 0
    before = machine_state.snapshot()
    n = killed(name, 0, before)[2]
    for i in drawn(n):
        left, differs, _, call = killed(name, i, before)
        for _ in range(3):  # what differs because of somebody else does not differ each time
            if differs:
                before = machine_state.snapshot()
                differs = sorted(set(differs) & set(killed(name, i, before)[1]))
        if left or differs:
            print(f"FAULT: {name}, before system call {i} (number {call}): left {left}, changed {differs}", flush=True)
            faults += 1
    print(f"{name}: {len(drawn(n))} of {n} system calls", flush=True)
    return faults


def wanted(name, kind):
    return name in only or kind in only and name not in BY_NAME or not only and name not in BY_NAME


if os.geteuid():
    print("not run: needs root")
    sys.exit(1 if os.environ.get("EMP_MUST_RUN") else 77)
print(f"EMP_SEED={seed}", flush=True)
try:
    prepare()
    faults = sum(try_command(name, kind) for name in COMMANDS for kind in PRELOADED + INJECTED if wanted(name, kind))
    faults += sum(try_kills(name) for name in KILLED if wanted(name, "kill"))
finally:
    shutil.rmtree(place, ignore_errors=True)
print(f"{faults} faults")
sys.exit(faults > 0)
