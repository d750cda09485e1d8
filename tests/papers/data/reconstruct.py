#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rebuilds the papers' two calibration runs as emp-run documents, from their published tables: writes emp-run-inc128.json and
emp-run-inc16384.json beside this file.

Published: every execution in the L-samples (Tables IX, XIII), each daemon's maximum and sd in the central cluster (VIII, XII), and
minimum, maximum, mean and sd of ET and PT before and after (VI, VII, XVIII). Not published: the other samples. They are made up
here, with a fixed seed, so that those figures come out: times to the millisecond, sds of INC128 to about 10 %, of INC16384 to 1 %.

What no reconstruction can give: Tables XX and XXI count more samples over cutoffs in the first 200, 100 and 40 samples (4, 2, 1)
than Table IX has L-samples there (3, 1, 0), so they are not of the first samples of this run.
"""
import csv
import json
import math
import os
import random
from statistics import mean, stdev

HERE = os.path.dirname(os.path.abspath(__file__))
MS = 1_000_000


def rows(name):
    with open(os.path.join(HERE, name)) as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


def values(rng, count, top, sd):
    """`count` whole milliseconds with maximum `top` and standard deviation near `sd`, by moving mass between two levels."""
    if sd == 0 or count < 2:
        return [top] * count
    best = None
    for low in range(1, top):
        for k in range(1, count):
            v = [top] * (count - k) + [low] * k
            e = abs(stdev(v) - sd)
            if best is None or e < best[0]:
                best = (e, v)
    v = best[1]
    rng.shuffle(v)
    return v


def shaped(low, high, n, wanted_mean, wanted_sd):
    """n whole milliseconds from low to high with that mean and sd: all but the first and the last in even steps."""
    inner = n - 2
    middle = (n * wanted_mean - low - high) / inner
    squares = (n - 1) * wanted_sd ** 2 - (low - wanted_mean) ** 2 - (high - wanted_mean) ** 2 - inner * (middle - wanted_mean) ** 2
    half = math.sqrt(3 * squares / inner * (inner - 1) / (inner + 1))
    return [low] + [max(low, round(middle + half * (2 * j / (inner - 1) - 1))) for j in range(inner)] + [high]


def executions(rng, central_table, l_table, l_samples, n, share):
    ex = {i: [] for i in range(1, n + 1)}
    central = [i for i in range(1, n + 1) if i not in l_samples]
    for r in rows(central_table):
        seen = sorted(rng.sample(central, max(2, int(len(central) * share.get(r["daemon"], 0.3)))))
        for i, v in zip(seen, values(rng, len(seen), int(float(r["max_ms"])), float(r["sd_ms"]))):
            ex[i].append({"name": r["daemon"], "pt_ns": v * MS})
    for r in rows(l_table):
        ex[int(r["sample"])].append({"name": r["daemon"], "pt_ns": int(float(r["pt_ms"]) * MS)})
    return ex


def document(program, length, et, pt, ex):
    t, out = 1_375_000_000_000_000_000, []
    for n in sorted(ex):
        out.append({"n": n, "start_ns": t, "et_ns": et[n] * MS, "pt_ns": pt[n] * MS, "executions": ex[n]})
        t += (et[n] + 180) * MS
    return {"format": "emp-run", "version": 1, "program": program, "task_length_s": length, "resolution_ns": MS, "samples": out}


def short(rng):
    L = {int(r["sample"]) for r in rows("emp-table-09-lsamples-inc128.csv")}
    share = {"proc_monitor": 1, "java": 1, "md0_raid1": .5, "jbd2/md0-8": .4, "kblockd/0": .2, "flush-9:0": .2, "ntpd": .1, "cifsd": .05, "khugepaged": .05}
    ex = executions(rng, "emp-table-08-central-inc128.csv", "emp-table-09-lsamples-inc128.csv", L, 800, share)
    pt = {i: rng.randint(128246, 128254) for i in range(1, 801)}
    for i, v in zip(rng.sample(sorted(set(pt) - L), 5), (128244, 128244, 128256, 128256, 128257)):
        pt[i] = v
    et = {i: min(max(pt[i] + (rng.random() < .2), 128245), 128256) for i in pt}
    for i in L:   # the time its daemons took moves the sample into an arm of the L
        et[i] = pt[i] + sum(e["pt_ns"] for e in ex[i] if e["name"] not in ("java", "proc_monitor")) // MS + 8
    et[75], et[634], pt[75], pt[634] = 163913, 161785, 128493, 128430
    return document("INC128", 128, et, pt, ex)


def long(rng):
    L = {10, 16}
    ex = executions(rng, "emp-table-12-central-inc16384.csv", "emp-table-13-lsamples-inc16384.csv", L, 40, {k: 1 for k in (
        "proc_monitor", "java", "md0_raid1", "jbd2/md0-8", "kblockd/0", "flush-9:0", "rhn_check", "rhnsd", "rhsmcertd-worke", "ntpd")} | {"sshd": .6, "grep": .6, "rhsmcertd": .3})
    p = shaped(16415757, 16415855, 38, 16415804, 27)
    # a tail that gets thinner, as far as the samples that the 2-sd check discards, which are the last four
    e = [round(16416454 + 701 * (0.28 * q ** 0.4 + 0.72 * q ** 12.5)) for q in (j / 33 for j in range(34))]
    e += [16417210, 16417260, 16417330, 16417410]
    rng.shuffle(p); rng.shuffle(e)
    rest = [i for i in range(1, 41) if i not in L]
    pt = dict(zip(rest, p)); et = dict(zip(rest, e))
    pt[10], pt[16], et[10], et[16] = 16415930, 16415964, 16442600, 16444300
    return document("INC16384", 16384, et, pt, ex)


def main():
    rng = random.Random(1997)
    for name, doc in (("emp-run-inc128.json", short(rng)), ("emp-run-inc16384.json", long(rng))):
        with open(os.path.join(HERE, name), "w") as f:
            json.dump(doc, f, separators=(",", ":"))
            f.write("\n")


if __name__ == "__main__":
    main()
