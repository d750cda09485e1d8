# SPDX-License-Identifier: GPL-2.0-or-later
"""A document of emp-compare-commits whose truth is known, on standard output. Each argument is a command line:
NAME[:WORD=VALUE...] with the words factor (of the change's times, 1), sd (of a sample, 0.005), n (samples, 10), again, kind, status, same (program),
output (of the change), zero (times of 0), wild (a base whose mean may be next to nothing)."""
import json
import random
import sys

random.seed(53)


def result(name, times, digest, output, first):
    """As emp-measure writes it, of samples in turn."""
    starts = [10**18 + 10**9 * (2 * n + first) for n in range(len(times))]
    emp = {"pt_ns": times, "et_ns": times, "start_ns": starts, "call": "made up", "environment": "e", "cpu": 1, "backend": "bpf",
           "program_digest": digest, "output_digest": output, "others": [{"daemon": "backup`d|", "disturbed_ns": 5_000_000}],
           "pt": {"kept": {"interval_ns": [min(times), max(times)]}}}
    return {"command": name, "times": [t / 1e9 for t in times], "emp": emp}


def line(text):
    """A result of the document."""
    name, *words = text.split(":")
    given = dict(word.split("=") for word in words)
    factor, sd, n = float(given.get("factor", 1)), float(given.get("sd", 0.005)), int(given.get("n", 10))
    kind = given.get("kind", "both").replace("_", " ")
    base = [round(3e7 * (1 + random.gauss(0, sd))) for _ in range(n)]
    change = [round(3e7 * factor * (1 + random.gauss(0, sd))) for _ in range(n)]
    if "zero" in given:
        base, change = [0] * n, [0] * n
    if "wild" in given:
        base = [10**6] * (n - 1) + [10**9]
    results = [result("base 1", base, "a", "o", 0), result("change 2", change, "a" if "same" in given else "b", given.get("output", "o"), 1)]
    measurement = {"format": "emp-measure", "version": 1, "results": results, "comparisons": []}
    return {"command_line": name, "benchmark": kind, "status": int(given.get("status", 0)), "why": given.get("why"), "again": "again" in given,
            "measurement": measurement if kind == "both" else None}


json.dump({"format": "emp-compare-commits", "version": 1, "base": {"commit": "b" * 40, "subject": "base `it`"},
           "change": {"commit": "c" * 40, "subject": "change"}, "machine": {"host": "h", "processor": "p", "cpus": 2, "kernel": "6.1"},
           "allowed_percent": 2, "runs": 10, "build": "make", "max_time": None, "notes": ["a <b>note</b>"],
           "results": [line(text) for text in sys.argv[1:]]}, sys.stdout)
