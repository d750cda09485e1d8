#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What reading each source of time costs, as a ratio to getrusage in the same run, beside the paper's (Hines, Wyatt and Chang: getpinfo
213 cycles, getrusage 416); and the gain in precision over getrusage on primes, beside the paper's 527 %.

    tests/bench/clocks.py BUILD [--rounds 5] [--cpu N] [--full]

Each round is a calibration, in which all sources take turns. Printed are the geometric mean of the ratio over the rounds and its 95 % interval
(Student's t on logarithms), the gain likewise, and the gain for the shortest computation alone, which is where clocks differ. Below a ratio of 0.51 a
source is cheaper than getpinfo was. Where the program context_switch is built (ninja tests/bench/context_switch) and emp-clock.service
runs, what the service adds to a context switch follows. The machine should have nothing else to do."""
import argparse, json, math, os, subprocess, tempfile
from statistics import mean, stdev

T95 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}  # two-sided, by the number of rounds
PAPER_RATIO, PAPER_GAIN = 213 / 416, 527
REFERENCE = "getrusage(RUSAGE_SELF)"

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--cpu", type=int, default=os.cpu_count() - 1)
parser.add_argument("--full", action="store_true")
args = parser.parse_args()


def calibrate(where):
    command = [f"{args.build}/calibrate/emp-calibrate", "-q", "--json", "clocks", "--cpu", str(args.cpu)]
    done = subprocess.run(command + ["--full"] * args.full, capture_output=True, text=True,
                          env={**os.environ, "EMP_DB": f"{where}/book.db", "EMP_LOCK": f"{where}/lock"})
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def combine(values, form):
    """The geometric mean of ratios and its interval, as text."""
    logs = [math.log(v) for v in values if v and v > 0]
    if not logs:
        return "-"
    half = T95.get(len(logs), 1.96) * stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else 0
    return form(*(math.exp(mean(logs) + x) for x in (0, -half, half)))


def as_ratio(middle, low, high):
    return f"{middle:.3f} ({low:.3f}-{high:.3f})"


def as_percent(middle, low, high):
    return f"{100 * (middle - 1):.0f} % ({100 * (low - 1):.0f}-{100 * (high - 1):.0f})"


with tempfile.TemporaryDirectory() as where:
    rounds = [calibrate(where) for _ in range(args.rounds)]
by_round = [{s["name"]: s for s in d["sources"]} for d in rounds]
names = sorted(by_round[0], key=lambda name: by_round[0][name]["cycles"]["median"])
print(f"CPU {args.cpu}, {args.rounds} rounds, {rounds[0]['cycles_per_second'] / 1e9:.3f} GHz")
print(f"{'':40} {'cycles':>7}  {'ratio to getrusage':22} {'gain in precision':22} for {rounds[0]['precision'][0]['primes']} primes")
for name in names:
    there = [(d, by) for d, by in zip(rounds, by_round) if name in by]
    ratios = [by[name]["cycles"]["median"] / by[REFERENCE]["cycles"]["median"] for _, by in there]
    gains = [by[name].get("precision_gain", {}).get("ratio") for _, by in there]
    shortest = [d["precision"][0]["sd_ns"] for d, _ in there]
    short_gains = [sd[REFERENCE] / sd[name] for sd in shortest if sd.get(name) and sd[REFERENCE] > 0]
    cycles = mean(by[name]["cycles"]["median"] for _, by in there)
    print(f"{name:40} {cycles:7.0f}  {combine(ratios, as_ratio):22} {combine(gains, as_percent):22} {combine(short_gains, as_percent)}")
print(f"{'paper: getpinfo':40} {213:7}  {PAPER_RATIO:<22.3f} {PAPER_GAIN} %")
for missing in rounds[0]["missing"]:
    print(f"not here: {missing['name']}: {missing['why']}")
switch = f"{args.build}/tests/bench/context_switch"
if os.access(switch, os.X_OK):
    subprocess.run([switch], check=False)
