#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts studies of made-up programs into the lab book BOOK, which EMP has made. Their truth is known:

    1 settings    INC0.1 and INC1, steps units, ntp and nothing, one after another, 8 rounds: a unit takes 5 % of each sample on
                  average, and as much of it varies; ntp takes 0.5 % of every sample; the last step changes nothing
    2 lengths     INC0.01 to INC8, 4 rounds: sd of 0.05 ms, and a rare sample that is 5 % longer in ET
    3 samples     INC0.1, 4 rounds of 80 samples
    4 versions    the same steps as settings, each left out in turn
    5 clocks      INC8 by four clocks, of which one counts ticks of 10 ms
    6 algorithms  sort (n^2) and merge (n log n), 100K to 3.2M
    7 suite       five programs
    8 night       studies 9 (lengths, not finished) and 10 (suite)"""
import json, random, sqlite3, sys

db = sqlite3.connect(sys.argv[1], isolation_level=None)
draw = random.Random(52)
START, S, MS = 1700000000 * 10**9, 10**9, 10**6
now = START
db.execute("BEGIN")
DAEMONS = {name: db.execute("INSERT INTO source(name, unit, kind) VALUES (?, ?, 'process')", (name, unit)).lastrowid
           for name, unit in (("backupd", "postfix.service"), ("ntpd", "ntp.service"))}

def run(program, samples):
    """samples: (et, pt, {daemon: ns})"""
    global now
    id = db.execute("INSERT INTO run(uid, kind, program, command, state, backend, pt_source, resolution_ns, started_ns, ended_ns, cpu)"
                    " VALUES (lower(hex(randomblob(16))), 'measure', ?, ?, 'done', 'bpf', 'cgroup', 1, ?, ?, 1)",
                    (program, json.dumps([program]), now, now + 60 * S)).lastrowid
    for n, (et, pt, daemons) in enumerate(samples, 1):
        now += round(et) + MS
        db.execute("INSERT INTO sample(run, n, start_ns, et_ns, pt_ns, lost, left_behind, incomplete) VALUES (?, ?, ?, ?, ?, 0, 0, 0)",
                   (id, n, now, round(et), round(pt)))
        for seq, (name, ns) in enumerate(daemons.items(), 1):
            db.execute("INSERT INTO execution(run, sample, seq, source, pt_ns, cpu) VALUES (?, ?, ?, ?, ?, 1)",
                       (id, n, seq, DAEMONS[name], round(ns)))
    return id

def study(what, file, blocks, take, finished=True, night=None, readings=None):
    """blocks: (round, step, subject, size) in any order; take(step, subject, size) gives their samples."""
    global now
    now += 3600 * S
    id = db.execute("INSERT INTO study(night, name, what, file, options, seed, started_ns, finished_ns) VALUES (?, ?, ?, ?, '[]', 7, ?, ?)",
                    (night, what, what, file, now, now + 600 * S if finished else None)).lastrowid
    draw.shuffle(blocks)
    blocks.sort(key=lambda b: b[0])
    for position, (round_, step, subject, size) in enumerate(blocks, 1):
        done = finished or position <= len(blocks) // 2
        samples = take(step, subject, size) if done else []
        block = db.execute("INSERT INTO study_block(study, position, round, step, subject, size, command, samples, started_ns, finished_ns)"
                           " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                           (id, position, round_, step, subject, size, json.dumps([subject]), max(1, len(samples)),
                            now if done else None, now + S if done else None)).lastrowid
        if readings:
            for clock, values in readings(size).items():
                for n, ns in enumerate(values, 1):
                    db.execute("INSERT INTO study_reading VALUES (?, ?, ?, ?)", (block, clock, n, round(ns)))
        elif samples:
            db.execute("INSERT INTO study_run VALUES (?, ?)", (run(subject.split()[0], samples), block))
    return id

def state():
    return draw.gauss(1, 0.0005) # of a block

def settings(has_unit, has_ntp):
    def take(step, subject, size):
        block, samples = state(), []
        for _ in range(20):
            length = size * S * block
            pt = length * draw.gauss(1, 0.002)
            daemons = {}
            if has_unit(step):
                daemons["backupd"] = draw.expovariate(1 / (0.05 * length))
            if has_ntp(step):
                daemons["ntpd"] = 0.005 * length
            samples.append((pt + sum(daemons.values()) + 0.1 * MS, pt, daemons))
        return samples
    return take

STEPS = "".join("[step %s]\napply = %s\n" % step for step in (("units", "units.unneeded"), ("ntp", "time.ntp"), ("nothing", "x")))
INC = "[subject INC]\ninc = %s\n"

def combinations(labels, subjects, rounds):
    return [(r, step, name, size) for r in range(1, rounds + 1) for step in labels for name, size in subjects]

study("settings", "[study]\nwhat = settings\ntext = Which setting buys how much.\n" + INC % "0.1, 1" + STEPS,
      combinations((None, "units", "ntp", "nothing"), (("INC0.1", 0.1), ("INC1", 1)), 8),
      settings(lambda step: step is None, lambda step: step in (None, "units")))

def lengths(step, subject, size):
    block, samples = state(), []
    for _ in range(25):
        pt = size * S * block + draw.gauss(0, 0.05 * MS)
        extra = 0.05 * size * S * (draw.random() < 0.02) + abs(draw.gauss(0, 0.1 * MS))
        samples.append((pt + extra, pt, {"backupd": extra} if extra > 0.01 * size * S else {}))
    return samples

SIZES = [0.01, 0.1, 1, 2, 4, 8]
INCS = [("INC%g" % size, size) for size in SIZES]
study("lengths", "[study]\nwhat = lengths\n" + INC % ", ".join("%g" % s for s in SIZES), combinations([None], INCS, 4), lengths)

def many(step, subject, size):
    return [s for _ in range(4) for s in lengths(step, subject, size)][:80]
study("samples", "[study]\nwhat = samples\n" + INC % "0.1", combinations([None], [("INC0.1", 0.1)], 4), many)

LABELS = (None, "all", "without units", "without ntp", "without nothing")
study("versions", "[study]\nwhat = versions\norder = each-left-out\n" + INC % "0.01, 0.1, 1" + STEPS,
      combinations(LABELS, [("INC0.01", 0.01), ("INC0.1", 0.1), ("INC1", 1)], 6),
      settings(lambda step: step in (None, "without units"), lambda step: step in (None, "without ntp")))

def clocks(size):
    real = [draw.gauss(8 * S, 0.3 * MS) for _ in range(15)]
    return {"clock_gettime(CLOCK_MONOTONIC)": real, "rdtsc": [t + draw.gauss(0, 0.001 * MS) for t in real],
            "getrusage in ticks": [round(t / (10 * MS)) * 10 * MS for t in real], "CLOCK_PROCESS_CPUTIME_ID": [t - 0.1 * MS for t in real]}
study("clocks", "[study]\nwhat = clocks\n" + INC % "8", combinations([None], [("INC8", 8)], 4), lambda *_: [1], readings=clocks)

def algorithm(step, subject, size):
    import math
    ns = size**2 * 2e-3 if subject.startswith("sort") else size * math.log(size) * 15
    block = draw.gauss(1, 0.003)
    return [((ns * block * draw.gauss(1, 0.004) + 2 * MS) * 1.01, ns * block * draw.gauss(1, 0.004) + 2 * MS, {}) for _ in range(10)]
PROBLEMS = [("100K", 1e5), ("200K", 2e5), ("400K", 4e5), ("800K", 8e5), ("1.6M", 1.6e6), ("3.2M", 3.2e6)]
study("algorithms", "[study]\nwhat = algorithms\n" + "".join(
          "[subject %s]\ncommand = %s {size}\nsizes = %s\n" % (p, p, ", ".join(n for n, _ in PROBLEMS)) for p in ("sort", "merge")),
      combinations([None], [("%s %s" % (p, n), size) for p in ("sort", "merge") for n, size in PROBLEMS], 4), algorithm)

PROGRAMS = {"sort": 0.3, "xz": 2, "python": 0.05, "sha256sum": 0.6, "a long name of a program that makes pictures": 12}
def program(step, subject, size):
    length, block = PROGRAMS[subject] * S, state()
    return [(length * block * (1 + abs(draw.gauss(0, 0.02))), length * block * draw.gauss(1, 0.004), {}) for _ in range(10)]
SUITE = "[study]\nwhat = suite\n" + "".join("[subject %s]\ncommand = %s\n" % (name, name.split()[0]) for name in PROGRAMS)
SUITE_BLOCKS = lambda: combinations([None], [(name, None) for name in PROGRAMS], 3)
study("suite", SUITE, SUITE_BLOCKS(), program)

night = study("night", "[study]\nwhat = night\nstudies = lengths suite\n", [], None)
study("lengths", "[study]\nwhat = lengths\n" + INC % "0.01, 0.1, 1", combinations([None], INCS[:3], 2), lengths, finished=False, night=night)
study("suite", SUITE, SUITE_BLOCKS(), program, night=night)
db.execute("COMMIT")
