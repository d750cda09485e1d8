#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What duets say of pairs of programs whose ratio is known from samples in turn. Run as root:

    tests/bench/duet_pairs.py BUILD [--calls 20] [--samples 10] [--pairs inc,xz,...] [--data FILE]

Each round of a pair is a call of emp-measure in turn and one with --order duet, as emp-measure chooses the slice. TRUE is the ratio of all samples in turn (of
the pairs of INC, that of their work). RMS is the error of a duet's ratio, THAT the error of one in turn, WITHIN how many of its intervals have the true ratio in them, NARROWER how many
times its interval is narrower than that in turn (the median), WRONG the verdicts with the wrong sign, IN TURN how many duets were not taken, APART how
many the runs alone disagreed with. With --data, calls are added to the file as lines, and those that it has count as well. Nothing here fails: it prints."""
import argparse, json, math, os, statistics, subprocess, sys, tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("build")
parser.add_argument("--calls", type=int, default=20)
parser.add_argument("--samples", type=int, default=10)
parser.add_argument("--pairs", default="")
parser.add_argument("--data")
args = parser.parse_args()
build = os.path.abspath(args.build)
cpu = max(os.sched_getaffinity(0))
tmp = tempfile.TemporaryDirectory()
os.environ["EMP_DB"] = os.path.join(tmp.name, "book.db")

def file(name):
    return os.path.join(tmp.name, name)

words = [("%x" % (i * 2654435761 % 2**32)) for i in range(3000)]
for name, n in ("text", 240000), ("lines", 300000):
    with open(file(name), "w") as f:
        f.write("".join(words[i * i * 7919 % 2999] + (" " if i % 10 < 7 else "\n") for i in range(n)))
with open(file("image"), "wb") as f:
    f.write(os.urandom(60 << 20))
for level in "12":
    subprocess.run(["cc", "-w", f"-O{level}", "-o", file(f"sort{level}"), os.path.join(os.path.dirname(os.path.abspath(__file__)), "sort.c")], check=True)

def inc(how, work):
    return f"{build}/calibrate/emp-inc --{how} {int(work)}"

def chase(kb, steps):
    return f"{build}/tests/bench/chase {kb} {steps}"

LOOP, TIGHT = 500e6, 300e6
PAIRS = {f"inc {r}": (inc("iterations", LOOP), inc("iterations", LOOP * r), r) for r in (1, 1.01, 1.02, 1.05)}
PAIRS |= {f"branches {r}": (inc("branches", TIGHT), inc("branches", TIGHT * r), r) for r in (1, 1.01, 1.02, 1.05)}
PAIRS |= {
    "xz -1 twice": (f"xz -1 -k -c {file('text')}",) * 2 + (1,),
    "sha256sum/shasum": (f"sha256sum {file('image')}", f"shasum -a 256 {file('image')}", None),
    "sort -O1/-O2": (file("sort1"), file("sort2"), None),
    "xz -1/-2": (f"xz -1 -k -c {file('text')}", f"xz -2 -k -c {file('text')}", None),
    "xz/sort": (f"xz -1 -k -c {file('text')}", f"sort {file('lines')}", None),
    "chase 2/3 MB": (chase(2000, 10000000), chase(3000, 10000000), None),
    "matrix rows/columns": (f"{build}/programs/emp-matr 450", f"{build}/programs/emp-matc 450", None),
    "chase 1.5 MB/inc": (chase(1500, 10000000), inc("iterations", 300e6), None),
}
chosen = args.pairs.split(",") if args.pairs else list(PAIRS)

def measure(order, a, b):
    out = file("out.json")
    done = subprocess.run([f"{build}/measure/emp-measure", "-q", "--cpu", str(cpu), "-r", str(args.samples), "--order", order, "-n", "a", "-n", "b", a, b, "--export-json", out],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode not in (0, 3):
        sys.exit(done.stdout)
    document = json.load(open(out))
    c = document["comparisons"][0]
    logs = [math.log(x) for x in c["interval"]] if c["interval"] and None not in c["interval"] and c["interval"][0] > 0 else None
    return {"log": math.log(c["ratio"]), "interval": logs, "verdict": c["verdict"], "apart": "ratio_in_turn" in c, "in_turn": document.get("in_turn_because")}

rows = [json.loads(line) for line in open(args.data)] if args.data and os.path.exists(args.data) else []
for _ in range(args.calls):
    for pair in chosen:
        a, b, _ = PAIRS[pair]
        rows.append({"pair": pair, "turn": measure("interleave", a, b), "duet": measure("duet", a, b)})
        if args.data:
            with open(args.data, "a") as f:
                print(json.dumps(rows[-1]), file=f)

print(f"{'PAIR':20}{'CALLS':>6}{'TRUE':>9}{'RMS':>9}{'THAT':>9}{'WITHIN':>8}{'NARROWER':>10}{'WRONG':>7}{'IN TURN':>9}{'APART':>7}")
for pair in chosen:
    of = [r for r in rows if r["pair"] == pair]
    if not of:
        continue
    true = math.log(PAIRS[pair][2]) if PAIRS[pair][2] else statistics.mean(r["turn"]["log"] for r in of)
    rms = {how: math.sqrt(statistics.mean((r[how]["log"] - true) ** 2 for r in of)) for how in ("duet", "turn")}
    known = [r for r in of if r["duet"]["interval"] and r["turn"]["interval"]]
    within = sum(r["duet"]["interval"][0] <= true <= r["duet"]["interval"][1] for r in known)
    width = [(r["turn"]["interval"][1] - r["turn"]["interval"][0]) / (r["duet"]["interval"][1] - r["duet"]["interval"][0]) for r in known]
    sign = {"slower": 1, "faster": -1}
    wrong = sum(sign.get(r["duet"]["verdict"], 0) * true < 0 or (true == 0 and r["duet"]["verdict"] in sign) for r in of)
    print(f"{pair:20}{len(of):6}{math.exp(true):9.4f}{rms['duet']:9.2%}{rms['turn']:9.2%}{within:5}/{len(known):<2}{statistics.median(width) if width else math.nan:10.1f}{wrong:7}"
          f"{sum(bool(r['duet']['in_turn']) for r in of):9}{sum(r['duet']['apart'] for r in of):7}")
