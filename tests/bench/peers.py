#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Relative error (sd / mean) of EMP's process time beside what other tools report, for four compute-bound programs on one CPU: quiet, and
with a daemon on that CPU that takes 100 ms every 2 s. Run as root:

    tests/bench/peers.py BUILD [--samples 10] [--rounds 6] [--cpu N] [--only quiet|noisy]

In each round every tool takes its samples of a program in turn with all the others, one at a time and in random order (emp-measure's
--prepare and --conclude let the others in), since a machine's speed may wander by more from one minute to the next than the tools differ.
Printed are the median over the rounds, and the ratio to that of EMP's PT: the geometric mean over the rounds with its 95 % interval.
Above 1, the other's error is greater. All tools are treated alike: one table is of all samples, one of those that are left after the papers' 2-sd
check of each tool's own times. What EMP achieves by discarding samples with a named cause is the last line of the first table: below 1, it
helps. A tool that is not installed is left out."""
import argparse, json, math, os, random, shutil, subprocess, sys, tempfile, threading, time
from statistics import mean, median, stdev

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--samples", type=int, default=10)
parser.add_argument("--rounds", type=int, default=6)
parser.add_argument("--cpu", type=int, default=os.cpu_count() - 1)
parser.add_argument("--only", choices=["quiet", "noisy"], help="one of both conditions")
args = parser.parse_args()
build, cpu, n = os.path.abspath(args.build), args.cpu, args.samples
tmp = tempfile.TemporaryDirectory()
os.environ["EMP_DB"] = os.path.join(tmp.name, "book.db")
os.environ["LC_ALL"] = "C"
null = subprocess.DEVNULL

def path(name):
    return os.path.join(build, name)

def pinned(command):
    return ["taskset", "-c", str(cpu)] + command

# What each peer makes of one sample.

def hyperfine(command):
    out = os.path.join(tmp.name, "hyperfine.json")
    subprocess.run(pinned(["hyperfine", "-N", "-r", "1", "--export-json", out, " ".join(command)]), check=True, stdout=null, stderr=null)
    r = json.load(open(out))["results"][0]
    return {"hyperfine, wall": r["mean"], "hyperfine, user + system": r["user"] + r["system"]}

def perf(command):
    out = subprocess.run(["perf", "stat", "-x;", "-e", "task-clock"] + pinned(command), check=True, stdout=null,
                         stderr=subprocess.PIPE, text=True).stderr
    fields = next(line for line in out.splitlines() if "task-clock" in line).split(";")
    return {"perf stat, task-clock": float(fields[0])}

def wait4(command):
    start = time.monotonic()
    pid = os.posix_spawnp("taskset", pinned(command), os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    ru = os.wait4(pid, 0)[2]
    return {"wait4, wall": time.monotonic() - start, "wait4, user + system": ru.ru_utime + ru.ru_stime}

peers = [wait4] + [tool for tool in (hyperfine, perf) if shutil.which(tool.__name__)]

class Hook:
    """A command for emp-measure's hooks that waits until `work` is done here."""
    def __init__(self, name, work):
        ask, answer = (os.path.join(tmp.name, f"{name}.{way}") for way in ("ask", "answer"))
        for fifo in (ask, answer):
            os.path.exists(fifo) or os.mkfifo(fifo)
        self.command = f"echo >{ask}; read x <{answer}"
        self.ask, self.answer, self.work = ask, answer, work
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            with open(self.ask) as f:
                f.read()
            self.work()
            with open(self.answer, "w") as f:
                f.write("done\n")

class Turn:
    """The peers' samples of one program in one round."""
    def __init__(self):
        self.command, self.values, self.rest = None, {}, []

    def take(self, tools):
        for tool in tools:
            for label, value in tool(self.command).items():
                self.values.setdefault(label, []).append(value)

    def before(self):
        order = random.sample(peers, len(peers))
        first = random.randint(0, len(peers))
        self.rest = order[first:]
        self.take(order[:first])

    def after(self):
        self.take(self.rest)

turn = Turn()
prepare, conclude = Hook("prepare", turn.before), Hook("conclude", turn.after)

EMP, NAMED = "EMP, PT", "EMP, PT, named discards"
ALL, TWO_SD = "all samples", "after the 2-sd check of each tool"

def one_round(command):
    turn.command, turn.values = command, {}
    out = os.path.join(tmp.name, "emp.json")
    status = subprocess.run([path("measure/emp-measure"), "-q", "-w", "0", "-r", str(n), "--cpu", str(cpu), "--profile", "peers",
                             "--style", "none", "--export-json", out, "-p", prepare.command, "-C", conclude.command, "--"] + command,
                            stdout=null).returncode
    assert status in (0, 3), f"emp-measure: {status}"
    r = json.load(open(out))["results"][0]["emp"]
    turn.values[EMP] = r["pt_ns"]
    return {ALL: {**{label: cv(values) for label, values in turn.values.items()}, NAMED: r["pt"]["kept"]["relative_error"]},
            TWO_SD: {label: cv(within_two_sd(values)) for label, values in turn.values.items()}}

def cv(values):
    return stdev(values) / mean(values)

def within_two_sd(values):
    return [v for v in values if abs(v - mean(values)) <= 2 * stdev(values)]

def noise():
    return subprocess.Popen(pinned([path("tests/bench/noisy"), "100", "2000"]))

def ratio(errors, to):
    """The geometric mean over the rounds, and the factor that its interval reaches up and down."""
    t = {2: 12.7, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}.get(len(errors), 2.2)
    logs = [math.log(e / b) for e, b in zip(errors, to)]
    return math.exp(mean(logs)), math.exp(t * stdev(logs) / len(logs) ** 0.5) if len(logs) > 1 else math.inf

def print_rows(rows):
    base = rows[EMP]
    print(f"{'':25}" + "".join(f"{name:>29}" for name in programs))
    order = sorted(rows, key=lambda l: (l == NAMED, mean(math.log(ratio(rows[l][p], base[p])[0]) for p in programs)))
    for label in order:
        print(f"{label:25}", end="")
        for p in programs:
            r, factor = ratio(rows[label][p], base[p])
            print(f"{median(rows[label][p]):>12.1e} {r:>5.2f} ({r / factor:.2f}-{r * factor:.2f})", end="")
        print(flush=True)

data = os.path.join(tmp.name, "data")
rng = random.Random(1)
with open(data, "w") as f:
    for _ in range(120000):
        f.write(f"{rng.getrandbits(40):x} {rng.choice(['sample', 'cutoff', 'daemon'])}\n")
subprocess.run([path("calibrate/emp-calibrate"), "constant", "--cpu", str(cpu)], check=True, stdout=null, stderr=null)
programs = {
    "INC0.2": [path("calibrate/emp-inc"), "0.2"],
    "xz": ["xz", "-4", "-k", "-c", data],
    "sort": ["sort", "--parallel=1", "-S", "64M", data],
    "matrix": [path("programs/emp-matr"), "460"],
}

print("calibrating beside the noisy daemon ...", file=sys.stderr)
daemon = noise()
try:
    subprocess.run([path("calibrate/emp-calibrate"), "-q", "run", "--short", "0.1x200", "--long", "2x8", "--cpu", str(cpu), "--save", "peers",
                    "--anyway", "--force"], check=True, stdout=null, stderr=null)
finally:
    daemon.kill()
    daemon.wait()

conditions = {"quiet": "quiet", "noisy": "with the noisy daemon"}
for condition in [args.only] if args.only else conditions:
    daemon = noise() if condition == "noisy" else None
    results = {}
    try:
        for _ in range(args.rounds):
            for name, command in programs.items():
                for samples, errors in one_round(command).items():
                    for label, error in errors.items():
                        results.setdefault(samples, {}).setdefault(label, {}).setdefault(name, []).append(error)
    finally:
        if daemon:
            daemon.kill()
            daemon.wait()
    for samples, rows in results.items():
        print(f"\n{conditions[condition]}, {samples}: relative error, and its ratio to that of EMP's PT with a 95 % interval "
              f"({args.rounds} rounds of {n} samples)")
        print_rows(rows)
