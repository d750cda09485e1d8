#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The views of the book that other programs read: their columns, and that `results` and `discards` are what emp-analyze prints; and the
examples that read them (doc/examples). Usage: views.py BUILD SOURCE"""
import json
import math
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from made_up_documents import PROFILE, RUN, duet

build, source = map(os.path.abspath, sys.argv[1:3])
# Other programs name them: columns may be added at the end.
COLUMNS = {
    "samples": "run name kind sample start_ns et_ns pt_ns user_ns system_ns wait_ns held_back_ns max_rss_bytes exit_status neighbour_ppm incomplete kept",
    "executions": "run sample daemon unit exe kind pid cpu pt_ns same_cpu_ns",
    "discards": "run sample rule clock daemon unit pt_ns limit_ns",
    "results": "run name kind state started_ns profile cpu environment clock samples kept adjusted min_ns max_ns mean_ns median_ns sd_ns low_ns high_ns "
               "lag1 effective_n clean_samples clean_mean_ns clean_sd_ns",
}
faults = 0


def expect(fits, *words):
    global faults
    if not fits:
        faults += 1
        print("FAULT:", *words)


def run(tool, *words, status=(0,)):
    done = subprocess.run([f"{build}/{tool.removeprefix('emp-')}/{tool}", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    expect(done.returncode in status, tool, *words, done.returncode, done.stderr)
    return done.stdout


def rows(query, *values):
    """As a reader has them, who runs no functions of the file."""
    book = sqlite3.connect("file:book.db?mode=ro", uri=True)
    book.row_factory = sqlite3.Row
    found = [dict(row) for row in book.execute(query, values)]
    book.close()
    return found


def import_run(document):
    with open("run.json", "w", encoding="utf-8") as file:
        json.dump(document, file)
    return int(run("emp-analyze", "import", "run.json").split()[0])


def made_up(number, **more):
    """20 samples: in two a daemon was over its cutoff, one is incomplete, one had a neighbour, and the PT of one is far from the others."""
    samples = []
    for n in range(1, 21):
        long = 10**8 if n in (7, 14) else 0
        cron = {"name": "cron", "unit": "cron.service", "pt_ns": 10**6 + long, "same_cpu_ns": 10**6 + long}
        samples.append({"n": n, "start_ns": 10**18 + n * 10**9, "et_ns": 10**8 + n % 5 * 1000 + long, "wait_ns": long + 9 * 10**6 * (n == 3), "exit_status": 0,
                        "pt_ns": 9 * 10**7 + n % 5 * 1000 + (n == 11) * 50000, "incomplete": n == 20, "neighbour_ppm": 10**5 * (n == 5), "neighbour_error_ppm": 10**4,
                        "probe_ns": 1, "executions": [cron, {"name": "kswapd", "kind": "kernel", "pt_ns": 9 * 10**6 * (n == 3), "same_cpu_ns": 9 * 10**6 * (n == 3)}]})
    cutoff = {**PROFILE["cutoffs"][0], "daemon": "cron", "short_ns": 10**7, "long_ns": 10**7, "below_ns": 10**7, "atleast_ns": 10**7}
    return import_run({**RUN, "name": f"made up {number}", "uid": f"{number:032}", "samples": samples, "neighbour_rule": "discard", "neighbour_limit_ppm": 50000,
                       "unprofiled_share_ppm": 50000, "profile_document": {**PROFILE, "cutoffs": [cutoff]}, **more})


def alike(ours, theirs):
    """JSON has 15 digits."""
    if ours is None or theirs is None:
        return ours is theirs
    return math.isclose(ours, theirs, rel_tol=1e-13, abs_tol=1e-12)


def check_results(number):
    """Of one run, in all its figures."""
    shown = json.loads(run("emp-analyze", "show", "--json", str(number)))
    by_clock = {row["clock"]: row for row in rows("SELECT * FROM results WHERE run = ?", number)}
    expect(set(by_clock) == {"pt", "et"}, number, by_clock)
    for clock, row in by_clock.items():
        kept = shown[clock]
        low, high = kept["interval_ns"] or (None, None)
        pairs = [("kept", kept["n"]), ("samples", kept["raw"]["n"]), ("low_ns", low), ("high_ns", high), ("lag1", kept.get("lag1")), ("effective_n", kept["effective_n"])]
        pairs += [(name, kept[name]) for name in ("min_ns", "max_ns", "mean_ns", "median_ns", "sd_ns")]
        for name, value in pairs:
            expect(alike(row[name], value), f"run {number}: {clock}.{name} is {row[name]} in results, and emp-analyze shows {value}")
        expect(row["adjusted"] == ("as_measured" in kept), number, "adjusted", row["adjusted"])
    expect(rows("SELECT count(*) AS n FROM samples WHERE run = ? AND kept", number)[0]["n"] == shown["pt"]["n"], number, "samples.kept")
    return by_clock


def check_discards(number):
    by_clock = check_results(number)
    found = json.loads(run("emp-analyze", "discard", "--json", str(number)))
    stored = rows("SELECT * FROM discards WHERE run = ?", number)

    def of(rule, *names):
        return sorted(tuple(row[name] for name in names) for row in stored if row["rule"] == rule)

    for rule, limit in ("cutoff", "cutoff_ns"), ("unprofiled", "limit_ns"):
        expect(of(rule, "sample", "daemon", "pt_ns", "limit_ns") == sorted((o["sample"], o["daemon"], o["pt_ns"], o[limit]) for o in found["by_" + rule]), number, rule)
    for rule, numbers in ("incomplete", found["incomplete"]), ("neighbour", found["by_neighbour"]), ("duet", found.get("by_duet", [])):
        expect(of(rule, "sample") == [(n,) for n in numbers], number, rule, numbers)
    expect(of("two_sd", "clock", "sample") == [(c, n) for c in ("et", "pt") for n in found[c]["by_two_sd"]], number, "two_sd")
    for clock, row in by_clock.items():
        for name, theirs in ("clean_samples", "n"), ("clean_mean_ns", "mean_ns"), ("clean_sd_ns", "sd_ns"):
            expect(alike(row[name], found[clock][theirs]), number, name)
    return {row["rule"] for row in stored}


def check_columns():
    with open(source + "/man/emp-documents.5.scd", encoding="utf-8") as file:
        page = file.read().partition("# THE LAB BOOK")[2]
    for view, names in COLUMNS.items():
        there = [row["name"] for row in rows(f"SELECT name FROM pragma_table_info('{view}')")]
        expect(there[:len(names.split())] == names.split(), view, "has", there)
        described = re.search(rf"^\|  \*{view}\*\n:\[ ((?:.+\n)+?)(?=\||\n)", page, re.M)
        for name in there:
            expect(described and f"*{name}*" in described[1], f"the page does not describe {view}.{name}")


def check_forgotten(number):
    """Results that the rules no longer give are not shown."""
    others = {k: v for k, v in RUN.items() if k not in ("profile_document",)}
    alone = import_run({**others, "uid": f"{99:032}", "profile": "later", "samples": [{**s, "executions": [{"name": "cron", "pt_ns": 10**8}]} for s in RUN["samples"]]})
    check_results(alone)
    with open("later.json", "w", encoding="utf-8") as file:
        json.dump({**PROFILE, "name": "later"}, file)
    run("emp-calibrate", "profile", "import", "later.json")
    expect(not rows("SELECT * FROM results WHERE run = ?", alone), "results of before the profile")
    expect(not rows("SELECT * FROM discards WHERE run = ?", alone), "discards of before the profile")
    expect(all(row["kept"] is None for row in rows("SELECT kept FROM samples WHERE run = ?", alone)), "kept is known")
    expect(run("emp-analyze", "refresh") == "Stored the results of 1 run\n", "refresh")
    check_results(alone)
    expect(run("emp-analyze", "refresh", str(number)) == "Stored the results of 1 run\n", "refresh of one")


def check_older():
    """The runs of an older book get their results by refresh."""
    with open(source + "/tests/unit/data/book-v6.sql", encoding="utf-8") as file:
        sqlite3.connect("older.db").executescript(file.read()).close()
    shutil.copy("older.db", "copy.db")
    os.environ["EMP_DB"] = "copy.db"
    ended = [r for r in json.loads(run("emp-analyze", "list", "--json"))["runs"] if r["samples"] > 0 and r["state"] != "running"]
    expect(run("emp-analyze", "refresh").startswith(f"Stored the results of {len(ended)} run"), "refresh of an older book")
    os.environ["EMP_DB"] = "book.db"


def check_examples():
    run("emp-measure", "-q", "-r", "3", "--export-json", "out.json", "-n", "slept", "sleep 0.01", status=(0, 3))
    python = [sys.executable, source + "/doc/examples/read.py", "book.db", "out.json"]
    with open("pandas.py", "w", encoding="utf-8") as file:
        file.write("raise ImportError\n")
    for path in "", os.getcwd():  # with pandas, if it is installed, and without
        done = subprocess.run(python, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
        expect(done.returncode == 0 and re.search(r"^slept: \d+\.\d{3} ms, 95 % CI .* 3 samples$", done.stdout, re.M), "read.py", done.stdout, done.stderr)
        expect("cron" in done.stdout and "made up 1" in done.stdout, "read.py", done.stdout)
    needed = "for (p in c('DBI', 'RSQLite', 'jsonlite')) if (!requireNamespace(p, quietly = TRUE)) quit(status = 1)"
    if not shutil.which("Rscript") or subprocess.run(["Rscript", "-e", needed], capture_output=True).returncode:
        print("doc/examples/read.R is not run: it needs r-cran-rsqlite and r-cran-jsonlite")
        return
    done = subprocess.run(["Rscript", source + "/doc/examples/read.R", "book.db", "out.json"], capture_output=True, text=True)
    expect(done.returncode == 0 and re.search(r"^slept: \d+\.\d{3} ms", done.stdout, re.M) and "cron" in done.stdout, "read.R", done.stdout, done.stderr)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ.update(EMP_DB="book.db", EMP_LOCK=folder + "/lock", NO_COLOR="1")
    os.environ.pop("EMP_NAMES", None)
    first = made_up(1)
    rules = check_discards(first) | check_discards(made_up(2, neighbour_rule="adjust", neighbour_slope_ppm=500000, neighbour_slope_error_ppm=100000))
    rules |= check_discards(import_run({**duet(), "unprofiled_share_ppm": 50000}))
    expect(rules == {"cutoff", "unprofiled", "incomplete", "neighbour", "duet", "two_sd"}, "rules that discard here:", rules)
    check_columns()
    check_forgotten(first)
    check_older()
    check_examples()
sys.exit(faults > 0)
