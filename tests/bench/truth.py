#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How often what EMP concludes is right, on made-up machines whose truth is known:

    tests/bench/truth.py BUILD [--seeds 1000] [--seed 1] [TABLE...]

Tables (default: all):

    coverage    how many of the 95 % intervals of a mean contain it; aim: 94 to 96 %
    width       how wide they are, and how many reach beyond the samples
    alike       how many comparisons of a program with itself show a difference; aim: at most 5 %, give or take 1
    verdicts    how many runs of a calibration get the right verdict; aim: 97 %
    changes     how many series of runs that did not change show a change of level; aim: at most 5 %. How often a change is found, and
                how many of its 95 % intervals contain it
    names       how often the daemon that made samples long is named, and nobody else; aim: 95 %
    bystanders  how often one who is in long samples by chance gets a cutoff; aim: at most 1 %
    cutoffs     how many undisturbed samples a profile discards, with a minimum share of 0 and of 10 %; aim: at most 1 %. How many of those
                that a daemon disturbed; aim: 98 %

Each figure is of so many made-up measurements; with 1000 of them, its own standard error is 0.7 %. The samples are made here, and
judged by the code that the tools use (tests/bench/truth.c). A table is a function that yields rows of (label, cells); further tables
are added to `tables`."""
import argparse, os, random, re, subprocess, sys
from collections import Counter
from math import erfc, log, pi, sin, sqrt

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

def skewed_below(): # as rates are of which a few are small
    for value in very_skewed():
        yield -value

def heavy(): # log-normal, with a skewness of 2.3
    while True:
        yield (rng.lognormvariate(0, 0.6) - 1.197) / 0.788

def alike(lag1): # AR(1): neighbours are correlated
    def machine():
        state = rng.gauss(0, 1)
        while True:
            yield state
            state = lag1 * state + sqrt(1 - lag1 * lag1) * rng.gauss(0, 1)
    return machine

def alike_and_skewed(): # an AR(0.6) process with the distribution of very_skewed()
    for value in alike(0.6)():
        yield -log(erfc(value / sqrt(2)) / 2) - 1

def wandering(): # noise around a level that walks at random
    level = 0
    while True:
        yield level + rng.gauss(0, 1)
        level += rng.gauss(0, 0.3)

machines = {"normal": normal, "skewed (1)": skewed, "skewed (2)": very_skewed, "AR(0.3)": alike(0.3), "AR(0.6)": alike(0.6),
            "AR(0.75)": alike(0.75)}
# of whose samples intervals are made, besides
tails = {"skewed (-2)": skewed_below, "heavy (2.3)": heavy, "AR(0.6) (2)": alike_and_skewed, "drift": None}

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

def drifting_times(n): # by 3 sd in all, about the mean; such a machine is calibrated when it does not drift
    return " ".join(f"{MEAN + SD * (rng.gauss(0, 1) + 3 * ((i + 0.5) / n - 0.5)):.0f}" for i in range(n))

def intervals(machine, n):
    """Of many runs of n samples: the samples, and the answer: pairs of ends."""
    runs = [times(machine(), n) if machine else drifting_times(n) for _ in range(args.seeds)]
    answers = ask([f"interval {n} {run} 300 {times((machine or normal)(), 300)}" for run in runs])
    return [([float(x) for x in run.split()], [float(x) for x in a]) for run, a in zip(runs, answers)]

SIZES = 5, 8, 10, 20, 40

def coverage():
    """95 % intervals that contain the long-run mean, in percent, by the number of samples: as printed; where the machine is known from a
    calibration of 300 samples (in brackets: Student's; Student's after the papers' 2-sd check, as in 0.1.0)"""
    yield "", [f"n = {n}" for n in SIZES]
    for name, machine in {**machines, **tails}.items():
        cells = []
        for n in SIZES:
            found = intervals(machine, n)
            shares = [percent(sum(a[i] <= MEAN <= a[i + 1] for _, a in found), len(found)) for i in (0, 2, 4, 6)]
            cells.append("{} {} ({} {})".format(*shares))
        yield name, cells

def width():
    """How wide these intervals are, as printed, and below where the machine is known: the mean of their width as a multiple of Student's, what
    99 of 100 do not exceed, and which percentage reaches beyond the least or the greatest sample"""
    yield "", [f"n = {n}" for n in SIZES]
    for name, machine in {**machines, **tails}.items():
        rows = [], []
        for n in SIZES:
            found = intervals(machine, n)
            for i, cells in zip((0, 2), rows):
                widths = sorted((a[i + 1] - a[i]) / (a[5] - a[4]) for _, a in found)
                beyond = sum(a[i] < min(run) - 1 or a[i + 1] > max(run) + 1 for run, a in found)
                cells.append(f"{sum(widths) / len(widths):.2f} {widths[len(widths) * 99 // 100]:.2f} {percent(beyond, len(found))}")
        yield name, rows[0]
        yield "  known", rows[1]

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

class Run:
    """A calibration run, made up: ETs of 0.1 s and their noise; what one daemon took in each sample (`planted`, in ns); and
    what kept the samples long without having a name (`unnamed`)."""
    def __init__(self, n=None):
        self.n = n or rng.choice((40, 60, 100, 150, 300, 800))
        self.sd = MEAN * 10 ** rng.uniform(-4.5, -2.3) # 3 us to 0.5 ms
        self.noise = [next(source) for source in [rng.choice((normal, skewed, very_skewed))()] for _ in range(self.n)]
        self.planted = [0] * self.n
        self.unnamed = [0] * self.n
        self.wait_known = rng.random() < 0.5
        # who else runs: source, in which share of the samples, and how long, in sd
        self.bystanders = [(1, 1, 0.05), (2, 0.5, 0.02), (3, 0.1, 0.02), (4, 0.02, 0.02)]

    def plant(self, at, least, most): # sizes in sd
        for i in at:
            self.planted[i] = self.sd * least * (most / least) ** rng.random()

    def some(self, share): # positions: in turn from anywhere, or anywhere
        k = max(1, round(share * self.n))
        if rng.random() < 0.5:
            period = self.n / k
            return self.every(period)
        return rng.sample(range(self.n), k)

    def every(self, period):
        first = rng.uniform(0, period)
        return sorted({int(first + i * period) for i in range(self.n) if int(first + i * period) < self.n})

    def question(self, by_wait=False):
        words = [f"verdict {by_wait:d} {self.n}"]
        for noise, planted, unnamed in zip(self.noise, self.planted, self.unnamed):
            usual = [(source, took * self.sd * rng.uniform(0.5, 1.5)) for source, share, took in self.bystanders if rng.random() < share]
            all = usual + [(5, planted)] * (planted > 0)
            taken = sum(took for _, took in all)
            own = max(MEAN + self.sd * noise + unnamed, MEAN / 2)
            words.append(f"{own + taken:.0f} {own:.0f} {taken if self.wait_known or by_wait else -1:.0f} {len(all)} "
                         + " ".join(f"{source} {took:.0f}" for source, took in all))
        return " ".join(words)

def clean_run():
    return Run()

def l_run():
    run = Run()
    run.plant(run.some(rng.uniform(0.01, 0.05)), 15, 3000)
    return run

def frequent_run():
    run = Run()
    run.n < 60 and run.__init__(60)
    run.plant(run.some(rng.uniform(0.25, 0.6)), 10, 20)
    return run

def many_without_a_cause():
    run = Run()
    size = 10 ** rng.uniform(1.3, 2.5)
    for i in rng.sample(range(run.n), max(1, run.n // 10)):
        run.unnamed[i] = run.sd * size * rng.uniform(1, rng.choice((1.1, 5)))
    return run

def long_without_a_cause(low, high): # from 1 to 10 % of the samples' length
    def make():
        run = Run()
        run.n < 100 and run.__init__(100)
        run.sd = MEAN * 10 ** rng.uniform(-4, -2.8)
        for i in rng.sample(range(run.n), round(rng.uniform(low, high) * run.n)):
            run.unnamed[i] = MEAN * 10 ** rng.uniform(-2, -1)
        return run
    return make

def two_clusters():
    run = Run()
    size, share = 10 ** rng.uniform(1.2, 2.5), rng.uniform(0.25, 0.75)
    run.unnamed = [run.sd * size * (rng.random() < share) for _ in range(run.n)]
    return run

def alternating():
    run = Run()
    size, period, phase = 10 ** rng.uniform(1.2, 2.5), rng.choice((1, 1, 2, 3, rng.randint(1, 10))), rng.randint(0, 20)
    run.unnamed = [run.sd * size * ((i + phase) // period % 2) for i in range(run.n)]
    return run

def one_step():
    run = Run()
    size, at = rng.choice((-1, 1)) * 10 ** rng.uniform(0.7, 2.5), rng.uniform(0.15, 0.85) * run.n
    run.unnamed = [run.sd * size * (i >= at) for i in range(run.n)]
    return run

def drifting():
    run = Run()
    size = rng.choice((-1, 1)) * 10 ** rng.uniform(0.6, 2) # 4 sd or more
    run.unnamed = [run.sd * size * i / run.n for i in range(run.n)]
    return run

def sine():
    run = Run()
    size, cycles, phase = 10 ** rng.uniform(0.3, 2), rng.uniform(0.5, run.n / 16), rng.uniform(0, 2 * pi) # 4 sd from top to bottom or more
    run.unnamed = [run.sd * size * sin(phase + 2 * pi * cycles * i / run.n) for i in range(run.n)]
    return run

def correlated(lag1):
    def make():
        run = Run()
        source = alike(lag1)()
        run.noise = [next(source) for _ in range(run.n)]
        return run
    return make

def busy():
    run = Run()
    share = 10 ** rng.uniform(-1.5, -0.1) # 3 % or more of each sample, more or less evenly
    run.planted = [MEAN * share * rng.uniform(0.9, 1.1) for _ in range(run.n)]
    return run

def noisy():
    run = Run()
    run.sd = MEAN * 10 ** rng.uniform(-1.6, -0.8) # 2.5 % or more
    run.noise = [max(noise, -3) for noise in run.noise]
    return run

def l_on(make): # what happens on another machine, besides
    def make_both():
        run, other = make(), None
        while not other or other.n != run.n:
            other = l_run()
        run.planted = [planted * run.sd / other.sd for planted in other.planted]
        return run
    return make_both

ar75 = correlated(0.75)
kinds = {"clean": (clean_run, "clean quiet"), "AR(0.3)": (correlated(0.3), "clean quiet"), "L": (l_run, "L quiet"),
         "one in ten": (many_without_a_cause, "clean quiet"), "one in five": (long_without_a_cause(0.2, 0.22), "clean noisy"),
         "two in five": (long_without_a_cause(0.4, 0.45), "frequent noisy"), "frequent": (frequent_run, "frequent"), "two clusters": (two_clusters, "step"),
         "alternating": (alternating, "step"), "one step": (one_step, "step"), "drift": (drifting, "drift"), "sine": (sine, "drift"),
         "AR(0.75)": (ar75, "drift"), "busy": (busy, "busy"), "noisy": (noisy, "clean noisy"), "L, a step": (l_on(one_step), "step L"),
         "L, a drift": (l_on(drifting), "drift L"), "L, AR(0.75)": (l_on(ar75), "drift L")}
# By W, a machine whose speed changes hides no daemon.
by_wait = {"step": "clean", "frequent noisy": "clean noisy", "drift": "clean", "step L": "L", "drift L": "L"}

def verdicts():
    """Runs of 40 to 800 samples with the right verdict, in percent, where L-samples are found by ET, and by W (a speed that changes is no
    verdict then); and the other verdicts that they got"""
    yield "", ["right", "by ET", "by W"]
    for name, (make, wants) in kinds.items():
        cells, wrong = [wants.removesuffix(" L")], Counter()
        for how in "ET", "W":
            want = cells[0] if how == "ET" else by_wait.get(wants, wants)
            answers = [" ".join(a[:2]) for a in ask([make().question(how == "W") for _ in range(args.seeds)])]
            others = [a for a in answers if not a.startswith(want)]
            cells.append(percent(len(answers) - len(others), len(answers)))
            wrong.update((a, how) for a in others)
        yield name, cells + ["   " + ", ".join(f"{a} by {how} {percent(k, args.seeds)}" for (a, how), k in wrong.most_common(3))]

PLANTED = 5

def planted_run(n, k):
    """`k` of `n` samples are long because of one daemon, at random or in turn; up to ten others run beside it, here and there."""
    run = Run(n)
    run.bystanders = [(PLANTED + 1 + i, 10 ** rng.uniform(-2, 0), 10 ** rng.uniform(-2, 0)) for i in range(rng.randint(3, 10))]
    at = rng.sample(range(n), k)
    if rng.random() < 0.5: # its period and phase are such that it runs k times
        period = rng.uniform(n / (k + 1), n / k)
        first = rng.uniform(0, n - period * (k - 1) - 1e-9)
        at = {int(first + i * period) for i in range(k)}
    size = 10 ** rng.uniform(1.2, 3)
    run.plant(at, size, size * rng.choice((1.02, 1.5)))
    return run

def named(answer):
    if answer[0] != "busy":
        return answer[4].split(",")
    return re.findall(r"(?:[(]|, )(\w+) [0-9.]+ %", " ".join(answer[5:]))

def names():
    """Runs in which some samples are long because of one daemon, and it alone is named, in percent; those in which another is
    named, too; and those in which it is not named"""
    yield "", ["alone", "and others", "not", "verdicts"]
    for n, k in ((16, 5), (16, 6), (16, 7), (16, 8), (16, 9), (40, 8), (40, 9), (100, 5), (800, 9)):
        answers = ask([planted_run(n, k).question() for _ in range(args.seeds)])
        has = ["aed" in named(a) for a in answers]
        alone = [named(a) == ["aed"] for a in answers]
        got = Counter(a[0] for a in answers).most_common()
        yield f"{k} of {n}", [percent(sum(alone), len(has)), percent(sum(has) - sum(alone), len(has)), percent(len(has) - sum(has), len(has)),
                              "   " + ", ".join(f"{verdict} {percent(k, len(has))}" for verdict, k in got)]

def bystanders():
    """Runs with L-samples in which a daemon that did not make them long gets a cutoff that explains more than 10 % of the delay, in percent,
    where L-samples are found by ET, and by W; and those in which the one that did has none"""
    yield "", ["by ET", "by W", "none by ET", "none by W"]
    for n, share in (40, 0.05), (100, 0.03), (100, 0.05), (300, 0.02), (800, 0.01), (800, 0.03):
        false, none = [], []
        for by_wait in False, True:
            runs = [planted_run(n, max(1, round(share * n))) for _ in range(args.seeds)]
            most = -0.7 if by_wait else 0 # 10^most sd: by W, who takes more makes its samples long
            for run in runs: # rare ones, too
                run.bystanders = [(PLANTED + 1 + i, 10 ** rng.uniform(-2.5, 0 if i < 8 else -1), 10 ** rng.uniform(-2, most)) for i in range(16)]
            cutoffs = [set(a[4].split(",")) for a in ask([run.question(by_wait) for run in runs]) if a[0] == "L"]
            false.append(percent(sum(bool(c - {"aed", "-"}) for c in cutoffs), len(cutoffs) or 1))
            none.append(percent(args.seeds - sum("aed" in c for c in cutoffs), args.seeds))
        yield f"{round(share * n)} of {n}", false + none

tables = {"coverage": [coverage], "width": [width], "alike": [alike_in_turn, alike_separate], "verdicts": [verdicts], "names": [names], "bystanders": [bystanders]}

class World:
    """Who runs on a machine: resident daemons, each with one execution a sample; commands, each with its own; and one daemon (PLANTED) that
    takes 4 to 50 % of 0.1 s every 6 to 15 s, and starts some of the commands. Rates are per second, sizes in ns."""
    def __init__(self):
        self.resident = {PLANTED + 1 + i: (10 ** rng.uniform(-1.5, 1.3), 10 ** rng.uniform(3.3, 5)) for i in range(10)}
        self.commands = {PLANTED + 11 + i: (10 ** rng.uniform(-2, -0.3), 10 ** rng.uniform(4, 5.7)) for i in range(8)}
        self.companions = rng.sample(sorted(self.commands), 4)
        self.sd = 10 ** rng.uniform(-4.5, -2) # of the program's own time: a share of it
        self.size, self.period, self.phase = 1e8 * 10 ** rng.uniform(-1.4, -0.3), rng.uniform(6e9, 15e9), rng.random()
        self.size = max(self.size, 15e8 * self.sd) # it can be told from noise
        self.spread = rng.choice((1.02, 1.2, 1.5))

    def run(self, n, et, by_wait):
        """`n` samples of a program that takes `et` ns, one after the other: the question; the samples that the planted daemon was in; and those
        from which all took less than 0.1 %, or than the program itself varies by"""
        words, planted, undisturbed, now, next = [str(n)], [], [], 0, self.phase * self.period
        for i in range(n):
            own = et * (1 + self.sd * max(rng.gauss(0, 1), -3))
            took = [(source, sum(size * rng.lognormvariate(0, 0.5) for _ in range(poisson(rate * own / 1e9))))
                    for source, (rate, size) in self.resident.items()]
            took += [(source, size * rng.lognormvariate(0, 0.5)) for source, (rate, size) in self.commands.items()
                     for _ in range(poisson(rate * own / 1e9))]
            if next < now + own:
                took.append((PLANTED, self.size * rng.uniform(1, self.spread)))
                took += [(source, self.commands[source][1] * rng.lognormvariate(0, 0.5)) for source in self.companions]
                planted.append(i + 1)
                next += self.period * rng.uniform(0.9, 1.1)
            took = [(source, ns) for source, ns in took if ns >= 1]
            wait = sum(ns for _, ns in took)
            if wait < max(0.001, 3 * self.sd) * own:
                undisturbed.append(i + 1)
            now += own + wait
            words.append(f"{own + wait:.0f} {own:.0f} {wait if by_wait else -1:.0f} {len(took)} "
                         + " ".join(f"{source} {ns:.0f}" for source, ns in took))
        return " ".join(words), planted, undisturbed

def poisson(mean):
    n, left = 0, rng.expovariate(1)
    while left < mean:
        n, left = n + 1, left + rng.expovariate(1)
    return n

def cutoffs():
    """Samples of another run that a profile discards although nobody disturbed them, in percent; profiles that discard more than 2 % of those; samples that the daemon is in and that are discarded, in percent; and how many cutoffs a profile has"""
    yield "", ["undisturbed", "profiles over 2 %", "planted", "cutoffs"]
    for name, (short, long) in {"quick": (200, 16), "hour": (1600, 60)}.items():
        for by_wait in False, True:
            runs, planted = [], []
            while len(runs) < args.seeds:
                world = World()
                a, at, _ = world.run(short, 1e8, by_wait)
                b, *_ = world.run(long, 1e9, by_wait)
                c, inside, calm = world.run(200, 10 ** rng.uniform(7, 8.4), by_wait) # 10 to 250 ms
                if len(at) > 1:
                    runs.append(" ".join((a, b, c)))
                    planted.append((set(inside), set(calm) - set(inside)))
            for least in 0, 10:
                answers = ask([f"cutoffs {by_wait:d} {least * 10000} {run}" for run in runs])
                made = [(a[1].count(":"), {int(n) for n in a[2].rstrip("-").split(",") if n}, *truth)
                        for a, truth in zip(answers, planted) if a[0] == "L,L" or a[0] == "L,clean"]
                false = [len(out & calm) / max(1, len(calm)) for _, out, _, calm in made]
                yield f"{name} {'W' if by_wait else 'ET'} {least} %", [
                    percent(sum(false), len(made)), percent(sum(share > 0.02 for share in false), len(made)),
                    percent(sum(len(out & inside) for _, out, inside, _ in made), sum(len(inside) for _, _, inside, _ in made)),
                    f"{sum(n for n, *_ in made) / len(made):.1f}"]

tables["cutoffs"] = [cutoffs]

def heavy(): # Student's t with 3 degrees of freedom
    while True:
        yield rng.gauss(0, 1) / sqrt(rng.gammavariate(1.5, 2) / 3) / sqrt(3)

def with_outliers(): # one run in twenty is far too long
    while True:
        yield rng.gauss(0, 1) + (rng.random() < 0.05) * rng.uniform(4, 30)

series = {"normal": normal, "t (3)": heavy, "skewed (1)": skewed, "skewed (2)": very_skewed, "outliers": with_outliers,
          "AR(0.3)": alike(0.3), "AR(0.5)": alike(0.5), "AR(0.75)": alike(0.75)}

def changes_in(machine, n, steps=()):
    """A question about a series with these steps, (at, by) in sd of a run."""
    noise = machine()
    values = [next(noise) + sum(by for at, by in steps if i >= at) for i in range(n)]
    return f"changes {n} " + " ".join(f"{v:.6f}" for v in values)

def read_changes(answer):
    """What is found: (first value, by, half) of each change; and what would have been found in the middle, and in the last five."""
    numbers = list(map(float, answer))
    return [tuple(numbers[i:i + 3]) for i in range(1, len(numbers) - 2, 3)], numbers[-2:]

def false_changes():
    """Series of runs whose level does not change, and that show a change, in percent, by the number of runs"""
    sizes = 5, 6, 8, 10, 15, 20, 30, 50, 100, 200
    yield "", sizes
    for name, machine in series.items():
        yield name, [percent(sum(a[0] != "0" for a in ask([changes_in(machine, n) for _ in range(args.seeds)])), args.seeds) for n in sizes]

def found_changes():
    """Series in which the level changes once, by so many sd of a run, and in which that is found within two runs, in percent; by the number of
    runs before and after it"""
    shapes = (5, 5), (10, 10), (15, 5), (25, 25), (45, 5), (47, 3), (95, 5)
    yield "", [f"{before} + {after}" for before, after in shapes]
    for name in "normal", "t (3)", "AR(0.5)":
        for by in 1, 2, 3, 5, 10, 20:
            cells = []
            for before, after in shapes:
                answers = ask([changes_in(series[name], before + after, [(before, by)]) for _ in range(args.seeds)])
                hits = sum(any(abs(first - before) <= 2 for first, _, _ in read_changes(a)[0]) for a in answers)
                cells.append(percent(hits, args.seeds))
            yield f"{name} {by}", cells

def several_changes():
    """Series of 50 runs with two or three changes at places drawn, 8 runs apart or more, each by 3 to 10 sd up or down: those in which each
    of them and no other is found, in percent; those in which one is missed; those in which there is another"""
    yield "", ["all", "missed", "another"]
    for name, machine in series.items():
        right, missed, another = 0, 0, 0
        questions, places = [], []
        for _ in range(args.seeds):
            k = rng.choice((2, 3))
            at = sorted(rng.sample(range(51 - 8 * (k + 1)), k))
            at = [a + 8 * (i + 1) for i, a in enumerate(at)]
            places.append(at)
            questions.append(changes_in(machine, 50, [(a, rng.choice((-1, 1)) * rng.uniform(3, 10)) for a in at]))
        for answer, at in zip(ask(questions), places):
            got = [first for first, _, _ in read_changes(answer)[0]]
            lost = any(off > 2 for off in (min((abs(g - a) for g in got), default=99) for a in at))
            more = any(off > 2 for off in (min(abs(g - a) for a in at) for g in got))
            missed += lost
            another += more
            right += not lost and not more and len(got) == len(at)
        yield name, [percent(k, args.seeds) for k in (right, missed, another)]

def change_intervals():
    """95 % intervals of a change that was found, and that contain it, in percent: 3, 5 and 10 sd, in the middle of the series"""
    sizes = 10, 20, 50, 100
    yield "", [f"n = {n}" for n in sizes]
    for name, machine in series.items():
        cells = []
        for n in sizes:
            covered, of = 0, 0
            for by in 3, 5, 10:
                for answer in ask([changes_in(machine, n, [(n // 2, by)]) for _ in range(args.seeds // 3)]):
                    got = [c for c in read_changes(answer)[0] if abs(c[0] - n // 2) <= 2]
                    of += len(got)
                    covered += sum(abs(b - by) <= half for _, b, half in got)
            cells.append(percent(covered, of) if of else "-")
        yield name, cells

def said_to_be_found():
    """Changes as great as a series says that it would have shown in four cases of five, and that another one shows, in percent: in the
    middle (in brackets: in the last 5 runs)"""
    sizes = 20, 30, 50, 100, 200
    yield "", [f"n = {n}" for n in sizes]
    for name, machine in series.items():
        cells = []
        for n in sizes:
            said = [read_changes(a)[1] for a in ask([changes_in(machine, n) for _ in range(args.seeds)])]
            shares = []
            for which, at in enumerate((n // 2, n - 5)):
                answers = ask([changes_in(machine, n, [(at, s[which])]) for s in said])
                shares.append(percent(sum(any(abs(first - at) <= max(2, n // 10) for first, _, _ in read_changes(a)[0]) for a in answers), args.seeds))
            cells.append("{} ({})".format(*shares))
        yield name, cells

tables["changes"] = [false_changes, found_changes, several_changes, change_intervals, said_to_be_found]

for name in args.tables or tables:
    if name not in tables:
        sys.exit(f"there is no table '{name}', but {', '.join(tables)}")
    for table in tables[name]:
        print(" ".join(table.__doc__.split()) + f" ({args.seeds} seeds):\n")
        for label, cells in table():
            print(f"{label:12}" + "".join(f"{cell:>23}" for cell in cells), flush=True)
        print()
