#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How exactly the ratio of two programs is known after the same wall time, by several methods. Run as root:

    tests/bench/duet.py BUILD [--rounds 8] [--samples 10] [--states quiet,daemon,neighbour] [--pairs inc,xz,...]
    tests/bench/duet.py BUILD --aa 200          A/A tries of xz, and how often they are called different

Each estimate is one call of a tool with so many samples of both programs (two CPUs in parallel: twice as many, since a pair takes half the time). The
methods take turns, so that all see the same machine. SD is that of the logarithms of the ratios of all rounds, WIDTH the median width of a 95 % interval (Student's,
of the logarithms; hyperfine's: Welch's); in both, hyperfine divided by the method: above 1, the method is better. BIAS is the median ratio against
interleaved samples'. States: quiet; a daemon that takes 20 ms of the CPU every 200 ms; a neighbour that is busy on the other CPUs
and now and then on this one. Nothing here fails: it prints."""
import argparse, json, math, os, random, shlex, signal, statistics, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--rounds", type=int, default=8)
parser.add_argument("--samples", type=int, default=10)
parser.add_argument("--states", default="quiet,daemon,neighbour")
parser.add_argument("--pairs", default="inc,xz,xz-sort,xz-twice,sha,O1-O2,cache")
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
	for (int round = 0; round < 6; round++) {
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

def disturb(state):
    def start(on, work, rest):
        return subprocess.Popen(["taskset", "-c", on, sys.executable, "-c", BUSY % (work, rest)])
    others = [str(c) for c in os.sched_getaffinity(0) if c != cpu] or [str(cpu)]
    if state == "daemon":
        return [start(str(cpu), "0.02", "0.18")]
    if state == "neighbour":
        return [start(c, "1", "random.random() / 10") for c in others] + [start(str(cpu), "random.random() / 2", "random.random()")]
    return []

def table(state, pair):
    a, b = PAIRS[pair]()
    found = {name: [] for name in METHODS}
    for _ in range(args.rounds):
        for name, method in METHODS.items():
            found[name].append(method(a, b, args.samples))
    sd = {name: statistics.stdev([log for log, _ in all]) for name, all in found.items()}
    width = {name: statistics.median([w for _, w in all]) for name, all in found.items()}
    middle = {name: statistics.median([log for log, _ in all]) for name, all in found.items()}
    print(f"\n{pair}, {state}: {args.rounds} rounds of {args.samples} samples\n{'METHOD':14}{'SD':>9}{'TO HYPERFINE':>14}{'WIDTH':>9}{'TO HYPERFINE':>14}{'RATIO':>9}{'BIAS':>9}")
    for name in METHODS:
        print(f"{name:14}{100 * sd[name]:7.2f} %{sd['hyperfine'] / sd[name]:14.1f}{100 * width[name]:7.2f} %{width['hyperfine'] / width[name]:14.1f}"
              f"{math.exp(middle[name]):9.4f}{100 * math.expm1(middle[name] - middle['interleaved']):7.2f} %", flush=True)

def print_aa():
    different = 0
    for i in range(args.aa):
        out = file("emp.json")
        subprocess.run([os.path.join(build, "measure/emp-measure"), "-q", "--cpu", str(cpu), "--order", "duet", "--alone", "0", "--aa", "-r", str(args.samples), "--export-json", out,
            f"{inc} --iterations 100000000"], check=True, stdout=null, stderr=null)
        different += json.load(open(out))["comparisons"][0]["verdict"] != "no difference shown"
    print(f"A/A: {different} of {args.aa} tries called different, {100 * different / args.aa:.1f} %")

make_files()
if args.aa:
    print_aa()
    sys.exit()
for state in args.states.split(","):
    for pair in args.pairs.split(","):
        processes = disturb(state)
        try:
            table(state, pair)
        finally:
            for p in processes:
                p.kill()
                p.wait()
