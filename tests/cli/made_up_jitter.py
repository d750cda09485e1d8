#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Adds a made-up jitter run to a lab book: made_up_jitter.py BOOK SECONDS SEED [SOURCE...]. CPU 1 has the timer of 250 Hz with a
softirq in every other tick, a daemon dummydaemon1 of 2.5 ms every second, and the host's tick, outside the kernel; SOURCE
(backupd, bursts, kinds) adds more: kinds, one source for each remedy."""
import math
import random
import sqlite3
import sys

book, seconds, seed, extra = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
random.seed(seed)
ROUND = 1.0

def spread(mean, sd):
    return max(200, int(mean * math.exp(random.gauss(0, sd))))

# (start in s, [(source, ns)]) in order; [] is outside the kernel
gaps = []
at = random.uniform(0, 0.004)
tick = 0
while at < seconds:
    parts = [("local_timer", spread(4000, 0.15))]
    if tick % 2:
        parts.append(("softirq:TIMER", spread(1500, 0.3)))
    gaps.append((at, parts))
    at, tick = at + 0.004, tick + 1
at = random.uniform(0, 0.001)
while at < seconds:
    gaps.append((at, [] if random.random() < 0.999 else [("page_fault_user", spread(900, 0.2))]))
    at += 0.001
at = random.uniform(0, 1)
while at < seconds:
    gaps.append((at, [("dummydaemon1", spread(2.5e6, 0.01))] + [("local_timer", spread(4000, 0.1))] * (random.random() < 0.3)))
    at += 1
if "backupd" in extra:
    at = random.uniform(0, 0.5)
    while at < seconds:
        gaps.append((at, [("backupd", spread(60e3, 0.2))]))
        at += 0.5
if "bursts" in extra: # all in a tenth of the run
    for _ in range(100):
        gaps.append((seconds * random.uniform(0.4, 0.5), [("apt-check", spread(200e3, 0.5))]))
OUTSIDE = "host or processor"
KINDS = {OUTSIDE: "outside", "local_timer": "vector", "softirq:TIMER": "softirq", "page_fault_user": "fault"}
REMEDIED = {"irq36:virtio1-req.0": "irq", "softirq:RCU": "softirq", "softirq:NET_RX": "softirq", "softirq:SCHED": "softirq", "nmi": "nmi",
            "reschedule": "vector", "call_function": "vector", "make": "process", "cron": "process"}
REMEDIED.update({name: "kernel" for name in ("kworker:vmstat_update", "kworker/u8", "kworker:flush", "ksmd", "khugepaged", "khungtaskd",
                                             "watchdogd", "ksoftirqd/1", "rcu_preempt", "migration/1", "kswapd0")})
if "kinds" in extra:
    KINDS.update(REMEDIED)
    for n, name in enumerate(REMEDIED):
        for second in range(seconds):
            gaps.append((second + 0.0301 * (n + 1), [(name, spread(300e3, 0.2))]))
gaps.sort()
UNITS = {"cron": "cron.service", "backupd": "backup.service", "dummydaemon1": "dummy.service", "apt-check": "apt-daily.service"}
db = sqlite3.connect(book, isolation_level=None)
db.execute("BEGIN")
run = db.execute("INSERT INTO run(uid, program, kind, state, resolution_ns, started_ns, ended_ns, cpu)"
                 " VALUES (?, 'jitter', 'jitter', 'done', 1, ?, ?, 1)",
                 ("%032x" % random.getrandbits(128), 1700000000 * 10**9, (1700000000 + seconds) * 10**9)).lastrowid

def source(name, kind=None):
    kind = kind or KINDS.get(name, "process")
    unit = UNITS.get(name) if kind == "process" else None
    row = db.execute("SELECT id FROM source WHERE name = ? AND kind = ?", (name, kind)).fetchone()
    return row[0] if row else db.execute("INSERT INTO source(name, unit, kind) VALUES (?, ?, ?)", (name, unit, kind)).lastrowid

def bucket(ns):
    width = max(1, 1 << max(0, ns.bit_length() - 6))
    low = ns // width * width
    return low, low + width

statistics, buckets = {}, {}
def count(level, who, ns, round_):
    if level in ("time", "frequency"):
        statistics.setdefault((level, who), []).append((ns, round_))
    b = buckets.setdefault((level, who) + bucket(ns), [0, 0])
    b[0] += 1
    b[1] += ns

longest, explained, periodic = [], [0, 0], [0, 0]
SHORT = (100 * seconds, 20000 * seconds) # of 200 ns, outside the kernel
for start, parts in gaps:
    net = sum(ns for _, ns in parts)
    gap = net + spread(700, 0.1) if parts else spread(9000, 0.2)
    round_ = int(start / ROUND)
    count("user", None, gap, round_)
    tally = explained if parts else periodic
    tally[0] += 1
    tally[1] += gap
    who = None
    if parts:
        count("master", None, net, round_)
        names = sorted({name for name, _ in parts}, key=lambda n: (n not in KINDS, n))
        who = source(names[0]) if len(names) == 1 else source("_".join(names), "combination")
        if len(names) > 1:
            for n, name in enumerate(names, 1):
                db.execute("INSERT OR IGNORE INTO combination_part VALUES (?, ?, ?)", (who, n, source(name)))
        count("time", who, net, round_)
        for name, ns in parts:
            count("frequency", source(name), ns, round_)
    else:
        who = source(OUTSIDE)
        count("time", who, gap, round_)
        count("frequency", who, gap, round_)
    longest.append((gap, start, who, parts))
for i in range(SHORT[0]):
    count("user", None, 200, 0)
    for level in ("time", "frequency"):
        count(level, source(OUTSIDE), 200, i * seconds // SHORT[0])
for (level, who, low, high), (n, total) in buckets.items():
    db.execute("INSERT INTO jitter_bucket VALUES (?, 1, ?, ?, ?, ?, ?, ?)", (run, level, who, low, high, n, total))
for (level, who), values in statistics.items():
    rounds = [0.0] * seconds
    for ns, round_ in values:
        rounds[round_] += ns
    lengths = [ns for ns, _ in values]
    db.execute("INSERT INTO jitter_source VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
               (run, level, who, len(values), min(lengths), max(lengths), sum(lengths), float(sum(ns * ns for ns in lengths)),
                sum(r > 0 for r in rounds), sum(r * r for r in rounds),
                sum((a - b) ** 2 for a, b in zip(rounds, rounds[1:])), None))
db.execute("UPDATE jitter_source SET period_ns = 4000000 WHERE run = ? AND source = ?", (run, source("local_timer")))
db.execute("UPDATE jitter_source SET period_ns = 1000000000 WHERE run = ? AND source = ?", (run, source("dummydaemon1")))
for gap, start, who, parts in sorted(longest, reverse=True, key=lambda x: x[0])[:100]:
    start_ns = 1700000000 * 10**9 + int(start * 1e9)
    db.execute("INSERT INTO interruption VALUES (?, 1, ?, ?, ?)", (run, start_ns, gap, who))
    for n, (name, ns) in enumerate(parts, 1):
        db.execute("INSERT INTO interruption_part VALUES (?, 1, ?, ?, 0, ?, ?, ?)", (run, start_ns, n, ns, ns, source(name)))
db.execute("INSERT INTO jitter_cpu(run, cpu, rounds, wall_ns, sampled_ns, smallest_gap_ns, threshold_ns, gaps, gaps_ns, explained,"
           " explained_ns, chance, chance_ns, periodic, periodic_ns, outside_kernel, outside_kernel_ns,"
           " steal_ns, unexplained, unexplained_ns, events, lost, broken,"
           " in_no_gap, event_cost_ns) VALUES (?, 1, ?, ?, ?, 12, 120, ?, ?, ?, ?, 9, 90000, ?, ?, ?, ?, 20000000, 0, 0, ?, 0, 0, 0,"
           " 170)",
           (run, seconds, seconds * 10**9, seconds * 998000000, len(gaps) + SHORT[0],
            explained[1] + periodic[1] + SHORT[1], *explained, *periodic, *SHORT, 4 * explained[0]))
db.execute("INSERT INTO jitter_period VALUES (?, 1, 1, 1000000, ?, ?, 1)", (run, *periodic))
db.execute("COMMIT")
print(run)
