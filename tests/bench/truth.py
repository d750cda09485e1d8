#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How often what EMP concludes is right, on made-up machines whose truth is known:

    tests/bench/truth.py BUILD [--seeds 1000] [--seed 1] [TABLE...]

Tables (default: all):

    coverage    how many of the 95 % intervals of a mean contain it; aim: 94 to 96 %
    alike       how many comparisons of a program with itself show a difference; aim: at most 5 %, give or take 1

Each figure is of so many made-up measurements; with 1000 of them, its own standard error is 0.7 %. The samples are made here, and
judged by the code that the tools use (tests/bench/truth.c). A table is a function that yields rows of (label, cells); further tables
are added to `tables`."""
import argparse, os, random, subprocess, sys
from math import sqrt

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("tables", nargs="*", metavar="TABLE")
parser.add_argument("--seeds", type=int, default=1000)
parser.add_argument("--seed", type=int, default=1)
args = parser.parse_args()
rng = random.Random(args.seed)

MEAN, SD = 1e8, 1e6 # ns: 100 ms and 1 %

# A machine gives the noise of one sample after another, with mean 0 and sd 1.

def normal():
    while True:
        yield rng.gauss(0, 1)

def skewed(): # Gamma, with a skewness of 1
    while True:
        yield (rng.gammavariate(4, 1) - 4) / 2

def very_skewed(): # exponential, with a skewness of 2
    while True:
        yield rng.expovariate(1) - 1

def alike(lag1): # AR(1): neighbours are correlated
    def machine():
        state = rng.gauss(0, 1)
        while True:
            yield state
            state = lag1 * state + sqrt(1 - lag1 * lag1) * rng.gauss(0, 1)
    return machine

def wandering(): # noise around a level that walks at random
    level = 0
    while True:
        yield level + rng.gauss(0, 1)
        level += rng.gauss(0, 0.3)

machines = {"normal": normal, "skewed (1)": skewed, "skewed (2)": very_skewed, "AR(0.3)": alike(0.3), "AR(0.6)": alike(0.6),
            "AR(0.75)": alike(0.75)}

def times(noise, n, mean=MEAN):
    return " ".join(f"{mean + SD * next(noise):.0f}" for _ in range(n))

def ask(questions):
    """The answers, as lists of words."""
    done = subprocess.run([os.path.join(args.build, "tests/bench/truth")], input="\n".join(questions), stdout=subprocess.PIPE,
                          text=True, check=True)
    answers = [line.split() for line in done.stdout.splitlines()]
    assert len(answers) == len(questions)
    return answers

def percent(hits, of):
    return f"{100 * hits / of:.1f}"

def coverage():
    """95 % intervals that contain the long-run mean, in percent, by the number of samples: as printed (in brackets: Student's; Student's after
    the papers' 2-sd check, as in 0.1.0)"""
    sizes = 5, 10, 20, 40
    yield "", [f"n = {n}" for n in sizes]
    for name, machine in machines.items():
        cells = []
        for n in sizes:
            answers = ask([f"interval {n} {times(machine(), n)}" for _ in range(args.seeds)])
            shares = [percent(sum(float(a[i]) <= MEAN <= float(a[i + 1]) for a in answers), len(answers)) for i in (0, 2, 4)]
            cells.append(f"{shares[0]} ({shares[1]} {shares[2]})")
        yield name, cells

def alike_in_turn():
    """Measurements of one program as several, in turn, that show any difference, in percent, by the number of programs and samples"""
    sizes = [(others, n) for others in (1, 8) for n in (5, 10, 20)]
    yield "", [f"{others + 1} x {n}" for others, n in sizes]
    for name, machine in {**machines, "wandering": wandering}.items():
        cells = []
        for others, n in sizes:
            answers = ask([f"turn {others} {n} {times(machine(), n * (others + 1))}" for _ in range(args.seeds)])
            cells.append(percent(sum(a != ["0"] for a in answers), len(answers)))
        yield name, cells

def alike_separate():
    """Two separate runs of one program, of 10 samples each, that are called different, in percent, by the number of earlier runs in the book
    (in brackets: by Welch's test of the samples, as in 0.1.0). Runs differ by an sd of 2 %, samples in a run by 1 %"""
    sizes = 2, 3, 5, 10, 30
    yield "", [f"{k} runs" for k in sizes]
    for name, machine in machines.items():
        cells = []
        for k in sizes:
            questions = []
            for _ in range(args.seeds):
                runs = [times(machine(), 10, MEAN + 2 * SD * rng.gauss(0, 1)) for _ in range(k + 2)]
                means = " ".join(f"{sum(map(float, run.split())) / 10:.0f}" for run in runs[2:])
                questions.append(f"separate {k} {means} 10 {runs[0]} {runs[1]}")
            answers = ask(questions)
            unknown = sum(a[0] == "unknown" for a in answers)
            shares = [percent(sum(a[i] == "different" for a in answers), len(answers)) for i in (0, 1)]
            cells.append(f"{'no verdict' if unknown == len(answers) else shares[0]} ({shares[1]})")
        yield name, cells

tables = {"coverage": [coverage], "alike": [alike_in_turn, alike_separate]}

for name in args.tables or tables:
    if name not in tables:
        sys.exit(f"there is no table '{name}', but {', '.join(tables)}")
    for table in tables[name]:
        print(" ".join(table.__doc__.split()) + f" ({args.seeds} seeds):\n")
        for label, cells in table():
            print(f"{label:12}" + "".join(f"{cell:>20}" for cell in cells), flush=True)
        print()
