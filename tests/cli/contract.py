#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What programs of others rely on: commands as they type them, with the exit status and the members that the documents must have. Members may
be added. Usage: contract.py BUILD SOURCE

In the table of documents a type stands for its values (int: a whole number, float: any number), a dict for an object with at least these members,
[x] for an array of such that is not empty, [x, ...] for one that may be, [x, y] for these two, a tuple for one of these, anything else for itself."""
import faulthandler, json, os, random, shlex, signal, subprocess, sys, tempfile

faulthandler.register(signal.SIGTERM, chain=True)  # meson ends a test after its timeout: where it was
build, source = (os.path.abspath(path) for path in sys.argv[1:])
if os.geteuid() != 0:
    print("not run: needs root")
    sys.exit(1 if os.environ.get("EMP_MUST_RUN") else 77)
work = tempfile.TemporaryDirectory()
os.chdir(work.name)
os.environ.update(EMP_LOCK=work.name + "/lock", EMP_DB=work.name + "/not-used.db", NO_COLOR="1")
os.environ.pop("EMP_NAMES", None)
TOOLS = {"emp-analyze": "analyze", "emp-calibrate": "calibrate", "emp-measure": "measure", "emp-load": "measure", "emp-study": "study", "emp-setup": "setup"}
PAPERS = source + "/tests/papers/data/emp-run-inc"
CPU = max(os.sched_getaffinity(0))
faults = 0

HALF = {"program": str, "samples": int, "l_samples": [int, ...]}
CUTOFF = {"daemon": str, "short_ns": (int, None), "long_ns": (int, None), "period_s": (float, None), "firm": bool, "task_time_s": (float, None),
          "below_ns": int, "atleast_ns": int}
PROFILE = {"format": "emp-profile", "version": 1, "name": str, "resolution_ns": int, "short": HALF, "long": HALF,
           "environment": {"digest": (str, None)}, "cutoffs": [CUTOFF, ...]}
CLOCK = {"n": int, "min_ns": int, "max_ns": int, "mean_ns": float, "sd_ns": float, "relative_error": float}
DISCARD = {"by_cutoff": [{"sample": int, "daemon": str, "pt_ns": int, "cutoff_ns": int}], "by_two_sd": [int], "pt": CLOCK, "et": CLOCK}
RUN = {"format": "emp-run", "version": 1, "program": "INC128", "task_length_s": 128, "resolution_ns": 1000000,
       "samples": [{"n": int, "start_ns": int, "et_ns": int, "pt_ns": int, "executions": [{"name": str, "pt_ns": int}, ...]}]}
RESULT = {"command": str, "mean": float, "stddev": float, "median": float, "user": float, "system": float, "min": float, "max": float,
          "times": [float], "exit_codes": [0], "emp": {"pt": CLOCK, "et": CLOCK, "by_cutoff": list, "by_two_sd": list, "profile": (str, None)}}
# Where it is known: always of a program that needs more than emp-measure itself.
LARGE = {**RESULT, "memory_usage_byte": [int]}
DUET = {"results": [RESULT], "comparisons": [{"reference": "true", "command": "sh -c :", "ratio": float, "interval": [float, float], "sd_log": float,
                                             "verdict": str}]}
AUDIT = {"checks": [{"id": str, "level": str, "state": ("ok", "off", "absent", "unknown", "refused"), "value": (str, None), "wanted": str,
                     "why": str, "undo": str}], "verdict": str}
COST = {"mean": float, "sd": float, "median": float, "min": float}
CLOCKS = {"format": "emp-clocks", "version": 1,
          "sources": [{"name": str, "cycles": COST, "ns": COST, "resolution_ns": (float, None), "lag_ns": (float, None)}],
          "precision": [{"primes": int, "sd_ns": dict}], "malloc": [{"size_bytes": int, "cycles": float}]}
RATE = {"mean": float, "sd": float, "interval": [float, float]}
LOAD = {"format": "emp-load", "version": 1, "coordination": str, "rate_per_s": RATE, "scripts": [{"script": str, "rate_per_s": RATE}],
        "runs": [{"run": int, "rate_per_s": float, "time_to_last_ns": int, "start_spread_ns": int, "driver_ns": int, "finish_order": [int],
                  "slaves": [{"script": str, "repetitions": int, "pt_ns": int, "et_ns": int}]}]}
JITTER_SOURCE = {"name": str, "kind": ("process", "kernel", "irq", "softirq", "vector", "nmi", "fault"), "unit": (str, None), "count": int, "min_ns": int,
                 "max_ns": int, "mean_ns": float, "sd_ns": float, "total_ns": int, "share": float, "period_ns": (int, None)}
JITTER = {"format": "emp-jitter", "version": 1, "cpus": [int], "duration_ns": int, "sampled_share": float, "threshold_ns": int, "events_lost": int,
          "gaps": {"count": int, "total_ns": int}, "explained": {"count_share": float, "time_share": float},
          "by_chance": {"count_share": float, "time_share": float},
          "residue": {"time_share": float, "periods": [{"period_ns": int, "count": int, "total_ns": int}, ...]}, "sources": [JITTER_SOURCE],
          "combinations": [{"name": str, "parts": [str], "count": int, "mean_ns": float}, ...]}


def differences(got, want, where="document"):
    """How a value differs from what the table says."""
    if isinstance(want, tuple):
        return [] if any(not differences(got, one) for one in want) else [f"{where} is {json.dumps(got)[:99]}"]
    if isinstance(want, dict) and isinstance(got, dict):
        return [fault for name, one in want.items()
                for fault in (differences(got[name], one, f"{where}.{name}") if name in got else [f"{where} has no {name}: {list(got)}"])]
    if isinstance(want, list) and isinstance(got, list):
        if ... not in want and (not got or len(want) == 2 != len(got)):
            return [f"{where} has {len(got)} elements"]
        each = [want[0]] * len(got) if ... in want or len(want) == 1 else want
        return [fault for i, one in enumerate(got) for fault in differences(one, each[i], f"{where}[{i}]")]
    if isinstance(want, type):
        fits = isinstance(got, (int, float) if want is float else want) and (want is bool or not isinstance(got, bool))
        return [] if fits else [f"{where} is {json.dumps(got)[:99]}, no {want.__name__}"]
    return [] if got == want and type(got) is type(want) else [f"{where} is {json.dumps(got)[:99]}, not {json.dumps(want, default=str)[:99]}"]


def fault(command, what, output=""):
    global faults
    faults += 1
    print(f"FAULT: {command}: {what}")
    for line in output.strip().splitlines():
        print("   ", line)


def finish():
    if faults:
        print(f"{faults} faults")
    sys.exit(faults > 0)


def run(command, status=0):
    """Its output. A word in quotes is one."""
    tool, *words = shlex.split(command)
    done = subprocess.run([f"{build}/{TOOLS[tool]}/{tool}", *words], capture_output=True, text=True)
    if done.returncode not in (status if isinstance(status, tuple) else (status,)):
        fault(command, f"status {done.returncode}, not {status}", done.stderr)
    return done.stdout, done.stderr


def gives(want, command, status=0, file=None):
    """The command prints that document, and nothing else; or writes it to a file."""
    text, said = run(command, status)
    try:
        document = json.loads(open(file).read() if file else text)
    except (OSError, ValueError) as e:
        fault(command, f"no document: {e}", said)
        finish()
    different = differences(document, want)
    if different:
        fault(command, different[0], f"and {len(different) - 1} more")
    return document


def says(words, command, status, where=1):
    output = run(command, status)[where]
    if words not in output:
        fault(command, f"'{words}' is not in the output", output)


def made_up(name, time_ms, executions=lambda i: [], n=150):
    """A run of another program's: without W."""
    random.seed(name)
    samples = [{"n": i, "start_ns": 1700000000 * 10**9 + i * 10**9, "et_ns": int(1e6 * (time_ms(i) + random.random() / 2)), "pt_ns": 10**8,
                "executions": [{"name": who, "pt_ns": ns} for who, ns in [("init", 1000), *executions(i)]]} for i in range(1, n + 1)]
    json.dump({"format": "emp-run", "version": 1, "program": "INC0.1", "task_length_s": 0.1, "resolution_ns": 1, "samples": samples}, open(name + ".json", "w"))
    return name


# The papers' runs.
says("1\n2\n", f"emp-analyze --db book.db import {shlex.quote(PAPERS)}128.json {shlex.quote(PAPERS)}16384.json", 0, where=0)
gives(RUN, "emp-analyze --db book.db export 1")
made = gives(PROFILE, "emp-analyze --db book.db cutoffs --short 1 --long 2 --save paper --resolution 1ms --json")
kept = gives(PROFILE, "emp-calibrate --db book.db profile export paper")
if made != kept or not made["cutoffs"]:
    fault("cutoffs --save", "the profile in the book is another one")
gives(DISCARD, "emp-analyze --db book.db discard 1 --profile paper --json")
gives({"suggested": int}, "emp-analyze --db book.db sample-size 1 --profile paper --json")

# A run that is no L makes no profile unless somebody wants it.
for name in (made_up("drift", lambda i: 100 + i / 15), made_up("step", lambda i: 108 if i > 70 else 100),
             made_up("frequent", lambda i: 100 + 20 * (i % 3 == 0), lambda i: [("busy", 19 * 10**6)] * (i % 3 == 0))):
    id = run(f"emp-analyze --db book.db import {name}.json")[0].strip()
    says(name, f"emp-analyze --db book.db cutoffs --short {id} --long 2 --save {name}", 2)
    says(name, f"emp-analyze --db book.db cutoffs --short 1 --long {id} --save {name} --json", 2)
    says("no profile", f"emp-calibrate --db book.db profile export {name}", 1)
    gives(PROFILE, f"emp-analyze --db book.db cutoffs --short {id} --long 2 --save {name} --force --json")

# This machine, whatever it is like.
gives(AUDIT, "emp-setup audit --json", (0, 2))
run(f"emp-calibrate --db book.db run --short 0.02x20 --long 0.1x4 --save mine --anyway --force --cpu {CPU}")
gives(PROFILE | {"environment": {"digest": str}}, "emp-calibrate --db book.db profile export mine")
gives({"results": [RESULT]}, f"emp-measure --db book.db --profile mine --cpu {CPU} -w 1 -r 3 --export-json out.json -- true", file="out.json")
gives({"results": [LARGE]}, "emp-measure --db book.db -w 0 -r 2 --export-json out.json -- python3 -c 'bytearray(90000000)'", file="out.json")
gives(DUET, f"emp-measure --db book.db --order duet --slice 10ms -r 10 --cpu {CPU} --json true 'sh -c :'")
clocks = gives(CLOCKS, f"emp-calibrate --db book.db clocks --cpu {CPU} --json")
names = {s["name"] for s in clocks["sources"]}
if not names >= {"emp-clock", "clock_gettime(CLOCK_THREAD_CPUTIME_ID)", "getrusage(RUSAGE_SELF)"}:
    fault("emp-calibrate clocks", f"other names: {names}")

# Loads.
open("office.ini", "w").write(run("emp-load example")[0])
for coordination in "constant-load", "no-teardown", "before":
    load = gives(LOAD | {"coordination": coordination}, f"emp-load --db book.db run office.ini -r 2 --coordination {coordination} --json")
    if any(sorted(one["finish_order"]) != [n + 1 for n in range(len(one["slaves"]))] for one in load["runs"]):
        fault(f"emp-load --coordination {coordination}", f"order of finishing: {load['runs']}")

# What interrupted a CPU, in a run made up here.
added = subprocess.run([sys.executable, source + "/tests/cli/made_up_jitter.py", "book.db", "60", "1"], capture_output=True, text=True, check=True)
gives(JITTER, f"emp-analyze --db book.db jitter {added.stdout.strip()} --json")
finish()
