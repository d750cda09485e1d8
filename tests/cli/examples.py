#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples of --help and of the man pages, as typed: they work, or say what to add; and no line is wider than a terminal of 60 columns.
With PAGE, those of this page only; with "doc", or a page such as doc/tutorial.md, the commands of README.md and doc, in a terminal of 80
columns: and the tools print today what the pages show. Usage: examples.py BUILD SOURCE [PAGE|doc]"""
import glob
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unicodedata

import pages

build, source = map(os.path.abspath, sys.argv[1:3])
if os.geteuid() != 0:
    print("not run: needs root")
    sys.exit(1 if os.environ.get("EMP_MUST_RUN") else 77)
TOOLS = ["setup/emp-setup", "calibrate/emp-calibrate", "measure/emp-measure", "analyze/emp-analyze", "measure/emp-load", "study/emp-study"]
CPU = max(os.sched_getaffinity(0))
ONLY = sys.argv[3] if len(sys.argv) > 3 else ""
OF_PAGES = ONLY == "doc" or ONLY.endswith(".md")
COLUMNS = 80 if OF_PAGES else 60
faults = []
# Not run here, and why: what an example contains.
NOT_RUN = {
    "emp-study run --cpu 1 lengths": "takes minutes; tests/cli/study.sh has short ones",
    "emp-study run settings": "changes this machine; tests/machine/study_box.sh does it in a box",
    "emp-study run one-night": "takes a night",
    "emp-study resume": "needs one that was interrupted; tests/cli/study.sh does it",
    "emp-study run my.ini": "takes minutes; tests/cli/study.sh has short ones",
    "systemctl": "needs a service that is installed",
    "systemd-socket-activate": "needs a service that is installed",
    "setcap": "changes a file that is installed",
    "LD_PRELOAD": "needs a library that is installed",
    "emp_clock_thread_ns": "is C; tests/machine/clock_client.c calls it",
    "cmake": "needs a project with CMake",
    "emp-calibrate run --cpu 1 --save lab1": "takes 9 days; tests/cli/first-use.sh has it ask first",
    "emp-calibrate resume": "needs one that was interrupted; tests/cli/calibrate.sh does it",
    "emp-setup apply --for": "changes this machine; tests/machine/setup_for.sh does it",
    "emp-setup apply --dry-run\nemp-setup apply": "changes this machine",
    "emp-setup apply": "changes this machine; tests/machine/setup_units.sh does it in a box",
    "emp-setup restore": "changes this machine",
    "--preset": "takes hours or days",
    "./scripts/": "installs packages and builds EMP, which has been done",
    "scripts/package": "builds packages; tests/machine/packages.sh does it",
    "meson setup": "builds EMP, which has been done",
}
DRY = "emp-setup apply --dry-run"
# What else a status may be, by what a command contains. Each sentence of its own tells what to do: see `ways_out`.
ALSO = {"sort big.tx'": 1, "emp-measure sort -n": 1, "emp-setup audit": 2, "emp setup audit": 2, "--fail-if": 2, "emp-calibrate run": 2, "revalidate": 2, "apply --dry-run": 2, "--profile lab1": 3, "--profile quick": 3,
        "--discard-unprofiled": 3, "--strict": 4}
ways_out = {"emp-calibrate run": "--ignore-audit|No profile was made", "revalidate": "--ignore-audit|Verdict"}
SHORTER = [("--for 10min", "--for 1s"), ("-r 20 --export", "-r 2 --export"), ("--cpu 1 ", f"--cpu {CPU} "),
           ("--for 20s", "--for 1s"), ("--short 0.1x300 --long 0.5x20", "--short 0.02x20 --long 0.1x4"), ("-r 10 office", "-r 2 office")]
# How many samples the pages take does not matter here.
if OF_PAGES:
    SHORTER += [("-r 20 ", "-r 3 "), ("--rigorous", "-r 3")]
# The eleven columns of the list need more, and so do lines that are not wrapped: commands to be copied, digests, and
# errors.
WHOLE = re.compile(r"^  emp-|^Digest [0-9a-f]{64}$|^emp-[a-z-]+: ")


def width(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in line)


def fault(words):
    faults.append(words)
    print("FAULT:", words, flush=True)


def of_help(tool):
    text = subprocess.run([f"{build}/{tool}", "--help"], capture_output=True, text=True, check=True).stdout
    part = re.search(r"^Examples:\n((?:  .*\n)+)", text, re.M)
    return [re.split(r"   +", line.strip())[0] for line in part[1].splitlines()] if part else []


def of_page(file):
    """Each line of its examples, with those that continue it, and a document as a whole."""
    with open(file, encoding="utf-8") as page:
        part = re.search(r"^# EXAMPLES\n((?:(?!# ).*\n?)*)", page.read(), re.M)
    found = []
    for block in re.findall(r"^```\n(.*?)^```$", part[1] if part else "", re.M | re.S):
        block = block.replace("\\\\\n", "\\\n").rstrip("\n")
        whole = block.startswith("{") or "emp_clock_thread_ns" in block
        found += [block] if whole else block.replace("\\\n", " ").splitlines()
    return found


def run(command, **how):
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=400, **how)


def prepared(command):
    done = run(command)
    if done.returncode not in (0, 2, 3):
        fault(f"not prepared: {command}\n{done.stdout[-800:]}{done.stderr[-800:]}")
    return done.stdout


def prepare():
    """Files, and a lab book: runs 1 and 2 are those of the paper, 3 is a program, 4 to 6 are jitter, 12 and 13 a program twice, and
    lab1 is a profile of this machine."""
    for name in "solver", "old", "new", "sort":
        with open(name, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nexec {build}/tests/machine/burn 10\n")
        os.chmod(name, 0o755)
    for name in "input", "data":
        open(name, "w", encoding="utf-8").close()
    with open("big.txt", "w", encoding="utf-8") as file:
        file.writelines(f"{i * 7919 % 10007}\n" for i in range(20000))
    for name in "inc128", "inc16384":
        shutil.copy(f"{source}/tests/papers/data/emp-run-{name}.json", f"{name}.json")
    prepared("emp-measure -q -r 3 -n a -n b --export-json before.json true true")
    shutil.copy("before.json", "after.json")
    os.unlink("book.db")
    prepared("emp-analyze import inc128.json inc16384.json && emp-measure -q -r 10 -- ./solver input")
    for seed in "1", "2", "3":
        prepared(f"{sys.executable} {source}/tests/cli/made_up_jitter.py book.db 20 {seed} backupd kinds")
    jump_to(11)
    prepared("emp-measure -q -r 5 -- ./solver input && emp-measure -q -r 5 -- ./solver input")
    shutil.copy("book.db", "without.db")  # a profile
    prepared(f"emp-calibrate -q run --short 0.02x20 --long 0.1x4 --save lab1 --anyway --force --cpu {CPU} --ignore-audit")
    prepared("emp-analyze cutoffs --short 1 --long 2 --save quick")
    with open("image.bin", "wb") as file:
        file.write(bytes(1000000))
    prepared(f"emp-calibrate -q clocks --cpu {CPU} && emp-analyze clocks --json >c.json && emp-analyze import c.json")
    prepared("EMP_DB=trend.db emp-measure -q -r 2 true")
    prepared(f"{sys.executable} {source}/tests/cli/made_up_runs.py trend.db")
    prepared("EMP_DB=study.db emp-measure -q -r 2 true")
    prepared(f"{sys.executable} {source}/tests/cli/made_up_studies.py study.db")
    prepared("EMP_DB=load.db emp-measure -q -r 2 true")
    jump_to(12, "load.db")
    for seed in "1", "2":
        prepared(f"{sys.executable} {source}/tests/cli/made_up_load.py load.db {seed}")
    prepared("git init -q -b main project && cd project && git config user.name a && git config user.email a@b && cp ../solver ../input . &&"
             " echo all: >Makefile && git add . && git commit -qm one && git branch origin/main && git commit -qm two --allow-empty")
    prepared("cd project && emp-compare-commits -r 2 --json ../commits.json origin/main '{tree}/solver {tree}/input'")


def jump_to(run_id, book="book.db"):
    """The next run gets the number after this one."""
    db = sqlite3.connect(book)
    db.execute("PRAGMA foreign_keys = OFF")
    columns = [row[1] for row in db.execute("PRAGMA table_info(run)") if row[1] not in ("id", "uid")]
    names = ", ".join(columns)
    db.execute(f"INSERT INTO run(id, uid, {names}) SELECT ?, lower(hex(randomblob(16))), {names} FROM run ORDER BY id LIMIT 1", (run_id,))
    db.commit()
    db.close()


def try_example(where, command, shown=(), not_run=None):
    reason = not_run or next((why for part, why in NOT_RUN.items() if part in command and not command.startswith(DRY)), None)
    if command.startswith("jq") and not shutil.which("jq"):
        reason = "jq is not installed"
    if reason:
        print(f"not run, {where}: {command.splitlines()[0]}: {reason}", flush=True)
        return
    typed = command
    for long, short in SHORTER:
        typed = (typed + " ").replace(long, short).rstrip()
    if typed.startswith("{"):
        with open("shortest.json", "w", encoding="utf-8") as file:
            file.write(typed)
        typed = "emp-analyze import shortest.json"
    folder = "project" if "emp-compare-commits" in typed else "."
    shutil.copy("without.db", "fresh.db")
    fresh = re.match("emp-analyze cutoffs|emp-calibrate profile import|emp-calibrate run .*--save quick", typed)
    book = "fresh.db" if fresh else "trend.db" if " trend " in typed else "load.db" if "emp-analyze load" in typed else "study.db" if "emp-analyze study" in typed else "book.db"
    done = run(typed, cwd=folder, env=os.environ | {"EMP_DB": os.path.abspath(book)})
    print(f"{done.returncode}, {where}: {typed}", flush=True)
    also = {status for part, status in ALSO.items() if part in typed}
    said = done.stdout + done.stderr
    if done.returncode != 0 and done.returncode not in also:
        fault(f"status {done.returncode}, {where}: {typed}\n{said[-1500:]}")
    elif done.returncode != 0:
        for part, words in ways_out.items():
            if part in typed and not re.search(words, said):
                fault(f"no way out, {where}: {typed}\n{said[-1500:]}")
    for wrong in printed.faults(command, shown, said) if shown else []:
        fault(f"{where}: {command}: {wrong}")
    if typed.startswith(("emp-", "emp ")) and not re.search(r"export|json|>| - |emp-load example|emp-analyze list", typed):
        for line in done.stdout.splitlines():
            if width(line) > COLUMNS and not WHOLE.search(line):
                fault(f"{width(line)} columns, {where}: {typed}\n    {line}")


def try_pages():
    """The commands of README.md and doc; of those that are not run here, too, what they are shown to print."""
    for wrong in "Verdikt: faster", "  Disturbed through   backupd 150 ms", "RUN  COMMAND  DISTURBANCES":
        if not list(printed.faults("emp-measure", [wrong], "")):
            fault(f"this passes for what the tools print: {wrong}")
    n_commands, tried = 0, set()
    for page in (page for page in pages.paths(source) if ONLY in ("doc", page)):
        for block in pages.blocks(pages.read(source, page)):
            for command, shown in block.commands():
                n_commands += 1
                if shown or command not in tried:
                    try_example(page, command, shown, block.not_run)
                tried.add(command)
    if ONLY == "doc" and n_commands < 60:
        fault(f"only {n_commands} commands were found")


def main():
    prepare()
    if OF_PAGES:
        try_pages()
        return
    examples = [(tool.rpartition("/")[2] + " --help", one) for tool in TOOLS for one in of_help(tool)]
    n_help = len(examples)
    for page in sorted(glob.glob(source + "/man/*.scd")):
        examples += [(os.path.basename(page)[:-4], one) for one in of_page(page)]
    if n_help < 10 or len(examples) < 60:
        fault(f"only {n_help} and {len(examples)} examples were found")
    # what writes a file comes before what reads it, and what is removed goes last
    for where, command in sorted(examples, key=lambda e: (" remove " in e[1], not re.search("example|export", e[1]))):
        if ONLY in where:
            try_example(where, command)


printed = pages.Printed(source)
with tempfile.TemporaryDirectory() as temporary:
    os.chdir(temporary)
    os.environ.update(EMP_DB=temporary + "/book.db", EMP_LOCK=temporary + "/own.lock", NO_COLOR="1", COLUMNS=str(COLUMNS), LC_ALL="C.UTF-8",
                      PATH=":".join([build + "/" + d for d in ("emp", "setup", "calibrate", "measure", "analyze", "study", "programs")] + [os.environ["PATH"]]))
    os.environ.pop("EMP_NAMES", None)
    main()
sys.exit(len(faults) > 0)
