#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How exactly the ratio of two programs is known after the same wall time, by several methods. Run as root:

    tests/bench/duet.py BUILD [--rounds 8] [--samples 10] [--conditions quiet,daemon,neighbour] [--pairs inc,xz,...]
    tests/bench/duet.py BUILD --budget 600 --data FILE        as many rounds as fit in so many seconds; what FILE has is added to
    tests/bench/duet.py BUILD --data FILE --rounds 0          only the tables of what FILE has
    tests/bench/duet.py BUILD --aa 200 [--data FILE]     A/A tries, and how often they are called different

Each estimate is one call of a tool with so many samples of both programs (two CPUs in parallel: twice as many, since a pair takes half the time). The
methods take turns, so that all see the same machine, and so do pairs and conditions. SD is that of the logarithms of the ratios of all rounds, WIDTH the median
width of a 95 % interval (Student's, of the logarithms; hyperfine's: Welch's); in both, hyperfine divided by the method, for the same wall time
(by the square root of the times): above 1, the method is better. Conditions: quiet (what else runs is left alone); a daemon that takes 20 ms of the CPU every 200 ms;
a neighbour that is busy on the other CPUs and now and then on this one. Then come geometric means over all pairs, and for each pair the ratio of samples in turn,
each running alone, with that in a duet by slice: BIAS is by how much it is changed, with the 95 % interval of the mean over the rounds; A and B are the mean PTs; APART
says in how many rounds the runs alone disagreed with the duet. Programs take 0.1 to 0.3 s; a round of a pair takes about 30 seconds with 10 samples on a quiet machine. Nothing here fails: it prints."""
import argparse, json, math, os, random, shlex, shutil, statistics, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("build")
parser.add_argument("--rounds", type=int)
parser.add_argument("--samples", type=int, default=10)
parser.add_argument("--conditions", default="quiet,daemon,neighbour")
parser.add_argument("--pairs", default="inc,xz,xz-sort,xz-twice,sha,O1-O2,cache")
parser.add_argument("--methods", default="", help="those whose names contain one of these, comma-separated")
parser.add_argument("--budget", type=float, help="seconds")
parser.add_argument("--data", help="a line of JSON for each round or try is added to this file, and those that it has are read")
parser.add_argument("--aa", type=int, help="so many A/A tries; each program in turn, and half of them with discards")
args = parser.parse_args()
build = os.path.abspath(args.build)
tmp = tempfile.TemporaryDirectory(dir=build)
null = subprocess.DEVNULL
cpu = max(os.sched_getaffinity(0))
os.environ["EMP_DB"] = os.path.join(tmp.name, "book.db")
os.environ["EMP_LOCK"] = os.path.join(tmp.name, "lock")

def file(name):
    return os.path.abspath(os.path.join(tmp.name, name))

def make_files():
    for level in "12":
        subprocess.run(["cc", "-w", f"-O{level}", "-o", file(f"sort{level}"), os.path.join(os.path.dirname(os.path.abspath(__file__)), "sort.c")], check=True)
    draw = random.Random(1)
    words = [("%x" % draw.getrandbits(40)) for _ in range(3000)]
    for name, n in ("small", 60000), ("text", 240000), ("lines", 1200000):
        with open(file(name), "w") as f:
            for _ in range(n):
                f.write(draw.choice(words) + (" " if draw.random() < 0.7 else "\n"))
    with open(file("image"), "wb") as f:
        f.write(draw.randbytes(60 << 20))

inc = os.path.join(build, "calibrate/emp-inc")
chase = os.path.join(build, "tests/bench/chase")
PAIRS = {
    "inc": lambda: (f"{inc} --iterations 500000000", f"{inc} --iterations 510000000"),
    "xz": lambda: (f"xz -1 -k -c {file('text')}", f"xz -2 -k -c {file('text')}"),
    "xz-sort": lambda: (f"xz -1 -k -c {file('text')}", f"sort {file('lines')}"),
    "xz-twice": lambda: (f"xz -1 -k -c {file('text')}",) * 2,
    "sha": lambda: (f"sha256sum {file('image')}", f"shasum -a 256 {file('image')}"),
    "O1-O2": lambda: (file("sort1"), file("sort2")),
    "cache": lambda: (f"{chase} 2048 10000000", f"{chase} 3072 10000000"),
}

T = [math.nan, math.nan, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09] # by n

def student(n):
    return T[n] if n < len(T) else 2.09 if n < 30 else 2.0

def interval(values):
    """Their mean, and half its 95 % interval."""
    n = len(values)
    return statistics.mean(values), student(n) * statistics.stdev(values) / math.sqrt(n) if n > 1 else math.nan

def of_pairs(a, b):
    log, half = interval([math.log(y / x) for x, y in zip(a, b)])
    return {"log": log, "width": 2 * half, "pt": [statistics.mean(a), statistics.mean(b)]}

def hyperfine(a, b, n):
    out = file("hyperfine.json")
    subprocess.run(["taskset", "-c", str(cpu), "hyperfine", "-N", "-w", "1", "-r", str(n), "--export-json", out, a, b], check=True, stdout=null, stderr=null)
    x, y = (r["times"] for r in json.load(open(out))["results"])
    spread = statistics.variance(x) / n / statistics.mean(x) ** 2 + statistics.variance(y) / n / statistics.mean(y) ** 2
    return {"log": math.log(statistics.mean(y) / statistics.mean(x)), "width": 2 * student(n) * math.sqrt(spread)}

def measure(a, b, n, *options):
    """The document of one call, and what is on the screen."""
    out = file("emp.json")
    done = subprocess.run([os.path.join(build, "measure/emp-measure"), "-q", "--cpu", str(cpu), "-r", str(n), *options, "--export-json", out, a, *b], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode not in (0, 3):
        sys.exit(done.stdout)
    return json.load(open(out)), done.stdout

def emp(*options):
    def run(a, b, n):
        document, screen = measure(a, [b], n, *options)
        return of_pairs(*([t / 1e9 for t in r["emp"]["pt_ns"]] for r in document["results"])) | {"apart": "ratio_in_turn" in document["comparisons"][0]}
    return run

def parallel(a, b, n):
    cpus = sorted(os.sched_getaffinity(0))[-2:]
    def start(command, on):
        return subprocess.Popen(["taskset", "-c", str(on), *shlex.split(command)], stdout=null, stderr=null, stdin=null)
    x, y = [], []
    for i in range(2 * n):
        one, two = start(a, cpus[i % 2]), start(b, cpus[1 - i % 2])
        for p, times in (one, x), (two, y):
            usage = os.wait4(p.pid, 0)[2]
            p.returncode = 0
            times.append(usage.ru_utime + usage.ru_stime)
    return of_pairs(x, y)

METHODS = {"hyperfine": hyperfine, "interleaved": emp()}
METHODS |= {f"duet, {s}": emp("--order", "duet", "--slice", s) for s in ("1ms", "3ms", "10ms", "30ms", "100ms")}
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

def add_line(row):
    if args.data:
        with open(args.data, "a") as f:
            print(json.dumps(row), file=f)

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
            found[name] = METHODS[name](a, b, args.samples) | {"seconds": time.monotonic() - began}
    finally:
        for p in processes:
            p.kill()
            p.wait()
    rounds.append(found)
    add_line({"condition": condition, "pair": pair, "samples": args.samples, "methods": found})

def names_of(rounds):
    return [name for name in rounds[0] if all(name in r for r in rounds)]

def gains(rounds):
    """For each method: its sd, that of hyperfine divided by it after the same time, its width, likewise, the median ratio, the seconds."""
    rows = {}
    for name in names_of(rounds):
        logs, widths, seconds = ([r[name][key] for r in rounds] for key in ("log", "width", "seconds"))
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
    print(f"\n{pair}, {condition}: {len(rounds)} rounds\n{'METHOD':14}{'SD':>9}{'TO HYPERFINE':>14}{'WIDTH':>9}{'TO HYPERFINE':>14}{'RATIO':>9}{'TIME':>8}")
    for name, (sd, sd_gain, width, width_gain, middle, seconds) in rows.items():
        print(f"{name:14}" + figure(100 * sd, 9, ".2f", " %") + figure(sd_gain, 14, ".1f") + figure(100 * width, 9, ".2f", " %") + figure(width_gain, 14, ".1f")
              + figure(math.exp(middle), 9, ".4f") + figure(seconds, 8, ".1f", " s"))
    print(f"A round takes {sum(row[5] for row in rows.values()):.0f} s")
    return rows

def print_summary(tables):
    """Geometric means over all pairs of a condition."""
    for condition in dict.fromkeys(c for c, _ in tables):
        of = [rows for (c, _), rows in tables.items() if c == condition]
        print(f"\n{condition}, {len(of)} pairs: geometric means\n{'METHOD':14}{'SD TO HYPERFINE':>18}{'WIDTH TO HYPERFINE':>20}")
        for name in of[0]:
            means = [[rows[name][k] for rows in of if name in rows and rows[name][k] > 0] for k in (1, 3)]
            print(f"{name:14}" + "".join(figure(math.exp(statistics.mean(map(math.log, m))) if m else math.nan, w, ".1f") for m, w in zip(means, (18, 20))))

def with_interval(logs, scale, less, form, unit):
    log, half = interval(logs)
    rest = "" if math.isnan(half) else " ± " + format(scale * math.exp(log) * half, form)
    return format(scale * (math.exp(log) - less), form) + rest + unit

def print_bias(condition, cells):
    print(f"\n{condition}: bias\n{'PAIR':10}{'METHOD':14}{'RATIO':>18}{'BIAS':>18}{'A':>10}{'B':>10}{'APART':>10}")
    for pair, rounds in cells.items():
        for name in names_of(rounds):
            if name != "interleaved" and not name.startswith("duet"):
                continue
            ratio = with_interval([r[name]["log"] for r in rounds], 1, 0, ".4f", "")
            a, b = (statistics.median(r[name]["pt"][k] for r in rounds) for k in (0, 1))
            bias = ""
            if name != "interleaved" and "interleaved" in rounds[0]:
                bias = with_interval([r[name]["log"] - r["interleaved"]["log"] for r in rounds], 100, 1, ".2f", " %")
            apart = "" if name == "interleaved" else f"{sum(r[name]['apart'] for r in rounds)} of {len(rounds)}"
            print(f"{pair:10}{name:14}{ratio:>18}{bias:>18}" + figure(1e3 * a, 10, ".1f", " ms") + figure(1e3 * b, 10, ".1f", " ms") + apart.rjust(10))

def print_aa(tries):
    print(f"{'PROGRAM':10}{'SLICE':>7}{'DISCARDS':>10}{'TRIES':>7}{'DIFFERENT':>11}{'TOO FEW':>9}{'DISCARDED':>11}")
    for key in sorted({(t["program"], t["slice"], t["discards"]) for t in tries}) + [("all", "", "")]:
        of = [t for t in tries if key == ("all", "", "") or key == (t["program"], t["slice"], t["discards"])]
        judged = [t for t in of if t["kept"] > 1]
        different = sum(t["verdict"] in ("faster", "slower") for t in judged)
        share = f" {100 * different / len(judged):.1f} %" if judged else ""
        taken, kept = (sum(t[k] for t in of) for k in ("samples", "kept"))
        discards = "" if key[0] == "all" else "yes" if key[2] else "no"
        print(f"{key[0]:10}{key[1]:>7}{discards:>10}{len(judged):7}{different:4}{share:>7}{len(of) - len(judged):9}{100 - 100 * kept / taken:9.1f} %")

def make_profile():
    """One that discards samples in which `guest` ran for 5 ms or more."""
    shutil.copy(inc, file("guest"))
    run = {"program": "INC", "samples": 1, "l_samples": []}
    with open(file("profile.json"), "w") as f:
        json.dump({"format": "emp-profile", "version": 1, "name": "aa", "resolution_ns": 1, "short": run, "long": run, "cutoffs": [{"daemon": "guest", "short_ns": 5000000, "long_ns": 5000000}]}, f)
    subprocess.run([os.path.join(build, "calibrate/emp-calibrate"), "profile", "import", file("profile.json")], check=True, stdout=null)

def try_aa(number, tries):
    """Before one of four samples, a process begins that takes 20 ms of the CPU; in every second round of programs, samples with it are discarded."""
    programs = {"inc": (f"{inc} --iterations 150000000", "1ms"), "xz": (f"xz -1 -k -c {file('small')}", "3ms"), "sort": (f"sort {file('text')}", "2ms")}
    program = [*programs][number % len(programs)]
    command, slice = programs[program]
    discards = number // len(programs) % 2
    guest = f"[ $(($(od -An -N1 -tu1 /dev/urandom) % 8)) != 0 ] || taskset -c {cpu} {file('guest')} --iterations 75000000 >{os.devnull} &" # before each of the two
    document, _ = measure(command, ["--aa"], args.samples, "--order", "duet", "--alone", "0", "--slice", slice, "-p", guest, *["--profile", "aa"] * discards)
    compared = (document["comparisons"] or [{"verdict": "cannot tell", "ratio": None}])[0]
    tries.append({"program": program, "slice": slice, "discards": bool(discards), "verdict": compared["verdict"], "ratio": compared["ratio"],
                  "samples": args.samples, "kept": document["results"][0]["emp"]["pt"]["n"]})
    add_line(tries[-1])

make_files()
rows = [json.loads(line) for line in open(args.data)] if args.data and os.path.exists(args.data) else []
if args.aa is not None:
    tries = [row for row in rows if "verdict" in row]
    make_profile()
    for number in range(args.aa):
        try_aa(len(tries), tries)
    print_aa(tries)
    sys.exit()
if args.methods:
    METHODS = {name: m for name, m in METHODS.items() if any(part in name for part in args.methods.split(","))}
cells = {(c, p): [] for c in args.conditions.split(",") for p in args.pairs.split(",")}
for row in rows:
    if "methods" in row:
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
measured = {cell: rounds for cell, rounds in cells.items() if rounds}
print_summary({cell: print_table(*cell, rounds) for cell, rounds in measured.items()})
for condition in dict.fromkeys(c for c, _ in measured):
    print_bias(condition, {p: rounds for (c, p), rounds in measured.items() if c == condition})
