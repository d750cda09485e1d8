#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents that somebody made to harm: each member is left out, has another type, or a hostile text. What import accepts goes through the
verbs: no signal, no report of a sanitizer, no error without a sentence, and nothing that a terminal would act on.

Usage: hostile-documents.py BUILD SOURCE. EMP_SEED chooses the cases; EMP_ALL=1: all of them."""
import copy, json, os, random, re, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

build, source = map(os.path.abspath, sys.argv[1:3])
seed = int(os.environ.get("EMP_SEED") or random.randrange(1 << 32))
print(f"EMP_SEED={seed}")
HOSTILE = ["\x1b]0;x\x07", "\u009b31m", "a\rb\bc", "\u202eabc\u2066", "line\nbreak\ttab", "x" * 9000, ""]
TYPES = [None, -1, 1.5, True, [], {}, "text", 9223372036854775807]
VERBS = [verb.split() for verb in ("list", "show 1", "daemons 1 --all", "discard 1", "protocols 1", "sample-size 1 --profile lab", "compare 1 1",
                                   "jitter 1", "load 1", "clocks", "trend x", "export 1")]
HALF = {"program": "INC", "samples": 9, "l_samples": [3]}
PROFILE = {"format": "emp-profile", "version": 1, "name": "lab", "resolution_ns": 1, "short": HALF, "long": HALF, "noise": "noisy",
           "environment": {"digest": "d"}, "cutoffs": [{"daemon": "cron", "unit": "cron.service", "short_ns": 9, "long_ns": 9, "below_ns": 9, "atleast_ns": 9}]}
RUN = {"format": "emp-run", "version": 1, "program": "xz", "task_length_s": 1, "resolution_ns": 1, "name": "name", "command": ["xz", "f"],
       "machine": "box", "environment": {"digest": "d", "format": "emp-fingerprint", "version": 1, "identity": {"kernel": {"release": "6"}},
       "settings": {}}, "profile": "lab", "profile_document": PROFILE, "notes": "audit", "held_back_by": "the quota of x", "backend": "bpf",
       "kind": "measure", "pt_source": "cgroup", "warnings": [{"n": 1, "kind": "noise", "text": "noisy"}, {"n": 2, "kind": "resolution", "text": "resolves"}],
       "samples": [{"n": n, "start_ns": 10**18 + n * 10**9, "et_ns": 10**8, "pt_ns": 9 * 10**7, "executions": [
           {"name": "cron", "pt_ns": 10**6, "exe": "/cron", "unit": "cron.service", "pid": 7}]} for n in range(1, 5)]}
COST = {"median": 9, "mean": 9, "sd": 1, "min": 8}
CLOCKS = {"format": "emp-clocks", "version": 1, "made_ns": 1, "cpu": 0, "cycles_per_second": 1e9, "clocksource": "tsc", "allocator": "libc",
          "sources": [{"name": "rdtsc", "cycles": COST}], "missing": [{"name": "x", "why": "none"}], "precision": [], "malloc": [{"size_bytes": 9, "cycles": 5}],
          "malloc_by_source": [{"name": "rdtsc", "cycles": 9, "zero_share": 0}], "tick": {"missing": "needs root"}}
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def places(value, path=()):
    """The path of each member and entry."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield path + (key,)
        yield from places(inner, path + (key,))


def changed(document, path, new):
    document = copy.deepcopy(document)
    at = document
    for key in path[:-1]:
        at = at[key]
    if new is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = new
    return document


def cases():
    for document in RUN, CLOCKS:
        yield document, "as it is"
        for path in places(document):
            at = document
            for key in path:
                at = at[key]
            for new in [...] + TYPES + (HOSTILE if isinstance(at, str) else []):
                one = changed(document, path, new)
                if path == ("profile",) and isinstance(new, str): # both names
                    one["profile_document"]["name"] = new
                yield one, f"{path} is {str(new)[:30]!r}"


def run(tool, words, book):
    done = subprocess.run([f"{build}/{tool}/emp-{tool}", "--db", book, *words], capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
    text, said = (out.decode("utf-8", "replace") for out in (done.stdout, done.stderr))
    faults = []
    if done.returncode not in (0, 1, 2, 3):
        faults.append(f"status {done.returncode}")
    if re.search(r"Sanitizer|runtime error|\(null\)", said):
        faults.append("a report")
    if done.returncode == 1 and not re.search(r"^emp-\w+: .", said, re.M):
        faults.append("no sentence")
    if ACTS.search(said) or (words[0] != "export" and ACTS.search(text)):
        faults.append("characters that a terminal acts on")
    return done.returncode, [f"{' '.join(words)[:60]}: {fault}\n{text[-300:]!a}{said[-300:]!a}" for fault in faults]


def attempt(case):
    document, what = case
    with tempfile.TemporaryDirectory(dir=top) as where:
        book, file = f"{where}/book.db", f"{where}/document.json"
        json.dump(document, open(file, "w"))
        status, faults = run("analyze", ["import", file], book)
        for words in VERBS if status == 0 else []:
            faults += run("analyze", words, book)[1]
        if status == 0:
            faults += run("calibrate", ["profile", "list"], book)[1] + run("calibrate", ["profile", "show", "lab"], book)[1]
    return [f"{what}: {fault}" for fault in faults]


every = list(cases())
chosen = every if os.environ.get("EMP_ALL") else [every[0]] + random.Random(seed).sample(every, 120)
with tempfile.TemporaryDirectory() as top, ThreadPoolExecutor(os.cpu_count()) as pool:
    faults = [fault for found in pool.map(attempt, chosen) for fault in found]
print(f"{len(chosen)} of {len(every)} documents, {len(faults)} faults")
print("\n".join(faults[:20]))
sys.exit(bool(faults))
