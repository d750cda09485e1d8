#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Signals, as callers leave them and as they come: ignored or blocked ones, SIGCHLD ignored, standard descriptors closed; INT, TERM and
HUP while a hook runs and while a named pipe has nobody at its other end. Usage: signals.py BUILD"""
import os, signal, sqlite3, subprocess, sys, tempfile, time

BUILD = os.path.abspath(sys.argv[1])
MULTIPLIER = int(os.environ.get("EMP_TIMEOUT_MULTIPLIER", 1))
directory = tempfile.TemporaryDirectory()
os.chdir(directory.name)
os.environ.update(EMP_DB=os.path.abspath("book.db"), EMP_LOCK=os.path.abspath("lock"), NO_COLOR="1")
os.environ.pop("EMP_NAMES", None)
faults = 0


def that(words, holds, *more):
    global faults
    if not holds:
        faults += 1
        print("FAULT:", words, *more)


def until(words, condition):
    end = time.time() + 60 * MULTIPLIER
    while not condition():
        if time.time() > end:
            that("waited in vain: " + words, False)
            return False
        time.sleep(0.02)
    return True


def tool(name):
    return f"{BUILD}/{name.removeprefix('emp-').replace('load', 'measure').replace('compare-commits', 'measure')}/{name}"


def usual():
    for one in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE, signal.SIGQUIT:
        signal.signal(one, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, set())


def ignoring(*signals):
    def prepare():
        usual()
        for one in signals:
            signal.signal(one, signal.SIG_IGN)
    return prepare


def blocking(*signals):
    def prepare():
        usual()
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    return prepare


def closing(*descriptors):
    def prepare():
        usual()
        for one in descriptors:
            os.close(one)
    return prepare


def start(words, prepare=usual, **more):
    more = {"stdin": subprocess.DEVNULL, "stdout": open("said", "w"), "stderr": subprocess.STDOUT} | more
    return subprocess.Popen([tool(words[0])] + words[1:], preexec_fn=prepare, restore_signals=False, **more)


def status_of(process):
    """None: it has not ended after a long time, and is killed"""
    try:
        return process.wait(180 * MULTIPLIER)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def run(words, prepare=usual, **more):
    return status_of(start(words, prepare, **more))


def said():
    return open("said").read()


def catches(process):
    """Whether it keeps INT for itself: it is beyond its start, where INT ends any program"""
    for line in open(f"/proc/{process.pid}/status"):
        if line.startswith("SigBlk:"):
            return bool(int(line.split()[1], 16) >> (signal.SIGINT - 1) & 1)


def waits(process):
    """Whether it waits in poll(2); or it has ended"""
    return process.poll() is not None or "poll" in open(f"/proc/{process.pid}/wchan").read()


def samples():
    if not os.path.exists("book.db"):
        return 0
    with sqlite3.connect("book.db", timeout=60) as book:
        try:
            return book.execute("SELECT count(*) FROM sample").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


MEASURE = ["emp-measure", "-q", "-w", "0", "--accounting", "none"]
LOAD = "[load]\nruns = 1\nsetup = {setup}\nteardown = {teardown}\n[work]\nrepetitions = 1\ncommand = true\n"

# A caller that ignores SIGCHLD, as some daemons do: children are waited for all the same.
open("load.ini", "w").write(LOAD.format(setup="true", teardown="true"))
every_tool = [MEASURE + ["-r", "2", "--prepare", "true", "--", "true"], ["emp-setup", "fingerprint", "--json"],
              ["emp-setup", "audit", "--json"], ["emp-calibrate", "constant"], ["emp-analyze", "list"],
              ["emp-analyze", "show", "1"], ["emp-load", "run", "-q", "-w", "0", "--accounting", "none", "load.ini"]]
for words in every_tool:
    expected = run(words)
    without = said()
    for name, prepare in {"SIGCHLD ignored": ignoring(signal.SIGCHLD), "SIGCHLD blocked": blocking(signal.SIGCHLD),
                          "no standard input": closing(0), "INT and TERM ignored": ignoring(signal.SIGINT, signal.SIGTERM),
                          "all blocked": blocking(*signal.valid_signals()),
                          "no descriptor but standard error": closing(0, 1), "no descriptor": closing(0, 1, 2)}.items():
        status = run(words, prepare)
        allowed = {expected, 1} if "descriptor" in name else {expected} # 1: it cannot print
        that(f"{name}: status {status}, not {expected}: {words}", status in allowed, said(), without)
with sqlite3.connect("book.db") as book:
    that("each sample is whole", book.execute("SELECT count(*) FROM sample WHERE pt_ns IS NULL").fetchone()[0] == 0)

# The program under test has the caller's mask, and SIGCHLD as a shell would give it
code = "import signal; print(signal.getsignal(2) == signal.SIG_IGN, signal.getsignal(17) == signal.SIG_IGN, sorted(map(int, signal.pthread_sigmask(0, []))))"
run(MEASURE + ["-r", "1", "--output", "seen", "--", sys.executable, "-c", code], ignoring(signal.SIGINT, signal.SIGCHLD))
that("an ignored INT is ignored in the program, and SIGCHLD is not", open("seen").read() == "True False []\n", open("seen").read(), said())
run(MEASURE + ["-r", "1", "--output", "seen", "--", sys.executable, "-c", code], blocking(signal.SIGTERM, signal.SIGUSR1))
that("the program has the mask of the caller", open("seen").read() == "False False [10, 15]\n", open("seen").read(), said())

# What the caller ignores stays ignored; what it does not ends the run
for ignored in (signal.SIGINT, signal.SIGTERM), (signal.SIGINT,), (signal.SIGTERM,), (signal.SIGHUP,), ():
    before = samples()
    process = start(MEASURE + ["-r", "20", "--", "sleep", "0.1"], ignoring(*ignored))
    until("a sample", lambda: samples() > before or process.poll() is not None)
    for one in ignored or (signal.SIGTERM,):
        process.send_signal(one)
    status = status_of(process)
    that(f"ignored {ignored}: status {status}", status == (0 if ignored else 130), said())
    that(f"ignored {ignored}: {samples() - before} samples", (samples() - before == 20) == bool(ignored))
process = start(["emp-load", "run", "-q", "-w", "0", "--accounting", "none", "-r", "3", "load.ini"], ignoring(signal.SIGINT, signal.SIGTERM))
until("it catches signals", lambda: process.poll() is not None or catches(process))
for one in signal.SIGINT, signal.SIGTERM:
    process.send_signal(one)
that("emp-load goes on", status_of(process) in (0, 1) and "interrupted" not in said(), said())

# Hooks end with the tool: the shell, and all that it runs
def living(mark):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark in open(f"/proc/{pid}/cmdline", errors="replace").read() and open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] != "Z":
                found.append(int(pid))
        except OSError:
            pass
    return [pid for pid in found if pid != os.getpid()]


mark = f"1000.{os.getpid()}"
hooks = {"alone": f"touch begun; exec sleep {mark}", "two": f"touch begun; sleep {mark}; touch wrong",
         "a pipe": f"touch begun; sleep {mark} | cat; touch wrong", "deaf": f"trap '' INT TERM HUP; touch begun; sleep {mark}; sleep {mark}",
         "a deaf child": f"touch begun; sh -c \"trap '' TERM; sleep {mark}; sleep {mark}\"; touch wrong",
         "nested": f"touch begun; sh -c 'setsid sleep {mark}; touch wrong'; touch wrong"}
def ended(what, words, one, kept=None):
    for left in filter(os.path.exists, ("begun", "wrong")):
        os.remove(left)
    process = start(words)
    until("the hook begins: " + what, lambda: os.path.exists("begun") and living("sleep\0" + mark) or process.poll() is not None)
    began = time.time()
    process.send_signal(one)
    status = status_of(process)
    that(f"{what}, {one.name}: status {status} after {time.time() - began:.1f} s", status == 130, said())
    that(f"{what}: it is named as interrupted", "interrupted" in said(), said())
    until(f"{what}: all of the hook ends", lambda: not living(mark))
    that(f"{what}: nothing after it ran", not os.path.exists("wrong"))


for name, hook in hooks.items():
    for option in ("--setup", "--prepare", "--conclude", "--cleanup") if name in ("two", "deaf") else ("--prepare",):
        one = signal.SIGINT if option == "--conclude" else signal.SIGTERM
        ended(f"{option} {name}", MEASURE + ["-r", "3", "-S", "sh", option, hook, "--", "true"], one)
before = samples()
ended("HUP", MEASURE + ["-r", "3", "--prepare", f"touch begun; sleep {mark}", "--", "true"], signal.SIGHUP)
that("no sample was taken", samples() == before)
for name in "setup", "teardown":
    open("hooked.ini", "w").write(LOAD.format(**({"setup": "true", "teardown": "true"} | {name: f"touch begun; sleep {mark}; touch wrong"})))
    ended("emp-load, " + name, ["emp-load", "run", "-q", "-w", "0", "--accounting", "none", "hooked.ini"], signal.SIGTERM)
open("hooked.ini", "w").write(f"[load]\nruns = 1\n[work]\nrepetitions = 1\nsetup = touch begun; sleep {mark}\ncommand = true\n".replace("touch begun", f"touch {directory.name}/begun"))
ended("emp-load, setup of a slave", ["emp-load", "run", "-q", "-w", "0", "--accounting", "none", "hooked.ini"], signal.SIGTERM)

# --cleanup after an interruption is not interrupted by it, even if the signal came twice, as from timeout(1)
for n in 1, 2:
    if os.path.exists("cleaned"):
        os.remove("cleaned")
    before = samples()
    process = start(MEASURE + ["-r", "1000", "--cleanup", "sleep 0.3; touch cleaned", "--", "sleep", "0.1"])
    until("samples", lambda: samples() > before)
    for _ in range(n):
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
    that("it is interrupted", status_of(process) == 130, said())
    that("--cleanup runs to its end", os.path.exists("cleaned"))

# A server that a hook leaves running is nobody's to end, but --cleanup's
process = start(MEASURE + ["-r", "1000", "--setup", f"sleep {mark} >/dev/null 2>&1 &", "--prepare", "touch begun", "--", "sleep", "0.1"])
before = samples()
until("samples", lambda: samples() > before)
process.send_signal(signal.SIGTERM)
that("it is interrupted", status_of(process) == 130, said())
that("a server of --setup goes on", len(living(mark)) == 1, living(mark))
for pid in living(mark):
    os.kill(pid, signal.SIGKILL)

# A named pipe with nobody at its other end
os.mkfifo("fifo")
def stuck(words, one=signal.SIGINT, caught=True):
    process = start(words)
    if caught:
        until("it catches signals", lambda: process.poll() is not None or catches(process))
    else:
        until("it waits for the pipe", lambda: waits(process))
    process.send_signal(one)
    status = status_of(process)
    that(f"{words} with a pipe and {one.name}: status {status}", status in (130, 1) if caught else status in (-one, 130, 1), said())
    return status


for one in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
    for option in "--output", "--export-json", "--export-csv", "--export-markdown":
        that(f"{option} is interrupted", stuck(MEASURE + ["-r", "1", option, "fifo", "--", "true"], one) == 130, said())
that("a pipe is no --input", run(MEASURE + ["-r", "1", "--input", "fifo", "--", "true"]) == 1 and "must be a file" in said(), said())
before = samples()
process = start(MEASURE + ["-r", "2", "--export-json", "fifo", "--", "true"])
until("both samples", lambda: samples() == before + 2)
until("it waits", lambda: waits(process))
that("it waits for a reader", process.poll() is None)
read = subprocess.run(["timeout", "60", "cat", "fifo"], capture_output=True, text=True).stdout
that("the reader gets it whole", status_of(process) == 0 and read.startswith("{") and read.endswith("}\n"), read, said())
process = start(MEASURE + ["-r", "2", "--output", "fifo", "--", "echo", "hello"])
read = subprocess.run(["timeout", "60", "cat", "fifo"], capture_output=True, text=True).stdout
that("a reader of --output gets it", status_of(process) == 0 and read == "hello\nhello\n", read, said())

# A document that is longer than a pipe, with a reader that does not read
for words in ["--export-json", "fifo"], ["--export-json", "-"], ["--json"]:
    before = samples()
    reader = os.open("fifo", os.O_RDWR)
    process = start(MEASURE + ["-r", "700"] + words + ["--", "true"], **({} if "fifo" in words else {"stdout": open("fifo", "w"), "stderr": open("said", "w")}))
    until("all samples", lambda: samples() >= before + 700)
    until("it waits", lambda: waits(process))
    that("it waits until somebody reads", process.poll() is None, words)
    process.send_signal(signal.SIGTERM)
    status = status_of(process)
    that(f"{words}: status {status}", status in (130, 1))
    os.close(reader)

# All names of files, in every tool
for words in (["emp-load", "run", "fifo"], ["emp-load", "check", "fifo"],
              ["emp-load", "run", "-q", "-w", "0", "--accounting", "none", "--export-json", "fifo", "load.ini"],
              ["emp-analyze", "import", "fifo"], ["emp-analyze", "compare", "fifo", "fifo"],
              ["emp-setup", "fingerprint", "--diff", "fifo"], ["emp-calibrate", "profile", "import", "fifo"],
              ["emp-setup", "audit", "--policy", "./fifo"], ["emp-setup", "apply", "-n", "--policy", "./fifo"]):
    stuck(words, signal.SIGTERM, words[0] == "emp-calibrate" or words[:2] == ["emp-load", "run"])
for words in (["emp-analyze", "list"], ["emp-measure", "-q", "-w", "0", "-r", "1", "--", "true"], ["emp-setup", "fingerprint", "--save"]):
    that("a pipe is no book", run(words, env=os.environ | {"EMP_DB": os.path.abspath("fifo")}) == 1, words, said())
    that("a pipe is no lock", run(words, env=os.environ | {"EMP_LOCK": os.path.abspath("fifo")}) is not None, words, said())

# emp-analyze writes to one
run(["emp-load", "run", "-q", "-w", "0", "--accounting", "none", "-r", "2", "load.ini"])
run_id = sqlite3.connect("book.db").execute("SELECT max(id) FROM run").fetchone()[0]
for words in ["load", str(run_id), "--csv", "fifo"], ["load", str(run_id), "--markdown", "fifo"], ["trend", "true", "--csv", "fifo"]:
    stuck(["emp-analyze"] + words, signal.SIGTERM, False)

if faults:
    print(faults, "faults")
sys.exit(faults > 0)
