#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Adds a made-up run of emp-load to a lab book: made_up_load.py BOOK SEED [NAME=VALUE...]. A constant load of two scripts, edit with four
slaves and compress with one; in each run of it a slave does a repetition in so many seconds that their rates vary by 1 %.

speed=1.2: all is done so much faster. runs=5. file=TEXT: that of the load. scripts=A,B: other names. environment=ID: another one.
coordination=before. waits=no: page waits were not measured. slaves=4 of
the first script. lost=1: records of other processes were lost in all runs."""
import random
import sqlite3
import sys

book, seed, *rest = sys.argv[1:]
random.seed(int(seed))
given = dict(word.split("=", 1) for word in rest)
speed, runs = float(given.get("speed", 1)), int(given.get("runs", 5))
names = given.get("scripts", "edit,compress").split(",")
file = given.get("file", "[edit]\nslaves = 4\nrepetitions = 10\ncommand = true\n[compress]\nrepetitions = 5\ncommand = true")
S = 10**9

db = sqlite3.connect(book, isolation_level=None)
db.execute("PRAGMA foreign_keys = ON")
db.execute("BEGIN")
environment = int(given.get("environment", 101))
db.execute("INSERT OR IGNORE INTO environment(id, digest, machine, document) VALUES (?, ?, NULL, ?)", (environment, f"d{environment}",
           '{"format": "emp-fingerprint", "version": 1, "identity": {"machine": "box"}, "settings": {"aslr": %d}}' % environment))
last = db.execute("SELECT max(start_ns) FROM sample").fetchone()[0] or 1700000000 * S
start = last + 100 * S
run = db.execute("INSERT INTO run(uid, program, kind, state, backend, pt_source, notes, resolution_ns, started_ns, ended_ns, environment)"
                 " VALUES (?, ?, 'load', 'done', 'bpf', 'cgroup', 'constant-load', 1, ?, ?, ?)",
                 ("%032x" % random.getrandbits(128), given.get("load", "office.ini"), start, start + runs * 10 * S, environment)).lastrowid
waits = given.get("waits") != "no"
db.execute("INSERT INTO load VALUES (?, ?, NULL, ?, ?)", (run, given.get("coordination", "constant-load"), file, None if waits else "no BTF"))
slaves = [names[0]] * int(given.get("slaves", 4)) + names[1:]
for n, name in enumerate(slaves, 1):
    db.execute("INSERT INTO program VALUES (?, ?, ?, NULL)", (run, n, name))
of_all = random.gauss(1, 0.01)  # the machine was in this state during all of its runs
for sample in range(1, runs + 1):
    parts = []
    for n, name in enumerate(slaves, 1):
        share, each = (10, 0.2) if name == names[0] else (5, 0.5)
        each *= of_all * random.gauss(1, 0.01) / speed
        parts.append((n, share, each, int(share * each * S)))
    stop = max(done for *_, done in parts)
    at = start + sample * 10 * S
    db.execute("INSERT INTO sample(run, n, start_ns, et_ns, pt_ns, user_ns, system_ns, max_rss_bytes, lost, left_behind,"
               " incomplete) VALUES (?, ?, ?, ?, ?, 1, 1, 4096, 0, 0, ?)",
               (run, sample, at, stop, 3 * S, int(given.get("lost", 0))))
    db.execute("INSERT INTO load_sample VALUES (?, ?, 20000, 700000, ?, 2)", (run, sample, stop // 5))
    for n, share, each, done in parts:
        repetitions = int(stop / S / each + 1e-9)
        last = max(int(repetitions * each * S), done)
        db.execute("INSERT INTO sample_program(run, sample, program, start_ns, et_ns, pt_ns, user_ns, system_ns, max_rss_bytes,"
                   " left_behind, repetitions, finished_ns, wait_ns, io_wait_ns, major_faults) VALUES"
                   " (?, ?, ?, ?, ?, ?, 1, 1, 4096, 0, ?, ?, 1000000, 0, 0)",
                   (run, sample, n, at + 1000 * n, last, 6 * S // 10, max(repetitions, share), done))
    for kind, bins in ("slave", [(0, 3), (2000000, 1), (2000000000, 1)]), ("read", [(90000, 20), (1000000, 2)]):
        if waits:
            total = sum(count * (low + 1000) for low, count in bins)
            db.execute("INSERT INTO page_wait VALUES (?, ?, ?, ?, ?, NULL, 0)", (run, sample, kind, sum(n for _, n in bins), total))
            db.executemany("INSERT INTO page_wait_bin VALUES (?, ?, ?, ?, ?, ?, ?)", [
                (run, sample, kind, low, None if low > 10**9 else low + (10000 if low < 10**6 else 100000), n, n * (low + 1000)) for low, n in bins])
db.execute("COMMIT")
print(run)
