#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""emp-documents(5) describes each member of each document that the tools write, in the object that has it, under its document or under
one that this names; and what it describes is written there. Each document is as its JSON Schema says, and each verb with --json has one.
Usage: documented.py BUILD SOURCE"""
import collections
import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from made_up_documents import FINGERPRINT, PROFILE, RUN, duet

build, source = map(os.path.abspath, sys.argv[1:3])
try:
    import jsonschema
except ImportError:
    jsonschema = None
if os.geteuid() != 0 or not jsonschema:
    print("not run: needs root and python3-jsonschema")
    sys.exit(1 if os.environ.get("EMP_MUST_RUN") else 77)
TOOLS = {"emp": "emp", "emp-analyze": "analyze", "emp-calibrate": "calibrate", "emp-measure": "measure", "emp-load": "measure", "emp-study": "study", "emp-setup": "setup"}
BURN = build + "/tests/machine/burn"
CPU = max(os.sched_getaffinity(0))
# Objects whose members are named by what was measured or found: events, parameters, parts of the machine, columns of tables of the book.
NAMED_BY_DATA = {"parameters", "identity", "settings", "volatile", "environment of emp-run", "environment of emp-clocks", "environments",
                 "machine of emp-run", "machine of emp-clocks", "machine of emp-fingerprint", "sd_ns", "mean_ns", "sd_all_ns",
                 "interruptions", "interruption_parts", "combination_parts", "verdicts", "sources of emp-run", "programs of emp-run",
                 "program_samples", "resume_points of emp-run", "load of emp-run", "load_samples", "page_waits of emp-run", "page_wait_bins",
                 "duet of emp-run", "duet_samples", "duet_alone", "jitter_cpus", "jitter_periods", "jitter_sources", "jitter_buckets",
                 "jitter_matches", "context of emp-fingerprint"}
SECTIONS = {"emp-run": "EMP-RUN", "emp-profile": "EMP-PROFILE", "emp-measure": "EMP-MEASURE"}  # where their members are
ALWAYS = {"format", "version", "run"}  # in most documents, as the page says once
REFERENCE = re.compile(r"\b(as|in|like|of|only|without) $")  # what stands before the name of a member that is another's model
LIKE = re.compile(r"\b(as|like|likewise|the same|see|document|documents|form|rows|statistics)\b")  # its members are described elsewhere
# Members that the page describes and no command of this test writes for certain, with the reason.
OTHERS = "another process must run beside the program; emp-discard and emp-daemons are alike"
NOT_WRITTEN = {  # nor what the page says that they have
    "emp-analysis": {"frequent": "a daemon must run in most samples"},
    "emp-applied": dict.fromkeys(("entries", "left"), "apply would change the settings of this machine (cli-setup)"),
    "emp-audit": {"items": "the machine must have units that disturb"},
    "emp-calibration": {"pid": "it must be running (cli-calibrate)"},
    "emp-comparison": {"ratio_in_turn": "a duet must be contradicted by its runs alone (cli-compare)"},
    "emp-load": {"correlation_with_run_time": "page waits must differ from run to run (cli-load)"},
    "emp-measure": dict.fromkeys(("by_cutoff", "by_unprofiled", "others"), OTHERS)
                   | dict.fromkeys(("slope", "slope_error", "slope_df", "as_measured"), "somebody must use the core's other thread (cli-neighbours)")
                   | {"sources": "something must interrupt the program", "lag1": "these samples are too few to know it",
                      "held_back": "a control group must hold the program back (machine/held_back)",
                      "ratio_in_turn": "a duet must be contradicted by its runs alone (cli-compare)"},
    "emp-changes": {"undone_by_reboot": "restore would change the settings of this machine (cli-setup)"},
    "emp-neighbour": dict.fromkeys(("sibling", "busy"), "this machine must see two threads of a core")
                     | dict.fromkeys(("episodes", "length_ns", "whole"), "somebody must use the other thread meanwhile"),
    "emp-revalidation": {"changes": "the environment must change; emp-differences is alike"},
    "emp-run": {"id": "of sources and environments, which are named by their tables", "jitter_matches": "made-up jitter has none",
                "duet_alone": "a duet must be of programs that are long enough for one on this machine (machine/duet)"},
}
# Names of 0.1.0, of which the page has a list.
FORMER = {"not_in_profile", "most_ns", "seams", "smallest_difference", "purpose", "words of emp-audit", "verdict of emp-daemons", "verdict of emp-revalidation"}
NO_NAMES = {"null", "true", "false", "member", "meaning"}
# Verbs whose --json no command of this test prints, with the reason.
NOT_PRINTED = {("emp-calibrate", "resume"): "it needs a calibration that was cut off, and prints what run prints (cli-calibrate)",
               ("emp-setup", "restore"): "it would change the settings of this machine (cli-setup)"}
written = collections.defaultdict(set)  # format: paths of members
printed = set()  # tools and verbs
faults = []


def fault(words):
    faults.append(words)
    print("FAULT:", words)


def read_schemas():
    found = {}
    for name in os.listdir(build + "/schema"):
        if re.fullmatch(r"emp-[a-z-]+\.json", name):
            with open(f"{build}/schema/{name}", encoding="utf-8") as file:
                schema = json.load(file)
            found[schema["title"]] = jsonschema.Draft202012Validator(schema)
    return found


def hold(value, command):
    """The document that the command wrote is as its schema says."""
    tool, *words = shlex.split(command)
    printed.update((tool, word) for word in words if (tool, word) in VERBS)
    printed.add((tool, ""))
    form = value["format"]
    if form not in SCHEMAS:
        fault(f"{command}: {form} has no schema")
        return
    if value.get("$schema") != SCHEMAS[form].schema["$id"]:
        fault(f"{command}: $schema is {value.get('$schema')}")
    for one in SCHEMAS[form].iter_errors(value):
        while one.context:  # the deepest member that does not fit
            one = max(one.context, key=lambda inner: len(inner.absolute_path))
        fault(f"{command}: {form}, {one.json_path}: {one.message[:300]}")


def verbs_with_json():
    """Of all tools: those whose documents other programs read."""
    found = set()
    for tool, folder in TOOLS.items():
        dumped = subprocess.run([f"{build}/{folder}/{tool}", "--dump-options"], capture_output=True, text=True, check=True)
        found |= {(tool, verb["name"]) for verb in json.loads(dumped.stdout)["verbs"] if "json" in [o["name"] for o in verb["options"]]}
    return found


def collect(value, form, path=""):
    if isinstance(value, list):
        for one in value:
            collect(one, form, path)
    elif isinstance(value, dict):
        form = value.get("format", form)
        path = "" if "format" in value else path
        for name, inner in value.items():
            if name == "$schema":  # of each document: see hold()
                continue
            here = f"{path}.{name}".lstrip(".")
            written[form].add(here)
            if isinstance(inner, dict) and "format" in inner:
                collect(inner, form)
            elif name == "perf":  # by the names of events
                collect(list(inner.values()), form, here)
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
        hold(value, command)
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
    document("emp help --json governor")
    one = measured(f"-r 3 --cpu {CPU} -- {BURN} 3")[0]
    document(f"emp-analyze show --json --recompute {one}")
    adjusted = measured(f"-r 3 --cpu {CPU} --neighbour adjust -- {BURN} 3")[0]
    document(f"emp-analyze protocols --json {adjusted}")
    two = measured(f"-r 4 -n a -n b --discard-unprofiled 50% '{BURN} 3' '{BURN} 5'", 3)
    measured("-r 4 -n a -n b 'sleep 0.01' 'sleep 0.02'")
    alternating = measured(f"-r 5 --order duet --slice 10ms -n a -n b '{BURN} 60' '{BURN} 70'", 3)
    alone = measured(f"-r 3 -w 0 --order duet -n a -n b '{BURN} 60' '{BURN} 70'", 3)  # its runs alone are compared
    document(f"emp-analyze --json compare {alone[0]} {alone[1]}")
    short = measured(f"-r 3 --order duet -n a -n b '{BURN} 2' '{BURN} 3'", 3)
    measured(f"-r 3 -L ms 1,2 '{BURN} {{ms}} | cat'")
    measured(f"-r 3 --neighbour adjust --cpu {CPU} -- {BURN} 3")
    measured(f"-r 3 --trace --cpu {CPU} -- {BURN} 30")
    for words in ("list", f"daemons {one}", f"compare {' '.join(two)}", f"compare {' '.join(alternating)}", f"compare {' '.join(short)}"):
        document(f"emp-analyze --json {words}", 2, 3, 4)
    document(f"emp-calibrate run --short 0.02x20 --long 0.1x4 --save mine --anyway --force --json --cpu {CPU}")
    with sqlite3.connect(os.environ["EMP_DB"]) as book:
        book.execute("INSERT INTO resume_point(run, n, at_ns, why) SELECT short_run, 2, ?, 'cut off' FROM calibration", (10**18,))
    document("emp-calibrate status --json")
    document("emp-calibrate profile list --json")
    document("emp-calibrate profile export mine")
    document(f"emp-calibrate revalidate mine --json --for 2s --ignore-audit --cpu {CPU}", 2)
    document("emp-calibrate constant --json")
    for verb in "sample-size", "discard", "protocols":
        document(f"emp-analyze --json {verb} {one} --profile mine")
    measured(f"-r 3 --profile mine --cpu {CPU} -- {BURN} 20", 3)
    measured(f"-r 3 --against inc --cpu {CPU} -- {BURN} 20", 3)
    document(f"emp-calibrate neighbour --cpu {CPU} --for 1s --json")
    document(f"emp-calibrate clocks --cpu {CPU} --json")
    document("emp-analyze clocks --json")
    with open("office.ini", "w", encoding="utf-8") as file:
        file.write(run("emp-load example"))
    with open("small.ini", "w", encoding="utf-8") as file:
        file.write("[study]\nwhat = suite\nsamples = 3\n[subject true]\ncommand = true\n")
    run("emp-study run -q small.ini")
    document("emp-study list --json")
    loads = [document("emp-load run office.ini -r 2 --json")["run"] for _ in range(2)]
    document(f"emp-analyze load --json {loads[0]}")
    document(f"emp-analyze load --json {loads[0]} {loads[1]}")
    document(f"emp-analyze export {loads[0]}")
    document(f"emp-calibrate jitter --cpu {CPU} --for 1s --json")
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
    document(f"emp-analyze refresh --json {one}")
    document(f"emp-calibrate neighbour --cpu {CPU} --for 1s --json")
    document(f"emp-calibrate clocks --cpu {CPU} --json")
    document("emp-analyze clocks --diff --json")
    compare_commits()
    measured(f"-r 3 --perf task-clock -- {BURN} 3")
    measured("-r 3 --same-output --check true -- echo a")
    for file in "m1.json", "m2.json":
        run(f"emp-measure -q -r 3 -n a -n b --export-json {file} '{BURN} 3' '{BURN} 4'")
    document("emp-analyze --json compare --compare both m1.json m2.json", 2, 3, 4)
    document("emp-analyze --json compare --compare both m1.json:1 m2.json:1", 2, 3, 4)
    for _ in range(10):
        run(f"emp-measure -q -r 5 -n often -- {BURN} 2")
    measured(f"-r 5 -n often -- {BURN} 2")  # earlier runs show how runs differ
    document("emp-analyze --json trend often", 2, 3, 4)
    document("emp-analyze --json cutoffs --short 1 --long 2 --force", 2)
    subprocess.run([sys.executable, source + "/tests/cli/made_up_studies.py", os.environ["EMP_DB"]], check=True)
    for study in range(1, 10):
        document(f"emp-analyze study --json {study}")
    write_all_of_made_up()


COUNTERS = ("steal_ns", "throttles", "swapped_in_pages", "swapped_out_pages", "major_faults", "suspended_ns", "clock_rate_ppb", "cpu_pressure_ns",
            "voluntary_switches", "involuntary_switches", "interrupts_ns", "smis", "temperature_change_millicelsius", "clock_speed_ppm")


def import_run(number, **more):
    """A made-up run of 20 samples, some of which a daemon made long; its number. All counters of disturbances are known, and all of its processes."""
    samples = []
    for n in range(1, 21):
        long = 10**8 if n in (7, 14) else 0
        daemon = {"name": "cron", "pt_ns": 10**6 + n + long, "tick_ns": 10**7, "pid": 7, "exe": "/cron", "unit": "cron.service", "cpu": 0, "same_cpu_ns": 10**6 + long}
        samples.append({"n": n, "start_ns": 10**18 + n * 10**9, "et_ns": 10**8 + n % 5 * 1000 + long, "pt_ns": 9 * 10**7 + n % 5 * 1000, "user_ns": 8 * 10**7,
                        "system_ns": 10**7, "wait_ns": 10**6 + n + long, "held_back_ns": 10**6, "et_late_ns": 9, "lost": 1, "left_behind": 1, "observer_ns": 9,
                        "exit_status": 0, "max_rss_bytes": 10**6, "max_rss_at_most": True, "incomplete": n == 20, "disturbance_counters": dict.fromkeys(COUNTERS, 1),
                        "neighbour_ppm": 10**5 * (n == 5), "neighbour_error_ppm": 10**4, "probe_ns": 10**6,
                        "executions": [daemon, {"name": "kswapd", "kind": "kernel", "pt_ns": 9 * 10**6, "pid": 8}]})
    cutoff = {**PROFILE["cutoffs"][0], "short_ns": 10**7, "long_ns": 10**7, "below_ns": 10**7, "atleast_ns": 10**7}
    half = {**PROFILE["short"], "floor_ns": 9}
    document = {**RUN, "name": f"made up {number}", "uid": f"{number:032}", "state": "interrupted", "samples": samples, "other_cpus": True,
                "neighbour_rule": "auto", "neighbour_limit_ppm": 5 * 10**4, "neighbour_slope_ppm": 5 * 10**5, "neighbour_slope_error_ppm": 10**5,
                "profile_document": {**PROFILE, "short": half, "long": half, "by_wait": True, "cutoffs": [cutoff]}, **more}
    with open("made-up.json", "w", encoding="utf-8") as file:
        json.dump(document, file)
    return run("emp-analyze import made-up.json").strip()


def write_all_of_made_up():
    """Documents of runs that this machine may not have."""
    identity = {**FINGERPRINT["identity"], "kernel": {"release": "7", "version": "#1"}}
    first = import_run(1)
    document(f"emp-analyze export {import_run(3, environment={'parts': 'few'}, environment_digest='b7')}")
    for verb in "export", "show --json --recompute", "daemons --json", "discard --json", "protocols --json", "sample-size --profile lab --json":
        document(f"emp-analyze {verb} {first}")
    document(f"emp-analyze compare --json --compare both {first} {first}", 2, 3, 4)
    document(f"emp-analyze protocols --json {import_run(6, neighbour_rule='adjust', unprofiled_share_ppm=None)}")
    kept = import_run(4, unprofiled_share_ppm=None)
    other = import_run(5, unprofiled_share_ppm=None, environment={**FINGERPRINT, "digest": "f2", "identity": identity})
    document(f"emp-analyze compare --json --between-runs 1 {kept} {other}", 2, 3, 4)
    document("emp-calibrate profile export lab")
    with open("duet.json", "w", encoding="utf-8") as file:
        json.dump(duet(), file)
    document(f"emp-analyze discard --json {run('emp-analyze import duet.json').strip()} --profile lab")
    for file in "l1.json", "l2.json":
        run(f"emp-measure -q -r 3 --profile lab --export-json {file} -- {BURN} 3", (0, 3))
        with open(file, encoding="utf-8") as text:
            value = json.load(text)
        hold(value, "emp-measure --export-json")
        collect(value, "emp-measure")
    document("emp-analyze --json compare l1.json l2.json", 2, 3, 4)
    subprocess.run([sys.executable, source + "/tests/cli/made_up_runs.py", os.environ["EMP_DB"]], check=True)
    document("emp-analyze --json trend creeping", 2, 3, 4)
    document("emp-analyze --json trend steady", 2, 3, 4)
    loads = [subprocess.run([sys.executable, source + "/tests/cli/made_up_load.py", os.environ["EMP_DB"], *words], capture_output=True, text=True,
                            check=True).stdout.strip() for words in (["1", "runs=12"], ["2", "file=other"], ["3", "waits=no"])]
    document(f"emp-analyze load --json {loads[0]}")
    document(f"emp-analyze load --json {loads[0]} {loads[1]}", 2, 3, 4)
    document(f"emp-analyze load --json {loads[2]}")
    run(f"emp-measure -q -r 3 '{BURN} 2' '{BURN} 2'")
    document("emp-analyze list --same-program --json")
    with open("later.json", "w", encoding="utf-8") as file:
        json.dump({**PROFILE, "made_ns": 2 * 10**18}, file)
    run("emp-calibrate profile import --replace later.json")
    document(f"emp-analyze export {first}")


def compare_commits():
    """Of two commits of a repository, in which two benchmarks differ, one is new and one is gone."""
    git = "git -C repository -c user.name=a -c user.email=a@example.org".split()
    subprocess.run(["git", "init", "-q", "-b", "main", "repository"], check=True)
    for branch, files in ("main", ("both", "gone")), ("change", ("both", "new")):
        subprocess.run([*git, "checkout", "-q", "-B", branch], check=True)
        for name in "gone", *files:
            path = f"repository/{name}"
            if name not in files:
                os.remove(path)
                continue
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\nexec {BURN} {len(branch)}\n")
            os.chmod(path, 0o755)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", branch], check=True)
    lines = [f"{{tree}}/{name}" for name in ("both", "new", "gone")]
    subprocess.run([build + "/measure/emp-compare-commits", "-b", "true", "-r", "3", "--json", "../commits.json", "main", *lines],
                   cwd="repository", stdin=subprocess.DEVNULL, capture_output=True, check=False)
    with open("commits.json", encoding="utf-8") as file:
        value = json.load(file)
    hold(value, "emp-compare-commits --json")
    collect(value, "emp-compare-commits")
    document("emp-analyze commits --json commits.json", 2, 3, 4)


def page():
    """Of each document, and of each heading that documents refer to, the clauses: what a blank line, the end of a row or a semicolon ends."""
    with open(source + "/man/emp-documents.5.scd", encoding="utf-8") as file:
        text = file.read()
    parts = {m[1]: m[2] for m in re.finditer(r"^# (.*)\n((?:(?!# ).*\n?)*)", text, re.M)}
    for m in re.finditer(r"^\*(emp-[a-z-]+)\*, by .*\n((?:(?!^\*emp-[a-z-]+\*, by ).*\n?)*)", parts["RESULTS"], re.M):
        parts[m[1]] = m[2]
    for form, section in SECTIONS.items():
        parts[form] = parts.get(form, "") + "\n\n" + parts[section]
    refers = {part: {r if r in parts else r.lower() for r in re.findall(r"emp-[a-z-]+|EMP-[A-Z]+", body)} & set(parts)
              for part, body in parts.items()}
    general = re.search(r"^\*pt\* and \*et\*, here and in other documents(?:.+\n)+", parts["EMP-MEASURE"], re.M)[0]
    parts["STATISTICS"] = general
    parts["CONTEXT"] = re.search(r"^\*context\*\n(?:\t.+\n)+", parts["EMP-RUN"], re.M)[0]
    return {part: clauses(body) for part, body in parts.items()}, refers


def clauses(body):
    """Each as its text and its names in bold: their places, and whether they only say what another member is like."""
    found = []
    for block in re.split(r"\n\s*\n|\n(?=\|)", body):
        depth, begin = 0, 0
        for end in re.finditer(r"[()]|;|\.\s+(?=[A-Z*])|$", block):
            depth += (end[0] == "(") - (end[0] == ")")
            if end[0] not in ("(", ")") and depth <= 0:
                found.append(block[begin:end.end()])
                begin = end.end()
    return [(text, [(m[1].replace("\\", ""), m.start(), bool(REFERENCE.search(text[:m.start()])))
                    for m in re.finditer(r"\*([a-z][a-z0-9_\\]*)\*(?!\()", text) if m[1] not in NO_NAMES]) for text in found]


def owners(clause, place):
    """The members of which the page says here that they have the one at this place: 'a: its b' and 'a has b', up to the end of the brackets."""
    text, names = clause
    openers = [[]]
    for m in re.finditer(r":(?=\s|\[)| has(?=\s)| also(?=\s)|[()]", text[:place]):
        if m[0] == "(":
            openers.append([])
        elif m[0] != ")":
            openers[-1].append(m.start())
        elif len(openers) > 1:
            openers.pop()
    last = max((at for level in openers for at in level), default=0)
    return {name for name, at, _ in names if at < last}


def described(form, path, parts, pages):
    """Whether the clauses have a member where the path has it."""
    *above, name = path
    if set(path) & FORMER or f"{name} of {form}" in FORMER:
        return True
    for part in parts:
        for clause in pages[part]:
            text, names = clause
            places = [at for n, at, _ in names if n == name]
            if not above and any(not owners(clause, at) for at in places):
                return True
            if above and any(n == above[-1] and (any(at < place for place in places) or LIKE.search(text)) for n, at, _ in names):
                return True
    return False


def check_written(form, parts, pages):
    for path in sorted(written[form]):
        path = path.split(".")
        known = parts | ({"STATISTICS"} if set(path[:-1]) & {"pt", "et"} else set())
        if not any(name == path[-1] for part in known for _, names in pages[part] for name, _, _ in names):
            fault(f"{form}: '{'.'.join(path)}' is not in the page")
        elif not described(form, path, known, pages) and path[-1] not in ALWAYS:
            fault(f"{form}: the page does not have '{path[-1]}' in '{'.'.join(path[:-1]) or 'the document'}'")


def check_described(form, pages):
    paths = [path.split(".") for path in written[form]]
    for clause in pages[form]:
        for name, place, reference in clause[1]:
            here = [path for path in paths if path[-1] == name]
            if reference or NOT_WRITTEN.get(form, {}).keys() & {name, *owners(clause, place)}:
                continue
            if not here:
                fault(f"{form}: no command writes '{name}', which is in the page")
            elif owners(clause, place) and not any(owners(clause, place) & set(path[:-1]) for path in here):
                fault(f"{form}: '{name}' is in {sorted('.'.join(path) for path in here)}, and in the page in {sorted(owners(clause, place))}")


def main():
    write_all()
    pages, refers = page()
    for form in sorted(written):
        if form not in pages:
            fault(f"{form} is not in the page")
            continue
        parts = {form} | ({"EMP-MEASURE"} if form == "emp-measure" else set())
        parts |= {r for one in parts for r in refers[one]} | {"FORMER NAMES", "DESCRIPTION", "CONTEXT"}
        check_written(form, parts, pages)
        check_described(form, pages)
    for tool, verb in sorted(VERBS - printed - NOT_PRINTED.keys()):
        fault(f"no command of this test prints the document of {tool} {verb}, whose schema would not be held")
    for form in sorted(SCHEMAS.keys() - written.keys()):
        fault(f"no command writes {form}, which has a schema")
    for form in set(pages) - set(written):
        if form.startswith("emp-"):
            fault(f"no command writes {form}")
    print({form: len(paths) for form, paths in written.items()})


SCHEMAS = read_schemas()
VERBS = verbs_with_json()
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ.update(EMP_DB=folder + "/book.db", EMP_LOCK=folder + "/own.lock", NO_COLOR="1")
    os.environ.pop("EMP_NAMES", None)
    main()
sys.exit(len(faults) > 0)
