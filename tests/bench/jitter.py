#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Interruptions of one CPU as emp-calibrate jitter finds them, beside what other tools find in the same minute. Run as root:

    tests/bench/jitter.py BUILD [--seconds 5] [--rounds 5] [--cpu N]

oslat (rt-tests) and sysjitter see gaps and name nobody; perf sched timehist names tasks and sees no gap. The tools take turns in random
order, since two loops on one CPU would interrupt each other. Printed are the median over the rounds, and the ratio to EMP's: the geometric
mean over the rounds with its 95 % interval. A tool that is not installed is left out."""
import argparse, collections, json, math, os, random, shutil, sqlite3, subprocess, tempfile
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
OVER_US = 8  # what every tool can count: longer gaps than this
MOST_US = 1000  # oslat has as many buckets; what is longer, it does not tell apart
other = next(cpu for cpu in range(os.cpu_count()) if cpu != args.cpu or os.cpu_count() == 1)


def file(name):
    return os.path.join(tmp.name, name)


# What each tool finds, a second: gaps over OVER_US up to MOST_US, their time (us), tasks and interrupts that it names.

def emp():
    subprocess.run([os.path.join(args.build, "calibrate/emp-calibrate"), "jitter", "-q", "--cpu", str(args.cpu), "--for", f"{args.seconds}s"],
                   check=True, stdout=null)
    db = sqlite3.connect(os.environ["EMP_DB"])
    run = db.execute("SELECT max(run) FROM jitter_cpu").fetchone()
    gaps, ns = db.execute("SELECT sum(count), sum(total_ns) FROM jitter_bucket WHERE run = ? AND level = 'user' AND low_ns >= ? AND high_ns <= ?",
                          (*run, OVER_US * 1000, MOST_US * 1000)).fetchone()
    names = db.execute("SELECT count(*) FROM jitter_source WHERE run = ? AND level = 'frequency'", run).fetchone()[0]
    return gaps or 0, (ns or 0) / 1e3, names


def oslat():
    out = file("oslat.json")
    subprocess.run(["oslat", "-c", str(args.cpu), "-C", str(other), "-D", str(args.seconds), "-b", "1024", "-q", f"--json={out}"],
                   check=True, stdout=null, stderr=null)
    buckets = {int(us): n for us, n in json.load(open(out))["thread"]["0"]["histogram"].items()}
    chosen = {us: n for us, n in buckets.items() if OVER_US <= us < MOST_US}
    return sum(chosen.values()), sum(us * n for us, n in chosen.items()), 0


def sysjitter():
    text = subprocess.run(["sysjitter", "--runtime", str(args.seconds), "--cores", str(args.cpu), str(OVER_US * 1000)],
                          check=True, capture_output=True, text=True).stdout
    facts = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    return float(facts["int_n"].split()[0]), float(facts["int_total(ns)"].split()[0]) / 1e3, 0


def perf():
    """A program that wants all of the CPU has none of the time that perf says others had."""
    data = file("perf.data")
    subprocess.run(["perf", "sched", "record", "-q", "-o", data, "-C", str(args.cpu), "--", "taskset", "-c", str(args.cpu),
                    "timeout", str(args.seconds), "sh", "-c", "while :; do :; done"], check=False, stdout=null, stderr=null)
    text = subprocess.run(["perf", "sched", "timehist", "-i", data, "-C", str(args.cpu)], check=True, capture_output=True, text=True).stdout
    times, names = [], collections.Counter()
    for line in text.splitlines()[3:]:
        part = line.rsplit(None, 3)
        name = line[24:].split("[")[0].split("  ")[0].strip()
        if len(part) < 4 or name in ("sh", "<idle>"):
            continue
        times.append(float(part[-1]) * 1e3)
        names[name] += 1
    chosen = [us for us in times if OVER_US <= us < MOST_US]
    return len(chosen), sum(chosen), len(names)


tools = {"emp-calibrate jitter": emp}
tools.update({name: tool for name, tool in (("oslat", oslat), ("sysjitter", sysjitter), ("perf", perf)) if shutil.which(name)})
found = {name: [] for name in tools}
for _ in range(args.rounds):
    for name in random.sample(list(tools), len(tools)):
        gaps, us, names = tools[name]()
        found[name].append((gaps / args.seconds, us / args.seconds, names))


def ratio(mine, others):
    logs = [math.log(b / a) for a, b in zip(mine, others) if a > 0 and b > 0]
    if len(logs) < 2:
        return "-"
    off = 2.2 * stdev(logs) / math.sqrt(len(logs))
    return f"{math.exp(mean(logs)):.2f} ({math.exp(mean(logs) - off):.2f}-{math.exp(mean(logs) + off):.2f})"


print(f"Interruptions of {OVER_US} to {MOST_US} us, CPU {args.cpu}, {args.rounds} rounds of {args.seconds} s")
print(f"{'':22} {'a second':>9} {'ratio':>18} {'us a second':>12} {'ratio':>18} {'names':>6}")
base = list(zip(*found["emp-calibrate jitter"]))
for name, rows in found.items():
    n, us, names = zip(*rows)
    print(f"{name:22} {median(n):9.1f} {ratio(base[0], n):>18} {median(us):12.0f} {ratio(base[1], us):>18} {median(names):6.0f}")
