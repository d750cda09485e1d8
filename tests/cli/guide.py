#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names in the guide for developers (CONTRIBUTING.md, doc/hacking) exist: a word in backquotes that looks like a file is
one, and one that looks like a name stands in the sources. So do the files in its commands. Usage: guide.py SOURCE"""
import glob
import os
import re
import sys

os.chdir(sys.argv[1])
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
print(*faults, sep="\n")
if checked < 100:
    print(f"only {checked} names found")
sys.exit(bool(faults) or checked < 100)
