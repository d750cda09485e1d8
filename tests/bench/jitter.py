#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Interruptions of one CPU as emp-calibrate jitter finds them, beside what other tools find in the same minute. Run as root:

    tests/bench/jitter.py BUILD [--seconds 5] [--rounds 5] [--cpu N]

oslat (rt-tests) and sysjitter see gaps and name nobody; perf sched timehist names tasks and sees no gap; rtla osnoise names threads and
interrupts, where the kernel has its tracer. sysjitter is not in Debian: it takes part where it is installed. A tool that is not there is
listed as such. The tools take turns in random order, since two loops on one CPU would interrupt each other.

Counted are interruptions over 8 us, which every tool can tell, up to 1 ms: `a second`, and the us that they took. Both are medians over the
rounds; the ratio to EMP's is the geometric mean over the rounds with its 95 % interval. perf counts each run of a task, of which
a gap may have several. `named` is the share of that time to which
a tool gives a name, `names` the number of different ones, and `cost` the time that recording one event takes: EMP's own report, and for perf
what it adds to a switch of tasks in perf bench sched pipe."""
import argparse, collections, glob, json, math, os, random, re, shutil, sqlite3, subprocess, tempfile
from statistics import mean, median, stdev

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--seconds", type=int, default=5)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--cpu", type=int, default=os.cpu_count() - 1)
args = parser.parse_args()
tmp = tempfile.TemporaryDirectory()
os.environ["EMP_DB"] = os.path.join(tmp.name, "book.db")
os.environ["LC_ALL"] = "C"
null = subprocess.DEVNULL
OVER_US = 8
MOST_US = 1000  # oslat has as many buckets; what is longer, it does not tell apart
other = next(cpu for cpu in range(os.cpu_count()) if cpu != args.cpu or os.cpu_count() == 1)


def file(name):
    return os.path.join(tmp.name, name)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], stdin=null, text=True, **options)


# What each tool finds: the number of gaps over OVER_US up to MOST_US, their us, the share of these that it names, the names.

def emp():
    run(os.path.join(args.build, "calibrate/emp-calibrate"), "jitter", "-q", "--cpu", args.cpu, "--for", f"{args.seconds}s", check=True, stdout=null)
    db = sqlite3.connect(os.environ["EMP_DB"])
    last = db.execute("SELECT max(run) FROM jitter_cpu").fetchone()

    def buckets(level):
        n, ns = db.execute("SELECT sum(count), sum(total_ns) FROM jitter_bucket WHERE run = ? AND level = ? AND low_ns >= ? AND high_ns <= ?",
                           (*last, level, OVER_US * 1000, MOST_US * 1000)).fetchone()
        return n or 0, (ns or 0) / 1e3

    n, us = buckets("user")
    names = db.execute("SELECT count(*) FROM jitter_source WHERE run = ? AND level = 'frequency'", last).fetchone()[0]
    costs["emp-calibrate jitter"].append(db.execute("SELECT event_cost_ns FROM jitter_cpu WHERE run = ?", last).fetchone()[0])
    return n, us, buckets("master")[1] / us if us else 0, names


def oslat():
    out = file("oslat.json")
    run("oslat", "-c", args.cpu, "-C", other, "-D", args.seconds, "-b", "1024", "-q", f"--json={out}", check=True, stdout=null, stderr=null)
    buckets = {int(us): n for us, n in json.load(open(out))["thread"]["0"]["histogram"].items()}
    chosen = {us: n for us, n in buckets.items() if OVER_US <= us < MOST_US}
    return sum(chosen.values()), sum(us * n for us, n in chosen.items()), 0, 0


def sysjitter():
    for old in glob.glob(file("sysjitter*")):
        os.remove(old)
    run("sysjitter", "--runtime", args.seconds, "--cores", args.cpu, "--raw", file("sysjitter"), OVER_US * 1000, check=True, stdout=null)
    lengths = [int(line.split()[3]) / 1e3 for name in glob.glob(file("sysjitter*")) for line in open(name) if re.match(r" *\d", line)]
    chosen = [us for us in lengths if OVER_US <= us < MOST_US]
    return len(chosen), sum(chosen), 0, 0


def perf():
    """A program that wants all of the CPU has none of the time that perf says others had."""
    data = file("perf.data")
    run("perf", "sched", "record", "-q", "-o", data, "-C", args.cpu, "--", "taskset", "-c", args.cpu,
        "timeout", args.seconds, "sh", "-c", "while :; do :; done", stdout=null, stderr=null)
    text = run("perf", "sched", "timehist", "-i", data, "-C", args.cpu, check=True, capture_output=True).stdout
    times, names = [], collections.Counter()
    for line in text.splitlines()[3:]:
        part = line.rsplit(None, 3)
        name = line[24:].split("[")[0].split("  ")[0].strip()
        if len(part) < 4 or name in ("sh", "<idle>"):
            continue
        times.append(float(part[-1]) * 1e3)
        names[name] += 1
    chosen = [us for us in times if OVER_US <= us < MOST_US]
    return len(chosen), sum(chosen), 1, len(names)


def perf_cost():
    """What recording adds to a switch between two tasks on the CPU."""
    bench = ["taskset", "-c", str(args.cpu), "perf", "bench", "-f", "simple", "sched", "pipe", "-l", "20000"]
    traced = ["perf", "sched", "record", "-q", "-o", file("cost.data"), "-C", str(args.cpu), "--", *bench]

    def ns(command):
        out = run(*command, capture_output=True).stdout
        return min(float(line) for line in out.splitlines() if re.fullmatch(r"\d+\.\d+", line)) * 1e9 / 40000

    return ns(traced) - ns(bench)


def osnoise():
    text = run("rtla", "osnoise", "hist", "-c", args.cpu, "-d", args.seconds, "-b", 1, "-E", MOST_US, "-r", 1000000, "-p", 1000000,
               check=True, capture_output=True).stdout
    rows = [line.split() for line in text.splitlines() if re.match(r"\d+ +\d+ *$", line)]
    chosen = [(int(us), int(n)) for us, n in rows if OVER_US <= int(us) < MOST_US]
    return sum(n for _, n in chosen), sum(us * n for us, n in chosen), 0, 0


def has_osnoise():
    with open("/proc/kallsyms") as symbols:
        return any(" osnoise_main" in line for line in symbols)


all_tools = {"emp-calibrate jitter": emp, "oslat": oslat, "sysjitter": sysjitter, "perf sched timehist": perf, "rtla osnoise": osnoise}
missing = {name: "not installed" for name in all_tools if name[:3] != "emp" and not shutil.which(name.split()[0])}
if "rtla osnoise" not in missing and not has_osnoise():
    missing["rtla osnoise"] = "this kernel has no osnoise tracer"
tools = {name: tool for name, tool in all_tools.items() if name not in missing}
found = {name: [] for name in tools}
costs = {name: [] for name in tools}
for _ in range(args.rounds):
    for name in random.sample(list(tools), len(tools)):
        gaps, us, named, names = tools[name]()
        found[name].append((gaps / args.seconds, us / args.seconds, named, names))
    if "perf sched timehist" in tools:
        costs["perf sched timehist"].append(perf_cost())


def ratio(mine, others):
    logs = [math.log(b / a) for a, b in zip(mine, others) if a > 0 and b > 0]
    if len(logs) < 2:
        return "-"
    off = 2.2 * stdev(logs) / math.sqrt(len(logs))
    return f"{math.exp(mean(logs)):.2f} ({math.exp(mean(logs) - off):.2f}-{math.exp(mean(logs) + off):.2f})"


print(f"Interruptions of {OVER_US} to {MOST_US} us, CPU {args.cpu}, {args.rounds} rounds of {args.seconds} s; load {open('/proc/loadavg').read().split()[0]}")
print(f"{'':20} {'a second':>9} {'ratio':>18} {'us/s':>8} {'ratio':>18} {'named':>6} {'names':>6} {'cost':>8}")
base = list(zip(*found["emp-calibrate jitter"]))
for name, rows in found.items():
    n, us, named, names = zip(*rows)
    cost = [c for c in costs[name] if c]
    print(f"{name:20} {median(n):9.1f} {ratio(base[0], n):>18} {median(us):8.0f} {ratio(base[1], us):>18} {median(named):6.0%} {median(names):6.0f}"
          f" {f'{median(cost):.0f} ns' if cost else '-':>8}")
for name, why in missing.items():
    print(f"{name:20} {why}")
