#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the pages say of the tree is so. In the guide for developers (CONTRIBUTING.md, doc/hacking), a word in backquotes that
looks like a file is one, and one that looks like a name stands in the sources; so do the files in its commands. README.md is short,
options in its pages and in doc are those of the tools, links lead somewhere, also in the site that is made of them, each page can be
reached, and the checks of the audit are those of emp-setup. Usage: guide.py BUILD SOURCE"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import pages

build = os.path.abspath(sys.argv[1])
os.chdir(sys.argv[2])
PAGES = ["CONTRIBUTING.md", *sorted(glob.glob("doc/hacking/*.md"))]
SUFFIXES = (".c", ".h", ".py", ".sh", ".md", ".sql", ".scd", ".toml", ".build", ".ini")
ANY = {".c", ".h", "tests/unit/test_x.c"}  # these stand for any

files, words = set(), set()
for folder, folders, names in os.walk("."):
    folders[:] = [f for f in folders if not f.startswith((".git", "build", "__pycache__"))]
    files.update(os.path.normpath(os.path.join(folder, name)) for name in names)
folders = {file[:i] for file in files for i, letter in enumerate(file) if letter == "/"}
names = {os.path.basename(file) for file in files}
words.update(name.rpartition(".")[0] or name for name in names)
for file in files:
    if file not in PAGES and not file.startswith(("tests/fuzz/corpus/", "tests/unit/data/")):
        with open(file, encoding="utf-8", errors="ignore") as source:
            words.update(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", source.read()))


def is_file(path):
    path = path.rstrip("/").removeprefix("./")
    if "*" in path:
        return bool(glob.glob(path) or glob.glob("**/" + path, recursive=True))
    return path in files or path in folders or path in names


def fault(quoted):
    """What is wrong with what stands in backquotes; None: nothing."""
    if quoted in ANY:
        return None
    for word in quoted.split():
        if re.fullmatch(r"[\w.*][\w.*/-]*", word) and ("/" in word or word.endswith(SUFFIXES)):
            return None if is_file(word) else f"no file or folder '{word}'"
    if " " in quoted and not quoted.startswith(("struct ", "enum ")):
        return None  # a command, or a piece of code
    return next((f"no '{name}' in the sources" for name in re.findall(r"[A-Za-z_]\w*", quoted.split("(")[0])
                 if name not in words), None)


checked, faults = 0, []
for page in PAGES:
    with open(page, encoding="utf-8") as file:
        text = file.read()
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    code = "\n".join(line for line in text.splitlines() if line.startswith("    "))
    for quoted in re.findall(r"`([^`]+)`", prose):
        checked += 1
        wrong = fault(" ".join(quoted.split()))
        if wrong:
            faults.append(f"{page}: `{' '.join(quoted.split())}`: {wrong}")
    for path in re.findall(r"(?:\./)?(?:scripts|tests|doc|lib)/[\w./-]+", code):
        checked += 1
        if not is_file(path):
            faults.append(f"{page}: {path}: no such file or folder")

def faults_of_links():
    text_of = {page: pages.read(".", page) for page in pages.paths(".") + PAGES}
    reached = {"README.md"}
    for page, text in text_of.items():
        for link in pages.links(text):
            path, _, anchor = link.partition("#")
            there = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            reached.add(there)
            if not os.path.exists(there):
                yield f"{page}: link to {link}: no such file"
            elif anchor and anchor not in pages.anchors(text_of[there]):
                yield f"{page}: link to {link}: no such heading"
    yield from (f"{page}: no page leads here" for page in text_of if page not in reached and page not in PAGES)


def faults_of_readme():
    lines = pages.read(".", "README.md").splitlines()
    n_words = sum(len(line.split()) for line in lines)
    shown = next((i for i, line in enumerate(lines, 1) if line.startswith("$ emp")), len(lines))
    if len(lines) > 150 or n_words > 1500:
        yield f"README.md has {len(lines)} lines and {n_words} words; 150 and 1500 are allowed"
    if shown > 15:
        yield f"the first command of README.md stands in line {shown}, not in one of the first 15"


def faults_of_options():
    """An option in backquotes is one of the manual pages, or of scripts/package."""
    manual = "".join(pages.read(".", page) for page in [*glob.glob("man/*.scd"), "scripts/package"])
    known = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", manual.replace("\\", "")))
    for page in pages.paths("."):
        for quoted in re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", pages.read(".", page), flags=re.M | re.S)):
            if re.match(r"emp[ -]|--", quoted):
                options = re.findall(r"(?<![\w=-])--?[A-Za-z][\w-]*", quoted)
                yield from (f"{page}: `{quoted}`: no manual page has {option}" for option in options if option not in known)


def faults_of_site():
    if not shutil.which("pandoc") or not shutil.which("mandoc"):
        if os.environ.get("EMP_MUST_RUN"):
            yield "no site is made: pandoc and mandoc are missing"
        return
    with tempfile.TemporaryDirectory() as site:
        made = subprocess.run(["scripts/site", site], capture_output=True, text=True, check=False)
        print(made.stdout + made.stderr, end="")
        if made.returncode:
            yield "scripts/site fails"


def faults_of_checks():
    page = "doc/reference/audit-checks.md"
    if pages.without_machine(pages.read(".", page)) != pages.without_machine(pages.audit_checks(build)):
        yield f"{page} is not what emp-setup has; scripts/refresh-docs --only audit makes it anew"


for part in faults_of_readme, faults_of_links, faults_of_options, faults_of_checks, faults_of_site:
    faults += part()
print(*faults, sep="\n")
if checked < 100:
    print(f"only {checked} names found")
sys.exit(bool(faults) or checked < 100)
