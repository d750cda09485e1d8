#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How well separate runs of a program agree, with and without what is known of neighbours on the core. Run as root on a virtual machine:

    tests/bench/neighbour.py BUILD [--blocks 12] [--samples 12] [--programs xz,gzip,...] [--cpu N] [--data FILE]
    tests/bench/neighbour.py BUILD --pairs 60                    A/A of separate runs: how often they are called different
    tests/bench/neighbour.py BUILD --pairs 20 --planted 3 --apart 600 --samples 20   how often a change of 3 % is found by runs that are 600 s apart
    tests/bench/neighbour.py BUILD --data FILE --blocks 0        only the tables of what FILE has
    tests/bench/neighbour.py BUILD --together 400                whether what is left is the cache that the host's cores share

Blocks: a run of each program in turn, and again. SD is that of the logarithms of the runs' means, in percent: RAW of all samples, KEPT of those that the rules
of emp-measure keep, RESULT what it reports at no neighbour (kept, or adjusted). COVERED is the share of the runs whose 95 % interval contains the mean of all runs, for RAW (Student's), RESULT,
and, of runs that this call measured, BETWEEN: the interval between runs by all other ones; WITH the share of the time with a neighbour, CLEAN the share of the samples below the limit. Nothing here fails: it prints.

Together: so many rounds of all programs in turn. Of the rounds without a neighbour, means of ten: how closely they follow those of chase24, which
reads one line after another from 24 MB and so shows how much of the shared cache others leave, and their SD before and after that is taken out."""
import argparse, json, math, os, random, shlex, sqlite3, statistics, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("build")
parser.add_argument("--blocks", type=int, default=12)
parser.add_argument("--samples", type=int, default=12)
parser.add_argument("--programs", default="xz,gzip,sha256sum,perl,python,sort,matrix,chase1.5,chase24")
parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
parser.add_argument("--options", default="", help="more of emp-measure, such as '--neighbour adjust'")
parser.add_argument("--pairs", type=int, default=0)
parser.add_argument("--planted", type=float, default=0, help="percent by which the second run of a pair is slower")
parser.add_argument("--apart", type=float, default=0, help="with --planted, seconds between the runs of a pair, at least")
parser.add_argument("--together", type=int, default=0, help="rounds of all programs in turn")
parser.add_argument("--data", help="a line of JSON for each run is added to this file, and those that it has are read")
args = parser.parse_args()
build = os.path.abspath(args.build)
tmp = tempfile.TemporaryDirectory(dir=build)
book = os.path.join(tmp.name, "book.db")
os.environ["EMP_DB"] = book
os.environ["EMP_LOCK"] = os.path.join(tmp.name, "lock")


def file(name):
    return os.path.join(tmp.name, name)


draw = random.Random(1)
words = ["%x" % draw.getrandbits(40) for _ in range(3000)]
for name, n in ("small", 60000), ("text", 200000), ("lines", 120000):
    with open(file(name), "w", encoding="ascii") as f:
        for _ in range(n):
            f.write(draw.choice(words) + (" " if draw.random() < 0.7 else "\n"))
with open(file("image"), "wb") as f:
    f.write(draw.randbytes(30 << 20))

programs = {
    "xz": ["xz", "-1", "-c", file("text")],
    "gzip": ["gzip", "-6", "-c", file("text")],
    "sha256sum": ["sha256sum", file("image")],
    "perl": ["perl", "-e", "my $x = 0; $x = ($x * 5 + $_) % 1000003 for 1 .. 600000"],
    "python": ["/usr/bin/python3", "-c", "x = 0\nfor i in range(900000): x = (x * 5 + i) % 1000003"],
    "sort": ["sort", file("lines")],
    "matrix": [os.path.join(build, "programs/emp-matr"), "330"],
    "chase1.5": [os.path.join(build, "tests/bench/chase"), "1536", "4000000"],
    "chase24": [os.path.join(build, "tests/bench/chase"), "24576", "1000000"],
    "inc": [os.path.join(build, "calibrate/emp-inc"), "--iterations", "300000000"],
    "tight": [os.path.join(build, "calibrate/emp-inc"), "--branches", "300000000"],
}


def emp_measure(samples, *options):
    """The results, each with its samples."""
    done = subprocess.run([os.path.join(build, "measure/emp-measure"), "-q", "--json", "--cpu", str(args.cpu), "-r", str(samples), *args.options.split(), *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3):
        sys.exit(done.stderr)
    results = json.loads(done.stdout)["results"]
    with sqlite3.connect(book) as db:
        for result in results:
            result["samples"] = db.execute("SELECT pt_ns, neighbour_ppm, neighbour_error_ppm, start_ns FROM sample WHERE run = ? ORDER BY n",
                                           (result["emp"]["run"],)).fetchall()
    return results


def measure(program, *command):
    """One run, and what emp-measure says of it."""
    result, = emp_measure(args.samples, "--", *(command or programs[program]))
    run = result["emp"]["run"]
    pt = result["emp"]["pt"]
    best = pt.get("adjusted") or pt["kept"]
    return {"program": program, "run": run, "samples": result["samples"], "kept": pt["kept"]["mean_ns"], "n_kept": pt["kept"]["n"],
            "result": best["mean_ns"], "interval": best.get("interval_ns"), "adjusted": bool(pt.get("adjusted"))}


def percent_sd(values):
    return 100 * statistics.stdev(map(math.log, values)) if len(values) > 1 else float("nan")


T95 = {5: 2.571, 9: 2.262, 11: 2.201, 19: 2.093}


def student(times):
    mean = statistics.mean(times)
    half = T95.get(len(times) - 1, 2.1) * statistics.stdev(times) / math.sqrt(len(times))
    return mean - half, mean + half


def covered(runs, of, interval):
    center = math.exp(statistics.mean(math.log(of(r)) for r in runs))
    inside = [low <= center <= high for low, high in (interval(r) for r in runs if interval(r))]
    return sum(inside), len(inside)


def between_runs(run):
    """The interval between runs, by all other runs in the book."""
    shown = subprocess.run([os.path.join(build, "analyze/emp-analyze"), "show", "--json", "--recompute", str(run)], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(shown.stdout)["pt"].get("between_runs", {}).get("interval_ns")


def print_blocks(runs):
    print(f"{'PROGRAM':10} {'PT [ms]':>8} {'WITH':>6} {'CLEAN':>6} | SD OF RUNS {'RAW':>6} {'KEPT':>6} {'RESULT':>6} | COVERED {'RAW':>7} {'RESULT':>7} {'BETWEEN':>7} | HALF WIDTH {'RESULT':>6} {'BETWEEN':>7} {'ADJUSTED':>9}")
    for program in programs:
        mine = [r for r in runs if r["program"] == program]
        if len(mine) < 3:
            continue
        raw = lambda r: statistics.mean(s[0] for s in r["samples"])
        shares = [s[1] / 1e6 for r in mine for s in r["samples"] if s[1] is not None] or [float("nan")]
        raw_in, raw_of = covered(mine, raw, lambda r: student([s[0] for s in r["samples"]]))
        result_in, result_of = covered(mine, lambda r: r["result"], lambda r: r["interval"])
        between_in, between_of = covered(mine, lambda r: r["result"], lambda r: r.get("between"))
        widths = [statistics.median([(r[of][1] - r[of][0]) / 2 / r["result"] for r in mine if r.get(of)] or [float("nan")]) for of in ("interval", "between")]
        print(f"{program:10} {statistics.mean(map(raw, mine)) / 1e6:8.1f} {statistics.mean(shares):6.1%} {sum(s <= 0.05 for s in shares) / len(shares):6.1%} |"
              f"            {percent_sd([raw(r) for r in mine]):6.2f} {percent_sd([r['kept'] for r in mine]):6.2f} {percent_sd([r['result'] for r in mine]):6.2f} |"
              f"         {raw_in:3}/{raw_of:<3} {result_in:3}/{result_of:<3} {between_in:3}/{between_of:<3} |            {widths[0]:6.2%} {widths[1]:7.2%} {sum(r['adjusted'] for r in mine):5}/{len(mine)}")


def blocks():
    runs = []
    if args.data and os.path.exists(args.data):
        with open(args.data, encoding="utf-8") as f:
            runs = [json.loads(line) for line in f]
    chosen = args.programs.split(",")
    known = len(runs)
    for block in range(args.blocks):
        for program in chosen:
            runs.append(measure(program))
            if args.data:
                with open(args.data, "a", encoding="utf-8") as f:
                    print(json.dumps(runs[-1]), file=f)
        print(f"block {block + 1} of {args.blocks}", file=sys.stderr)
    for r in runs[known:]:
        r["between"] = between_runs(r["run"])
    print_blocks(runs)


def welch(a, b):
    """Whether Welch's test at 5 % calls the means different, as those who use hyperfine do."""
    va, vb = statistics.variance(a) / len(a), statistics.variance(b) / len(b)
    df = (va + vb) ** 2 / (va ** 2 / (len(a) - 1) + vb ** 2 / (len(b) - 1))
    return abs(statistics.mean(a) - statistics.mean(b)) / math.sqrt(va + vb) > 1.96 + 2.4 / df + 2.7 / df ** 2


def pairs():
    """Separate runs, each compared with the one before it of the same program."""
    chosen = args.programs.split(",")
    found, last = [], {}
    for i in range(args.pairs + len(chosen)):
        program = chosen[i % len(chosen)]
        run = measure(program)
        if program in last:
            found.append(compare(last[program], run))
        last[program] = run
    print_pairs("A/A", found)


def planted_pairs():
    """Of each program a run of each pair; later those of the other programs of the pairs, which do more work."""
    begun = time.monotonic()
    chosen = [name for name in args.programs.split(",") if name in OF_WORK]
    first = {(i, name): measure(name, *OF_WORK[name](1)) for i in range(args.pairs) for name in chosen}
    print(f"{len(first)} runs in {time.monotonic() - begun:.0f} s", file=sys.stderr)
    time.sleep(max(0, begun + args.apart - time.monotonic()))
    second = {key: measure(key[1], *OF_WORK[key[1]](1 + args.planted / 100)) for key in first}
    for name in chosen:
        runs = [[of[i, name]["result"] for i in range(args.pairs)] for of in (first, second)]
        print_pairs(f"{name:9}, {args.planted} % planted", [compare(first[i, name], second[i, name]) for i in range(args.pairs)],
                    f"; sd of runs {percent_sd(runs[0]):.2f} and {percent_sd(runs[1]):.2f} %, means {statistics.mean(runs[1]) / statistics.mean(runs[0]) - 1:+.2%}")


def together():
    """All programs in turn, beside the one that shows what is left of the shared cache."""
    LIMIT_PPM, MEAN_OF = 50000, 10
    chosen = [name for name in args.programs.split(",") if name != "chase24"] + ["chase24"]
    options = ["--order", "interleave", "--max-runs", str(args.together)]
    for name in chosen:
        options += ["-n", name, shlex.join(programs[name])]
    rounds = list(zip(*(result["samples"] for result in emp_measure(args.together, *options))))
    clean = [r for r in rounds if all((s[1] or 0) <= LIMIT_PPM for s in r)]
    logs = {name: [math.log(r[i][0]) for r in clean] for i, name in enumerate(chosen)}
    means = {name: [statistics.mean(v[i:i + MEAN_OF]) for i in range(0, len(v) - MEAN_OF + 1, MEAN_OF)] for name, v in logs.items()}
    cache = means["chase24"]
    if len(cache) < 3:
        sys.exit(f"{len(clean)} of {len(rounds)} rounds have no neighbour: too few")
    print(f"{len(clean)} of {len(rounds)} rounds have no neighbour\n{'PROGRAM':10} SD OF {MEAN_OF}  FOLLOWS  SD WITHOUT IT")
    for name in chosen:
        slope = statistics.linear_regression(cache, means[name]).slope
        left = [y - slope * x for x, y in zip(cache, means[name])]
        print(f"{name:10} {100 * statistics.stdev(means[name]):7.2f} %  {statistics.correlation(cache, means[name]):7.2f} {100 * statistics.stdev(left):13.2f} %")


def compare(a, b):
    """The verdict on two runs, and whether Welch's test calls them different."""
    done = subprocess.run([os.path.join(build, "analyze/emp-analyze"), "compare", "--json", str(a["run"]), str(b["run"])], stdout=subprocess.PIPE, text=True)
    document = json.loads(done.stdout)
    return document.get("comparisons", [document])[0]["verdict"], welch(*([s[0] for s in r["samples"]] for r in (a, b)))


def print_pairs(what, found, more=""):
    words = [word for word, _ in found]
    print(f"{what}: {len(found)} pairs:", ", ".join(f"{words.count(word)} {word}" for word in sorted(set(words))),
          f"; by Welch's test on all samples, {sum(differ for _, differ in found)} differ{more}", flush=True)


def larger(name, work):
    """A file of so many times as many bytes, of the same kind."""
    path = f"{file(name)}.{work}"
    if not os.path.exists(path):
        with open(file(name), "rb") as f, open(path, "wb") as to:
            whole = f.read()
            to.write(whole + whole[:round(len(whole) * (work - 1))])
    return path


# Programs of some 0.1 s that do so many times the work.
OF_WORK = {
    "inc": lambda work: [programs["inc"][0], "--iterations", str(round(4e8 * work))],
    "tight": lambda work: [programs["inc"][0], "--branches", str(round(3e8 * work))],
    "xz": lambda work: ["xz", "-1", "-c", larger("text", work)],
    "gzip": lambda work: ["gzip", "-6", "-c", larger("text", work)],
    "sha256sum": lambda work: ["sha256sum", larger("image", work)],
    "perl": lambda work: ["perl", "-e", f"my $x = 0; $x = ($x * 5 + $_) % 1000003 for 1 .. {round(1200000 * work)}"],
    "python": lambda work: ["/usr/bin/python3", "-c", f"x = 0\nfor i in range({round(900000 * work)}): x = (x * 5 + i) % 1000003"],
}

if args.together:
    together()
elif args.planted:
    planted_pairs()
elif args.pairs:
    pairs()
else:
    blocks()
