#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""emp-documents(5) names each member of each document that the tools write, under its document or under one that this names.
Usage: documented.py BUILD SOURCE"""
import collections
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

build, source = map(os.path.abspath, sys.argv[1:3])
if os.geteuid() != 0:
    print("not run: needs root")
    sys.exit(1 if os.environ.get("EMP_MUST_RUN") else 77)
TOOLS = {"emp-analyze": "analyze", "emp-calibrate": "calibrate", "emp-measure": "measure", "emp-load": "measure", "emp-setup": "setup"}
BURN = build + "/tests/machine/burn"
CPU = max(os.sched_getaffinity(0))
# Objects whose members are named by what was measured or found: events, parameters, parts of the machine, columns of tables of the book.
NAMED_BY_DATA = {"perf", "parameters", "identity", "settings", "volatile", "environment", "environments", "sd_ns", "mean_ns", "sd_all_ns",
                 "interruptions", "interruption_parts", "combination_parts", "machine", "verdicts", "sources of emp-run", "programs of emp-run",
                 "program_samples", "resume_points of emp-run", "load of emp-run", "load_samples", "page_waits of emp-run", "page_wait_bins",
                 "duet of emp-run", "duet_samples", "duet_alone", "jitter_cpus", "jitter_periods", "jitter_sources", "jitter_buckets",
                 "jitter_matches", "context of emp-fingerprint"}
SECTIONS = {"emp-run": "EMP-RUN", "emp-profile": "EMP-PROFILE"}
written = collections.defaultdict(set)  # format: paths of members
faults = []


def fault(words):
    faults.append(words)
    print("FAULT:", words)


def collect(value, form, path=""):
    if isinstance(value, list):
        for one in value:
            collect(one, form, path)
    elif isinstance(value, dict):
        form = value.get("format", form)
        path = "" if "format" in value else path
        for name, inner in value.items():
            here = f"{path}.{name}".lstrip(".")
            written[form].add(here)
            if isinstance(inner, dict) and "format" in inner:
                collect(inner, form)
            elif name not in NAMED_BY_DATA and f"{name} of {form}" not in NAMED_BY_DATA:
                collect(inner, form, here)


def run(command, statuses=(0,)):
    tool, *words = shlex.split(command)
    done = subprocess.run([f"{build}/{TOOLS[tool]}/{tool}", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode not in statuses:
        fault(f"status {done.returncode}: {command}\n{done.stderr[-600:]}")
    return done.stdout


def document(command, *statuses):
    text = run(command, (0,) + statuses)
    if text.startswith("{"):
        value = json.loads(text)
        collect(value, value["format"])
        return value
    fault(f"no document: {command}")
    return None


def measured(options, *statuses):
    """The numbers of its runs."""
    made = document(f"emp-measure -q --json {options}", *statuses)
    runs = [str(r["emp"]["run"]) for r in made["results"]]
    for one in runs:
        document(f"emp-analyze export {one}")
        document(f"emp-analyze show --json {one}")
    return runs


def write_all():
    one = measured(f"-r 3 --cpu {CPU} -- {BURN} 3")[0]
    document(f"emp-analyze show --json --recompute {one}")
    two = measured(f"-r 4 -n a -n b --discard-unprofiled 50% '{BURN} 3' '{BURN} 5'", 3)
    measured("-r 4 -n a -n b 'sleep 0.01' 'sleep 0.02'")
    duet = measured(f"-r 5 --order duet -n a -n b '{BURN} 60' '{BURN} 70'", 3)
    measured(f"-r 3 --order duet -n a -n b '{BURN} 2' '{BURN} 3'", 3)
    measured(f"-r 3 -L ms 1,2 '{BURN} {{ms}}'")
    measured(f"-r 3 --trace --cpu {CPU} -- {BURN} 30")
    for words in ("list", f"daemons {one}", f"compare {' '.join(two)}", f"compare {' '.join(duet)}"):
        document(f"emp-analyze --json {words}", 2, 3, 4)
    run(f"emp-calibrate run --short 0.02x20 --long 0.1x4 --save mine --anyway --force --cpu {CPU}")
    document("emp-calibrate status --json")
    document("emp-calibrate profile list --json")
    document("emp-calibrate profile export mine")
    document(f"emp-calibrate revalidate mine --json --for 2s --ignore-audit --cpu {CPU}", 2)
    document("emp-calibrate constant --json")
    for verb in "sample-size", "discard", "protocols":
        document(f"emp-analyze --json {verb} {one} --profile mine")
    measured(f"-r 3 --profile mine --cpu {CPU} -- {BURN} 20", 3)
    measured(f"-r 3 --against inc --cpu {CPU} -- {BURN} 20", 3)
    document(f"emp-calibrate clocks --cpu {CPU} --json")
    document("emp-analyze clocks --json")
    with open("office.ini", "w", encoding="utf-8") as file:
        file.write(run("emp-load example"))
    loads = [document("emp-load run office.ini -r 2 --json")["run"] for _ in range(2)]
    document(f"emp-analyze load --json {loads[0]}")
    document(f"emp-analyze load --json {loads[0]} {loads[1]}")
    document(f"emp-analyze export {loads[0]}")
    made = [subprocess.run([sys.executable, source + "/tests/cli/made_up_jitter.py", os.environ["EMP_DB"], "20", seed, "backupd", "kinds"],
                           capture_output=True, text=True, check=True).stdout.strip() for seed in ("1", "2")]
    document(f"emp-analyze --json jitter {made[0]}")
    document(f"emp-analyze --json jitter {made[0]} {made[1]}")
    document(f"emp-analyze --json jitter {made[0]} --between 1us..10ms")
    document(f"emp-analyze export {made[0]}")
    document("emp-setup audit --json", 2)
    document("emp-setup status --json")
    document("emp-setup fingerprint --json")
    with open("fingerprint.json", "w", encoding="utf-8") as file:
        file.write(run("emp-setup fingerprint --json").replace('"release": "', '"release": "other-'))
    document("emp-setup fingerprint --diff fingerprint.json --json", 2)
    document("emp-setup verify mine --json", 2)
    document("emp-setup apply --dry-run --json", 2)
    with open("run.json", "w", encoding="utf-8") as file:
        file.write(run(f"emp-analyze export {one}"))
    document("emp-analyze import --json run.json")
    with open("clocks.json", "w", encoding="utf-8") as file:
        file.write(run("emp-analyze clocks --json"))
    run("emp-analyze import clocks.json")
    document("emp-analyze clocks --diff --json")
    measured(f"-r 3 --perf task-clock -- {BURN} 3")
    for file in "m1.json", "m2.json":
        run(f"emp-measure -q -r 3 -n a -n b --export-json {file} '{BURN} 3' '{BURN} 4'")
    document("emp-analyze --json compare m1.json m2.json", 2, 3, 4)
    document("emp-analyze --json compare m1.json:1 m2.json:1", 2, 3, 4)
    for _ in range(10):
        run(f"emp-measure -q -r 5 -n often -- {BURN} 2")
    document("emp-analyze --json trend often", 2, 3, 4)
    document("emp-analyze --json cutoffs --short 1 --long 2 --force", 2)


def page():
    """By document or heading: the names that stand there in bold, and the documents and headings that it refers to."""
    with open(source + "/man/emp-documents.5.scd", encoding="utf-8") as file:
        text = file.read()
    parts = {m[1]: m[2] for m in re.finditer(r"^# (.*)\n((?:(?!# ).*\n?)*)", text, re.M)}
    for m in re.finditer(r"^\*(emp-[a-z-]+)\*, by .*\n((?:(?!^\*emp-[a-z-]+\*, by ).*\n?)*)", parts["RESULTS"], re.M):
        parts[m[1]] = m[2]
    names = {}
    for part, body in parts.items():
        names[part] = {n.replace("\\", "") for n in re.findall(r"\*([a-z][a-z0-9_\\]*)\*", body)}
    refers = {part: {SECTIONS.get(n.lower(), n) for n in re.findall(r"emp-[a-z-]+|EMP-[A-Z]+", body)} & set(parts) for part, body in parts.items()}
    general = re.search(r"^\*pt\* and \*et\*, here and in other documents(?:.+\n)+", parts["EMP-MEASURE"], re.M)[0]
    names["STATISTICS"] = set(re.findall(r"\*([a-z][a-z0-9_]*)\*", general))
    names["CONTEXT"] = set(re.findall(r"\*([a-z][a-z0-9_]*)\*", re.search(r"^\*context\*\n(?:\t.+\n)+", parts["EMP-RUN"], re.M)[0]))
    return names, refers


def main():
    write_all()
    names, refers = page()
    everywhere = {"format", "version", "run"} | names["FORMER NAMES"] | names["DESCRIPTION"] | names["CONTEXT"]
    for form in sorted(written):
        part = SECTIONS.get(form, form)
        if part not in names:
            fault(f"{form} is not in the page")
            continue
        parts = {part} | ({"EMP-MEASURE"} if form == "emp-measure" else set())
        parts |= {r for one in parts for r in refers[one]}
        known = everywhere.union(*(names[one] for one in parts))
        for path in sorted(written[form]):
            within = set(path.split(".")[:-1]) & {"pt", "et"}
            if path.rpartition(".")[2] not in (known | names["STATISTICS"] if within else known):
                fault(f"{form}: '{path}' is not in the page")
    print({form: len(paths) for form, paths in written.items()})


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ.update(EMP_DB=folder + "/book.db", EMP_LOCK=folder + "/own.lock", NO_COLOR="1")
    os.environ.pop("EMP_NAMES", None)
    main()
sys.exit(len(faults) > 0)
