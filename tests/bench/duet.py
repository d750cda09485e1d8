#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How exactly the ratio of two programs is known after the same wall time, by several methods. Run as root:

    tests/bench/duet.py BUILD [--rounds 8] [--samples 10] [--conditions quiet,daemon,neighbour] [--pairs inc,xz,...]
    tests/bench/duet.py BUILD --budget 600 --data FILE        as many rounds as fit in so many seconds; what FILE has is added to
    tests/bench/duet.py BUILD --data FILE --rounds 0          only the tables of what FILE has
    tests/bench/duet.py BUILD --aa 200                        A/A tries of xz, and how often they are called different

Each estimate is one call of a tool with so many samples of both programs (two CPUs in parallel: twice as many, since a pair takes half the time). The
methods take turns, so that all see the same machine, and so do pairs and conditions. SD is that of the logarithms of the ratios of all rounds, WIDTH the median
width of a 95 % interval (Student's, of the logarithms; hyperfine's: Welch's); in both, hyperfine divided by the method, for the same wall time
(by the square root of the times): above 1, the method is better. BIAS is
the median ratio against interleaved samples'. Conditions: quiet (what else runs is left alone); a daemon that takes 20 ms of the CPU every 200 ms; a
neighbour that is busy on the other CPUs and now and then on this one. At the end are geometric means over all pairs. Nothing here fails: it prints."""
import argparse, json, math, os, random, shlex, statistics, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--rounds", type=int)
parser.add_argument("--samples", type=int, default=10)
parser.add_argument("--conditions", default="quiet,daemon,neighbour")
parser.add_argument("--pairs", default="inc,xz,xz-sort,xz-twice,sha,O1-O2,cache")
parser.add_argument("--methods", default="", help="those whose names contain one of these, comma-separated")
parser.add_argument("--budget", type=float, help="seconds")
parser.add_argument("--data", help="a line of JSON for each round is added to this file, and those that it has are read")
parser.add_argument("--aa", type=int, default=0)
args = parser.parse_args()
build = os.path.abspath(args.build)
tmp = tempfile.TemporaryDirectory(dir=".")
null = subprocess.DEVNULL
cpu = max(os.sched_getaffinity(0))
os.environ["EMP_DB"] = os.path.join(tmp.name, "book.db")
os.environ["EMP_LOCK"] = os.path.join(tmp.name, "lock")

def file(name):
    return os.path.abspath(os.path.join(tmp.name, name))

SOURCE = r"""
#include <stdint.h>
#include <stdlib.h>
int main(int c, char **v) { /* sorts numbers, or follows a chain through `c` MB */
	uint32_t n = 1 << 18, x = 1, *a; long steps = 3000000, mb = c > 1 ? atol(v[1]) : 0;
	if (mb) {
		n = (uint32_t)(mb << 18); a = malloc(n * 4L);
		for (uint32_t i = 0; i < n; i++) a[i] = i;
		for (uint32_t i = n - 1; i > 0; i--) { x = x * 1664525 + 1013904223; uint32_t k = (uint32_t)((uint64_t)x * i >> 32), t = a[i]; a[i] = a[k]; a[k] = t; }
		for (x = 0; steps--;) x = a[x];
		return x == n;
	}
	a = malloc(n * 4L);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < n; i++) a[i] = x = x * 1664525 + 1013904223;
		for (uint32_t gap = n / 2; gap; gap /= 2)
			for (uint32_t i = gap; i < n; i++) {
				uint32_t v = a[i], k = i;
				for (; k >= gap && a[k - gap] > v; k -= gap) a[k] = a[k - gap];
				a[k] = v;
			}
	}
	return a[0] > a[n - 1];
}
"""

def make_files():
    with open(file("work.c"), "w") as f:
        f.write(SOURCE)
    for level in "12":
        subprocess.run(["cc", "-w", f"-O{level}", "-o", file(f"work{level}"), file("work.c")], check=True)
    draw = random.Random(1)
    words = [("%x" % draw.getrandbits(40)) for _ in range(3000)]
    with open(file("text"), "w") as f:
        for _ in range(60000):
            f.write(draw.choice(words) + (" " if draw.random() < 0.7 else "\n"))
    with open(file("image"), "wb") as f:
        f.write(draw.randbytes(60 << 20))

inc = os.path.join(build, "calibrate/inc")
PAIRS = {
    "inc": lambda: (f"{inc} --iterations 400000000", f"{inc} --iterations 408000000"),
    "xz": lambda: (f"xz -1 -k -c {file('text')}", f"xz -2 -k -c {file('text')}"),
    "xz-sort": lambda: (f"xz -1 -k -c {file('text')}", f"sort {file('text')}"),
    "xz-twice": lambda: (f"xz -1 -k -c {file('text')}",) * 2,
    "sha": lambda: (f"sha256sum {file('image')}", f"openssl dgst -sha256 {file('image')}"),
    "O1-O2": lambda: (file("work1"), file("work2")),
    "cache": lambda: (f"{file('work2')} 2", f"{file('work2')} 3"),
}

def student(n):
    return {4: 3.18, 5: 2.78, 6: 2.57, 8: 2.36, 10: 2.26, 20: 2.09}.get(n, 2.2 if n < 20 else 2.0)

def of_pairs(a, b):
    logs = [math.log(y / x) for x, y in zip(a, b)]
    return statistics.mean(logs), 2 * student(len(logs)) * statistics.stdev(logs) / math.sqrt(len(logs))

def hyperfine(a, b, n):
    out = file("hyperfine.json")
    subprocess.run(["taskset", "-c", str(cpu), "hyperfine", "-N", "-w", "1", "-r", str(n), "--export-json", out, a, b], check=True, stdout=null, stderr=null)
    x, y = (r["times"] for r in json.load(open(out))["results"])
    spread = statistics.variance(x) / n / statistics.mean(x) ** 2 + statistics.variance(y) / n / statistics.mean(y) ** 2
    return math.log(statistics.mean(y) / statistics.mean(x)), 2 * student(n) * math.sqrt(spread)

def emp(*options):
    def run(a, b, n):
        out = file("emp.json")
        subprocess.run([os.path.join(build, "measure/emp-measure"), "-q", "--cpu", str(cpu), "-r", str(n), *options, "--export-json", out, a, b], check=True, stdout=null, stderr=null)
        return of_pairs(*(r["emp"]["pt_ns"] for r in json.load(open(out))["results"]))
    return run

def parallel(a, b, n):
    cpus = sorted(os.sched_getaffinity(0))[-2:]
    def start(command, on):
        p = subprocess.Popen(["taskset", "-c", str(on), *shlex.split(command)], stdout=null, stderr=null, stdin=null)
        return p
    x, y = [], []
    for i in range(2 * n):
        one, two = start(a, cpus[i % 2]), start(b, cpus[1 - i % 2])
        for p, times in (one, x), (two, y):
            usage = os.wait4(p.pid, 0)[2]
            p.returncode = 0
            times.append(usage.ru_utime + usage.ru_stime)
    return of_pairs(x, y)

METHODS = {"hyperfine": hyperfine, "interleaved": emp()}
METHODS |= {f"duet, {s}": emp("--order", "duet", "--alone", "0", "--slice", s) for s in ("1ms", "3ms", "10ms", "30ms", "100ms")}
if len(os.sched_getaffinity(0)) > 1:
    METHODS["two CPUs"] = parallel

BUSY = "import time, random\nwhile True:\n t = time.monotonic() + %s\n while time.monotonic() < t: pass\n time.sleep(%s)"

def disturb(condition):
    def start(on, work, rest):
        return subprocess.Popen(["taskset", "-c", on, sys.executable, "-c", BUSY % (work, rest)])
    others = [str(c) for c in os.sched_getaffinity(0) if c != cpu] or [str(cpu)]
    if condition == "daemon":
        return [start(str(cpu), "0.02", "0.18")]
    if condition == "neighbour":
        return [start(c, "1", "random.random() / 10") for c in others] + [start(str(cpu), "random.random() / 2", "random.random()")]
    return []

def add_round(condition, pair, rounds):
    """Each method once, in an order that begins elsewhere each time."""
    a, b = PAIRS[pair]()
    names = [*METHODS]
    begin = len(rounds) % len(names)
    found = {}
    processes = disturb(condition)
    try:
        for name in names[begin:] + names[:begin]:
            began = time.monotonic()
            log, width = METHODS[name](a, b, args.samples)
            found[name] = [log, width, time.monotonic() - began]
    finally:
        for p in processes:
            p.kill()
            p.wait()
    rounds.append(found)
    if args.data:
        with open(args.data, "a") as f:
            print(json.dumps({"condition": condition, "pair": pair, "samples": args.samples, "methods": found}), file=f)

def gains(rounds):
    """For each method: its sd, that of hyperfine divided by it after the same time, its width, likewise, the median ratio, the seconds."""
    rows = {}
    for name in [name for name in rounds[0] if all(name in r for r in rounds)]:
        logs, widths, seconds = zip(*(r[name] for r in rounds))
        rows[name] = [statistics.stdev(logs) if len(logs) > 2 else math.nan, math.nan, statistics.median(widths), math.nan, statistics.median(logs), statistics.median(seconds)]
    for row in rows.values():
        if "hyperfine" in rows:
            longer = math.sqrt(rows["hyperfine"][5] / row[5])
            row[1], row[3] = (longer * rows["hyperfine"][k] / (row[k] or math.nan) for k in (0, 2))
    return rows

def figure(value, width, form, unit=""):
    return ("-" if math.isnan(value) else format(value, form) + unit).rjust(width)

def print_table(condition, pair, rounds):
    rows = gains(rounds)
    base = rows.get("interleaved", [math.nan] * 6)[4]
    print(f"\n{pair}, {condition}: {len(rounds)} rounds\n{'METHOD':14}{'SD':>9}{'TO HYPERFINE':>14}{'WIDTH':>9}{'TO HYPERFINE':>14}{'RATIO':>9}{'BIAS':>9}{'TIME':>8}")
    for name, (sd, sd_gain, width, width_gain, middle, seconds) in rows.items():
        print(f"{name:14}" + figure(100 * sd, 9, ".2f", " %") + figure(sd_gain, 14, ".1f") + figure(100 * width, 9, ".2f", " %") + figure(width_gain, 14, ".1f")
              + figure(math.exp(middle), 9, ".4f") + figure(100 * math.expm1(middle - base), 9, ".2f", " %") + figure(seconds, 8, ".1f", " s"))
    return rows

def print_summary(tables):
    """Geometric means over all pairs of a condition."""
    for condition in dict.fromkeys(c for c, _ in tables):
        of = [rows for (c, _), rows in tables.items() if c == condition]
        print(f"\n{condition}, {len(of)} pairs: geometric means\n{'METHOD':14}{'SD TO HYPERFINE':>18}{'WIDTH TO HYPERFINE':>20}")
        for name in of[0]:
            means = [[rows[name][k] for rows in of if name in rows and rows[name][k] > 0] for k in (1, 3)]
            print(f"{name:14}" + "".join(figure(math.exp(statistics.mean(map(math.log, m))) if m else math.nan, w, ".1f") for m, w in zip(means, (18, 20))))

def print_aa():
    different = 0
    for _ in range(args.aa):
        out = file("emp.json")
        subprocess.run([os.path.join(build, "measure/emp-measure"), "-q", "--cpu", str(cpu), "--order", "duet", "--alone", "0", "--aa", "-r", str(args.samples), "--export-json", out,
            f"xz -1 -k -c {file('text')}"], check=True, stdout=null, stderr=null)
        different += json.load(open(out))["comparisons"][0]["verdict"] != "no difference shown"
    print(f"A/A: {different} of {args.aa} tries called different, {100 * different / args.aa:.1f} %")

make_files()
if args.aa:
    print_aa()
    sys.exit()
if args.methods:
    METHODS = {name: m for name, m in METHODS.items() if any(part in name for part in args.methods.split(","))}
cells = {(c, p): [] for c in args.conditions.split(",") for p in args.pairs.split(",")}
if args.data and os.path.exists(args.data):
    for line in open(args.data):
        row = json.loads(line)
        cells.setdefault((row["condition"], row["pair"]), []).append(row["methods"])
began = last = time.monotonic()
longest = 0
wanted = args.rounds if args.rounds is not None else sys.maxsize if args.budget else 8
for number in range(wanted):
    for (condition, pair), rounds in cells.items():
        if args.budget and time.monotonic() + longest > began + args.budget:
            break
        add_round(condition, pair, rounds)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    else:
        continue
    break
print_summary({cell: print_table(*cell, rounds) for cell, rounds in cells.items() if rounds})
