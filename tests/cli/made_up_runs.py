#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts runs of made-up programs into the lab book BOOK, which EMP has made: an hour apart, 10 samples each.

    steady      20 runs that vary by 1 %
    solver      30 runs: from the 19th on, 10 % slower, and the kernel is another; one run at the 25th is far too long
    named       12 runs of other commands each, by their --command-name, 20 % faster from the 7th on
    against     24 runs that alternated with INC: the machine's speed changes by 30 % all the time; 5 % slower from the 13th on. Then 8 in seconds
    renewed     6 runs that alternated with one INC, then 7 with another, whose increments take half as long
    longer      6 runs that alternated with INC, then 6 that did not and took less
    few         4 runs
    xz          two command lines of one program, 6 runs each
    other       8 runs on one machine, then 7 on another
    often       9 runs, 7 s apart: one far above, one far below, one somewhat below the others
    creeping    60 runs that take ever longer, the last twice as long as the first
    doubled     10 runs, the last four of twice the time
    one, two, three
                20 runs, so many of which, at the end, take 1.7 times as long
    ticks       12 runs whose samples all take ten ticks of 10 ms
    two clocks  6 runs by ticks of 10 ms, then 6 by a clock of nanoseconds
    tick pairs  12 runs that alternated with INC, by the same clock
    none        7 runs whose PT is 0, long before the others
    hostile     6 runs whose name, command and environment have control characters, markup and quotes"""
import json, random, sqlite3, sys

db = sqlite3.connect(sys.argv[1])
draw = random.Random(7)
HOUR, START = 3600 * 10**9, 1700000000 * 10**9
now = START

def environment(machine, **identity):
    document = json.dumps({"format": "emp-fingerprint", "version": 1, "identity": identity, "settings": {}})
    db.execute("INSERT OR IGNORE INTO machine(name) VALUES (?)", (machine,))
    return db.execute("INSERT INTO environment(digest, machine, document) VALUES (hex(randomblob(32)), (SELECT id FROM machine WHERE name = ?), ?)",
                      (machine, document)).lastrowid

def run(where, argv, times, name=None, kind="measure", start=None, seconds=60, inc=None, source="cgroup"):
    start = start or now
    id = db.execute("INSERT INTO run(uid, kind, program, command, name, state, backend, pt_source, resolution_ns, started_ns, ended_ns, environment, cpu,"
                    " inc_digest) VALUES (lower(hex(randomblob(16))), ?, ?, ?, ?, 'done', 'bpf', ?, 1, ?, ?, ?, 1, ?)",
                    (kind, argv[0].split("/")[-1], json.dumps(argv), name, source, start, start + seconds * 10**9, where, inc)).lastrowid
    for n, time in enumerate(times, 1):
        at = start + n * 10**9 + (kind == "duet" and argv[0] != "inc") * 10**6 * (-1) ** n # the two programs start in turn first
        db.execute("INSERT INTO sample(run, n, start_ns, et_ns, pt_ns, lost, left_behind, incomplete) VALUES (?, ?, ?, ?, ?, 0, 0, 0)",
                   (id, n, at, 2 * round(time), round(time)))
        if kind == "duet":
            db.execute("INSERT INTO duet_sample(run, sample, position, repetitions, together_ns) VALUES (?, ?, 1, 1, 1)", (id, n))
    return id

def samples(mean):
    return [mean * draw.gauss(1, 0.005) for _ in range(10)]

def series(n, mean, **how):
    global now
    for i in range(n):
        now += HOUR
        run(times=samples(mean(i) * draw.gauss(1, 0.01)), **{k: v(i) if callable(v) else v for k, v in how.items()})

old, new = environment("box", kernel={"release": "6.1"}), environment("box", kernel={"release": "6.12"})
elsewhere = environment("elsewhere", kernel={"release": "6.1"})
bad = "\x1b]0;x\x07<b>'\"`$(id)@x\\|\n"
hostile = environment("box", **{"kernel": {"release": bad}})

series(20, lambda i: 1e8, where=old, argv=["steady", "a file"])
series(30, lambda i: 1e8 * (1.1 if i >= 18 else 1) * (4 if i == 24 else 1), where=lambda i: new if i >= 18 else old, argv=["/opt/solver", "-x"])
series(12, lambda i: 5e7 * (0.8 if i >= 6 else 1), where=old, argv=lambda i: [f"/opt/{i}/build"], name="named")
for i in range(9):
    now += 7 * 10**9
    run(old, ["often"], samples(1e6 * (1, 1.01, 0.99, 8, 1.02, 0.94, 1, 0.1, 0.98)[i]), seconds=5)
def against_inc(name, mean, spread, inc=None, inc_mean=1e8):
    global now
    now += HOUR
    speed = [draw.uniform(1 - spread, 1 + spread) for _ in range(10)] # of the machine, in each sample
    both = [run(old, [name], [s * mean * draw.gauss(1, 0.002) for s in speed], kind="duet", inc=inc),
            run(old, ["inc", "--iterations", "370000000"], [s * inc_mean for s in speed], kind="duet", inc=inc)]
    db.execute("INSERT INTO duet (run, reference, frozen, slice_ns, increments) VALUES (?, ?, 0, 10000000, NULL), (?, ?, 0, 10000000, 370000000)", (both[0], both[0], both[1], both[0]))

for i in range(24):
    against_inc("against", 2e8 * (1.05 if i >= 12 else 1), 0.3)
series(8, lambda i: 2e8, where=old, argv=["against"])
series(4, lambda i: 1e8 * (2 if i > 1 else 1), where=old, argv=["few"])
series(6, lambda i: 1e8, where=old, argv=["xz", "-1"])
series(6, lambda i: 2e8, where=old, argv=["xz", "-9"])
series(8, lambda i: 3e8, where=old, argv=["other"])
series(7, lambda i: 1e8, where=elsewhere, argv=["other"])
series(16, lambda i: 1e8 * (2 if i >= 8 else 1), where=lambda i: hostile if i >= 8 else old, argv=[bad, bad], name=bad)
for i in range(13):
    against_inc("renewed", 2e8, 0.01, inc="new" if i >= 6 else None, inc_mean=1e8 / (2 if i >= 6 else 1))
for i in range(6):
    against_inc("longer", 2.4e8, 0.01)
series(6, lambda i: 2e8, where=old, argv=["longer"])
series(60, lambda i: 1e8 * 2 ** (i / 59), where=old, argv=["creeping"])
series(10, lambda i: 9e7 * (2 if i >= 6 else 1), where=old, argv=["doubled"])
for i in range(12):
    now += HOUR
    run(old, ["ticks"], [1e8] * 10)
for i in range(12):
    now += HOUR
    pair = [run(old, ["tick pairs"], [2.1e8] * 10, kind="duet"), run(old, ["inc", "--iterations", "370000000"], [1.1e8] * 10, kind="duet")]
    db.execute("INSERT INTO duet (run, reference, frozen, slice_ns, increments) VALUES (?, ?, 0, 10000000, NULL), (?, ?, 0, 10000000, 370000000)", (pair[0], pair[0], pair[1], pair[0]))
for i in range(7):
    run(old, ["none"], [0] * 10, start=START - (9 - i) * HOUR)
ends = random.Random(8)
for n, name in enumerate(["one", "two", "three"], 1):
    for i in range(20):
        mean = 1e8 * ends.gauss(1, 0.002) * (1.7 if i >= 20 - n else 1)
        run(old, [name], [mean * ends.gauss(1, 0.002) for _ in range(10)], start=START - (100 * n - i) * HOUR)
for i in range(12):
    run(old, ["two clocks"], [1e8] * 10 if i < 6 else [1e8 * ends.gauss(1, 0.002) for _ in range(10)], start=START - (400 - i) * HOUR,
        source="wait4" if i < 6 else "cgroup")
db.commit()
