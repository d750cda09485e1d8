#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What duets say of pairs of programs whose ratio is known from samples in turn. Run as root, after ninja benches:

    tests/bench/duet_pairs.py BUILD [--calls 20] [--minutes 30] [--samples 10] [--pairs 'inc 1,xz/sort,...'] [--data FILE]
    tests/bench/duet_pairs.py BUILD --calls 0 --data FILE        only the table of what FILE has
    tests/bench/duet_pairs.py BUILD --threads [...]              programs of two threads, on two CPUs, which take 0.5 s

A round is, of each pair, a call of emp-measure in turn and one with --order duet, in random order. Programs take some 0.1 s, so that 20 rounds of all pairs
fit into half an hour on a quiet machine; no round begins that would end after --minutes. With --data, each pair of calls is added to the file as a line, and
those that it has count as well, so that the table can be made in several parts.

TRUE is the ratio of all samples in turn (of the pairs of INC, that of their work). RMS is the error of a duet's ratio, and WITHIN how many of its intervals
have the true ratio in them; the same of those in turn follows. NARROWER is how many times the interval of a duet is narrower than that in turn (the median),
WRONG how many verdicts have the wrong sign, or find a difference between equal programs. DECLINED is how many duets were taken in turn, and APART with how
many the runs alone disagreed. TIME is how long a duet took, in times of the call in turn (the median). Nothing here fails: it prints."""
import argparse, json, math, os, random, statistics, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("build")
parser.add_argument("--calls", type=int, default=20)
parser.add_argument("--minutes", type=float, default=30)
parser.add_argument("--samples", type=int, default=10)
parser.add_argument("--pairs", default="")
parser.add_argument("--data")
parser.add_argument("--threads", action="store_true")
parser.add_argument("--slice", help="of each duet, so that none is declined")
args = parser.parse_args()
build = os.path.abspath(args.build)
cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[-2:] if args.threads else [max(os.sched_getaffinity(0))]))
tmp = tempfile.TemporaryDirectory()
os.environ["EMP_DB"] = os.path.join(tmp.name, "book.db")

def file(name):
    return os.path.join(tmp.name, name)

words = [("%x" % (i * 2654435761 % 2**32)) for i in range(3000)]
for name, n in ("text", 600000), ("lines", 800000):
    with open(file(name), "w") as f:
        f.write("".join(words[i * i * 7919 % 2999] + (" " if i % 10 < 7 else "\n") for i in range(n)))
with open(file("image"), "wb") as f:
    f.write(os.urandom(35 << 20))
for level in "12":
    subprocess.run(["cc", "-w", f"-O{level}", "-o", file(f"sort{level}"), os.path.join(os.path.dirname(os.path.abspath(__file__)), "sort.c")], check=True)

def inc(how, work):
    return f"{build}/calibrate/emp-inc --{how} {int(work)}"

def chase(kb, steps):
    return f"{build}/tests/bench/chase {kb} {steps}"

LOOP, TIGHT = 400e6, 500e6
PAIRS = {f"inc {r}": (inc("iterations", LOOP), inc("iterations", LOOP * r), r) for r in (1, 1.01, 1.02, 1.05)}
PAIRS |= {f"branches {r}": (inc("branches", TIGHT), inc("branches", TIGHT * r), r) for r in (1, 1.01, 1.02, 1.05)}
PAIRS |= {
    "xz -1 twice": (f"xz -1 -k -c {file('text')}",) * 2 + (1,),
    "sha256sum/shasum": (f"sha256sum {file('image')}", f"shasum -a 256 {file('image')}", None),
    "sort -O1/-O2": (file("sort1") + " 2", file("sort2") + " 2", None),
    "xz -1/-2": (f"xz -1 -k -c {file('text')}", f"xz -2 -k -c {file('text')}", None),
    "xz/sort": (f"xz -1 -k -c {file('text')}", f"sort {file('lines')}", None),
    "chase 2/3 MB": (chase(2000, 4000000), chase(3000, 2000000), None),
    "matrix rows/columns": (f"{build}/programs/emp-matr 350", f"{build}/programs/emp-matc 350", None),
    "chase 1.5 MB/inc": (chase(1500, 5000000), inc("iterations", LOOP), None),
}
def threads(*increments, how=""):
    return f"{build}/tests/bench/threads {how} {' '.join(str(int(n)) for n in increments)}"

WORK = 750e6 # of a thread
THREADED = {f"threads {r}": (threads(WORK, WORK), threads(WORK * r, WORK * r), r) for r in (1, 1.01, 1.05)}
THREADED |= {
    "unequal threads 1.05": (threads(WORK * 1.5, WORK / 2), threads(WORK * 1.575, WORK * 0.525), 1.05),
    "locked 1.05": (threads(WORK, WORK, how="--locked"), threads(WORK * 1.05, WORK * 1.05, how="--locked"), 1.05),
    "children 1.05": (threads(WORK, WORK, how="--children"), threads(WORK * 1.05, WORK * 1.05, how="--children"), 1.05),
    "xz -T2 twice": (f"xz -1 -T2 --block-size=1MiB -k -c {file('large')}",) * 2 + (1,),
}
if args.threads:
    PAIRS = THREADED
    with open(file("large"), "w") as large:
        large.write(open(file("text")).read() * 10)
chosen = args.pairs.split(",") if args.pairs else list(PAIRS)

def measure(order, a, b):
    slices = ["--slice", args.slice] if order == "duet" and args.slice else []
    out = file("out.json")
    begun = time.monotonic()
    done = subprocess.run([f"{build}/measure/emp-measure", "-q", "--cpu", cpus, "-r", str(args.samples), "--order", order, *slices, "-n", "a", "-n", "b", a, b, "--export-json", out],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode not in (0, 3):
        sys.exit(done.stdout)
    document = json.load(open(out))
    c = document["comparisons"][0]
    logs = [math.log(x) for x in c["interval"]] if c["interval"] and None not in c["interval"] and c["interval"][0] > 0 else None
    return {"log": math.log(c["ratio"]), "interval": logs, "verdict": c["verdict"], "apart": "ratio_in_turn" in c, "in_turn": document.get("in_turn_because"),
            "seconds": time.monotonic() - begun}

rows = [json.loads(line) for line in open(args.data)] if args.data and os.path.exists(args.data) else []
begun, longest = time.monotonic(), 0
for _ in range(args.calls):
    round_begun = time.monotonic()
    if round_begun + longest > begun + 60 * args.minutes:
        break
    for pair in random.sample(chosen, len(chosen)):
        orders = random.sample((("turn", "interleave"), ("duet", "duet")), 2)
        rows.append({"pair": pair} | {name: measure(order, *PAIRS[pair][:2]) for name, order in orders})
        if args.data:
            with open(args.data, "a") as f:
                print(json.dumps(rows[-1]), file=f)
    longest = max(longest, time.monotonic() - round_begun)

def share(n, of):
    return f"{n}/{of}"

sign = {"slower": 1, "faster": -1}
sums = dict.fromkeys(("calls", "within", "known", "within in turn", "wrong", "wrong in turn", "declined"), 0)
wider = []
print(f"{'PAIR':20}{'CALLS':>6}{'TRUE':>9}{'RMS':>9}{'WITHIN':>9}{'WRONG':>6}{'IN TURN:':>10}{'RMS':>9}{'WITHIN':>9}{'WRONG':>6}{'NARROWER':>10}{'DECLINED':>10}{'APART':>7}{'TIME':>6}")
for pair in chosen:
    of = [r for r in rows if r["pair"] == pair]
    if not of:
        continue
    true = math.log(PAIRS[pair][2]) if PAIRS[pair][2] else statistics.mean(r["turn"]["log"] for r in of)
    known = [r for r in of if r["duet"]["interval"] and r["turn"]["interval"]]
    width = statistics.median((r["turn"]["interval"][1] - r["turn"]["interval"][0]) / (r["duet"]["interval"][1] - r["duet"]["interval"][0]) for r in known) if known else math.nan
    rms, within, wrong = {}, {}, {}
    for how in ("duet", "turn"):
        rms[how] = math.sqrt(statistics.mean((r[how]["log"] - true) ** 2 for r in of))
        within[how] = sum(r[how]["interval"][0] <= true <= r[how]["interval"][1] for r in known)
        wrong[how] = sum(r[how]["verdict"] in sign and sign[r[how]["verdict"]] * true <= 0 for r in of)
    declined = sum(bool(r["duet"]["in_turn"]) for r in of)
    times = [r["duet"]["seconds"] / r["turn"]["seconds"] for r in of if "seconds" in r["duet"]]
    print(f"{pair:20}{len(of):6}{math.exp(true):9.4f}{rms['duet']:9.2%}{share(within['duet'], len(known)):>9}{wrong['duet']:6}{'':10}{rms['turn']:9.2%}"
          f"{share(within['turn'], len(known)):>9}{wrong['turn']:6}{width:10.2f}{declined:10}{sum(r['duet']['apart'] for r in of):7}{statistics.median(times) if times else math.nan:6.2f}")
    for name, n in zip(sums, (len(of), within["duet"], len(known), within["turn"], wrong["duet"], wrong["turn"], declined)):
        sums[name] += n
    if width < 1 / 1.2:
        wider.append(pair)
if sums["known"]:
    print(f"All {sums['calls']}: {sums['within'] / sums['known']:.1%} of the intervals have the true ratio ({sums['within in turn'] / sums['known']:.1%} in turn), "
          f"{sums['wrong']} wrong signs ({sums['wrong in turn']} in turn), {sums['declined']} declined ({sums['declined'] / sums['calls']:.1%})")
    print("Wider than 1.2 times those in turn:", ", ".join(wider) or "none")
