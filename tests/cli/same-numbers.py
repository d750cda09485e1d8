#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# One quantity is one number wherever it is written: in JSON, CSV, Markdown, AsciiDoc and Org of a call of emp-measure, on the
# screen of one program and in the rows, sentences and duet of several, in `emp-analyze show` and `compare` of the same book, and it is
# what the samples of `emp-analyze export` give. Usage: same-numbers.py BUILD
import collections
import contextlib
import csv
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

build = os.path.realpath(sys.argv[1])
measure, analyze = build + "/measure/emp-measure", build + "/analyze/emp-analyze"
burn = build + "/tests/machine/burn"
faults = []
counts = collections.Counter()  # of what was compared on screens of several programs
if os.geteuid() != 0:
    print("not run: needs root")
    sys.exit(1 if os.environ.get("EMP_MUST_RUN") else 77)

# Where each quantity stands. `measure` is a path in an element of results, `show` one in the document of emp-analyze show; members in _ns
# are divided by 1e9. CSV is in seconds. `heading` is of the tables, `label` of the screen; "±" takes what follows the sign there.
Quantity = collections.namedtuple("Quantity", "measure csv heading show label samples")


def sd(values):
    return statistics.stdev(values) if len(values) > 1 else None


def unless_empty(function):
    return lambda values: function(values) if values else None


def of(times, function):
    return lambda samples: function(samples[times])


mean, median = unless_empty(statistics.fmean), unless_empty(statistics.median)
least, most = unless_empty(min), unless_empty(max)
QUANTITIES = [
    Quantity(["mean", "emp.et.raw.mean_ns"], "mean", "Mean", "et.raw.mean_ns", None, of("et", mean)),
    Quantity(["stddev", "emp.et.raw.sd_ns"], "stddev", "Mean±", "et.raw.sd_ns", None, of("et", sd)),
    Quantity(["median", "emp.et.raw.median_ns"], "median", None, "et.raw.median_ns", None, of("et", median)),
    Quantity(["min", "emp.et.raw.min_ns"], "min", "Min", "et.raw.min_ns", None, of("et", least)),
    Quantity(["max", "emp.et.raw.max_ns"], "max", "Max", "et.raw.max_ns", None, of("et", most)),
    Quantity(["user"], "user", None, None, None, of("kept user", mean)),
    Quantity(["system"], "system", None, None, None, of("kept system", mean)),
    Quantity(["emp.pt.raw.mean_ns"], None, None, "pt.raw.mean_ns", None, of("pt", mean)),
    Quantity(["emp.pt.raw.sd_ns"], None, None, "pt.raw.sd_ns", None, of("pt", sd)),
    Quantity(["emp.pt.kept.mean_ns"], "pt_mean", "PT", "pt.mean_ns", "PT", of("kept pt", mean)),
    Quantity(["emp.pt.kept.sd_ns"], "pt_stddev", "PT±", "pt.sd_ns", "PT±", of("kept pt", sd)),
    Quantity(["emp.pt.kept.median_ns"], None, None, "pt.median_ns", None, of("kept pt", median)),
    Quantity(["emp.pt.kept.min_ns"], None, None, "pt.min_ns", "range", of("kept pt", least)),
    Quantity(["emp.pt.kept.max_ns"], None, None, "pt.max_ns", "range±", of("kept pt", most)),
    Quantity(["emp.et.kept.mean_ns"], None, None, "et.mean_ns", "ET", of("kept et", mean)),
    Quantity(["emp.et.kept.sd_ns"], None, None, "et.sd_ns", "ET±", of("kept et", sd)),
    Quantity(["emp.pt.kept.interval_ns.0", "emp.pt_interval_ns.0"], None, None, "pt.interval_ns.0", "95 % CI", None),
    Quantity(["emp.pt.kept.interval_ns.1", "emp.pt_interval_ns.1"], None, None, "pt.interval_ns.1", "95 % CI±", None),
    Quantity(["emp.et.kept.interval_ns.0"], None, None, "et.interval_ns.0", None, None),
    Quantity(["emp.et.kept.interval_ns.1"], None, None, "et.interval_ns.1", None, None),
    Quantity(["emp.pt.kept.relative_error"], None, None, "pt.relative_error", "CV", None),
    Quantity(["emp.pt.kept.lag1"], None, None, "pt.lag1", None, None),
    Quantity(["emp.pt.kept.effective_n"], None, None, "pt.effective_n", None, None),
    Quantity(["emp.pt.kept.n"], "pt_samples", None, "pt.n", "Kept", of("kept pt", len)),
    Quantity(["emp.pt.raw.n"], None, None, "pt.raw.n", "Kept of", of("pt", len)),
    Quantity(["emp.profile_blind_ns"], "profile_blind", None, "profile_blind_ns", None, None),
    Quantity(["emp.peak_memory.mean_bytes"], "peak_memory", None, None, "Peak memory", None),
    Quantity(["emp.peak_memory.sd_bytes"], None, None, None, "Peak memory±", None),
]
RATIO = [("ratio", "ratio"), ("interval.0", "ratio_low"), ("interval.1", "ratio_high"), ("verdict", "verdict")]
UNITS = {"min": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "%": 0.01, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
LABELS = [("PT", r"^  PT(?: \(mean ± σ\))?  "), ("ET", r"^  ET(?: \(mean ± σ\))?  "), ("95 % CI", r"  95 % CI(?: if iid)?"),
          ("range", "  range"), ("CV", "  CV"), ("Peak memory", "^  Peak memory  ")]
HALF = {"program": "INC", "samples": 10, "l_samples": []}
PROFILE = {"format": "emp-profile", "version": 1, "name": "lab", "resolution_ns": 1, "made_ns": 10**18, "blind_ns": 3_000_000, "noise": "steal 3 %",
           "short": HALF, "long": HALF, "cutoffs": [{"daemon": "backupd", "unit": "", "short_ns": 10**6, "long_ns": 10**6, "period_s": None,
                                                     "firm": False, "task_time_s": None, "below_ns": 10**6, "atleast_ns": 10**6}]}


def fault(words):
    faults.append(words)
    print("FAULT:", words)


def member(document, path):
    """None: it is null, or not there."""
    value = document
    for key in path.split("."):
        if value is None:
            return None
        value = value[int(key)] if isinstance(value, list) else value.get(key)
    return value / 1e9 if value is not None and "_ns" in path else value


def printed(text, unit=1.0):
    """A number as it is printed, with half of its last digit; None: it is not known."""
    if text is None or text in ("", "-"):
        return None
    digits = len(text.partition(".")[2])
    return float(text) * unit, 0.5 * 10**-digits * unit


def agree(where, what, exact, got):
    if exact is None or got is None:
        if exact is not None or got is not None:
            fault(f"{where}: {what} is {got}, but {exact} in the document")
        return
    value, half = got
    if not abs(value - exact) <= half * 1.001 + 2e-9 * abs(exact):
        fault(f"{where}: {what} is {value}, but {exact} in the document")


def cells(path, kind):
    """The rows of a table, each an object by heading without its unit, and the unit."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if kind == "adoc":
        body = text.split("|===\n")[1]
        rows = [[c.strip() for c in re.split(r"(?<!\\)\| ", block)[1:]] for block in body.strip().split("\n\n")]
    else:
        lines = [l for l in text.split("\n") if l.startswith("|") and not re.match(r"\|[-:]", l)]
        rows = [[c.strip() for c in re.split(r"(?<!\\)\|", l)[1:-1]] for l in lines]
    unit = re.search(r"\[(.*)\]", rows[0][1])[1]
    names = [re.sub(r" \[.*\]", "", h) for h in rows[0]]
    if any(len(r) != len(names) for r in rows):
        fault(f"{path}: rows of different lengths: {rows}")
    return [dict(zip(names, r)) for r in rows[1:]], unit


def in_table(row, heading, unit):
    name, _, second = heading.partition("±")
    text = row[name].partition("±")
    if heading.endswith("±"):
        return printed(text[2].strip() or None, UNITS[unit])
    return printed(text[0].strip(), UNITS[unit])


def on_screen(text):
    """By label: the figures of the block of one program."""
    found = {}
    figure = r" *([0-9.]+) ?(min|ms|us|ns|s|[kMG]?B|%)?(?: ?(?:±|…|, σ) ([0-9.]+) (?:(min|ms|us|ns|s|[kMG]?B)))?(?: |$)"
    for label, pattern in LABELS:
        m = re.search(pattern + figure, text, re.M)
        if m:
            found[label] = printed(m[1], UNITS[m[2] or m[4]])
            found[label + "±"] = printed(m[3], UNITS[m[4] or m[2]])
    m = re.search(r"^ *Kept (\d+) of (\d+)", text, re.M)
    found["Kept"], found["Kept of"] = (printed(m[1]), printed(m[2])) if m else (None, None)
    return found


def command(*argv, statuses=(0,)):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    if done.returncode not in statuses:
        fault(f"status {done.returncode}: {' '.join(argv)}\n{done.stdout}{done.stderr}")
    return done.stdout


def samples_of(run, emp):
    """What the book has, and which of it the document keeps."""
    out = {o["sample"] for o in emp["by_cutoff"] + emp["by_unprofiled"]} | set(emp["incomplete"]) | set(emp["by_neighbour"]) | set(emp.get("by_duet", []))
    samples = json.loads(command(analyze, "export", str(run)))["samples"]
    kept = [s for s in samples if s["n"] not in out]
    if [s["pt_ns"] for s in samples] != emp["pt_ns"] or [s["et_ns"] for s in samples] != emp["et_ns"]:
        fault(f"run {run}: export has other samples than the document")
    lists = {}
    for name, of_which in (("", samples), ("kept ", kept)):
        for clock in "pt", "et", "user", "system":
            lists[name + clock] = [s[clock + "_ns"] / 1e9 for s in of_which]
    return lists


def check_result(what, result, row, tables, screens):
    emp = result["emp"]
    show = json.loads(command(analyze, "show", "--json", str(emp["run"])))
    samples = samples_of(emp["run"], emp)
    memory = emp["peak_memory"] or {}
    if memory.get("at_most"):  # a bound is no peak: CSV has none, the screen says "at most"
        memory.clear()
    for q in QUANTITIES:
        where = f"{what}, run {emp['run']}"
        exact = member(result, q.measure[0])
        for path in q.measure[1:]:
            agree(f"{where}, JSON {path}", q.measure[0], exact, (member(result, path), 0) if member(result, path) is not None else None)
        if q.samples:
            value = q.samples(samples)
            agree(f"{where}, samples", q.measure[0], exact, (value, 1e-9) if value is not None else None)
        if q.csv:
            agree(f"{where}, CSV {q.csv}", q.measure[0], exact, printed(row.get(q.csv)))
        if q.show and show:
            value = member(show, q.show)
            agree(f"{where}, show {q.show}", q.measure[0], exact, (value, 0) if value is not None else None)
        for kind, (rows, unit) in tables.items():
            if not q.heading:
                continue
            got = in_table(rows, q.heading, unit)
            agree(f"{where}, {kind} {q.heading}", q.measure[0], exact, got)
        for screen in screens if q.label else []:
            not_shown = q.label.startswith("range") and "range" not in screen
            agree(f"{where}, screen {q.label}", q.measure[0], None if not_shown else exact, screen.get(q.label))
    discarded = emp["pt"]["raw"]["n"] - emp["pt"]["kept"]["n"]
    for where, got in [("CSV", row["discarded"])] + [(kind, rows["Discarded"]) for kind, (rows, _) in tables.items()]:
        if got != str(discarded):
            fault(f"{what}, {where}: discarded {got}, but {discarded} in the document")
    for name, value in (result.get("parameters") or {}).items():
        if row["parameter_" + name] != value:
            fault(f"{what}, CSV: parameter_{name} is {row['parameter_' + name]}, but {value} in the document")


def check_comparison(what, document, c, clock, row, tables):
    c = c if c["clock"] == clock.lower() else c.get("et")
    for path, column in RATIO:
        value, got = member(c or {}, path), row.get(f"{clock.lower()}_{column}") or None
        if path == "verdict":
            shown = [rows.get(clock + " verdict") or "-" for rows, _ in tables.values()]
            if got != value or any(s != (value or "-") for s in shown):
                fault(f"{what}: {clock} verdict is {value} in JSON, {got} in CSV, {shown} in tables")
        else:
            agree(f"{what}, CSV {clock} {column}", path, value, printed(got))
    for kind, (rows, _) in tables.items():
        text = rows.get(clock + " ratio (95 % CI)", "-")
        m = re.fullmatch(r"(-|[0-9.]+)(?: \((?:from )?([0-9.]+)?(?: to )?([0-9.]+)?\))?", text)
        if not m:
            fault(f"{what}, {kind}: '{text}' is no ratio")
            continue
        for i, path in enumerate(("ratio", "interval.0", "interval.1"), 1):
            agree(f"{what}, {kind} {clock} {path}", path, member(c or {}, path), printed(m[i]))
    return c


def rows_of(text, first):
    """The table on a screen whose first heading is `first`: an object for each row. Blanks that are not alone part its cells."""
    lines = text.split("\n")
    headings = [i for i, line in enumerate(lines) if re.match(first + r"(  |$)", line.strip())]
    if not headings:
        return []
    names, rows = re.split(r" {2,}", lines[headings[0]].strip()), []
    for line in lines[headings[0] + 1:]:
        row = re.split(r" {2,}", line.strip())
        if len(row) != len(names):
            break
        rows.append(dict(zip(names, row)))
    return rows


def figures(text):
    """The numbers of a cell, "4.105 ± 0.011 ms" or "0.8 to 1.2", as they are printed, in seconds or shares of 1."""
    unit = re.search(r" (min|s|ms|us|ns|%)(?: |$)", text)
    numbers = re.findall(r"-?[0-9.]+", text)
    least = 0
    if "±" in text and "." not in numbers[-1]:  # "1940 ± 220": no more than two digits of it are shown, and as many of the other
        least = 0.5 * 10 ** max(0, len(numbers[-1]) - 2)
    scale = UNITS[unit[1]] if unit else 1
    return [(value, max(half, least * scale)) for value, half in (printed(number, scale) for number in numbers)]


def check_cell(where, what, cell, exact):
    """exact: the numbers in it, None for those that are not known, which are not printed."""
    known, got = [value for value in exact if value is not None], figures(cell)
    if len(known) != len(got):
        fault(f"{where}: {what} is '{cell}', but {exact} in the document")
        return
    for value, number in zip(known, got):
        agree(where, what, value, number)


def check_rows(what, text, document):
    """The rows of several programs. Returns how many cells there were."""
    rows, n = rows_of(text, "RUN"), 0
    if len(rows) != len(document["results"]):
        fault(f"{what}: {len(rows)} rows on the screen, but {len(document['results'])} results")
        return 0
    for row, result in zip(rows, document["results"]):
        emp, where = result["emp"], f"{what}, row of '{result['command']}'"
        c = next((c for c in document["comparisons"] if c["command"] == result["command"]), {}) if result is not document["results"][0] else {}
        et = c if c.get("clock") == "et" else c.get("et") or {}
        pt = c if c.get("clock") == "pt" else {}
        for heading, cell in row.items():
            name, unit = re.fullmatch(r"(.*?)(?: \[(\w+)\])?(?: ± σ| if iid)?", heading).groups()
            if name in ("PT", "ET"):
                kept = emp[name.lower()]["kept"]
                unit = "" if not unit or cell == "-" else " " + unit
                check_cell(where, name, cell + unit, [kept[m] / 1e9 if kept[m] is not None else None for m in ("mean_ns", "sd_ns")])
            elif name == "95 % CI":
                unit = next((" " + u for u in re.findall(r"PT \[(\w+)\]", " ".join(row))), "") if cell != "-" else ""
                check_cell(where, name, cell.replace(" (iid)", "") + unit, [end / 1e9 for end in emp["pt"]["kept"]["interval_ns"] or []])
            elif name in ("RATIO", "PT RATIO", "ET RATIO"):
                of = et if name == "ET RATIO" or not pt else pt
                check_cell(where, name, cell, [of.get("ratio")])
            elif name in ("VERDICT", "ET VERDICT"):
                of = et if name == "ET VERDICT" or not pt else pt
                if cell != (of.get("verdict") or "-"):
                    fault(f"{where}: {name} is '{cell}', but {of.get('verdict')} in the document")
            elif name == "RUN":
                check_cell(where, name, cell, [emp["run"]])
            elif name == "KEPT":
                check_cell(where, name, cell, [emp["pt"]["kept"]["n"], emp["pt"]["raw"]["n"]])
            elif name not in ("COMMAND", "DISCARDED"):
                fault(f"{where}: '{name}' is not known to this test")
            n += 1
    return n


SENTENCE = re.compile(r"^(\w+)(?:: ([0-9.]+) times (\w+)| is ([0-9.]+) times (slower|faster) than (\w+)) in (CPU|elapsed) time"
                      r"  \(95 % CI ([0-9.]+|-) … ([0-9.]+|-)(?:, p ([=<]) ([0-9.e-]+))?", re.M)


def check_sentences(what, text, document):
    """What the screen says of two programs. Returns how many sentences there were."""
    n = 0
    for m in SENTENCE.finditer(text):
        name, even, even_to, times, word, to, clock, low, high, sign, p = m.groups()
        c = next(c for c in document["comparisons"] if (c["command"], c["reference"]) == (name, even_to or to))
        c = c if c["clock"] == {"CPU": "pt", "elapsed": "et"}[clock] else c["et"]
        exact = [c["ratio"], *c["interval"]]
        if word == "faster":
            exact = [1 / c["ratio"], 1 / c["interval"][1], 1 / c["interval"][0]]
        for value, got in zip(exact, (even or times, low, high)):
            agree(f"{what}, '{m[0]}'", "a ratio", value, printed(got))
        if sign == "<" and not c["p_adjusted"] < float(p):
            fault(f"{what}, '{m[0]}': p is {c['p_adjusted']} in the document")
        elif sign == "=":
            agree(f"{what}, '{m[0]}'", "p", c["p_adjusted"], printed(p))
        n += 1
    return n


def check_duet(what, text, document):
    """The rows of a duet: what the programs take in it."""
    programs, rows = (document.get("duet") or {}).get("programs", []), rows_of(text, "PROGRAM")
    if len(programs) != len(rows):
        fault(f"{what}: {len(rows)} programs of a duet on the screen, but {len(programs)} in the document")
    for row, program in zip(rows, programs):
        where = f"{what}, '{program['command']}' in the duet"
        check_cell(where, "PT", row["PT"], [program["pt_ns"] / 1e9])
        size, unit = row["WORKING SET"].split()
        if abs(float(size) * {"kB": 1e3, "MB": 1e6}[unit] - program["working_set_bytes"]) > 0.06 * program["working_set_bytes"] + 500:
            fault(f"{where}: a working set of {size} {unit} on the screen, but {program['working_set_bytes']} bytes in the document")
        check_cell(where, "REFILL", row["REFILL"].removeprefix("≤ "), [program["refill"]])
        check_cell(where, "LEFT OVER", row["LEFT OVER"], [program["left_over"]])


def check_relative(what, results, tables, paths):
    """With hyperfine's formula: Mean to the lowest one, or in a duet PT to the first one, as the sentence below the table says."""
    for kind, (rows, _) in tables.items():
        with open(paths[kind], encoding="utf-8") as file:
            of, to = re.search(r"Relative is of (\w+) to '(.*?)'", file.read()).groups()
        figures_of = [(r["mean"], r["stddev"]) if of == "Mean" else (r["emp"]["pt"]["kept"]["mean_ns"], r["emp"]["pt"]["kept"]["sd_ns"]) for r in results]
        first = results[0] if of == "PT" else min(results, key=lambda r: r["mean"])
        if first["command"] != to:
            fault(f"{what}, {kind}: Relative is to '{to}', not to '{first['command']}'")
        base, base_sd = figures_of[results.index(first)]
        for r, row, (value, spread) in zip(results, rows, figures_of):
            known = base is not None and value is not None
            ratio = value / base if known else None
            spread = ratio * math.hypot(spread / value, base_sd / base) if known and spread is not None and base_sd is not None and r is not first else None
            exact = [ratio, spread] if ratio else [None]
            check_cell(f"{what}, {kind} of '{r['command']}'", "Relative", row["Relative"], exact)


def check_stored_screen(what, runs, options, stored):
    """The rows of emp-analyze compare, against its document."""
    text = command(analyze, "compare", *options, *map(str, runs), statuses=(0, 1, 2, 3, 4))
    of_clock = {c["clock"].upper(): c for c in (stored, stored.get("et")) if c}
    for row in rows_of(text, "COMMAND"):
        c, where = of_clock[row["TIME"]], f"{what}, compare {runs}, {row['TIME']}"
        for heading, exact in (("RATIO", [c["ratio"]]), ("95 % CI", c["interval"] or []), ("P", [c["p_adjusted"]]), ("M-W P", [c["mann_whitney_p"]]),
                               ("MDD", [c["minimum_detectable_difference"]])):
            cell = re.sub(r"([0-9.]+)e-([0-9]+)", lambda m: f"{float(m[0]):.{len(m[1].partition('.')[2]) + int(m[2])}f}", row[heading])
            check_cell(where, heading, cell, exact)
        if row["VERDICT"] != c["verdict"] or row["TEST"] != (c["test"] or "-"):
            fault(f"{where}: '{row['VERDICT']}' by '{row['TEST']}', but '{c['verdict']}' by '{c['test']}' in the document")
        counts["stored"] += 1


def check_stored_comparison(what, document, c, runs, options):
    """emp-analyze compare of the same runs."""
    stored = json.loads(command(analyze, "compare", "--json", *options, *map(str, runs), statuses=(0, 1, 2, 3, 4)) or "{}")
    for of_document, of_book in ((c, stored), (c.get("et"), stored.get("et"))):
        for path in ("clock", "ratio", "interval.0", "interval.1", "verdict", "test", "samples_missing", "unmeasurable"):
            a, b = member(of_document or {}, path), member(of_book or {}, path)
            same = a == b or (isinstance(a, float) and isinstance(b, float) and math.isclose(a, b, rel_tol=1e-9))
            if not same:
                fault(f"{what}, compare {runs}: {path} is {b}, but {a} in the document")
    check_stored_screen(what, runs, options, stored)


def case(what, *argv, statuses=(0,), one=False, stored=()):
    book = os.path.join(os.getcwd(), what.replace(" ", "-") + ".db")
    os.environ["EMP_DB"] = book
    if "lab" in argv:
        with open("lab.json", "w", encoding="utf-8") as file:
            json.dump(PROFILE, file)
        command(build + "/calibrate/emp-calibrate", "profile", "import", "lab.json")
    paths = {kind: f"{what}.{kind}".replace(" ", "-") for kind in ("json", "csv", "md", "adoc", "org")}
    text = command(measure, "-q", *["-v"] * one, "--export-json", paths["json"], "--export-csv", paths["csv"], "--export-markdown", paths["md"],
                   "--export-asciidoc", paths["adoc"], "--export-orgmode", paths["org"], *argv, statuses=statuses)
    with open(paths["json"], encoding="utf-8") as file:
        document = json.load(file)
    with open(paths["csv"], encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    tables = {kind: cells(paths[kind], kind) for kind in ("md", "adoc", "org")}
    results = document["results"]
    if len({len(results), len(rows), *(len(t) for t, _ in tables.values())}) != 1:
        fault(f"{what}: the documents have results of different numbers of programs")
        return document
    if len(results) > 1:
        counts["cells"] += check_rows(what, text, document)
        counts["sentences"] += check_sentences(what, text, document)
        check_relative(what, results, tables, paths)
    check_duet(what, text, document)
    screens = [on_screen(text), on_screen(command(analyze, "show", "-v", str(results[0]["emp"]["run"])))]
    for i, result in enumerate(results):
        of_row = {kind: (t[i], unit) for kind, (t, unit) in tables.items()}
        check_result(what, result, rows[i], of_row, screens if one else [])
        comparisons = [c for c in document["comparisons"] if c["command"] == result["command"]] if i else []
        for clock in "PT", "ET":
            c = comparisons[0] if comparisons else {"clock": "none"}
            check_comparison(what, document, c, clock, rows[i], of_row)
        if comparisons and len(results) == 2:
            check_stored_comparison(what, document, comparisons[0], [results[0]["emp"]["run"], result["emp"]["run"]], stored)
    print(f"{what}: {len(results)} results, {len(document['comparisons'])} comparisons")
    return document


@contextlib.contextmanager
def neighbour():
    """A daemon that takes half of a CPU, which the body is told: it runs in each sample there."""
    cpu = os.cpu_count() - 1
    shutil.copy(build + "/tests/bench/noisy", "backupd")
    daemon = subprocess.Popen(["chrt", "-f", "10", "taskset", "-c", str(cpu), os.path.abspath("backupd"), "20", "40"])
    try:
        while daemon.poll() is None:
            with open(f"/proc/{daemon.pid}/comm", encoding="ascii") as file:
                if file.read() == "backupd\n":
                    break
            time.sleep(0.01)
        yield cpu
    finally:
        daemon.kill()
        daemon.wait()


def main():
    names = ["-n", "a", "-n", "b"]
    case("one program", "-r", "4", "--", burn, "5", one=True)
    case("one sample", "-r", "1", "-w", "0", "--", burn, "5", one=True)
    case("two samples", "-r", "2", "-w", "0", "--", burn, "5", one=True)
    case("one that waits", "-r", "3", "--", "sleep", "0.02", one=True)
    case("seconds", "-r", "2", "-w", "0", "--", "sleep", "1.05", one=True)
    case("in a unit", "-r", "3", "-u", "second", "--", burn, "2", one=True)
    case("failures", "-r", "3", "-i", "--", "sh", "-c", f"{burn} 2; exit 3", one=True)
    case("failures of one", "-r", "3", "-i", *names, f"sh -c '{burn} 2; exit 3'", f"{burn} 3", statuses=(0, 1))
    case("two programs", "-r", "5", *names, f"{burn} 4", f"{burn} 8")
    case("one sample each", "-r", "1", "-w", "0", *names, f"{burn} 4", f"{burn} 8", statuses=(0, 3))
    case("two samples each", "-r", "2", "-w", "0", *names, f"{burn} 4", f"{burn} 8")
    case("programs that wait", "-r", "4", *names, "sleep 0.01", "sleep 0.03")
    case("three programs", "-r", "4", f"{burn} 4", f"{burn} 5", f"{burn} 8", "--sort", "command")
    case("by elapsed time", "-r", "4", "--compare", "et", *names, f"{burn} 4", f"{burn} 8", stored=("--compare", "et"))
    case("parameters", "-r", "3", "-L", "ms", "2,4,6", burn + " {ms}")
    case("in sequence", "-r", "4", "--order", "sequence", *names, f"{burn} 4", f"{burn} 8")
    case("duet", "-r", "6", "--order", "duet", "--slice", "10ms", *names, f"{burn} 60", f"{burn} 70")
    case("too short for a duet", "-r", "4", "--order", "duet", *names, f"{burn} 2", f"{burn} 4")
    # the second one has twice the work while the first one runs
    shutil.copy(burn, "duet-partner")
    twice = f"sh -c 'sleep 0.05; pgrep -x duet-partner >/dev/null && exec {burn} 200; exec {burn} 100'"
    document = case("a duet whose runs alone disagree", "-r", "6", "--order", "duet", "--slice", "10ms", *names, os.path.abspath("duet-partner") + " 400", twice)
    if "ratio_in_turn" not in document["comparisons"][0]:
        fault(f"a duet whose runs alone disagree: {document['comparisons'][0]}")
    case("times far apart", "-r", "3", *names, f"{burn} 1", f"{burn} 1500")
    with neighbour() as cpu:
        one, two = ["--", burn, "100"], [*names, f"{burn} 100", f"{burn} 200"]
        for what, programs, *rules in (("no sample kept", one, "--discard-unprofiled", "1%"), ("none kept by a profile", one, "--profile", "lab"),
                                       ("none kept of two", two, "--discard-unprofiled", "1%"), ("by a profile of two", two, "--profile", "lab")):
            document = case(what, "-r", "3", "--cpu", str(cpu), *rules, *programs, one=programs is one, statuses=(3,))
            if any(r["emp"]["pt"]["kept"]["n"] for r in document["results"]):
                fault(f"{what}: some are kept")
    print(dict(counts))
    if not counts["cells"] or not counts["sentences"] or not counts["stored"]:
        fault("screens of several programs were not read")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ.update(EMP_LOCK=folder + "/own.lock", NO_COLOR="1", COLUMNS="200")
    os.environ.pop("EMP_NAMES", None)
    main()
sys.exit(len(faults) > 0)
