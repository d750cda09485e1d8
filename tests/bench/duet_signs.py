#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How often a duet says that the slower of two programs is the faster one. Run as root:

    tests/bench/duet_signs.py BUILD [--rounds 20] [--samples 10] [--slices auto,1,3,10,30] [--kinds compute,L2,...] [--data FILE]

Programs of each kind (compute: INC; L2, L3, memory: pointers through as much; mixed: pointers and computing) are paired with those of each other kind
and with themselves, in both orders. One of the two has 1.3 times the work that makes both equally long when they run in turn. For each slice, a call of
emp-measure compares them in a duet. REVERSED counts the verdicts with p < 0.05 that have the wrong sign: in the duet itself (what the samples of the duet alone would
say), and in what emp-measure says. Slice "auto": as emp-measure chooses it, or in turn. Calls after which the samples in turn do not say what the work does are left out: the machine has changed. ELSEWHERE is how often the programs were taken in turn, or their runs alone disagreed. Goal: at most 1 % reversed. With --data FILE, each call is added to the
file as a line, and those that it has count as well. Nothing here fails: it prints."""
import argparse, collections, itertools, json, math, os, statistics, subprocess, sys, tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("build")
parser.add_argument("--rounds", type=int, default=20)
parser.add_argument("--samples", type=int, default=10)
parser.add_argument("--slices", default="auto,1,3,10,30", help="ms")
parser.add_argument("--kinds", default="compute,L2,L3,memory,mixed")
parser.add_argument("--ms", type=float, default=60, help="length of the programs")
parser.add_argument("--data")
args = parser.parse_args()
build = os.path.abspath(args.build)
cpu = max(os.sched_getaffinity(0))
tmp = tempfile.TemporaryDirectory()
os.environ["EMP_DB"] = os.path.join(tmp.name, "book.db")
os.environ["EMP_LOCK"] = os.path.join(tmp.name, "lock")
chase = os.path.join(build, "tests/bench/chase")
KINDS = { # work -> command line
    "compute": lambda work: f"{os.path.join(build, 'calibrate/emp-inc')} --iterations {work}",
    "L2": lambda work: f"{chase} 400 {work}",
    "L3": lambda work: f"{chase} 1500 {work}",
    "memory": lambda work: f"{chase} 20000 {work}",
    "mixed": lambda work: f"{chase} 1500 {work} 20",
}
MORE = 1.3
T = [math.nan, math.nan, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09]

def measure(*arguments):
    out = os.path.join(tmp.name, "out.json")
    done = subprocess.run([os.path.join(build, "measure/emp-measure"), "-q", "--ignore-lock", "--cpu", str(cpu), "--export-json", out, *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode not in (0, 3):
        sys.exit(done.stdout)
    return json.load(open(out))

def pts(result):
    return result["emp"]["pt_ns"]

def calibrate():
    """The work of each kind that takes --ms: from two amounts, because starting takes its time, too."""
    few, many, work = 2000000, 10000000, {}
    for kind in args.kinds.split(","):
        scale = 20 if kind == "compute" else 0.05 if kind == "memory" else 0.2 if kind == "mixed" else 1
        a, b = (statistics.median(pts(r)) for r in measure("-r", "7", *(KINDS[kind](int(n * scale)) for n in (few, many)))["results"])
        work[kind] = int(scale * max(few / 4, few + (args.ms * 1e6 - a) * (many - few) / (b - a)))
    return work

def verdict_of(logs):
    """-1, 0 or 1: the sign of the ratio if its 95 % interval leaves it."""
    mean, half = statistics.mean(logs), T[min(len(logs), 20)] * statistics.stdev(logs) / math.sqrt(len(logs))
    return 0 if abs(mean) <= half else 1 if mean > 0 else -1

def one(a, b, slice_ms, more_b):
    """b or a has more work; what is true is what the two take in turn, with more samples."""
    works = [work[a] * (1 if more_b else MORE), work[b] * (MORE if more_b else 1)]
    lines = [KINDS[k](int(w)) for k, w in zip((a, b), works)]
    duet = measure("-r", str(args.samples), "--order", "duet", *([] if slice_ms == "auto" else ["--slice", f"{slice_ms}ms"]), *lines)
    turns = measure("-r", str(2 * args.samples), *lines)
    logs = [math.log(y / x) for x, y in zip(*map(pts, duet["results"]))]
    says = {"slower": 1, "faster": -1}.get(duet["comparisons"][0]["verdict"], 0)
    return {"pair": f"{a}-{b}", "slice": slice_ms, "more": 1 if more_b else -1, "duet": verdict_of(logs), "says": says, "elsewhere": "in_turn_because" in duet or "ratio_in_turn" in duet["comparisons"][0], "ratio": statistics.mean(logs),
            "turn": verdict_of([math.log(y / x) for x, y in zip(*map(pts, turns["results"]))]),
            "true": statistics.median(math.log(y / x) for x, y in zip(*map(pts, turns["results"])))}

rows = [json.loads(line) for line in open(args.data)] if args.data and os.path.exists(args.data) else []
work = calibrate() if args.rounds else {}
print("work for", args.ms, "ms:", work, flush=True)
kinds = args.kinds.split(",")
for n in range(args.rounds):
    for i, (a, b) in enumerate(itertools.product(kinds, kinds)):
        for slice_ms in args.slices.split(","):
            rows.append(one(a, b, slice_ms, (n + i) % 2 == 0))
            if args.data:
                with open(args.data, "a") as f:
                    print(json.dumps(rows[-1]), file=f)

def table(title, key):
    groups = collections.defaultdict(list)
    for row in rows:
        if row["turn"] and row.get("more", row["turn"]) == row["turn"]: # otherwise it is not known which is slower
            groups[key(row)].append(row)
    print(f"\n{title:16} CALLS  DUET REVERSED  EMP REVERSED  EMP: NO VERDICT  ELSEWHERE")
    for name, group in sorted(groups.items()):
        n = len(group)
        print(f"{name:16} {n:5}  {sum(r['duet'] * r['turn'] < 0 for r in group):6} {sum(r['duet'] * r['turn'] < 0 for r in group) / n:6.1%}"
              f"  {sum(r['says'] * r['turn'] < 0 for r in group):5} {sum(r['says'] * r['turn'] < 0 for r in group) / n:6.1%}"
              f"  {sum(r['says'] == 0 for r in group) / n:15.1%}  {sum(r['elsewhere'] for r in group) / n:9.1%}")

table("SLICE, ms", lambda r: f"{r['slice']:>4}")
table("PAIR", lambda r: r["pair"])
table("", lambda r: "all")
